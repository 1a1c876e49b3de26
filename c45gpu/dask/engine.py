"""An engine whose attributes live on the workers of a cluster.

    score   every share scores its attributes; the candidates are put side by side here
    choose  here
    split   the shares with tested attributes find the branches    packed, from worker to worker
            every share splits by them
            small nodes: their cases with all attributes           to one worker, which grows what is below

A step that a worker does not come to the end of is done again: the shares are built anew from the parts, on the workers
that are left, and the levels so far are split again by the same tests.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from c45gpu.dask import steps
from c45gpu.dask.cluster import Cluster, Task
from c45gpu.dask.cuts import Cuts
from c45gpu.dask.faults import Lost
from c45gpu.dask.peers import Place
from c45gpu.dask.placed import PlacedRows, Ready
from c45gpu.dask.replay import Level, Past, of_share
from c45gpu.dask.share import Parted, Sides
from c45gpu.dask.shares import balanced
from c45gpu.data.table import Floats, Table
from c45gpu.errors import EngineError
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.kernels.engine import LocalEngine
from c45gpu.kernels.level import Candidates, Children, Frontier, Int64s, Problem, Splits, Subtrees
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.predict import class_frequencies
from c45gpu.model.tree import Tree

T = TypeVar("T")
Floats64 = npt.NDArray[np.float64]
Tellers = list[tuple[str, Int64s]]  # workers, and the splits that each tells of

LEAST_SMALL = 1 << 13  # cases: what is below so few takes a worker no longer than a few steps of all
NODES_OF_A_WORKER = 8  # a small node is at most this part of what a worker has to do, so that all end together
COMPILED_CHOICE = 1 << 15  # candidates that are chosen among by compiled code
MOST_ATTEMPTS = 8  # at a step, and one more for each worker


class LevelTraffic(NamedTuple):
    """Bytes that a level sent.

    Attributes
    ----------
    instances : int
        Of the nodes that were split.
    branches : int
        Branches of cases, from worker to worker, all workers together.
    most_branches : int
        The same, of the worker that received most.
    cases : int
        Cases of small nodes with their values, from worker to worker.
    candidates : int
        From workers to the client.
    """

    instances: int
    branches: int
    most_branches: int
    cases: int
    candidates: int


class DaskEngine:
    """See :class:`c45gpu.kernels.engine.Engine`.

    Parameters
    ----------
    cluster : Cluster
    ready : Ready
    engine : str
        What each worker scores its attributes with.
    small : int, optional
        Nodes up to this weight, in cases, are grown on one worker; by the number of cases and workers if absent.
    """

    name = "dask"

    def __init__(self, cluster: Cluster, ready: Ready, engine: str = "auto", small: int | None = None) -> None:
        self.threads = sum(cluster.workers().values())
        self._cluster, self._ready, self._engine, self._asked = cluster, ready, engine, small
        self._run, self._epoch, self._failures = uuid4().hex, 0, 0
        self._small = 0
        self._owners: list[tuple[str, Int64s]] = []
        self._levels: list[Level] = []
        self._cuts = Cuts(ready.types)
        self._candidate_bytes = 0
        self.traffic: list[LevelTraffic] = []

    def load(self, problem: Problem) -> Frontier:
        """Build the shares; the frontier is the root. The problem is without cases."""
        self._problem, self.traffic = problem, []
        self._levels.clear()
        self._small = self._smallness() if problem.may_finish else 0
        self._steadily(self._build)
        return self._steadily(self._root)

    def resume(self, problem: Problem, past: Past) -> Frontier:
        """Build the shares and bring them to where a run was; the frontier is the nodes that were open."""
        self._problem, self.traffic = problem, []
        self._small, self._levels[:] = past.small, past.levels
        parted = self._steadily(self._replayed)
        return Frontier(parted.class_weights[parted.open], parted.open[parted.open])

    @property
    def past(self) -> Past:
        """What was split so far; it grows with every level."""
        return Past(self._small, self._levels)

    def distinct(self, attribute: int) -> Floats:
        """Values of a continuous column, sorted: those that the thresholds of this level depend on."""
        return self._cuts.distinct(attribute)

    def score(self, first: int, stop: int) -> Candidates:
        """The best test of every attribute for the open nodes first..stop-1."""
        return self._steadily(lambda: self._score(first, stop))

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        """Units of the known cases of each value and class of a discrete attribute at open nodes."""
        return self._steadily(lambda: self._tables(attribute, first, stop))

    def choose(self, candidates: Candidates, weight: Int64s) -> Int64s:
        """What :func:`c45gpu.choose.choose` says for each node."""
        chooser: LocalEngine = CpuEngine(1) if candidates.gain.size > COMPILED_CHOICE else ReferenceEngine()
        chooser.hold(self._problem)
        chosen = chooser.choose(candidates, weight)
        chooser.close()
        return chosen

    def split(self, splits: Splits) -> Children:
        """Send the cases of open nodes down the branches, and have what is below small ones grown."""
        children, threshold = self._steadily(lambda: self._split(splits))
        self._levels.append(Level(splits, threshold))
        return children

    def place(self, tree: Tree) -> PlacedRows:
        """Send all training cases down a tree, to prune it: every worker its rows.

        Raises
        ------
        Lost
            Here and when the placed cases are asked: then they must be placed anew.
        """
        self._let_go()
        return PlacedRows(self._cluster, self._ready, self._problem, self._engine, tree)

    def route(self, tree: Tree, table: Table) -> npt.NDArray[np.float64]:
        """Class frequencies of cases to be predicted, on the client."""
        return class_frequencies(tree, table)

    def close(self) -> None:
        """Let go of all shares."""
        self._let_go()

    # ------------------------------------------------------------ when a worker is lost
    def _steadily(self, work: Callable[[], T]) -> T:
        """Do some work, and do it again when a worker is lost."""
        while True:
            try:
                result = work()
                self._failures = 0
                return result
            except Lost as lost:
                self._recover(lost)

    def _recover(self, lost: Lost) -> None:
        """Build the shares anew and split the levels so far, until that comes to its end."""
        while True:
            self.count_failure(lost)
            try:
                self._replayed()
                return
            except Lost as again:
                lost = again

    def count_failure(self, lost: Lost) -> None:
        """Note that a step failed, and have parts made again that failed with it.

        Raises
        ------
        EngineError
            When that happened too often in a row.
        """
        self._failures += 1
        self._cluster.retry(self._ready.parts)
        if self._failures > MOST_ATTEMPTS + len(self._cluster.workers()):
            raise EngineError(f"{self._failures} attempts at a step failed, the last as {lost}: look after the workers")

    # ------------------------------------------------------------ steps
    def _smallness(self) -> int:
        if self._asked is not None:
            return self._asked
        workers = len(self._cluster.workers())
        return max(LEAST_SMALL, sum(self._ready.n_cases) // (NODES_OF_A_WORKER * workers))

    def _build(self) -> None:
        """Give every worker its share of the attributes."""
        workers = self._cluster.workers()
        self._epoch += 1
        place = Place(self._run, self._epoch)
        seconds = self._cluster.seconds
        self._plan = steps.Plan(place, self._problem, self._ready.unit_bits, self._small, self._engine, seconds / 2)
        shares = balanced(self._ready.costs, list(workers.values()))
        owners = [(w, owned) for w, owned in zip(workers, shares, strict=True) if len(owned)]
        self._owners = owners or [(next(iter(workers)), np.zeros(0, np.int64))]
        tasks, used = [], np.array(self._problem.used, np.int64)
        for worker, owned in self._owners:
            columns = [self._cluster.submit(steps.columns_of, part, used[owned].tolist()) for part in self._ready.parts]
            tasks.append(Task(worker, steps.build, (self._plan, owned, columns)))
        parted = self._cluster.step(tasks)
        self._parted_root = self._agreed(parted[0], [p.digest() for p in parted])

    def _root(self) -> Frontier:
        frontier, _ = self._frontier(self._parted_root)
        return frontier

    def _score(self, first: int, stop: int) -> Candidates:
        parts = self._cluster.step(
            Task(worker, steps.score, (self._plan.place, first, stop)) for worker, _ in self._owners
        )
        whole = Candidates.none(stop - first, len(self._problem.used))
        for (_, owned), part in zip(self._owners, parts, strict=True):
            for name in ("gain", "split", "tries", "possible", "cut"):
                array = getattr(part, name)
                getattr(whole, name)[:, owned] = array
                self._candidate_bytes += array.nbytes
        return whole

    def _tables(self, attribute: int, first: int, stop: int) -> Int64s:
        worker, k = next((w, np.searchsorted(owned, attribute)) for w, owned in self._owners if attribute in owned)
        tables: Int64s = self._cluster.step([Task(worker, steps.tables, (self._plan.place, int(k), first, stop))])[0]
        return tables

    def _split(self, splits: Splits) -> tuple[Children, Floats64]:
        parted, sides, received, instances = self._part(splits)
        frontier, cases = self._frontier(parted, splits.attribute, sides)
        below, above = self._cuts.ranks(splits.attribute, sides)
        sent = LevelTraffic(instances, sum(received), max(received), cases, self._candidate_bytes)
        self.traffic.append(sent)
        self._candidate_bytes = 0
        return Children(frontier, parted.split, parted.branch, below, above), sides.threshold

    def _part(self, splits: Splits) -> tuple[Parted, Sides, list[int], int]:
        """Split on all workers; returns what became of it, the sides of cuts, and the bytes that each received."""
        tellers, found = self._told(splits.attribute, partial(_now, splits))
        sides = Sides(*np.full((3, len(splits)), np.nan))
        for (_, which), some in zip(tellers, found, strict=True):
            for whole, part in zip(sides, some, strict=True):
                whole[which] = part
        parted, received, instances = self._parted(splits.node, tellers)
        return parted, sides, received, instances

    def _replayed(self) -> Parted:
        """Build the shares and split the levels so far by their values."""
        self._build()
        parted = self._parted_root
        for level in self._levels:
            tellers, _ = self._told(level.splits.attribute, partial(_again, level))
            parted, _, _ = self._parted(level.splits.node, tellers)
        return parted

    def _told(
        self, attribute: Int64s, asked: Callable[[Int64s, Int64s], tuple[Callable[..., Any], Any]]
    ) -> tuple[Tellers, list[Any]]:
        """Have the shares of tested attributes find the branches; returns which tells of which splits, and answers."""
        tellers, tasks = [], []
        for worker, owned in self._owners:
            which = np.flatnonzero(np.isin(attribute, owned))
            if len(which):
                tellers.append((worker, which))
                function, what = asked(which, owned)
                tasks.append(Task(worker, function, (self._plan.place, what)))
        return tellers, self._cluster.step(tasks)

    def _parted(self, node: Int64s, tellers: Tellers) -> tuple[Parted, list[int], int]:
        """Have all shares split nodes; returns what became of it, the bytes that each received, and the instances."""
        answers = self._cluster.step(
            Task(worker, steps.split, (self._plan, node, tellers, i == 0)) for i, (worker, _) in enumerate(self._owners)
        )
        told, received, instances = zip(*answers, strict=True)
        first: Parted = told[0]
        return self._agreed(first, list(told[1:])), list(received), instances[0]

    def _agreed(self, parted: Parted, digests: list[int]) -> Parted:
        if any(digest != parted.digest() for digest in digests):
            raise EngineError("workers disagree about a node: this is a fault of c45gpu, or of a machine; report it")
        return parted

    def _frontier(
        self, parted: Parted, attribute: Int64s | None = None, sides: Sides | None = None
    ) -> tuple[Frontier, int]:
        """The frontier with what grew below its small nodes, and the bytes that took."""
        nothing = Sides(*np.zeros((3, 0)))
        tested, cuts = (np.zeros(0, np.int64), nothing) if attribute is None or sides is None else (attribute, sides)
        if not parted.small.any():
            self._cuts.note(tested, cuts)
            return Frontier(parted.class_weights, parted.open), 0
        grown, positions = self._grown(parted)
        found = [Sides(g.below.low, g.threshold, g.below.high) for g in grown]
        attributes = np.concatenate([tested, *(g.below.attribute for g in grown)])
        self._cuts.note(attributes, Sides(*(np.concatenate(x) for x in zip(cuts, *found, strict=True))))
        subtrees, start = [], 0
        for g, some, cut in zip(grown, positions, found, strict=True):
            parent, root = g.below.parent + start, g.below.parent < 0
            parent[root] = -1 - some[-1 - g.below.parent[root]]
            start += len(parent)
            ranks = self._cuts.ranks(g.below.attribute, cut)
            subtrees.append((parent, g.below.branch, g.below.attribute, *ranks, g.below.class_weights))
        finished = Subtrees(*(np.concatenate(x) for x in zip(*subtrees, strict=True)))
        return Frontier(parted.class_weights, parted.open, finished), sum(g.received for g in grown)

    def _grown(self, parted: Parted) -> tuple[list[steps.Grown], list[Int64s]]:
        """What grew below small nodes, by worker, and the positions of the nodes in the frontier."""
        workers = self._cluster.workers()
        positions = np.flatnonzero(parted.small)
        weight = parted.class_weights[positions].sum(1).astype(np.float64)
        shares = balanced(weight * np.log2(weight + 1), list(workers.values()))
        work = [(w, share) for w, share in zip(workers, shares, strict=True) if len(share)]
        grown = self._cluster.step(Task(w, steps.grow, (self._plan, share, self._owners)) for w, share in work)
        return grown, [positions[share] for _, share in work]

    def _let_go(self) -> None:
        there = self._cluster.still_there(w for w, _ in self._owners)
        with suppress(Lost):
            self._cluster.step(Task(worker, steps.let_go, (self._run,)) for worker in there)
        self._owners = []


def _now(splits: Splits, which: Int64s, owned: Int64s) -> tuple[Callable[..., Any], Splits]:
    return steps.take, of_share(splits, which, owned)


def _again(level: Level, which: Int64s, owned: Int64s) -> tuple[Callable[..., Any], Level]:
    return steps.take_again, level.of_share(which, owned)
