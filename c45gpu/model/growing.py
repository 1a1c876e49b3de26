"""A tree while it grows: nodes in order of arrival, children side by side; :meth:`GrowingTree.finished` makes a Tree.

    number     0   1 2   3 4 5   ...        a child has a greater number than its parent
    children  1,2   | |  3,4,5              first_child[0] = 1, n_children[0] = 2, first_child[2] = 3

Collapsing (specification section 4, item 9) happens when the tree is finished: a subtree that gets no fewer training
cases right than its root would as a leaf becomes one, but keeps the errors of its branches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema
from c45gpu.estimates import wrong_as_leaves
from c45gpu.formulas import EPSILON
from c45gpu.model.tree import DISCRETE, LEAF, SUBSET, THRESHOLD, Tree, ranges

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Nodes = dict[str, npt.NDArray[Any]]


class Growth(NamedTuple):
    """Nodes that hold cases, at and below nodes that a tree has already; empty branches follow from the tests.

    Attributes
    ----------
    parent : ndarray of int64, shape (r,)
        Of a new node: the row of its parent in these arrays. Of a node that the tree has: -1 - its number.
    branch : ndarray of int64, shape (r,)
        Which branch of its parent a new node is.
    attribute : ndarray of int64, shape (r,)
        Schema number of the attribute that it tests; -1 for a leaf, or for a node that is to be tested yet.
    threshold : ndarray of float64, shape (r,)
        NaN where there is none.
    class_units : ndarray of int64, shape (r, C)
        Class weights in units.
    group_start : ndarray of int64, shape (r + 1,), optional
        ``group_branch[group_start[i] + code]`` is the branch of a value by row i's test on groups of values; the range
        of other rows is empty.
    group_branch : ndarray of int32, optional
    """

    parent: Int64s
    branch: Int64s
    attribute: Int64s
    threshold: npt.NDArray[np.float64]
    class_units: Int64s
    group_start: Int64s | None = None
    group_branch: Int32s | None = None

    def mapped(self) -> tuple[Int64s, Int64s, Int32s]:
        """Of each row the first value in the third array, and how many values it maps."""
        if self.group_start is None or self.group_branch is None:
            none = np.zeros(len(self.parent), np.int64)
            return none, none, np.zeros(0, np.int32)
        return self.group_start[:-1], np.diff(self.group_start), self.group_branch


class Test(NamedTuple):
    """What a node asks of an attribute; the branch of a discrete value is ``value_branch[code]``."""

    attribute: int
    threshold: float
    value_branch: Int32s
    first_child: int
    n_children: int


class GrowingTree:
    """Collects nodes.

    Parameters
    ----------
    schema : Schema
    case_units : int
        Units of weight in one case.
    root : ndarray of int64, shape (1, C)
        Class weights of the root in units.
    """

    def __init__(self, schema: Schema, case_units: int, root: Int64s) -> None:
        discrete = [a.kind == "discrete" for a in schema.attributes]
        self._discrete = np.array(discrete, np.bool_)
        branches = [len(a.values) if a.kind == "discrete" else 2 for a in schema.attributes]
        self._n_branches = np.array(branches, np.int64)
        branches_of_values = max(branches, default=0)
        self._case_units = case_units
        self._values = [np.arange(branches_of_values, dtype=np.int32)]  # a branch for each value; maps of groups follow
        self._n_mapped = branches_of_values
        self._nodes = _blank(root)
        self._nodes["held"][0] = True
        self.n_nodes = 1

    @classmethod
    def of(cls, schema: Schema, case_units: int, nodes: Nodes, values: Int32s) -> GrowingTree:
        """The tree whose :attr:`nodes` and :attr:`values` these are."""
        tree = cls(schema, case_units, nodes["class_units"][:1])
        tree._nodes, tree.n_nodes = nodes, len(nodes["kind"])
        tree._values, tree._n_mapped = [values], len(values)
        return tree

    @property
    def nodes(self) -> Nodes:
        """The fields of the nodes; not to be written to."""
        return {name: array[: self.n_nodes] for name, array in self._nodes.items()}

    @property
    def values(self) -> Int32s:
        """Branches of values; those of a node are ``values[value_first : value_first + n_values]``."""
        return np.concatenate(self._values)

    def add(self, growth: Growth) -> Int64s:
        """Add nodes, and the empty branches beside them.

        Returns
        -------
        ndarray of int64, shape (r,)
            The number of each row's node.
        """
        tested = np.flatnonzero(growth.attribute >= 0)
        attribute = growth.attribute[tested]
        value_first, n_values, values = growth.mapped()
        value_first, n_values = value_first[tested] + self._n_mapped, n_values[tested]
        grouped = n_values > 0
        n_children = self._n_branches[attribute]
        if grouped.any():
            n_children[grouped] = np.maximum.reduceat(values, value_first[grouped] - self._n_mapped) + 1
        by_value = self._discrete[attribute] & ~grouped
        value_first[by_value], n_values[by_value] = 0, n_children[by_value]
        self._values.append(values)
        self._n_mapped += len(values)
        first = np.zeros(len(growth.parent), np.int64)
        first[tested] = self.n_nodes + np.cumsum(n_children) - n_children
        number, new = -1 - growth.parent, growth.parent >= 0
        number[new] = first[growth.parent[new]] + growth.branch[new]
        self._append(_blank(np.repeat(growth.class_units[tested], n_children, axis=0)))
        nodes, here = self._nodes, number[tested]
        nodes["kind"][here] = np.where(grouped, SUBSET, np.where(by_value, DISCRETE, THRESHOLD))
        nodes["value_first"][here], nodes["n_values"][here] = value_first, n_values
        nodes["attribute"][here], nodes["threshold"][here] = attribute, growth.threshold[tested]
        nodes["first_child"][here], nodes["n_children"][here] = first[tested], n_children
        nodes["held"][number], nodes["class_units"][number] = True, growth.class_units
        return number

    def set_thresholds(self, nodes: Int64s, threshold: npt.NDArray[np.float64]) -> None:
        """The thresholds of tests that were added without one."""
        self._nodes["threshold"][nodes] = threshold

    def test_of(self, node: int) -> Test | None:
        """What a node asks, and the numbers of its branches; None of a leaf."""
        kind, attribute, threshold, first_child, n_children, value_first, n_values = (
            self._nodes[name][node].item()
            for name in ("kind", "attribute", "threshold", "first_child", "n_children", "value_first", "n_values")
        )
        if kind == LEAF:
            return None
        maps = np.concatenate(self._values) if kind == SUBSET else self._values[0]
        return Test(attribute, threshold, maps[value_first : value_first + n_values], first_child, n_children)

    def finished(self, stops: Callable[[Nodes, list[Int64s]], None] | None = None) -> Tree:
        """The collapsed tree, its nodes numbered in preorder.

        `stops` may make leaves of nodes before; it is given the nodes, and their numbers by depth.
        """
        grown = {name: array[: self.n_nodes].copy() for name, array in self._nodes.items()}
        levels = _levels(grown)
        if stops is not None:
            stops(grown, levels)
            levels = _levels(grown)
        errors, size = _collapse(grown, levels, self._case_units)
        number = _preorder(grown, levels, size)
        order = np.empty(size[0], np.int64)
        order[number[number >= 0]] = np.flatnonzero(number >= 0)
        children = number[ranges(grown["first_child"][order], (grown["first_child"] + grown["n_children"])[order])]
        grown = {name: array[order] for name, array in grown.items()}
        return _tree(grown, children, np.concatenate(self._values), errors[order], self._case_units)

    def _append(self, more: Nodes) -> None:
        """Room grows by doubling, so that adding many times costs no more than adding once."""
        first, stop = self.n_nodes, self.n_nodes + len(more["kind"])
        for name, array in self._nodes.items():
            if stop > len(array):
                room = np.empty((max(stop, 2 * len(array)), *array.shape[1:]), array.dtype)
                room[:first] = array[:first]
                self._nodes[name] = room
            self._nodes[name][first:stop] = more[name]
        self.n_nodes = stop


def _blank(class_units: Int64s) -> Nodes:
    """Empty leaves with the class weights of their parents."""
    n = len(class_units)
    return {
        "kind": np.full(n, LEAF, np.int8),
        "attribute": np.full(n, -1, np.int32),
        "threshold": np.full(n, np.nan),
        "first_child": np.zeros(n, np.int64),
        "n_children": np.zeros(n, np.int64),
        "value_first": np.zeros(n, np.int64),
        "n_values": np.zeros(n, np.int64),
        "held": np.zeros(n, np.bool_),
        "class_units": class_units.copy(),
    }


def _levels(grown: Nodes) -> list[Int64s]:
    """Node numbers by depth."""
    levels, nodes = [], np.zeros(1, np.int64)
    while len(nodes):
        levels.append(nodes)
        first = grown["first_child"][nodes]
        nodes = ranges(first, first + grown["n_children"][nodes])
    return levels


def _collapse(grown: Nodes, levels: list[Int64s], case_units: int) -> tuple[Int64s, Int64s]:
    """Turn subtrees that save no error into leaves, bottom up; errors in units and sizes of all nodes."""
    as_leaf = np.where(grown["held"], wrong_as_leaves(grown["class_units"]), 0)
    errors, size = as_leaf.copy(), np.ones(len(as_leaf), np.int64)
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


def _preorder(grown: Nodes, levels: list[Int64s], size: Int64s) -> Int64s:
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


def _tree(grown: Nodes, children: Int64s, branches: Int32s, errors: Int64s, case_units: int) -> Tree:
    """The parallel arrays of nodes in preorder; weights leave the engine's units here, exactly.

    `branches` holds the branches of values, those of a node from its `value_first` on.
    """
    by_value = (grown["kind"] == DISCRETE) | (grown["kind"] == SUBSET)
    values = np.where(by_value, grown["n_values"], 0)
    value_start = np.concatenate([[0], np.cumsum(values)])
    return Tree(
        kind=grown["kind"],
        attribute=grown["attribute"],
        threshold=grown["threshold"],
        branch_start=np.concatenate([[0], np.cumsum(grown["n_children"])]),
        branch=children,
        value_start=value_start,
        value_branch=branches[ranges(grown["value_first"], grown["value_first"] + values)],
        label=grown["class_units"].argmax(1).astype(np.int32),
        weight=np.where(grown["held"], grown["class_units"].sum(1), 0) / case_units,
        errors=errors / case_units,
        class_weights=grown["class_units"] / case_units,
    )
