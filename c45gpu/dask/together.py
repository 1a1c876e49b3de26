"""What the workers said of a level, put together: a frontier, the values beside cuts, and the bytes that were sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from c45gpu.dask.share import Parted, Sides
from c45gpu.dask.steps import Level
from c45gpu.errors import EngineError
from c45gpu.kernels.level import Bools, Candidates, Frontier, Int64s, Splits


@dataclass(frozen=True, eq=False)
class PartedFrontier(Frontier):
    """A frontier with small nodes in it, which are grown later.

    Parameters
    ----------
    small : ndarray of bool, shape (m,)
    """

    small: Bools = None  # type: ignore[assignment]  # always given, but a field before it need not be


class LevelTraffic(NamedTuple):
    """Bytes that a level sent; the last one is what is below small nodes, where no other node is split.

    Attributes
    ----------
    nodes, instances : int
        Nodes that were split, and their instances; or the instances of the small nodes.
    branches : int
        Branches of cases, from worker to worker, all workers together.
    most_branches : int
        The same, of the worker that received most.
    cases : int
        Cases of small nodes with their values, from worker to worker.
    candidates : int
        From workers to the client.
    """

    nodes: int
    instances: int
    branches: int
    most_branches: int
    cases: int
    candidates: int


def traffic_of(levels: Sequence[Level], nodes: int, candidates: int) -> LevelTraffic:
    """What a level sent, in which so many nodes were split, beside so many bytes of candidates."""
    received = [level.received for level in levels]
    return LevelTraffic(nodes, levels[0].instances, sum(received), max(received), 0, candidates)


def agreed_level(shares: Sequence[Level]) -> Parted:
    """What became of a level, as all shares say; see :func:`agreed`."""
    parted = shares[0].parted
    assert isinstance(parted, Parted)
    return agreed(parted, [level.parted for level in shares[1:] if isinstance(level.parted, int)])


def agreed(parted: Parted, digests: Sequence[int]) -> Parted:
    """What one share says, if the digests of the others agree.

    Raises
    ------
    EngineError
        When they do not.
    """
    if any(digest != parted.digest() for digest in digests):
        raise EngineError("workers disagree about a node: this is a fault of c45gpu, or of a machine; report it")
    return parted


def side_by_side(m: int, owners: Sequence[tuple[str, Int64s]], parts: Sequence[Candidates]) -> Candidates:
    """The candidates of m nodes for all attributes, each from the share that has it."""
    whole = Candidates.none(m, sum(len(owned) for _, owned in owners))
    for (_, owned), part in zip(owners, parts, strict=True):
        for name in ("gain", "split", "tries", "possible", "cut"):
            getattr(whole, name)[:, owned] = getattr(part, name)[:m]
    return whole


def sides_of(splits: Splits, owners: Sequence[tuple[str, Int64s]], shares: Sequence[Level]) -> Sides:
    """The values beside the cuts of a level, each from the share that has its attribute."""
    sides = Sides(*np.full((3, len(splits)), np.nan))
    for (_, owned), level in zip(owners, shares, strict=True):
        if level.sides is not None:
            which = np.flatnonzero(np.isin(splits.attribute, owned))
            for whole, part in zip(sides, level.sides, strict=True):
                whole[which] = part
    return sides
