"""Finds conflicting accesses in the record of a launch, all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tests.cuda_emulator.block import THREAD_BITS, Clock
from tests.cuda_emulator.faults import Place
from tests.cuda_emulator.memory import Memory

Int64s = np.ndarray[Any, np.dtype[np.int64]]
READ, WRITE, ATOMIC = 0, 1, 2
KINDS = ("reads", "writes", "updates")


class Access(NamedTuple):
    """One touch of one cell."""

    place: Place
    time: int  # of the clock
    kind: int


class Conflict(NamedTuple):
    """Two accesses of a cell that nothing orders."""

    address: int
    first: Access
    second: Access


class Events(NamedTuple):
    """Accesses, a row for each."""

    address: Int64s
    time: Int64s
    thread: Int64s
    block: Int64s
    kind: Int64s

    def only(self, chosen: Any) -> Events:
        """Some of the rows."""
        return Events(*(column[chosen] for column in self))


def stamps_of(marks: Int64s, column: int, total: int) -> Int64s:
    """The stamp of each entry of one of the three lists, from the marks at which threads took turns."""
    lengths = np.diff(np.append(marks[:, column], total))
    return np.repeat(marks[:, 3], lengths)


def events_of(memory: Memory, clock: Clock, only: int | None) -> Events:
    """Accesses of cells that more than reads touch, or of one cell."""
    marks = np.array(memory.marks, np.int64).reshape(-1, 4)
    lists = [np.array(addresses, np.int64) for addresses in (memory.reads, memory.writes, memory.atomics)]
    stamps = [stamps_of(marks, column, len(addresses)) for column, addresses in enumerate(lists)]
    changed = np.zeros(len(memory.cells), np.bool_)
    changed[lists[WRITE]] = changed[lists[ATOMIC]] = True
    address, stamp = np.concatenate(lists), np.concatenate(stamps)
    kind = np.repeat(np.arange(3), [len(addresses) for addresses in lists])
    chosen = changed[address] if only is None else address == only
    address, stamp, kind = address[chosen], stamp[chosen], kind[chosen]
    count = stamp >> THREAD_BITS
    starts, numbers = np.array(clock.blocks, np.int64).T
    block = numbers[np.searchsorted(starts, count, "right") - 1]
    return Events(address, count, stamp & ((1 << THREAD_BITS) - 1), block, kind)


def groups_in_conflict(events: Events, within: Int64s, who: Int64s) -> Iterator[Events]:
    """The accesses of each cell and each `within` that conflict if nothing orders those of different `who`.

    They do if one writes, or if one is atomic and another is not.
    """
    key = events.address * (int(within.max(initial=0)) + 1) + within
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    if not len(starts):
        return
    sorted_who, kind = who[order], events.kind[order]
    several = np.minimum.reduceat(sorted_who, starts) != np.maximum.reduceat(sorted_who, starts)
    reads, writes, atomics = (np.maximum.reduceat(kind == which, starts) for which in (READ, WRITE, ATOMIC))
    stops = np.append(starts[1:], len(order))
    for group in np.flatnonzero(several & (writes | (reads & atomics))).tolist():
        yield events.only(order[starts[group] : stops[group]])


def conflicts_of(memory: Memory, clock: Clock, only: int | None = None) -> Iterator[Conflict]:
    """Pairs of accesses that nothing orders, one for each cell and interval between barriers; or those of one cell."""
    events = events_of(memory, clock, only)
    interval = np.searchsorted(clock.barriers, events.time, "right")
    for group in groups_in_conflict(events, interval, events.thread):
        conflict = _pair(group, clock, of_one_block=True)
        if conflict is not None:
            yield conflict
    for group in groups_in_conflict(events, np.zeros_like(events.block), events.block):
        conflict = _pair(group, clock, of_one_block=False)
        if conflict is not None:
            yield conflict


def _pair(group: Events, clock: Clock, of_one_block: bool) -> Conflict | None:
    rows = zip(group.block.tolist(), group.thread.tolist(), group.time.tolist(), group.kind.tolist(), strict=True)
    accesses = list(dict.fromkeys(Access(Place(block, thread), count, kind) for block, thread, count, kind in rows))
    changing = [access for access in accesses if access.kind != READ]
    for first in changing:
        for second in accesses:
            if WRITE not in (first.kind, second.kind) and READ not in (first.kind, second.kind):
                continue  # two atomics
            ordered = _is_ordered(first, second, clock) if of_one_block else first.place.block == second.place.block
            if not ordered:
                return Conflict(int(group.address[0]), first, second)
    return None


def _is_ordered(first: Access, second: Access, clock: Clock) -> bool:
    """Whether two accesses between the same two barriers are ordered: one thread's, or by a syncwarp of both."""
    if first.place == second.place:
        return True
    if first.place.thread // 32 != second.place.thread // 32:
        return False
    low, high = sorted((first.time, second.time))
    counts = clock.warps
    begin = bisect_right(counts, low, key=lambda entry: entry[0])
    end = bisect_right(counts, high, key=lambda entry: entry[0])
    both = {first.place.thread, second.place.thread}
    return any(both <= threads for _, threads in counts[begin:end])
