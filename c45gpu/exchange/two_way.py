"""A tree of two-way tests on numbers, for formats that know no others.

A test divides the line of a column's values into intervals, each of which belongs to a branch; a threshold makes two,
and the codes of a discrete attribute make one for each run of codes with the same branch:

    code        0   1 | 2 | 3   4 | 5
    branch      0   0 | 1 | 0   0 | 2           cuts 1.5, 2.5, 4.5

Intervals are found by halving. Where a branch has several intervals, what is below it is repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema
from c45gpu.errors import DataError
from c45gpu.exchange.exported import most_common_branches
from c45gpu.model.tree import LEAF, THRESHOLD, Tree

REFUSED: Final = -2
MOST_REPEATED: Final = 64  # times the nodes of the tree; more is no tree that anybody wants to have


class Intervals(NamedTuple):
    """A test: the column it asks for, the cuts between its intervals, and the branch of each interval, -1 for none."""

    column: int
    cuts: list[float]
    branches: list[int]


class TwoWay(NamedTuple):
    """A tree of m nodes, its root first, a node before its children.

    Parameters
    ----------
    column : ndarray of int64, shape (m,)
        -1 at a leaf.
    threshold : ndarray of float64, shape (m,)
        Values up to it go to `low`, others to `high`; NaN at a leaf.
    low, high : ndarray of int64, shape (m,)
        Node numbers, -1 at a leaf.
    unknown_low : ndarray of bool, shape (m,)
        Whether unknown values go to `low`.
    leaf : ndarray of int64, shape (m,)
        At a leaf the node of the original tree, or :data:`REFUSED`; -1 elsewhere.
    weight : ndarray of float64, shape (m,)
        Weight of the training cases, that of an inner node the sum of its children's. A branch with several intervals
        is taken to have it in equal parts there.
    """

    column: npt.NDArray[np.int64]
    threshold: npt.NDArray[np.float64]
    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    unknown_low: npt.NDArray[np.bool_]
    leaf: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]


class Columns(NamedTuple):
    """Columns of branches: a continuous attribute as it is, and of a discrete one the branch that each value takes.

    A discrete attribute has a column for each way in which tests divide its values.

    Parameters
    ----------
    of_node : list of int
        The column that each node of the tree asks for; -1 at leaves.
    attribute : list of int
        The attribute of each column.
    branch_of_code : list of (ndarray of float64, or None)
        For each column of a discrete attribute the branch of each of its values; NaN for none.
    """

    of_node: list[int]
    attribute: list[int]
    branch_of_code: list[npt.NDArray[np.float64] | None]


def columns_of(tree: Tree, schema: Schema) -> Columns:
    """The columns that the tests of a tree ask for, those of one attribute beside each other."""
    columns = Columns([-1] * tree.n_nodes, [], [])
    place: dict[tuple[int, bytes], int] = {}
    for node in np.argsort(tree.attribute, kind="stable").tolist():
        if tree.kind[node] == LEAF:
            continue
        attribute, branches = int(tree.attribute[node]), None
        if tree.kind[node] != THRESHOLD:
            mapped = tree.value_map(node)
            branches = np.full(len(schema.attributes[attribute].values), np.nan)
            branches[: len(mapped)] = np.where(mapped < 0, np.nan, mapped)
        key = attribute, b"" if branches is None else branches.tobytes()
        if key not in place:
            place[key] = len(place)
            columns.attribute.append(attribute)
            columns.branch_of_code.append(branches)
        columns.of_node[node] = place[key]
    return columns


def intervals_of_branches(tree: Tree, columns: Columns, node: int) -> Intervals:
    """The test of a node on its column of branches: a threshold, or the branches themselves."""
    column = columns.of_node[node]
    if tree.kind[node] == THRESHOLD:
        return Intervals(column, [float(tree.threshold[node])], [0, 1])
    n_branches = len(tree.branches(node))
    return Intervals(column, [branch + 0.5 for branch in range(n_branches - 1)], [*range(n_branches)])


def intervals_of_codes(tree: Tree, node: int, n_values: int) -> Intervals:
    """The test of a node on the attribute's own column: a threshold, or codes."""
    column = int(tree.attribute[node])
    if tree.kind[node] == THRESHOLD:
        return Intervals(column, [float(tree.threshold[node])], [0, 1])
    branches = np.full(max(n_values, 1), -1, np.int64)
    branches[: len(tree.value_map(node))] = tree.value_map(node)
    cuts = np.flatnonzero(branches[1:] != branches[:-1])
    return Intervals(column, (cuts + 0.5).tolist(), branches[np.append(cuts, len(branches) - 1)].tolist())


def two_way(tree: Tree, intervals_of: Callable[[int], Intervals], *, refuse: bool) -> TwoWay:
    """The tree with two-way tests.

    Parameters
    ----------
    tree : Tree
    intervals_of : callable
        The test of an inner node.
    refuse : bool
        Whether unknown values, and values without a branch, end at a leaf :data:`REFUSED`; else they take the branch of
        most weight.

    Raises
    ------
    DataError
        When so much would have to be repeated that the tree becomes :data:`MOST_REPEATED` times as large.
    """
    return _Builder(tree, intervals_of, refuse).built()


