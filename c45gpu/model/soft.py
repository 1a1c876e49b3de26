"""Soft thresholds: near a threshold a case takes both branches, in parts (specification section 10).

value       below lower    lower ..... threshold ..... upper    above upper
low branch       1           1  falls     1/2      falls  0          0
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.errors import ModelError
from c45gpu.model.tree import THRESHOLD, Tree

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SoftThresholds:
    """Where the thresholds of a tree begin and end to matter.

    Parameters
    ----------
    lower, upper : ndarray of float64, shape (n,)
        For each node with a threshold ``lower <= threshold <= upper``; NaN for the others.
    """

    lower: Float64s
    upper: Float64s

    def check(self, tree: Tree) -> None:
        """Refuse what are no soft thresholds of a tree.

        Raises
        ------
        ModelError
            Naming the first node at fault.
        """
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if bound.dtype != np.float64 or bound.shape != (tree.n_nodes,):
                raise ModelError(f"{name} is {bound.dtype} of shape {bound.shape}, not float64 of ({tree.n_nodes},)")
        inside = (self.lower <= tree.threshold) & (tree.threshold <= self.upper)
        neither = np.isnan(self.lower) & np.isnan(self.upper)
        wrong = np.flatnonzero(np.where(tree.kind == THRESHOLD, ~inside, ~neither))
        if len(wrong):
            raise ModelError(f"node {wrong[0]} has bounds that do not enclose its threshold")


def low_shares(tree: Tree, soft: SoftThresholds, table: Table, nodes: Int64s, cases: Int64s) -> Float64s:
    """The part of each case that takes the low branch of the node it stands at.

    Parameters
    ----------
    tree : Tree
    soft : SoftThresholds
    table : Table
    nodes, cases : ndarray of int64, shape (n,)

    Returns
    -------
    ndarray of float64, shape (n,)
        1 up to `lower`, else 0 from `upper` on, linear from there to 1/2 at the threshold; NaN where the node has no
        threshold, or the value is unknown.
    """
    shares = np.full(len(nodes), np.nan)
    here = np.flatnonzero(tree.kind[nodes] == THRESHOLD)
    for attribute in np.unique(tree.attribute[nodes[here]]).tolist():
        rows = here[tree.attribute[nodes[here]] == attribute]
        value = table.column(attribute)[cases[rows]].astype(np.float64)
        lower, cut, upper = (bound[nodes[rows]] for bound in (soft.lower, tree.threshold, soft.upper))
        with np.errstate(divide="ignore", invalid="ignore"):  # of sides without width, which are not taken
            falls = np.where(value <= cut, 1 - (value - lower) / (cut - lower) / 2, (upper - value) / (upper - cut) / 2)
        shares[rows] = np.where(value <= lower, 1.0, np.where(value >= upper, 0.0, falls))
    return shares
