"""Grow what is below small nodes on one worker, which gets all of their cases. A task of Dask's calls :func:`grow`."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from distributed import get_worker, secede

from c45gpu.dask.below import all_below, grown_below
from c45gpu.dask.peers import ask
from c45gpu.dask.steps import Plan, Team
from c45gpu.data.table import Table
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.kernels.engine import open_engine
from c45gpu.kernels.level import Bools, Int64s

Floats = npt.NDArray[np.float64]

NODES_AT_A_TIME = 200  # nodes whose columns are sorted together: as branches of one root their marks fit a byte


class Grown(NamedTuple):
    """What grew below small nodes on one worker; a row for each node, as in :class:`c45gpu.kernels.level.Subtrees`.

    Attributes
    ----------
    small : ndarray of int64
        The nodes.
    parent, branch, attribute : ndarray of int64, shape (r,)
        The parent of a root is -1 - its position among the nodes.
    threshold : ndarray of float64, shape (r,)
        NaN where there is none.
    class_weights : ndarray of int64, shape (r, C)
    instances, received : int
        Instances of the nodes, and the bytes that went from worker to worker.
    """

    small: Int64s
    parent: Int64s
    branch: Int64s
    attribute: Int64s
    threshold: Floats
    class_weights: Int64s
    instances: int
    received: int


def grow(plan: Plan, small: Int64s, team: Team) -> Grown:
    """Grow what is below some small nodes, on any worker.

    The worker may begin with the next ones meanwhile: they wait for their cases while these are grown, or these for
    thresholds while those are.
    """
    secede()
    return (_grown_sorted if team.sorted else _grown_from_columns)(plan, small, team)


_LOCKS: dict[str, threading.Lock] = {}  # by worker


def _one_at_a_time() -> threading.Lock:
    """What growing holds, on this worker."""
    return _LOCKS.setdefault(get_worker().address, threading.Lock())


class _Asking:
    """Asks all shares for what they have of some small nodes, and counts the bytes that go from worker to worker."""

    def __init__(self, plan: Plan, owners: list[tuple[str, Int64s]]) -> None:
        self._plan, self._owners, self._here = plan, owners, get_worker().address
        self.received = 0

    def one(self, method: str, *arguments: Any) -> Any:
        """The answer of a share, best the one here."""
        nearest = next((address for address, _ in self._owners if address == self._here), self._owners[0][0])
        answer = self._ask(method, [(nearest, arguments)])[0]
        self._note(nearest, answer)
        return answer

    def tell_first(self, method: str, *arguments: Any) -> None:
        """Tell the first share something."""
        first = self._owners[0][0]
        self._ask(method, [(first, arguments)])
        self._note(first, arguments)

    def all(self, method: str, *arguments: Any) -> list[tuple[Int64s, Any]]:
        """The answers of all shares, each with the attributes of the share."""
        answers = self._ask(method, [(address, arguments) for address, _ in self._owners])
        for (address, _), answer in zip(self._owners, answers, strict=True):
            self._note(address, answer)
        return [(owned, answer) for (_, owned), answer in zip(self._owners, answers, strict=True)]

    def thresholds(self, method: str, attribute: Int64s, cut: Bools, sides: tuple[Any, Any], *first: Any) -> Floats:
        """The thresholds of cuts, from the shares that have all values of an attribute."""
        found, places, asked = np.full(len(attribute), np.nan), [], []
        for address, owned in self._owners:
            here = np.flatnonzero(cut & np.isin(attribute, owned))
            if len(here):
                own = np.searchsorted(owned, attribute[here])
                places.append(here)
                asked.append((address, (*first, own, sides[0][here], sides[1][here])))
        for here, thresholds in zip(places, self._ask(method, asked), strict=True):
            found[here] = thresholds
        return found

    def _ask(self, method: str, asked: list[tuple[str, tuple[Any, ...]]]) -> list[Any]:
        return ask(self._plan.place, method, asked, self._plan.seconds)

    def _note(self, address: str, answer: Any) -> None:
        if address != self._here:
            self.received += sum(array.nbytes for array in answer)


def _grown_sorted(plan: Plan, small: Int64s, team: Team) -> Grown:
    problem, asking = plan.problem, _Asking(plan, team.owners)
    cases = asking.one("sorted_cases", small, team.ordered)
    n = len(cases.entries)
    columns: list[None] = [None] * len(problem.table.schema.attributes)
    table = Table(problem.table.schema, columns, np.broadcast_to(np.int32(0), n))
    part = replace(problem, table=table, units=np.broadcast_to(np.int64(1), n), placed=False)
    engine = CpuEngine(get_worker().state.nthreads)
    try:
        frontier = engine.load_sorted(part, cases, asking.all("sorted_columns", small))
        with _one_at_a_time():
            found = all_below(engine, frontier, len(problem.used))
        if team.ordered:
            asking.tell_first("note_order", small, cases.rows[engine.order])
    finally:
        engine.close()
    sides = found.below, found.above
    threshold = asking.thresholds("sorted_thresholds", found.attribute, found.below >= 0, sides, small)
    rows = found.parent, found.branch, found.attribute, threshold, found.class_weights
    return Grown(small, *rows, n, asking.received)


def _grown_from_columns(plan: Plan, small: Int64s, team: Team) -> Grown:
    groups = np.array_split(small, -(-len(small) // NODES_AT_A_TIME))
    pieces = [_grown_some(plan, some, team.owners) for some in groups]
    start = np.cumsum([0] + [len(piece.parent) for piece in pieces])
    nodes = np.cumsum([0] + [len(some) for some in groups])
    parents = [
        np.where(piece.parent < 0, piece.parent - nodes[i], piece.parent + start[i]) for i, piece in enumerate(pieces)
    ]
    return Grown(
        small,
        np.concatenate(parents),
        np.concatenate([piece.branch for piece in pieces]),
        np.concatenate([piece.attribute for piece in pieces]),
        np.concatenate([piece.threshold for piece in pieces]),
        np.concatenate([piece.class_weights for piece in pieces]),
        sum(piece.instances for piece in pieces),
        sum(piece.received for piece in pieces),
    )


def _grown_some(plan: Plan, small: Int64s, owners: list[tuple[str, Int64s]]) -> Grown:
    problem, asking = plan.problem, _Asking(plan, owners)
    columns: list[Any] = [None] * len(problem.table.schema.attributes)
    for owned, values in asking.all("columns", small):
        for k, column in zip(owned.tolist(), values, strict=True):
            columns[problem.used[k]] = column
    classes, units, counts = asking.one("cases", small)
    if not len(units):
        units = np.broadcast_to(np.int64(problem.settings.case_units), len(classes))
    table = Table(problem.table.schema, columns, classes)
    forest = len(small) > 1
    part = replace(problem, table=table, units=units, forest=forest, other_branches=max(2, len(small)), placed=False)
    engine = open_engine(plan.engine, table.n_cases * len(problem.used), get_worker().state.nthreads)
    try:
        with _one_at_a_time():
            below = grown_below(engine, part, counts)
    finally:
        engine.close()
    cut = ~np.isnan(below.low)
    threshold = asking.thresholds("thresholds", below.attribute, cut, (below.low, below.high))
    rows = below.parent, below.branch, below.attribute, threshold, below.class_weights
    return Grown(small, *rows, len(classes), asking.received)
