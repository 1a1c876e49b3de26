"""What one worker does while a tree grows: it has some attributes of all cases, and an engine that knows these only.

The engine takes a node up to a certain weight for a leaf. The cases of such *small* nodes are kept apart, to be brought
together with all of their attributes on one worker, which grows what is below them. Small nodes have numbers, in the
order in which they come up, on all shares alike. The CPU engine keeps their lists if it counts cases; of other engines
the share keeps their cases.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.choose import Facts, is_leaf
from c45gpu.dask.by_attribute import by_attribute
from c45gpu.dask.faults import Lost
from c45gpu.dask.kept import taken_apart, together
from c45gpu.dask.order import Order
from c45gpu.dask.packed import Packed, pack, unpacked
from c45gpu.dask.replay import Tests
from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.induction.cuts import thresholds
from c45gpu.induction.problem import units_of
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.kernels.cpu_apart import SortedCases, SortedColumns
from c45gpu.kernels.engine import open_engine
from c45gpu.kernels.level import (
    ELSEWHERE,
    Bools,
    Candidates,
    Frontier,
    Instances,
    Int32s,
    Int64s,
    Problem,
    Splits,
    Taken,
)
from c45gpu.model.tree import ranges

Floats = npt.NDArray[np.float64]

FAILED, NOTHING, TOLD = range(-1, 2)  # what a share has done of a step


class Sides(NamedTuple):
    """The values on both sides of cuts, and the threshold in between; NaN for other tests.

    Attributes
    ----------
    low, threshold, high : ndarray of float64, shape (k,)
    """

    low: Floats
    threshold: Floats
    high: Floats


class Parted(NamedTuple):
    """What became of splits, as every share tells it.

    Attributes
    ----------
    class_weights : ndarray of int64, shape (m, C)
        Of the branches that hold cases.
    open, small : ndarray of bool, shape (m,)
        The engine goes on with the node; the node is kept apart.
    split, branch : ndarray of int64, shape (m,)
    """

    class_weights: Int64s
    open: Bools
    small: Bools
    split: Int64s
    branch: Int64s

    def digest(self) -> int:
        """Equal for equal ones."""
        return zlib.crc32(b"".join(np.ascontiguousarray(array).tobytes() for array in self))


class Share:
    """Some attributes of all cases.

    Parameters
    ----------
    problem : Problem
        Of the whole: its table is without cases.
    owned : ndarray of int64
        Positions of the share's attributes among the used ones.
    unit_bits : int
    small : int
        Nodes up to this weight, in cases, are kept apart.
    engine : str
        What the attributes are scored by; not "auto".
    table : Table
        All cases, with the columns of these attributes.
    """

    def __init__(
        self, problem: Problem, owned: Int64s, unit_bits: int, small: int, engine: str, table: Table, threads: int
    ) -> None:
        self._whole, self.owned, self._table = problem, owned, table
        self._alike = problem.whole and table.weights is None
        self._release8 = problem.settings.gap > 0
        settings = problem.settings
        if small:
            settings = settings._replace(split_units=max(settings.split_units, (small << unit_bits) + 1))
        self.engine = engine
        schema = problem.table.schema
        most = max([2, *(len(attribute.values) for attribute in schema.attributes)])
        self._problem = replace(
            problem,
            table=table,
            units=units_of(table, unit_bits),
            settings=settings,
            apart=problem.settings if small else None,
            facts=Facts(*(x[owned] for x in problem.facts)),
            may_finish=False,
            other_branches=most,
        )
        self._engine = open_engine(engine, 0, threads)
        self.sorted = self._alike and not self._release8 and isinstance(self._engine, CpuEngine)
        self._apart: list[Instances] = []  # of the small nodes of each step, unless the engine keeps their lists
        self._open_weights: Int64s
        self._told: Packed  # for the other shares
        self._news = threading.Condition()
        self._step, self._done = 0, NOTHING

    def load(self) -> Parted:
        """The root."""
        frontier = self._engine.load(self._problem)
        nothing = np.zeros(1, np.int64)
        parted = self._parted(frontier, nothing, nothing)
        if parted.small[0] and not self.sorted:
            units = self._problem.units
            self._apart = [Instances(np.arange(len(units)), units, np.array([0, len(units)]))]
        return parted

    def score(self, first: int, stop: int) -> Candidates:
        """The best test of each attribute of the share."""
        return self._engine.score(first, stop)

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        """See :meth:`c45gpu.kernels.engine.Engine.tables`; the attribute is a position in the share."""
        return self._engine.tables(attribute, first, stop)

    def counts(self, nodes: Int64s) -> Int64s:
        """How many instances some open nodes have."""
        return self._open_weights[nodes] if self._alike else np.diff(self._engine.instances(nodes).start)

    def take(self, step: int, splits: Splits, counts: Int64s) -> Sides:
        """Find out which branches the cases take by tests of this share's attributes, and have it ready for others.

        `counts` are the instances of each split.
        """
        taken = self._engine.taken(splits)
        self._told = pack(taken.branch, counts)
        self.publish(step, TOLD)
        return self._sides(splits.attribute, taken)

    def take_again(self, step: int, tests: Tests, counts: Int64s) -> None:
        """The same by tests that are told by value."""
        case = self._engine.instances(tests.splits.node).case
        split, branch = np.repeat(np.arange(len(counts)), counts), np.empty(len(case), np.int32)
        for k in np.unique(tests.splits.attribute).tolist():
            here = np.flatnonzero(tests.splits.attribute[split] == k)
            branch[here] = tests.branch(self._table.rows(self._problem.used[k], case[here]), split[here])
        self._told = pack(branch, counts)
        self.publish(step, TOLD)

    def publish(self, step: int, done: int) -> None:
        """Let others have what this share has done of a step, or know that it failed."""
        with self._news:
            self._step, self._done = step, done
            self._news.notify_all()

    def fail(self) -> None:
        """Tell those who wait for this share that they wait in vain."""
        self.publish(self._step, FAILED)

    def _await(self, step: int, done: int, seconds: float) -> None:
        """Wait until so much of a step is done here."""
        with self._news:
            self._news.wait_for(lambda: self._done == FAILED or (self._step == step and self._done >= done), seconds)
            if self._done == FAILED or self._step != step or self._done < done:
                raise Lost("a worker did not come to the end of its part of a step")

    def tell(self, step: int, seconds: float) -> Packed:
        """What :meth:`take` found out in a step, as soon as it has."""
        self._await(step, TOLD, seconds)
        return self._told

    def split(self, nodes: Int64s, counts: Int64s, told: Iterable[tuple[Int64s, Packed]]) -> Parted:
        """Split nodes by what the shares told; of each the splits that it told of."""
        start = np.concatenate([[0], np.cumsum(counts)])
        branch = np.empty(start[-1], np.int32)
        for which, packed in told:
            here = slice(None) if len(which) == len(nodes) else ranges(start[which], start[which + 1])
            branch[here] = unpacked(packed)
        instances = None if self.sorted else self._engine.instances(nodes)
        elsewhere = np.full(len(nodes), ELSEWHERE)
        children = self._engine.split(Splits(nodes, elsewhere, elsewhere, start, branch))
        parted = self._parted(children.frontier, children.split, children.branch)
        if instances is not None:
            self._apart.append(taken_apart(instances, branch, children, parted.small))
        return parted

    def columns(self, small: Int64s) -> list[npt.NDArray[Any]]:
        """The values of the share's attributes of the cases of small nodes, one node after the other."""
        case = together(self._apart, small).case
        return [self._table.rows(a, case) for a in self._problem.used]

    def cases(self, small: Int64s) -> tuple[Int32s, Int64s, Int64s]:
        """The classes and units of the cases of small nodes, and how many each node has.

        No units where all cases have one.
        """
        kept = together(self._apart, small)
        units = np.zeros(0, np.int64) if self._alike else kept.units
        return self._table.classes[kept.case], units, np.diff(kept.start)

    def sorted_columns(self, small: Int64s) -> SortedColumns:
        """The share's attributes of the cases of small nodes, sorted."""
        return self._cpu.apart.columns(small)

    def sorted_cases(self, small: Int64s, with_rows: bool) -> SortedCases:
        """The cases of small nodes."""
        return self._cpu.apart.cases(small, with_rows)

    def order(self) -> Order:
        """The order of cases by leaf, as far as it is known here, and where small nodes lie in it."""
        return Order(self._cpu.order, *self._cpu.apart.places())

    def note_order(self, small: Int64s, cases: Int32s) -> None:
        """Have the cases of some small nodes, one node after the other, in the order of leaves."""
        self.order().fill(small, cases)

    def thresholds(self, attribute: Int64s, low: Floats, high: Floats) -> Floats:
        """The thresholds of cuts between values; attributes are positions in the share."""
        found = np.empty(len(attribute))
        for a, here in by_attribute(attribute):
            distinct = self._engine.distinct(a)
            below, above = (np.searchsorted(distinct, x[here].astype(distinct.dtype)) for x in (low, high))
            found[here] = thresholds(distinct, below, above, self._release8)
        return found

    def sorted_thresholds(self, small: Int64s, attribute: Int64s, below: Int64s, above: Int64s) -> Floats:
        """The same between cases, by their numbers in small nodes; or between codes, if the attribute has no list."""
        rows, listed, found = self._cpu.apart.rows(small), self._cpu.apart.listed, np.empty(len(attribute))
        for a, here in by_attribute(attribute):
            distinct, low, high = self._engine.distinct(a), below[here], above[here]
            if listed[a]:
                values = self._table.rows(self._problem.used[a], rows[np.concatenate([low, high])])
                low, high = np.split(np.searchsorted(distinct, values), 2)
            found[here] = thresholds(distinct, low, high, self._release8)
        return found

    def close(self) -> None:
        """Let go of everything."""
        self._engine.close()
        self.__dict__.clear()

    def _sides(self, attribute: Int64s, taken: Taken) -> Sides:
        sides = Sides(*np.full((3, len(attribute)), np.nan))
        for a in np.unique(attribute[taken.below >= 0]).tolist():
            here = (attribute == a) & (taken.below >= 0)
            distinct, below, above = self._engine.distinct(a), taken.below[here], taken.above[here]
            sides.low[here], sides.high[here] = distinct[below], distinct[above]
            sides.threshold[here] = thresholds(distinct, below, above, self._release8)
        return sides

    def _parted(self, frontier: Frontier, split: Int64s, branch: Int64s) -> Parted:
        weights = frontier.class_weights
        self._open_weights = weights[frontier.open].sum(1)
        leaf = is_leaf(weights.sum(1), weights.max(1), self._whole.settings)
        return Parted(weights, frontier.open, ~leaf & ~frontier.open, split, branch)

    @property
    def _cpu(self) -> CpuEngine:
        assert isinstance(self._engine, CpuEngine)
        return self._engine


def ignoring(schema: Schema, used: Int64s) -> Schema:
    """The schema with all attributes but some ignored, by schema number."""
    kept = set(used.tolist())
    attributes = (x if a in kept else replace(x, kind="ignored") for a, x in enumerate(schema.attributes))
    return Schema(tuple(attributes), schema.classes, schema.target)
