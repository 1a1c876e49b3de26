"""A tree while it grows: nodes in order of arrival, children side by side; :meth:`GrowingTree.finished` makes a Tree.

    number     0   1 2   3 4 5   ...        a child has a greater number than its parent
    children  1,2   | |  3,4,5              first_child[0] = 1, n_children[0] = 2, first_child[2] = 3

Collapsing (specification section 4, item 9) happens when the tree is finished: a subtree that gets no fewer training
cases right than its root would as a leaf becomes one, but keeps the errors of its branches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema
from c45gpu.formulas import EPSILON
from c45gpu.model.tree import DISCRETE, LEAF, THRESHOLD, Tree, ranges

Int64s = npt.NDArray[np.int64]

_FIELDS = ("kind", "attribute", "threshold", "first_child", "n_children", "depth", "held", "class_units")


class GrowingTree:
    """Collects nodes level by level.

    Parameters
    ----------
    schema : Schema
    case_units : int
        Units of weight in one case.
    root : ndarray of int64, shape (1, C)
        Class weights of the root in units.
    """

    def __init__(self, schema: Schema, case_units: int, root: Int64s) -> None:
        self._schema, self._case_units = schema, case_units
        self._blocks: list[dict[str, npt.NDArray[Any]]] = []
        self.n_nodes = 0
        self._append(root, np.ones(1, np.bool_), 0)

    def split(self, nodes: Int64s, attribute: Int64s, threshold: npt.NDArray[np.float64]) -> Int64s:
        """Give nodes of the newest level a test, and add their branches, all empty at first.

        Parameters
        ----------
        nodes : ndarray of int64, shape (k,)
            Ascending node numbers.
        attribute : ndarray of int64, shape (k,)
            Schema numbers.
        threshold : ndarray of float64, shape (k,)
            NaN for a discrete attribute.

        Returns
        -------
        ndarray of int64, shape (k,)
            The number of the first branch of each.
        """
        parents, offset = self._blocks[-1], self.n_nodes - len(self._blocks[-1]["kind"])
        here = nodes - offset
        discrete = np.array([a.kind == "discrete" for a in self._schema.attributes])[attribute]
        values = np.array([len(a.values) for a in self._schema.attributes])[attribute]
        n_children = np.where(discrete, values, 2)
        first = self.n_nodes + np.cumsum(n_children) - n_children
        parents["kind"][here] = np.where(discrete, DISCRETE, THRESHOLD)
        parents["attribute"][here], parents["threshold"][here] = attribute, threshold
        parents["first_child"][here], parents["n_children"][here] = first, n_children
        inherited = np.repeat(parents["class_units"][here], n_children, axis=0)
        self._append(inherited, np.zeros(len(inherited), np.bool_), int(parents["depth"][0]) + 1)
        return first

    def fill(self, nodes: Int64s, class_units: Int64s) -> None:
        """Tell what nodes of the newest level hold."""
        newest = self._blocks[-1]
        here = nodes - (self.n_nodes - len(newest["kind"]))
        newest["class_units"][here], newest["held"][here] = class_units, True

    def finished(self) -> Tree:
        """The collapsed tree, its nodes numbered in preorder."""
        grown = {name: np.concatenate([block[name] for block in self._blocks]) for name in _FIELDS}
        levels = np.split(np.argsort(grown["depth"], kind="stable"), np.cumsum(np.bincount(grown["depth"]))[:-1])
        errors, size = _collapse(grown, levels, self._case_units)
        number = _preorder(grown, levels, size)
        order = np.empty(size[0], np.int64)
        order[number[number >= 0]] = np.flatnonzero(number >= 0)
        children = number[ranges(grown["first_child"][order], (grown["first_child"] + grown["n_children"])[order])]
        grown = {name: array[order] for name, array in grown.items()}
        return _tree(grown, children, errors[order], self._case_units)

    def _append(self, class_units: Int64s, held: npt.NDArray[np.bool_], depth: int) -> None:
        n = len(held)
        block = {
            "kind": np.full(n, LEAF, np.int8),
            "attribute": np.full(n, -1, np.int32),
            "threshold": np.full(n, np.nan),
            "first_child": np.zeros(n, np.int64),
            "n_children": np.zeros(n, np.int64),
            "depth": np.full(n, depth, np.int64),
            "held": held,
            "class_units": class_units.copy(),
        }
        self._blocks.append(block)
        self.n_nodes += n


def _collapse(
    grown: dict[str, npt.NDArray[Any]], levels: list[Int64s], case_units: int
) -> tuple[Int64s, Int64s]:
    """Turn subtrees that save no error into leaves, bottom up; errors in units and sizes of all nodes."""
    total = np.where(grown["held"], grown["class_units"].sum(1), 0)
    as_leaf = np.where(grown["held"], total - grown["class_units"].max(1), 0)
    errors, size = as_leaf.copy(), np.ones(len(total), np.int64)
    for level in reversed(levels):
        nodes = level[grown["kind"][level] != LEAF]
        first, n = grown["first_child"][nodes], grown["n_children"][nodes]
        children, parents = ranges(first, first + n), np.repeat(nodes, n)
        errors[nodes] = 0
        np.add.at(errors, parents, errors[children])
        np.add.at(size, parents, size[children])
        useless = nodes[errors[nodes] / case_units >= as_leaf[nodes] / case_units - EPSILON]
        grown["kind"][useless], grown["attribute"][useless], grown["threshold"][useless] = LEAF, -1, np.nan
        grown["n_children"][useless], size[useless] = 0, 1
    return errors, size


def _preorder(grown: dict[str, npt.NDArray[Any]], levels: list[Int64s], size: Int64s) -> Int64s:
    """The preorder number of each node, -1 for those below a collapsed one."""
    number = np.full(len(size), -1, np.int64)
    number[0] = 0
    for level in levels:
        nodes = level[(number[level] >= 0) & (grown["n_children"][level] > 0)]
        first, n = grown["first_child"][nodes], grown["n_children"][nodes]
        children, parents = ranges(first, first + n), np.repeat(np.arange(len(nodes)), n)
        before = np.cumsum(size[children]) - size[children]
        start = before[np.cumsum(n) - n]
        number[children] = number[nodes][parents] + 1 + before - start[parents]
    return number


def _tree(grown: dict[str, npt.NDArray[Any]], children: Int64s, errors: Int64s, case_units: int) -> Tree:
    """The parallel arrays of nodes in preorder; weights leave the engine's units here, exactly."""
    values = np.where(grown["kind"] == DISCRETE, grown["n_children"], 0)
    value_start = np.concatenate([[0], np.cumsum(values)])
    return Tree(
        kind=grown["kind"],
        attribute=grown["attribute"],
        threshold=grown["threshold"],
        branch_start=np.concatenate([[0], np.cumsum(grown["n_children"])]),
        branch=children,
        value_start=value_start,
        value_branch=ranges(np.zeros(len(values), np.int64), values).astype(np.int32),
        label=grown["class_units"].argmax(1).astype(np.int32),
        weight=np.where(grown["held"], grown["class_units"].sum(1), 0) / case_units,
        errors=errors / case_units,
        class_weights=grown["class_units"] / case_units,
    )
