"""A tree as columns for the report: lists of plain numbers, one for each field, nodes in preorder.

{"kind": [2, 0, ...],               as in c45gpu.model.tree
 "branches": [2, 0, ...],           how many branches each node has: with the preorder, that is the whole structure
 "attribute": [3, -1, ...],
 "threshold": [206, ...],           of the nodes with a threshold, in their order; so are "lower" and "upper"
 "maps": [0, [0, 1, 1], ...],       of the nodes with a discrete test: the branch of each value, 0 where value i takes
                                    branch i
 "label": [1, ...], "weight": [344, ...], "errors": [15.3, ...],
 "classes": {"count": [3, 1, ...], "number": [0, 1, 2, 0, ...], "weight": [152, 68, 124, 2, ...]}}

`classes` tells the weights above 0 only: at node i there are count[i] of them. Columns rather than nested nodes: they
name no field twice, and no reader has to recurse.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.model.predict import leaf_shares
from c45gpu.model.soft import SoftThresholds
from c45gpu.model.tree import DISCRETE, SUBSET, THRESHOLD, Tree

Float64s = npt.NDArray[np.float64]

ERROR_DIGITS: Final = 4  # decimals of errors, which are read and not reckoned with


def tree_columns(tree: Tree, soft: SoftThresholds | None = None) -> dict[str, Any]:
    """A tree as plain lists; they are listed at the top of this module.

    Parameters
    ----------
    tree : Tree
    soft : SoftThresholds, optional
        Of this tree.

    Returns
    -------
    dict
    """
    by_threshold = tree.kind == THRESHOLD
    columns: dict[str, Any] = {
        "kind": tree.kind.tolist(),
        "branches": np.diff(tree.branch_start).tolist(),
        "attribute": tree.attribute.tolist(),
        "threshold": numbers(tree.threshold[by_threshold]),
        "maps": _maps(tree),
        "label": tree.label.tolist(),
        "weight": numbers(tree.weight),
        "errors": numbers(np.round(tree.errors, ERROR_DIGITS)),
        "classes": class_columns(np.where(tree.weight[:, None] > 0, tree.class_weights, 0.0)),
    }
    if soft is not None:
        columns["lower"] = numbers(soft.lower[by_threshold])
        columns["upper"] = numbers(soft.upper[by_threshold])
    return columns


def class_columns(class_weights: Float64s) -> dict[str, Any]:
    """The weights above 0 of a matrix with a row for each node and a column for each class."""
    rows, classes = np.nonzero(class_weights > 0)
    return {
        "count": np.bincount(rows, minlength=len(class_weights)).tolist(),
        "number": classes.tolist(),
        "weight": numbers(class_weights[rows, classes]),
    }


def cases_at_nodes(tree: Tree, table: Table) -> Float64s:
    """The weight of the cases of each class at each node.

    Parameters
    ----------
    tree : Tree
    table : Table
        Cases without a class count nowhere.

    Returns
    -------
    ndarray of float64, shape (n_nodes, C)
        In cases; those with unknown values are divided over branches.
    """
    found = leaf_shares(tree, table)
    classes = table.classes[found.cases].astype(np.int64)
    weights = found.shares if table.weights is None else found.shares * table.weights[found.cases]
    counted = classes >= 0
    cells = found.leaves[counted] * tree.n_classes + classes[counted]
    flat = np.bincount(cells, weights[counted], tree.n_nodes * tree.n_classes)
    at_nodes: Float64s = flat.astype(np.float64).reshape(tree.n_nodes, tree.n_classes)
    for level in reversed(tree.levels[1:]):
        np.add.at(at_nodes, tree.parent[level], at_nodes[level])
    return at_nodes


def numbers(values: npt.NDArray[Any]) -> list[int | float | str]:
    """Numbers for JSON, as short as they can be: whole ones without a point, infinities by their JavaScript names."""
    return [_number(value) for value in values.astype(np.float64).tolist()]


def _number(value: float) -> int | float | str:
    if value in (np.inf, -np.inf):
        return "Infinity" if value > 0 else "-Infinity"
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _maps(tree: Tree) -> list[int | list[int]]:
    nodes = np.flatnonzero((tree.kind == DISCRETE) | (tree.kind == SUBSET)).tolist()
    maps = [tree.value_map(node).tolist() for node in nodes]
    return [0 if values == list(range(len(values))) else values for values in maps]
