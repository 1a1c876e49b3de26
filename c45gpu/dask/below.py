"""Grow all that is below some small nodes on one worker, which has all attributes of their cases."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.choose import NO_TEST
from c45gpu.induction.grow import BATCH_BYTES, CANDIDATE_BYTES
from c45gpu.kernels.engine import LocalEngine
from c45gpu.kernels.level import ELSEWHERE, Children, Frontier, Int64s, Problem, Splits, Subtrees
from c45gpu.kernels.level_engine import Details, GrownLevel, LevelEngine

Floats = npt.NDArray[np.float64]


class Below(NamedTuple):
    """Subtrees as in :class:`c45gpu.kernels.level.Subtrees`, with values in the place of ranks.

    Attributes
    ----------
    parent, branch, attribute : ndarray of int64, shape (r,)
        The parent of a root is -1 - its position among the nodes.
    low, high : ndarray of float64, shape (r,)
        The values on both sides of a cut; NaN where there is none.
    class_weights : ndarray of int64, shape (r, C)
    """

    parent: Int64s
    branch: Int64s
    attribute: Int64s
    low: Floats
    high: Floats
    class_weights: Int64s


def grown_below(engine: LocalEngine, problem: Problem, counts: Int64s) -> Below:
    """Grow the subtrees of nodes, given their cases one node after the other.

    Parameters
    ----------
    engine : LocalEngine
    problem : Problem
        A case with several of the nodes is there several times.
    counts : ndarray of int64, shape (m,)
        Cases of each node.
    """
    frontier = engine.load(problem)
    if problem.forest:
        branch = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        root = np.zeros(1, np.int64)
        apart = Splits(root, root + ELSEWHERE, root - 1, np.array([0, len(branch)]), branch)
        frontier = engine.split(apart).frontier
    found = all_below(engine, frontier, len(problem.used))
    low, high = (values_at(engine, found.attribute, side) for side in (found.below, found.above))
    return Below(found.parent, found.branch, found.attribute, low, high, found.class_weights)


def all_below(engine: LocalEngine, frontier: Frontier, n_used: int) -> Subtrees:
    """Grow all that is below the nodes of a frontier, of a problem that says `may_finish`."""
    records = _Records(frontier)
    while len(records.open):
        if isinstance(engine, LevelEngine):
            records.add_level(engine.grow_level())
        else:
            splits = _chosen(engine, records.weights.sum(1), n_used)
            records.add(splits, engine.split(splits))
    if isinstance(engine, LevelEngine):
        records.complete(engine.details())
    return records.all()


def _chosen(engine: LocalEngine, weight: Int64s, n_used: int) -> Splits:
    """The best test of each open node that has one."""
    batch = max(1, BATCH_BYTES // (CANDIDATE_BYTES * max(1, n_used)))
    nodes, attributes, cuts = [], [], []
    for first in range(0, len(weight), batch):
        candidates = engine.score(first, min(first + batch, len(weight)))
        chosen = engine.choose(candidates, weight[first : first + batch])
        tested = np.flatnonzero(chosen != NO_TEST)
        nodes.append(first + tested)
        attributes.append(chosen[tested])
        cuts.append(candidates.cut[tested, chosen[tested]])
    return Splits(np.concatenate(nodes), np.concatenate(attributes), np.concatenate(cuts))


class _Nodes(NamedTuple):
    """Some rows of subtrees, without tests."""

    parent: Int64s
    branch: Int64s
    class_weights: Int64s


class _Tests(NamedTuple):
    """The tests of some rows."""

    row: Int64s
    attribute: Int64s
    below: Int64s
    above: Int64s


class _Records:
    """Collects what grows."""

    def __init__(self, frontier: Frontier) -> None:
        self._nodes: list[_Nodes] = []
        self._tests: list[_Tests] = []
        self._n = 0
        self._rows: list[tuple[Int64s, Int64s, Int64s]] = []  # tested, with their attributes, and taken, by level
        m = len(frontier.class_weights)
        self._advance(frontier, -1 - np.arange(m), np.zeros(m, np.int64))

    def add(self, splits: Splits, children: Children) -> None:
        """Note the tests of open nodes, and go on with the branches."""
        rows = self.open[splits.node]
        self._tests.append(_Tests(rows, splits.attribute, children.below, children.above))
        self._advance(children.frontier, rows[children.split], children.branch)

    def add_level(self, grown: GrownLevel) -> None:
        """The same where the engine chose, but for what it tells later."""
        rows = self.open[grown.splits.node]
        self._rows.append((rows, grown.splits.attribute, self.open[grown.taken]))
        self._advance(grown.frontier, rows[grown.split], grown.branch)

    def complete(self, details: Details) -> None:
        """Note what the engine told later."""
        none = (np.zeros(0, np.int64),) * 3
        rows, attribute, taken = map(np.concatenate, zip(none, *self._rows, strict=True))
        self._tests.append(_Tests(rows, attribute, details.below, details.above))
        if details.finished is not None:
            self._graft(details.finished, taken)

    def all(self) -> Subtrees:
        """All that grew."""
        nodes = _Nodes(*(np.concatenate(column) for column in zip(*self._nodes, strict=True)))
        attribute, below, above = np.full((3, self._n), -1, np.int64)
        for tests in self._tests:
            attribute[tests.row], below[tests.row], above[tests.row] = tests.attribute, tests.below, tests.above
        return Subtrees(nodes.parent, nodes.branch, attribute, below, above, nodes.class_weights)

    def _advance(self, frontier: Frontier, parent: Int64s, branch: Int64s) -> None:
        rows = self._append(parent, branch, frontier.class_weights)
        if frontier.finished is not None:
            self._graft(frontier.finished, rows)
        self.open, self.weights = rows[frontier.open], frontier.class_weights[frontier.open]

    def _append(self, parent: Int64s, branch: Int64s, class_weights: Int64s) -> Int64s:
        self._nodes.append(_Nodes(parent, branch, class_weights))
        self._n += len(parent)
        return np.arange(self._n - len(parent), self._n)

    def _graft(self, subtrees: Subtrees, rows: Int64s) -> None:
        """Add what the engine finished below some of the rows."""
        root = subtrees.parent < 0
        number = np.empty(len(root), np.int64)
        number[root] = rows[-1 - subtrees.parent[root]]
        number[~root] = self._n + np.arange(len(root) - int(root.sum()))
        self._append(number[subtrees.parent[~root]], subtrees.branch[~root], subtrees.class_weights[~root])
        tested = subtrees.attribute >= 0
        tests = (x[tested] for x in (number, subtrees.attribute, subtrees.below, subtrees.above))
        self._tests.append(_Tests(*tests))


def values_at(engine: LocalEngine, attribute: Int64s, rank: Int64s) -> Floats:
    """The values of ranks of attributes; NaN for negative ones."""
    values = np.full(len(rank), np.nan)
    for a in np.unique(attribute[rank >= 0]).tolist():
        here = (attribute == a) & (rank >= 0)
        values[here] = engine.distinct(a)[rank[here]]
    return values
