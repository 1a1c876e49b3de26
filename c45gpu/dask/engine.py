"""An engine whose attributes live on the workers of a cluster.

    split   the shares with tested attributes find the branches    packed, from worker to worker
            every share splits by them, and keeps small nodes apart
    score   every share scores its attributes                      the candidates to the client, side by side
    choose  on the client
    grown   in the end, the small nodes with all attributes        each to one worker, which grows what is below

Splitting and scoring are one task for each worker and level.
A step that a worker does not come to the end of is done again: the shares are built anew from the parts, on the workers
that are left, and the levels so far are split again by the same tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from c45gpu.dask import small, steps
from c45gpu.dask.cluster import Cluster, Task
from c45gpu.dask.cuts import Cuts
from c45gpu.dask.faults import Lost
from c45gpu.dask.owned import Owned
from c45gpu.dask.peers import give_up
from c45gpu.dask.placed import PlacedRows, Ready, pruned_by_one
from c45gpu.dask.replay import Past, Tests
from c45gpu.dask.share import Parted
from c45gpu.dask.shares import grouped
from c45gpu.dask.together import LevelTraffic, PartedFrontier, agreed_level, sides_of, traffic_of
from c45gpu.data.table import Floats, Table
from c45gpu.errors import EngineError
from c45gpu.induction.options import Options
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.kernels.engine import LocalEngine
from c45gpu.kernels.level import Candidates, Children, Frontier, Int64s, Problem, Splits
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.predict import class_frequencies
from c45gpu.model.tree import Tree

T = TypeVar("T")

LEAST_SMALL = 1 << 13  # cases: what is below so few takes a worker no longer than a few steps of all
NODES_OF_A_WORKER = 2  # of the greatest small ones: best of 2, 2.6 and 4 at 1M x 28, two workers; 8 to 32 are worse
COMPILED_CHOICE = 1 << 15  # candidates that are chosen among by compiled code
MOST_ATTEMPTS = 8  # at a step, and one more for each worker


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
        self._cluster, self._ready, self._engine, self._asked = cluster, ready, engine, small
        self._owned, self._failures = Owned(cluster, ready, engine), 0
        self.threads = sum(cluster.workers().values())
        self._runs = [self._owned.run]
        self._small = 0
        self._done: list[Tests] = []
        self._cuts = Cuts(ready.types)
        self.traffic: list[LevelTraffic] = []

    def load(self, problem: Problem) -> Frontier:
        """Build the shares; the frontier is the root. The problem is without cases."""
        self._problem, self._done, self.traffic = problem, [], []
        self._small = self._smallness() if problem.may_finish else 0
        self._steadily(self._build)
        return self._steadily(self._root)

    def resume(self, problem: Problem, past: Past) -> Frontier:
        """Build the shares and bring them to where a run was; the frontier is the nodes that were open."""
        self._problem, self._done, self.traffic = problem, list(past.levels), []
        self._small = past.small
        parted = self._steadily(self._replayed)
        return Frontier(parted.class_weights[parted.open], parted.open[parted.open])

    def grown(self, nodes: Int64s, weights: Int64s) -> Iterator[small.Grown]:
        """What is below small nodes, some of them at a time, in any order.

        Parameters
        ----------
        nodes : ndarray of int64
            Their numbers, in the order in which they came up.
        weights : ndarray of int64
            In units.
        """
        instances = received = 0
        while len(nodes):
            workers, groups = list(self._cluster.workers()), grouped(weights, len(self._cluster.workers()), self._least)
            tasks = [(self._owned.plan, nodes[group], self._owned.team([])) for group in groups]
            try:
                for grown in self._cluster.handed_out(workers, small.grow, tasks):
                    self._failures = 0
                    left = ~np.isin(nodes, grown.small)
                    nodes, weights = nodes[left], weights[left]
                    instances, received = instances + grown.instances, received + grown.received
                    yield grown
            except Lost as lost:
                self._recover(lost)
        if instances:
            self.traffic.append(LevelTraffic(0, instances, 0, 0, received, 0))

    @property
    def past(self) -> Past:
        """What was split so far."""
        return Past(self._small, self._done)

    def distinct(self, attribute: int) -> Floats:
        """Values of a continuous column, sorted: those that the thresholds of this level depend on."""
        return self._cuts.distinct(attribute)

    def score(self, first: int, stop: int) -> Candidates:
        """The best test of every attribute for the open nodes first..stop-1."""
        return self._steadily(lambda: self._owned.score(first, stop))

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        """Units of the known cases of each value and class of a discrete attribute at open nodes."""
        return self._steadily(lambda: self._owned.tables(attribute, first, stop))

    def choose(self, candidates: Candidates, weight: Int64s) -> Int64s:
        """What :func:`c45gpu.choose.choose` says for each node."""
        chooser: LocalEngine = CpuEngine(1) if candidates.gain.size > COMPILED_CHOICE else ReferenceEngine()
        chooser.hold(self._problem)
        chosen = chooser.choose(candidates, weight)
        chooser.close()
        return chosen

    def split(self, splits: Splits) -> Children:
        """Send the cases of open nodes down the branches."""
        children, threshold = self._steadily(lambda: self._split(splits))
        self._done.append(Tests(splits, threshold))
        return children

    def pruned_by_one(self, tree: Tree, options: Options) -> Tree | None:
        """See :func:`.placed.pruned_by_one`; raises :class:`.faults.Lost` as well."""
        arguments = (self._cluster, self._ready, self._problem, self._engine, tree, options)
        return pruned_by_one(*arguments, self._owned.plan.place, self._owned.with_order)

    def place(self, tree: Tree) -> PlacedRows:
        """Send all training cases down a tree, to prune it: every worker its rows.

        Raises
        ------
        Lost
            Here and when the placed cases are asked: then they must be placed anew.
        """
        with suppress(Lost):
            there = self._cluster.workers()
            self._cluster.step(Task(worker, steps.let_go, (self._runs,)) for worker in there)
        placed = PlacedRows(self._cluster, self._ready, self._problem, self._engine, tree)
        self._runs.append(placed.run)
        return placed

    def route(self, tree: Tree, table: Table) -> npt.NDArray[np.float64]:
        """Class frequencies of cases to be predicted, on the client."""
        return class_frequencies(tree, table)

    def close(self) -> None:
        """Let go of all that workers hold."""
        self._cluster.tell_all(steps.end, self._runs)

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
            self._cluster.tell_all(give_up, self._owned.plan.place)
            try:
                self._replayed()
                return
            except Lost as again:
                lost = again

    def _replayed(self) -> Parted:
        """Build the shares and split the levels so far again; returns what became of the last."""
        self._build()
        parted = self._owned.root
        for tests in self._done:
            parted = agreed_level(self._owned.level(tests.splits, tests.threshold))
        return parted

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

    @property
    def _least(self) -> int:
        """Units of small nodes that are grown together at least, as far as there are so many."""
        return min(self._small, LEAST_SMALL) * self._problem.settings.case_units

    def _build(self) -> None:
        """Give every worker its share of the attributes."""
        self._owned.build(self._problem, self._small)

    def _root(self) -> Frontier:
        return _frontier(self._owned.root)

    def _split(self, splits: Splits) -> tuple[Children, npt.NDArray[np.float64]]:
        levels = self._owned.level(splits)
        parted, sides = agreed_level(levels), sides_of(splits, self._owned.owners, levels)
        self._cuts.note(splits.attribute, sides)
        below, above = self._cuts.ranks(splits.attribute, sides)
        self.traffic.append(traffic_of(levels, len(splits), self._owned.candidate_bytes()))
        return Children(_frontier(parted), parted.split, parted.branch, below, above), sides.threshold


def _frontier(parted: Parted) -> PartedFrontier:
    return PartedFrontier(parted.class_weights, parted.open, small=parted.small)
