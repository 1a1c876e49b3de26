"""What one worker does while a tree grows: it has some attributes of all cases, and an engine that knows these only.

The engine takes a node up to a certain weight for a leaf. The cases of such *small* nodes are kept apart, to be brought
together with all of their attributes on one worker, which grows what is below them.
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
from c45gpu.dask.faults import Lost
from c45gpu.dask.packed import Packed, pack, unpacked
from c45gpu.dask.replay import Tests
from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.induction.grow import thresholds
from c45gpu.induction.problem import units_of
from c45gpu.kernels.descend import divide
from c45gpu.kernels.engine import open_engine
from c45gpu.kernels.level import (
    ELSEWHERE,
    Bools,
    Candidates,
    Children,
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

FAILED, NOTHING, TOLD, PARTED = range(-1, 3)  # what a share has done of a step


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
            facts=Facts(*(x[owned] for x in problem.facts)),
            may_finish=False,
            other_branches=most,
        )
        self._engine = open_engine(engine, 0, threads)
        self._apart: Instances
        self._weights: Int64s  # of the small nodes
        self._told: Packed  # for the other shares
        self._news = threading.Condition()
        self._step, self._done = 0, NOTHING

    def load(self) -> Parted:
        """The root."""
        frontier = self._engine.load(self._problem)
        nothing = np.zeros(1, np.int64)
        parted = self._parted(frontier, nothing, nothing)
        self._weights = parted.class_weights[parted.small].sum(1)
        if parted.small[0]:
            units = self._problem.units
            self._apart = Instances(np.arange(len(units)), units, np.array([0, len(units)]))
        return parted

    def score(self, first: int, stop: int) -> Candidates:
        """The best test of each attribute of the share."""
        return self._engine.score(first, stop)

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        """See :meth:`c45gpu.kernels.engine.Engine.tables`; the attribute is a position in the share."""
        return self._engine.tables(attribute, first, stop)

    def instances(self, nodes: Int64s) -> Instances:
        """The instances of some open nodes."""
        return self._engine.instances(nodes)

    def take(self, step: int, splits: Splits, counts: Int64s) -> Sides:
        """Find out which branches the cases take by tests of this share's attributes, and have it ready for others.

        `counts` are the instances of each split.
        """
        taken = self._engine.taken(splits)
        self._told = pack(taken.branch, counts)
        self.publish(step, TOLD)
        return self._sides(splits.attribute, taken)

    def take_again(self, step: int, tests: Tests, case: Int64s, counts: Int64s) -> None:
        """The same by tests that are told by value; `case` is the cases of each split, one split after the other."""
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

    def small_weights(self, step: int, seconds: float) -> Int64s:
        """The weights of the small nodes of a step, as soon as they are there."""
        self._await(step, PARTED, seconds)
        return self._weights

    def split(self, step: int, nodes: Int64s, instances: Instances, told: Iterable[tuple[Int64s, Packed]]) -> Parted:
        """Split nodes by what the shares told; of each the splits that it told of."""
        branch = np.empty(len(instances.case), np.int32)
        for which, packed in told:
            branch[ranges(instances.start[which], instances.start[which + 1])] = unpacked(packed)
        elsewhere = np.full(len(nodes), ELSEWHERE)
        splits = Splits(nodes, elsewhere, elsewhere, instances.start, branch)
        children = self._engine.split(splits)
        parted = self._parted(children.frontier, children.split, children.branch)
        self._apart = _taken_apart(instances, branch, children, parted.small)
        self._weights = parted.class_weights[parted.small].sum(1)
        self.publish(step, PARTED)
        return parted

    def columns(self, step: int, small: Int64s, seconds: float) -> list[npt.NDArray[Any]]:
        """The values of the share's attributes of the cases of small nodes, one node after the other."""
        self._await(step, PARTED, seconds)
        case = self._apart.case[self._places(small)]
        return [self._table.rows(a, case) for a in self._problem.used]

    def cases(self, step: int, small: Int64s, seconds: float) -> tuple[Int32s, Int64s, Int64s]:
        """The classes and units of the cases of small nodes, and how many each node has.

        No units where all cases have one.
        """
        self._await(step, PARTED, seconds)
        here = self._places(small)
        units = np.zeros(0, np.int64) if self._alike else self._apart.units[here]
        return self._table.classes[self._apart.case[here]], units, np.diff(self._apart.start)[small]

    def thresholds(self, attribute: Int64s, low: Floats, high: Floats) -> Floats:
        """The thresholds of cuts between values; attributes are positions in the share."""
        found = np.empty(len(attribute))
        for a in np.unique(attribute).tolist():
            here, distinct = attribute == a, self._engine.distinct(a)
            below, above = (np.searchsorted(distinct, x[here].astype(distinct.dtype)) for x in (low, high))
            found[here] = thresholds(distinct, below, above, self._release8)
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
        leaf = is_leaf(weights.sum(1), weights.max(1), self._whole.settings)
        return Parted(weights, frontier.open, ~leaf & ~frontier.open, split, branch)

    def _places(self, small: Int64s) -> Int64s:
        return ranges(self._apart.start[small], self._apart.start[small + 1])


def ignoring(schema: Schema, used: Int64s) -> Schema:
    """The schema with all attributes but some ignored, by schema number."""
    kept = set(used.tolist())
    attributes = (x if a in kept else replace(x, kind="ignored") for a, x in enumerate(schema.attributes))
    return Schema(tuple(attributes), schema.classes, schema.target)


def _taken_apart(instances: Instances, branch: Int32s, children: Children, small: Bools) -> Instances:
    """The instances of small children, in the order of these."""
    numbers = np.flatnonzero(small)
    k = len(instances.start) - 1
    concerned = np.unique(children.split[numbers])
    here = ranges(instances.start[concerned], instances.start[concerned + 1])
    split = np.repeat(concerned, np.diff(instances.start)[concerned])
    branch, case, units = branch[here], instances.case[here], instances.units[here]
    n_branches = int(max(branch.max(initial=0), children.branch.max(initial=0))) + 1
    place = np.full(k * n_branches, -1)
    place[children.split[numbers] * n_branches + children.branch[numbers]] = np.arange(len(numbers))
    if (branch < 0).any():
        slot, instance, units, _ = divide(np.arange(k + 1) * n_branches, split, branch, units)
        case = case[instance]
    else:
        slot = split * n_branches + branch
    which = place[slot]
    kept = np.flatnonzero(which >= 0)
    kept = kept[np.argsort(which[kept], kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(which[kept], minlength=len(numbers)))])
    return Instances(case[kept], units[kept], start)
