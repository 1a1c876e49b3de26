"""What the lanes of a warp get when they meet in an operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tests.cuda_emulator.faults import MissingLane, Site
from tests.cuda_emulator.words import Lanes, Word

Complain = Callable[[str, Iterable[int]], MissingLane]


class Call(NamedTuple):
    """A lane in a warp operation."""

    operation: str
    mask: int
    site: Site
    value: Any = None
    other: int = 0  # the lane, distance or lane mask of a shuffle


@lru_cache(maxsize=256)
def members(mask: int, size: int) -> frozenset[int]:
    """The lanes of a mask that a warp of so many threads has."""
    return frozenset(lane for lane in range(size) if mask >> lane & 1)


SOURCES: dict[str, Callable[[int, int], int]] = {
    "shfl_sync": lambda lane, other: other & 31,
    "shfl_up_sync": lambda lane, other: lane - other if lane >= other else lane,
    "shfl_down_sync": lambda lane, other: lane + other if lane + other < 32 else lane,
    "shfl_xor_sync": lambda lane, other: lane ^ other if lane ^ other < 32 else lane,
}


def meet(group: dict[int, Call], complain: Complain) -> dict[int, Any]:
    """What each lane gets, once all have called.

    Parameters
    ----------
    group : dict
        What each lane called.
    complain : callable
        Makes a fault of a message and lanes.
    """
    operations = {call.operation for call in group.values()}
    if len(operations) > 1:
        raise complain(f"lanes of one mask are in different operations: {sorted(operations)}", group)
    (operation,) = operations
    if operation in SOURCES:
        return _shuffle(group, SOURCES[operation], complain)
    return VOTES[operation](group)


def _shuffle(group: dict[int, Call], source: Callable[[int, int], int], complain: Complain) -> dict[int, Any]:
    answers = {}
    for lane, call in group.items():
        kinds = (bool, np.bool_, Word)
        if isinstance(call.value, kinds):
            raise TypeError(
                f"{call.operation} of {call.value!r}: Numba shuffles int32, int64, float32 and float64 only"
            )
        sender = source(lane, call.other)
        if sender not in group:
            raise complain(f"{call.operation} reads from lane {sender}, which takes no part", [lane])
        answers[lane] = group[sender].value
    return answers


def _mask(lanes: Iterable[int]) -> int:
    return sum(1 << lane for lane in lanes)


def _everyone(group: dict[int, Call], answer: Any) -> dict[int, Any]:
    return dict.fromkeys(group, answer)


def _match_any(group: dict[int, Call]) -> dict[int, Any]:
    lanes: dict[Any, list[int]] = {}
    for lane, call in group.items():
        lanes.setdefault(call.value, []).append(lane)
    return {lane: Lanes.of(_mask(lanes[call.value])) for lane, call in group.items()}


def _match_all(group: dict[int, Call]) -> dict[int, Any]:
    equal = len({call.value for call in group.values()}) == 1
    return _everyone(group, (Lanes.of(_mask(group)) if equal else Lanes.of(0), equal))


VOTES: dict[str, Callable[[dict[int, Call]], dict[int, Any]]] = {
    "syncwarp": lambda group: _everyone(group, None),
    "all_sync": lambda group: _everyone(group, all(call.value for call in group.values())),
    "any_sync": lambda group: _everyone(group, any(call.value for call in group.values())),
    "eq_sync": lambda group: _everyone(group, len({bool(call.value) for call in group.values()}) == 1),
    "ballot_sync": lambda group: _everyone(group, Lanes.of(_mask(lane for lane in group if group[lane].value))),
    "match_any_sync": _match_any,
    "match_all_sync": _match_all,
}
