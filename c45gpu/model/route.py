"""Which branch a case takes at a node: the one question that growing, pruning and predicting all ask."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.model.tree import Tree

NO_BRANCH = -1

Int64s = npt.NDArray[np.int64]


def branches_taken(tree: Tree, table: Table, nodes: Int64s, cases: Int64s) -> Int64s:
    """The branch that each case takes at the inner node it stands at.

    Parameters
    ----------
    tree : Tree
    table : Table
        Its attributes are those of the tree's schema, in the same order.
    nodes, cases : ndarray of int64, shape (n,)
        Pairs of a node that is not a leaf and a case.

    Returns
    -------
    ndarray of int64, shape (n,)
        0, 1, ...; :data:`NO_BRANCH` where the value is unknown or one that the node has no branch for.
    """
    taken = np.empty(len(nodes), np.int64)
    attributes = tree.attribute[nodes]
    order = np.argsort(attributes, kind="stable")
    present, first = np.unique(attributes[order], return_index=True)
    for attribute, here in zip(present.tolist(), np.split(order, first)[1:], strict=True):
        taken[here] = _of_attribute(tree, table.column(attribute), nodes[here], cases[here])
    return taken


def _of_attribute(tree: Tree, column: npt.NDArray[Any], nodes: Int64s, cases: Int64s) -> Int64s:
    start = tree.value_start[nodes]
    n_values = tree.value_start[nodes + 1] - start
    return branches_of_values(column[cases], tree.threshold[nodes], tree.value_branch, start, n_values)


def branches_of_values(
    values: npt.NDArray[Any], threshold: Any, value_branch: npt.NDArray[np.int32], start: Any, n_values: Any
) -> Int64s:
    """The branch that each value takes, :data:`NO_BRANCH` where it has none.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Numbers, or codes of discrete values.
    threshold : ndarray of float64, shape (n,), or float
        What a number is compared with.
    value_branch : ndarray of int32
        ``value_branch[start + code]`` is the branch of a code.
    start, n_values : ndarray of int64, shape (n,), or int
    """
    if values.dtype.kind == "f":
        side = (values > threshold).astype(np.int64)
        return np.where(np.isnan(values), NO_BRANCH, side)
    mapped = (values >= 0) & (values < n_values)
    found = value_branch[np.where(mapped, start + values, 0)] if len(value_branch) else NO_BRANCH
    return np.where(mapped, found, NO_BRANCH).astype(np.int64)
