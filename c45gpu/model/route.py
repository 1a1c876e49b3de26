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
    values = column[cases]
    if values.dtype.kind == "f":
        side = (values > tree.threshold[nodes]).astype(np.int64)
        return np.where(np.isnan(values), NO_BRANCH, side)
    start = tree.value_start[nodes]
    mapped = (values >= 0) & (values < tree.value_start[nodes + 1] - start)
    found = tree.value_branch[np.where(mapped, start + values, 0)] if len(tree.value_branch) else start
    return np.where(mapped, found, NO_BRANCH).astype(np.int64)
