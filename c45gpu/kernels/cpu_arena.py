"""The memory in which a subtree with divided cases is finished, and how a node's cases move to its branches there.

An *arena* is a stack of nodes. In it a node's cases are numbered in the order of its rows, and entries carry these
numbers, so that units and marks lie near by. The node on top is divided behind its end, and the branches that are to be
tested move to its place::

    arena   | waiting | waiting |  node  |
            | waiting | waiting |  node  | larger branch | other branch |
            | waiting | waiting | larger branch | other branch |

With the largest branch lowest, what waits is never much more than the cases that the subtree began with. Where the
branches of a node would have many times its cases, since unknown values go to each of many branches, the node stays and
only some of its branches are sent at a time::

    arena   | waiting | waiting |  node  | branch | branch |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_divide import UNKNOWN, share_of
from c45gpu.kernels.cpu_entry import class_of, new_of, packed, row_of
from c45gpu.kernels.cpu_finish import Scores
from c45gpu.kernels.cpu_move import DROPPED

DIVIDED = -2  # where a case is sent whose value is unknown, beside DROPPED


class Arena(NamedTuple):
    """A stack of nodes. A node has the same range in every list, of which a list may use less."""

    lists: Any  # uint32[lists, room]: of attributes, with numbers in the place of rows
    rows: Any  # as in the row list that the root came from
    units: Any  # int64[room]


class Bench(NamedTuple):
    """What one worker needs beside it."""

    number_of: Any  # int64[N]: by row
    room: Any  # of a scan
    totals: Any  # int64[C]
    histogram: Any  # int64[codes, C]
    near: Any  # float32[R], or [0] where no values are too near; R is the most cases of a node
    apart: Any  # uint32, as `near`
    branch: Any  # int32[R]: of each case, UNKNOWN for an unknown value; then its place among the branches kept
    number: Any  # int32[R]: of each case in its branch; of an unknown value its row in a table of such numbers
    units: Any  # int64[most branches, C]
    n_rows: Any  # int64[most branches]
    whole: Any  # bool[most branches]
    upto: Any  # float64[most branches]: as in Divisions
    kept_as: Any  # int64[most branches]: the place of a branch among those that are kept, or DROPPED
    kept: Any  # int64[most branches]: the branches to be tested, a largest one first
    record: Any  # int64[most branches]: and their records
    start: Any  # int64[most branches]: and where their cases go
    position: Any  # int64[most branches]
    last: Any  # int64[most branches]
    n_branches: Any  # int64[A]
    net: Any  # float64[A]
    scores: Scores


@compiled
def longer(array: Any, used: Any, room: Any) -> Any:
    """A copy of what is used of an array, with more room."""
    longer = np.empty(room, array.dtype)
    longer[:used] = array[:used]
    return longer


@compiled
def _wider(array: Any, used: Any, room: Any) -> Any:
    wider = np.empty((len(array), room), array.dtype)
    for k in range(len(array)):
        wider[k, :used] = array[k, :used]
    return wider


@compiled
def roomier(arena: Any, used: Any, wanted: Any) -> Any:
    """The arena, or a copy of what is used of it with room for more than is wanted."""
    room = min(arena.lists.shape[1], len(arena.units))
    if wanted < room:
        return arena
    room = max(2 * room, wanted + 1)
    return Arena(_wider(arena.lists, used, room), longer(arena.rows, used, room), longer(arena.units, used, room))


@compiled
def _send_rows(node: Any, kept: Any, arena: Any, bench: Any, numbers: Any) -> None:
    """Send cases to the branches that are kept, and number them there; `numbers` is for those that are divided."""
    (first, count, _), unknown = node, 0
    position = bench.position[:kept]
    position[:] = bench.start[:kept]
    for i in range(count):
        b, entry, units = bench.branch[i], arena.rows[first + i], arena.units[first + i]
        if b >= 0:
            q = bench.kept_as[b]
            bench.branch[i], bench.number[i] = q, DROPPED
            if q >= 0:
                at = position[q]
                arena.rows[at], arena.units[at] = entry, units
                bench.number[i] = at - bench.start[q]
                position[q] = at + 1
            continue
        bench.branch[i], bench.number[i] = DIVIDED, unknown
        for q in range(kept):
            share, at = share_of(units, bench.upto, bench.kept[q]), position[q]
            numbers[unknown, q] = DROPPED
            if share > 0:
                arena.rows[at], arena.units[at] = entry, share
                numbers[unknown, q] = at - bench.start[q]
                position[q] = at + 1
        unknown += 1


@compiled
def _send_to_two(entries: Any, layout: Any, numbers: Any, bench: Any, out: Any, ends: Any) -> None:
    """Send a list's entries to two branches; `ends` gets how many each has."""
    one = np.uint64(1)
    low, high, low_new, high_new = bench.start[0], bench.start[1], one, one
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        number = row_of(entry, layout)
        side, there = bench.branch[number], bench.number[number]
        bit, c = new_of(entry, layout), class_of(entry, layout)
        low_new |= bit
        high_new |= bit
        if side >= 0:
            mark = np.uint64(side)
            out[high if side else low] = packed(high_new if side else low_new, c, there, layout)
            high += side
            low += 1 - side
            high_new &= one - mark
            low_new &= mark
            continue
        if numbers[there, 0] >= 0:
            out[low] = packed(low_new, c, numbers[there, 0], layout)
            low, low_new = low + 1, np.uint64(0)
        if numbers[there, 1] >= 0:
            out[high] = packed(high_new, c, numbers[there, 1], layout)
            high, high_new = high + 1, np.uint64(0)
    ends[0], ends[1] = low - bench.start[0], high - bench.start[1]


