"""What workers are asked to do while a tree grows: each function here runs on a worker, as a task of Dask's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from distributed import get_worker

from c45gpu.dask.below import Below, grown_below
from c45gpu.dask.peers import Place, ask, forget, held, keep
from c45gpu.dask.replay import Level
from c45gpu.dask.share import Parted, Share, Sides, ignoring
from c45gpu.data.table import Int32s, Table
from c45gpu.kernels.engine import open_engine
from c45gpu.kernels.level import Candidates, Int64s, Problem, Splits

NODES_AT_A_TIME = 200  # small nodes that are grown together: as branches of one root their marks fit a byte


class Plan(NamedTuple):
    """What all shares of an epoch are told.

    Attributes
    ----------
    place : Place
    problem : Problem
        Without cases.
    unit_bits : int
    small : int
        Nodes up to this weight, in cases, are grown on one worker; 0 for none.
    engine : str
    seconds : float
        How long another worker may take to answer.
    """

    place: Place
    problem: Problem
    unit_bits: int
    small: int
    engine: str
    seconds: float


class Columns(NamedTuple):
    """Some columns of a part, with its classes and weights."""

    columns: list[npt.NDArray[Any]]
    classes: Int32s
    weights: npt.NDArray[np.float64] | None


class Grown(NamedTuple):
    """What grew below small nodes on one worker, with thresholds, and the bytes that came from others."""

    below: Below
    threshold: npt.NDArray[np.float64]
    received: int


def columns_of(part: Table, attributes: list[int]) -> Columns:
    """Some attributes of a part."""
    return Columns([part.column(a) for a in attributes], part.classes, part.weights)


def build(plan: Plan, owned: Int64s, parts: list[Columns]) -> Parted:
    """Put a share together from the columns of all parts, and load it."""
    forget(plan.place.run)
    table = joined(plan.problem, owned, parts)
    threads = get_worker().state.nthreads
    share = Share(plan.problem, owned, plan.unit_bits, plan.small, plan.engine, table, threads)
    parted = share.load()
    keep(plan.place, share)
    return parted


def joined(problem: Problem, owned: Int64s, parts: list[Columns]) -> Table:
    """The table of some attributes, of all parts one after the other."""
    schema = problem.table.schema
    used = np.array(problem.used, np.int64)[owned]
    columns: list[Any] = [None] * len(schema.attributes)
    for k, a in enumerate(used.tolist()):
        columns[a] = np.concatenate([part.columns[k] for part in parts])
    weighted = any(part.weights is not None for part in parts)
    weights = [np.ones(len(part.classes)) if part.weights is None else part.weights for part in parts]
    classes = np.concatenate([part.classes for part in parts])
    return Table(ignoring(schema, used), columns, classes, np.concatenate(weights) if weighted else None)


def score(place: Place, first: int, stop: int) -> Candidates:
    """See :meth:`.share.Share.score`."""
    share: Share = held(place)
    return share.score(first, stop)


def tables(place: Place, attribute: int, first: int, stop: int) -> Int64s:
    """See :meth:`.share.Share.tables`."""
    share: Share = held(place)
    return share.tables(attribute, first, stop)


def take(place: Place, splits: Splits) -> Sides:
    """See :meth:`.share.Share.take`."""
    share: Share = held(place)
    return share.take(splits)


def take_again(place: Place, level: Level) -> None:
    """See :meth:`.share.Share.take_again`."""
    share: Share = held(place)
    share.take_again(level)


def split(plan: Plan, nodes: Int64s, tellers: list[tuple[str, Int64s]], first: bool) -> tuple[Parted | int, int, int]:
    """Split nodes by what shares tell; of each its worker, and the splits that it tells of.

    Returns
    -------
    Parted or int
        Its digest only, if this is not the first share.
    received : int
        Bytes that came from other workers.
    instances : int
        Of the nodes that were split.
    """
    share: Share = held(plan.place)
    here, received, told = get_worker().address, 0, []
    for address, which in tellers:
        packed = ask(address, plan.place, "tell", (), plan.seconds)
        received += packed.nbytes if address != here else 0
        told.append((which, packed))
    instances = sum(int(packed.counts.sum()) for _, packed in told)
    parted = share.split(nodes, told)
    return parted if first else parted.digest(), received, instances


def grow(plan: Plan, small: Int64s, owners: list[tuple[str, Int64s]]) -> Grown:
    """Grow what is below some small nodes; `owners` are workers with shares, and the attributes of each."""
    groups = np.array_split(small, -(-len(small) // NODES_AT_A_TIME))
    pieces = [_grown_some(plan, some, owners) for some in groups]
    start = np.cumsum([0] + [len(piece.below.parent) for piece in pieces])
    nodes = np.cumsum([0] + [int((piece.below.parent < 0).sum()) for piece in pieces])
    parents = [
        np.where(piece.below.parent < 0, piece.below.parent - nodes[i], piece.below.parent + start[i])
        for i, piece in enumerate(pieces)
    ]
    below = Below(*(np.concatenate(x) for x in zip(*(piece.below for piece in pieces), strict=True)))
    return Grown(
        below._replace(parent=np.concatenate(parents)),
        np.concatenate([piece.threshold for piece in pieces]),
        sum(piece.received for piece in pieces),
    )


def _grown_some(plan: Plan, small: Int64s, owners: list[tuple[str, Int64s]]) -> Grown:
    problem, here, received = plan.problem, get_worker().address, 0
    columns: list[Any] = [None] * len(problem.table.schema.attributes)
    for address, owned in owners:
        values = ask(address, plan.place, "columns", (small,), plan.seconds)
        for k, column in zip(owned.tolist(), values, strict=True):
            columns[problem.used[k]] = column
            received += column.nbytes if address != here else 0
    nearest = next((address for address, _ in owners if address == here), owners[0][0])
    classes, units, counts = ask(nearest, plan.place, "cases", (small,), plan.seconds)
    received += classes.nbytes + units.nbytes if nearest != here else 0
    if not len(units):
        units = np.broadcast_to(np.int64(problem.settings.case_units), len(classes))
    table = Table(problem.table.schema, columns, classes)
    forest = len(small) > 1
    part = replace(problem, table=table, units=units, forest=forest, other_branches=max(2, len(small)), placed=False)
    engine = open_engine(plan.engine, table.n_cases * len(problem.used), get_worker().state.nthreads)
    try:
        below = grown_below(engine, part, counts)
    finally:
        engine.close()
    return Grown(below, _thresholds(plan, below, owners), received)


def _thresholds(plan: Plan, below: Below, owners: list[tuple[str, Int64s]]) -> npt.NDArray[np.float64]:
    """The thresholds of cuts, from the workers that have all values of an attribute."""
    threshold = np.full(len(below.attribute), np.nan)
    cut = ~np.isnan(below.low)
    for address, owned in owners:
        for k, attribute in enumerate(owned.tolist()):
            here = cut & (below.attribute == attribute)
            if here.any():
                arguments = (k, below.low[here], below.high[here])
                threshold[here] = ask(address, plan.place, "thresholds", arguments, plan.seconds)
    return threshold


def let_go(run: str) -> None:
    """Forget a run on this worker."""
    forget(run)
