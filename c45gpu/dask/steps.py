"""What workers are asked to do while a tree grows: each function here runs on a worker, as a task of Dask's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from distributed import get_worker

from c45gpu.dask.below import Below, grown_below
from c45gpu.dask.columns import Columns, joined
from c45gpu.dask.peers import Place, ask, forget, held, keep
from c45gpu.dask.replay import Tests
from c45gpu.dask.share import PARTED, Parted, Share, Sides
from c45gpu.dask.shares import balanced
from c45gpu.data.table import Table
from c45gpu.kernels.engine import open_engine, pick
from c45gpu.kernels.level import Candidates, Instances, Int64s, Problem, Splits
from c45gpu.model.tree import ranges

Floats = npt.NDArray[np.float64]

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
        Of the shares; "auto" picks by `n_values`, for all shares the same.
    below : str
        The engine for what is below small nodes.
    n_values : int
    batch : int
        So many open nodes are scored as soon as they are there.
    seconds : float
        How long another worker may take to answer.
    """

    place: Place
    problem: Problem
    unit_bits: int
    small: int
    engine: str
    below: str
    n_values: int
    batch: int
    seconds: float


class Level(NamedTuple):
    """What a worker did in a step.

    Attributes
    ----------
    parted : Parted or int
        Its digest only, but from the first share.
    sides : Sides or None
        Of the share's own tests.
    candidates : Candidates or None
        Of the first open nodes.
    grown : Grown or None
        What is below some small nodes.
    small : ndarray of int64
        Which ones.
    received, instances : int
        Bytes of branches that came from other workers, and instances of the nodes that were split.
    engine : str
        Of the share.
    """

    parted: Parted | int
    sides: Sides | None
    candidates: Candidates | None
    grown: Grown | None
    small: Int64s
    received: int
    instances: int
    engine: str


class Team(NamedTuple):
    """Who does what in a step.

    Attributes
    ----------
    owners : list of (str, ndarray)
        Workers with shares, and the attributes of each.
    tellers : list of (str, ndarray)
        Workers with tested attributes, and which splits test them.
    growers : list of (str, int)
        All workers, with their threads, or none where small nodes have been grown before.
    """

    owners: list[tuple[str, Int64s]]
    tellers: list[tuple[str, Int64s]]
    growers: list[tuple[str, int]]


class Grown(NamedTuple):
    """What grew below small nodes on one worker, with thresholds, and the bytes that came from others."""

    below: Below
    threshold: npt.NDArray[np.float64]
    received: int


def build(plan: Plan, owned: Int64s, parts: list[Columns]) -> Level:
    """Put a share together from the columns of all parts, load it, and score the root."""
    forget(plan.place.run)
    table = joined(plan.problem, owned, parts)
    threads = get_worker().state.nthreads
    engine = pick(plan.engine, plan.n_values)
    share = Share(plan.problem, owned, plan.unit_bits, plan.small, engine, table, threads)
    parted = share.load()
    share.publish(0, PARTED)
    keep(plan.place, share)
    return Level(parted, None, _scored(plan, share, parted), None, np.zeros(0, np.int64), 0, 0, engine)


def _scored(plan: Plan, share: Share, parted: Parted) -> Candidates | None:
    n_open = min(int(parted.open.sum()), plan.batch)
    return share.score(0, n_open) if n_open else None


def score(place: Place, first: int, stop: int) -> Candidates:
    """See :meth:`.share.Share.score`."""
    share: Share = held(place)
    return share.score(first, stop)


def tables(place: Place, attribute: int, first: int, stop: int) -> Int64s:
    """See :meth:`.share.Share.tables`."""
    share: Share = held(place)
    return share.tables(attribute, first, stop)


def level(plan: Plan, step: int, splits: Splits, team: Team, own: Int64s, threshold: Floats | None = None) -> Level:
    """Do a worker's part of a level: say what its tests do, split by all, grow its small nodes, score what is open.

    Parameters
    ----------
    plan : Plan
    step : int
        Number of the level.
    splits : Splits
        Of the level; attributes are positions among the used ones.
    team : Team
    own : ndarray of int64
        The splits on attributes of this worker's share.
    threshold : ndarray of float64, shape (k,), optional
        Of each split where the level was split before, maybe by other engines, whose cuts have other names.
    """
    share: Share = held(plan.place)
    try:
        instances = share.instances(splits.node)
        sides = _taken(share, step, splits, own, threshold, instances) if len(own) else None
        here, received, told = get_worker().address, 0, []
        for address, which in team.tellers:
            packed = ask(address, plan.place, "tell", (step, plan.seconds), plan.seconds)
            received += packed.nbytes if address != here else 0
            told.append((which, packed))
        parted = share.split(step, splits.node, instances, told)
        weights = parted.class_weights[parted.small].sum(1)
        small, grown = _grow_mine(plan, step, weights, team)
        candidates = _scored(plan, share, parted)
    except BaseException:
        share.fail()
        raise
    whole = parted if here == team.owners[0][0] else parted.digest()
    return Level(whole, sides, candidates, grown, small, received, len(instances.case), share.engine)