@compiled
def _send_to_one(entries: Any, layouts: Any, number_of: Any, start: Any, out: Any) -> Any:
    """Send those of a list's entries that have a number, with another layout; returns how many."""
    (layout, local), at, new = layouts, start, np.uint64(1)
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        number = np.int64(number_of[row_of(entry, layout)])
        new |= new_of(entry, layout)
        out[at] = packed(new, class_of(entry, layout), max(number, 0), local)  # what is dropped is overwritten
        at += number >= 0
        new &= np.uint64(number < 0)
    return at - start


@compiled
def _send_to_many(entries: Any, layout: Any, numbers: Any, kept: Any, bench: Any, out: Any, ends: Any) -> None:
    """Send a list's entries to any number of branches; `ends` gets how many each has."""
    group, position, last = 0, bench.position[:kept], bench.last[:kept]
    position[:], last[:] = bench.start[:kept], -1
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        group += np.int64(new_of(entry, layout))
        number = row_of(entry, layout)
        sent_to, there = np.int64(bench.branch[number]), bench.number[number]
        divided = sent_to == DIVIDED
        for j in range(kept if divided else np.int64(sent_to >= 0)):
            q = np.int64(j) if divided else sent_to
            n = numbers[there, q] if divided else there
            if n >= 0:
                out[position[q]] = packed(last[q] != group, class_of(entry, layout), n, layout)
                position[q], last[q] = position[q] + 1, group
    for q in range(kept):
        ends[q] = position[q] - bench.start[q]


@compiled
def _send_lists(
    node: Any, list_count: Any, branches: Any, arena: Any, layout: Any, bench: Any, numbers: Any, counts: Any
) -> None:
    """Partition the lists of a node; `counts` gets how many entries each kept branch has in each list."""
    (first, count, _), (n_branches, kept) = node, branches
    if kept == 1:
        for i in range(count):
            if bench.branch[i] == DIVIDED:
                bench.number[i] = numbers[bench.number[i], 0]
    for k in range(len(list_count) - 1):
        entries, out = arena.lists[k, first : first + list_count[k]], arena.lists[k]
        if kept == 1:
            counts[0, k] = _send_to_one(entries, (layout, layout), bench.number, bench.start[0], out)
        elif n_branches == 2:
            _send_to_two(entries, layout, numbers, bench, out, counts[:, k])
        else:
            _send_to_many(entries, layout, numbers, kept, bench, out, counts[:, k])


@compiled
def _let_down(arena: Any, counts: Any, by: Any, bench: Any) -> None:
    """Move the kept branches to the place of their node."""
    last = counts.shape[1] - 1
    for q in range(len(counts)):
        start = bench.start[q]
        for k in range(last):
            entries = arena.lists[k]
            for i in range(start, start + counts[q, k]):
                entries[i - by] = entries[i]
        for i in range(start, start + counts[q, last]):
            arena.rows[i - by], arena.units[i - by] = arena.rows[i], arena.units[i]


@compiled
def send(node: Any, list_count: Any, branches: Any, stays: Any, arena: Any, local: Any, bench: Any) -> Any:
    """Send a node's cases to its kept branches, which take its place unless it stays.

    Returns the arena, and how many entries each branch has in each list; ``bench.start`` says where they are.
    """
    (first, count, _), kept, last = node, branches[1], len(list_count) - 1
    counts, place, divided = np.empty((kept, len(list_count)), np.int64), first + count, 0
    for q in range(kept):
        counts[q, last] = bench.n_rows[bench.kept[q]]
        bench.start[q] = place
        place += counts[q, last]
    for i in range(count):
        divided += bench.branch[i] == UNKNOWN
    arena = roomier(arena, first + count, place)
    numbers = np.empty((divided, kept), np.int32)
    _send_rows(node, kept, arena, bench, numbers)
    _send_lists(node, list_count, branches, arena, local.layout, bench, numbers, counts)
    if not stays:
        _let_down(arena, counts, count, bench)
        bench.start[:kept] -= count
    return arena, counts


@compiled
def load_some(lists: Any, units: Any, node: Any, layouts: Any, number_of: Any, arena: Any, bench: Any, out: Any) -> Any:
    """Copy those cases of a level's node to the bottom of the arena that go to kept branches, or to all of them.

    `node` is where it begins in the lists, how many entries it has in each, and the branch of each case; `out` gets the
    branches of the copied cases. Returns how many entries are copied of each list.
    """
    (first, list_count, branch), (layout, _), last, count = node, layouts, len(lists) - 1, 0
    for i in range(list_count[last]):
        entry, b = lists[last, first + i], branch[i]
        row = row_of(entry, layout)
        number_of[row] = DROPPED
        if b == UNKNOWN or bench.kept_as[b] != DROPPED:
            arena.rows[count], arena.units[count], out[count] = entry, units[first + i], b
            number_of[row] = count
            count += 1
    loaded = np.empty(last + 1, np.int64)
    loaded[last] = count
    for k in range(last):
        loaded[k] = _send_to_one(lists[k, first : first + list_count[k]], layouts, number_of, 0, arena.lists[k])
    return loaded
