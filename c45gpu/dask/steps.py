"""What workers are asked to do while a tree grows: each function here runs on a worker, as a task of Dask's."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from distributed import Worker, get_worker

from c45gpu.dask.columns import Columns, joined
from c45gpu.dask.memory import give_back, keep_freed, trim
from c45gpu.dask.peers import Place, ask, forget, held, keep
from c45gpu.dask.replay import Tests
from c45gpu.dask.share import Parted, Share, Sides
from c45gpu.kernels.engine import pick
from c45gpu.kernels.level import Candidates, Int64s, Problem, Splits
from c45gpu.model.tree import ranges

Floats = npt.NDArray[np.float64]


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
        Of the shares, where "auto" picks by `n_values`, for all shares the same; and of what is below small nodes.
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
    received, instances : int
        Bytes of branches that came from other workers, and instances of the nodes that were split.
    sorted : bool
        The share keeps small nodes sorted.
    """

    parted: Parted | int
    sides: Sides | None
    candidates: Candidates | None
    received: int
    instances: int
    sorted: bool


class Team(NamedTuple):
    """Who has what.

    Attributes
    ----------
    owners : list of (str, ndarray)
        Workers with shares, and the attributes of each.
    tellers : list of (str, ndarray)
        Workers with tested attributes, and which splits test them.
    sorted, ordered : bool
        All shares keep small nodes sorted; the first of them is told the order of cases by leaf.
    """

    owners: list[tuple[str, Int64s]]
    tellers: list[tuple[str, Int64s]]
    sorted: bool
    ordered: bool


def build(plan: Plan, owned: Int64s, parts: list[Columns]) -> Level:
    """Put a share together from the columns of all parts, load it, and score the root."""
    forget(plan.place.run)
    keep_freed()
    table = joined(plan.problem, owned, parts)
    threads = get_worker().state.nthreads
    engine = pick(plan.engine, plan.n_values)
    share = Share(plan.problem, owned, plan.unit_bits, plan.small, engine, table, threads)
    parted = share.load()
    keep(plan.place, share)
    return Level(parted, None, _scored(plan, share, parted), 0, 0, share.sorted)


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
    """Do a worker's part of a level: say what its tests do, split by all, score what is open.

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
        counts = share.counts(splits.node)
        sides = _taken(share, step, splits, own, threshold, counts) if len(own) else None
        here, received, told = get_worker().address, 0, []
        asked = [(address, (step, plan.seconds)) for address, _ in team.tellers]
        for (address, which), packed in zip(team.tellers, ask(plan.place, "tell", asked, plan.seconds), strict=True):
            received += packed.nbytes if address != here else 0
            told.append((which, packed))
        parted = share.split(splits.node, counts, told)
        candidates = _scored(plan, share, parted)
    except BaseException:
        share.fail()
        raise
    whole = parted if here == team.owners[0][0] else parted.digest()
    return Level(whole, sides, candidates, received, int(counts.sum()), share.sorted)


def _taken(
    share: Share, step: int, splits: Splits, own: Int64s, threshold: Floats | None, counts: Int64s
) -> Sides | None:
    """Find out which branches the cases take by a share's own tests."""
    mine = of_share(splits, own, share.owned)
    if threshold is None:
        return share.take(step, mine, counts[own])
    share.take_again(step, Tests(mine, threshold[own]), counts[own])
    return None


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


def let_go(runs: list[str]) -> None:
    """Forget runs on this worker, to make room for what comes next."""
    for run in runs:
        forget(run)
    trim()


def end(runs: list[str], dask_worker: Worker | None = None) -> None:
    """Forget runs on this worker, with the memory that was kept for them; called beside its tasks."""
    assert dask_worker is not None
    for run in runs:
        forget(run, dask_worker.address)
    give_back()