class _Test(NamedTuple):
    """A test with the weight of each interval, and the interval that unknown values go to."""

    column: int
    cuts: list[float]
    branches: list[int]
    weights: npt.NDArray[np.float64]
    home: int


class _Pending(NamedTuple):
    """What is still to be built, and whose child it is (which node, which side)."""

    node: int
    test: _Test | None  # None where the node's test has not begun
    first: int
    stop: int
    weight: float
    known: frozenset[int]  # columns whose values are known here
    parent: int
    is_low: bool


class _Builder:
    def __init__(self, tree: Tree, intervals_of: Callable[[int], Intervals], refuse: bool) -> None:
        self._tree, self._intervals_of, self._refuse = tree, intervals_of, refuse
        self._heaviest = most_common_branches(tree)
        self._rows: list[tuple[int, float, bool, int, float]] = []
        self._low: list[int] = []
        self._high: list[int] = []
        self._pending: list[_Pending] = []

    def built(self) -> TwoWay:
        self._pending.append(_Pending(0, None, 0, 0, float(self._tree.weight[0]), frozenset(), -1, True))
        while self._pending:
            if len(self._rows) > MOST_REPEATED * (self._tree.n_nodes + int(self._tree.value_start[-1]) + 1):
                raise DataError("its tests on groups of values would have to be repeated too often: use another export")
            self._next(self._pending.pop())
        column, threshold, unknown_low, leaf, weight = (list(of) for of in zip(*self._rows, strict=True))
        for node in reversed(range(len(weight))):
            if column[node] >= 0:
                weight[node] = weight[self._low[node]] + weight[self._high[node]]
        return TwoWay(
            np.array(column, np.int64),
            np.array(threshold, np.float64),
            np.array(self._low, np.int64),
            np.array(self._high, np.int64),
            np.array(unknown_low, np.bool_),
            np.array(leaf, np.int64),
            np.array(weight, np.float64),
        )

    def _next(self, at: _Pending) -> None:
        if at.test is None and at.node != REFUSED and self._tree.kind[at.node] != LEAF:
            self._begin(at)
        elif at.test is None:
            self._add(at, -1, np.nan, False, at.node)
        elif at.stop - at.first == 1:
            self._pending.append(self._after(at, at.test))
        else:
            self._halve(at, at.test)

    def _begin(self, at: _Pending) -> None:
        test = self._test(at)
        whole = at._replace(test=test, first=0, stop=len(test.branches))
        if self._refuse and test.column not in at.known:
            number = self._add(at, test.column, np.inf, False, -1)
            nothing = at._replace(node=REFUSED, weight=0.0)
            whole = whole._replace(known=at.known | {test.column})
            self._push(number, whole, nothing)
        else:
            self._pending.append(whole)

    def _test(self, at: _Pending) -> _Test:
        column, cuts, branches = self._intervals_of(at.node)
        heaviest = self._heaviest[at.node]
        if heaviest not in branches and not self._refuse:  # it has no values, but the unknown ones take it
            cuts, branches = [*cuts, np.inf], [*branches, heaviest]
        tree, taken = self._tree, np.array(branches)
        weights = tree.weight[tree.branches(at.node)]
        times = np.bincount(taken[taken >= 0], minlength=len(weights))
        parts = np.where(taken >= 0, (weights / np.maximum(times, 1))[taken], 0.0)
        whole = float(tree.weight[at.node])
        parts = parts if at.weight == whole else parts * (at.weight / whole)
        return _Test(column, cuts, branches, parts, 0 if self._refuse else branches.index(heaviest))

    def _halve(self, at: _Pending, test: _Test) -> None:
        middle = (at.first + at.stop) // 2
        number = self._add(at, test.column, test.cuts[middle - 1], test.home < middle, -1)
        below, above = test.weights[at.first : middle].sum(), test.weights[middle : at.stop].sum()
        self._push(
            number,
            at._replace(stop=middle, weight=float(below)),
            at._replace(first=middle, weight=float(above)),
        )

    def _after(self, at: _Pending, test: _Test) -> _Pending:
        """The node that an interval leads to."""
        branch = test.branches[at.first]
        if branch < 0 and self._refuse:
            return at._replace(node=REFUSED, test=None)
        branch = self._heaviest[at.node] if branch < 0 else branch
        return at._replace(node=int(self._tree.branches(at.node)[branch]), test=None)

    def _push(self, number: int, low: _Pending, high: _Pending) -> None:
        self._pending += [high._replace(parent=number, is_low=False), low._replace(parent=number, is_low=True)]

    def _add(self, at: _Pending, column: int, threshold: float, unknown_low: bool, leaf: int) -> int:
        number = len(self._rows)
        self._rows.append((column, threshold, unknown_low, leaf, at.weight))
        self._low.append(-1)
        self._high.append(-1)
        if at.parent >= 0:
            (self._low if at.is_low else self._high)[at.parent] = number
        return number