def _taken(
    share: Share, step: int, splits: Splits, own: Int64s, threshold: Floats | None, instances: Instances
) -> Sides | None:
    """Find out which branches the cases take by a share's own tests."""
    mine, counts = of_share(splits, own, share.owned), np.diff(instances.start)[own]
    if threshold is None:
        return share.take(step, mine, counts)
    case = instances.case[ranges(instances.start[own], instances.start[own + 1])]
    share.take_again(step, Tests(mine, threshold[own]), case, counts)
    return None


def help_out(plan: Plan, step: int, team: Team) -> Level:
    """Grow some small nodes of a level on a worker that has no share."""
    weights = ask(team.owners[0][0], plan.place, "small_weights", (step, plan.seconds), plan.seconds)
    small, grown = _grow_mine(plan, step, weights, team)
    return Level(0, None, None, grown, small, 0, 0, "")


def of_share(splits: Splits, which: Int64s, owned: Int64s) -> Splits:
    """Some splits, with the attributes as they are numbered in a share."""
    first, stop = splits.group_start[which], splits.group_start[which + 1]
    return replace(
        splits,
        node=splits.node[which],
        attribute=np.searchsorted(owned, splits.attribute[which]),
        cut=splits.cut[which],
        group_start=np.concatenate([[0], np.cumsum(stop - first)]),
        group_branch=splits.group_branch[ranges(first, stop)],
    )


def _grow_mine(plan: Plan, step: int, weights: Int64s, team: Team) -> tuple[Int64s, Grown | None]:
    """Grow what is below this worker's small nodes; every worker finds out by itself which ones are whose."""
    if not len(weights) or not team.growers:
        return np.zeros(0, np.int64), None
    costs = weights * np.log2(weights + 1.0)
    shares = balanced(costs, [threads for _, threads in team.growers])
    mine = shares[[address for address, _ in team.growers].index(get_worker().address)]
    return mine, _grow(plan, step, mine, team.owners) if len(mine) else None


def _grow(plan: Plan, step: int, small: Int64s, owners: list[tuple[str, Int64s]]) -> Grown:
    groups = np.array_split(small, -(-len(small) // NODES_AT_A_TIME))
    pieces = [_grown_some(plan, step, some, owners) for some in groups]
    start = np.cumsum([0] + [len(piece.below.parent) for piece in pieces])
    nodes = np.cumsum([0] + [len(some) for some in groups])
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


def _grown_some(plan: Plan, step: int, small: Int64s, owners: list[tuple[str, Int64s]]) -> Grown:
    problem, here, received = plan.problem, get_worker().address, 0
    columns: list[Any] = [None] * len(problem.table.schema.attributes)
    for address, owned in owners:
        values = ask(address, plan.place, "columns", (step, small, plan.seconds), plan.seconds)
        for k, column in zip(owned.tolist(), values, strict=True):
            columns[problem.used[k]] = column
            received += column.nbytes if address != here else 0
    nearest = next((address for address, _ in owners if address == here), owners[0][0])
    classes, units, counts = ask(nearest, plan.place, "cases", (step, small, plan.seconds), plan.seconds)
    received += classes.nbytes + units.nbytes if nearest != here else 0
    if not len(units):
        units = np.broadcast_to(np.int64(problem.settings.case_units), len(classes))
    table = Table(problem.table.schema, columns, classes)
    forest = len(small) > 1
    part = replace(problem, table=table, units=units, forest=forest, other_branches=max(2, len(small)), placed=False)
    engine = open_engine(plan.below, table.n_cases * len(problem.used), get_worker().state.nthreads)
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
        here = np.flatnonzero(cut & np.isin(below.attribute, owned))
        if len(here):
            attribute = np.searchsorted(owned, below.attribute[here])
            arguments = (attribute, below.low[here], below.high[here])
            threshold[here] = ask(address, plan.place, "thresholds", arguments, plan.seconds)
    return threshold


def let_go(run: str) -> None:
    """Forget a run on this worker."""
    forget(run)
