"""What one worker does while a tree is pruned: it has some rows, at the leaves. Tasks of Dask's call what is here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from distributed import get_worker

from c45gpu.dask.columns import Columns, joined
from c45gpu.dask.faults import Lost
from c45gpu.dask.peers import Place, forget, held, keep
from c45gpu.dask.share import Share
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.problem import units_of
from c45gpu.induction.prune import pruned
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.kernels.cpu_crew import cores
from c45gpu.kernels.engine import Changes, Pairs, open_engine
from c45gpu.kernels.level import Int32s, Int64s, Problem
from c45gpu.model.tree import Tree


class Changed(NamedTuple):
    """Elements of an array that are others than before."""

    at: Int64s
    values: npt.NDArray[Any]

    @classmethod
    def between(cls, old: npt.NDArray[Any], new: npt.NDArray[Any]) -> Changed:
        """What differs, by rows; `old` is brought up to date."""
        differs = old != new
        at = np.flatnonzero(differs.any(axis=1) if differs.ndim > 1 else differs)
        old[at] = new[at]
        return cls(at, new[at])

    def write(self, array: npt.NDArray[Any]) -> None:
        """Bring an array up to date."""
        array[self.at] = self.values


class News(NamedTuple):
    """What became of the tree since a worker was asked last.

    Attributes
    ----------
    cut : list of ndarray of int64
        Nodes that became leaves.
    kind, branch, units : Changed
        Of the tree, and of the class weights at its nodes.
    """

    cut: list[Int64s]
    kind: Changed
    branch: Changed
    units: Changed


class HeldRows:
    """Some rows at the leaves of a tree.

    Parameters
    ----------
    problem : Problem
        Of these rows.
    tree : Tree
        It is changed as the pruning goes on.
    engine : str
    threads : int
    """

    def __init__(self, problem: Problem, tree: Tree, engine: str, threads: int) -> None:
        self._tree, self._units = tree, np.zeros((tree.n_nodes, problem.settings.n_classes), np.int64)
        self._engine = open_engine(engine, problem.table.n_cases * len(problem.used), threads)
        self._engine.hold(problem)
        self._placed = self._engine.place(tree)

    def known(self) -> Int64s:
        """See :class:`c45gpu.kernels.engine.PlacedCases`, here and below."""
        return self._placed.known(self._tree)

    def send(self, news: News, pairs: Pairs) -> Changes:
        """How class weights would change at leaves, by these rows."""
        self._hear(news)
        return self._placed.send(self._tree, self._units, pairs)

    def raise_branches(self, news: News, pairs: Pairs) -> Int64s:
        """Send the rows of tops down branches for good; what is known of these rows then."""
        self._hear(news)
        return self._placed.raise_branches(self._tree, pairs)

    def fail(self) -> None:
        """Nobody waits for these rows but the client."""

    def close(self) -> None:
        """Let go of the rows."""
        self._engine.close()

    def _hear(self, news: News) -> None:
        for nodes in news.cut:
            self._placed.cut(nodes)
        news.kind.write(self._tree.kind)
        news.branch.write(self._tree.branch)
        news.units.write(self._units)


def hold(
    place: Place, problem: Problem, unit_bits: int, tree: Tree, tested: Int64s, parts: list[Columns], engine: str
) -> Int64s:
    """Put rows together from parts, with the attributes that are tested, and place them; returns what is known."""
    forget(place.run)
    table: Table = joined(problem, tested, parts)
    problem = replace(problem, table=table, units=units_of(table, unit_bits))
    own = replace(tree, kind=tree.kind.copy(), branch=tree.branch.copy())
    rows = HeldRows(problem, own, engine, get_worker().state.nthreads)
    keep(place, rows)
    return rows.known()


def prune(
    problem: Problem,
    unit_bits: int,
    tree: Tree,
    tested: Int64s,
    parts: list[Columns],
    engine: str,
    options: Options,
    grown: Place,
    threads: int,
) -> Tree:
    """Prune a tree on this worker, with the attributes that are tested and so many threads, or as many as cores.

    The share here that it was `grown` with makes room, and may know the order of cases by leaf.
    """
    order = _order_left(grown)
    table = joined(problem, tested, parts)
    problem = replace(problem, table=table, units=units_of(table, unit_bits))
    worker = open_engine(engine, table.n_cases * len(problem.used), min(threads, cores()))
    if isinstance(worker, CpuEngine):
        worker.hold(problem, order)
    else:
        worker.hold(problem)
    try:
        return pruned(tree, worker, problem, options)
    finally:
        worker.close()


def _order_left(grown: Place) -> Int32s | None:
    """The order that a share here has, if there is one; it is closed."""
    try:
        share: Share = held(grown)
    except Lost:
        return None
    cases = share.order().cases if share.sorted else None
    forget(grown.run)
    return cases


def send(place: Place, news: News, pairs: Pairs) -> Changes:
    """See :meth:`HeldRows.send`."""
    rows: HeldRows = held(place)
    return rows.send(news, pairs)


def raise_branches(place: Place, news: News, pairs: Pairs) -> Int64s:
    """See :meth:`HeldRows.raise_branches`."""
    rows: HeldRows = held(place)
    return rows.raise_branches(news, pairs)
