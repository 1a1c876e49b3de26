"""Stably partition lists by branch; an entry's new-value bit becomes the OR of the bits that its branch skipped.

Which branches have met a new value since their last entry is a set of branches. A range of entries *opens* those for
which a new value follows their last entry in it, and *closes* those that have an entry and no new value after it; what
lies before the range decides about the others::

    new value    1     0     0     1     0
    branch       0     1     0     1     1
    open         {1}   {}    {}    {0}   {0}          after each entry, of two branches
    new bit      1     1     0     1     0            in its branch

A block reads its tile once, into shared memory, and looks up at once where each entry goes. Where the next level's
lists are cut into tiles is known, so the class weights of those are added up as entries go there, and scoring need not
read the lists for that.

Ranges are combined over the threads of a tile, and over the tiles of a segment by looking back, which ends at once
unless a tile is a single value and lacks a branch. Where branches are many, each keeps the number of the value of its
last entry instead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int64

from c45gpu.kernels.cuda_counts import (
    Layout,
    class_of,
    id_of,
    is_new,
    on_device,
    run_range,
    scan_runs,
    scan_size,
    tile_range,
)
from c45gpu.kernels.cuda_device import Tiles
from c45gpu.kernels.cuda_held import Held, held_branch, hold_entries, hold_places
from c45gpu.kernels.cuda_move import (
    Parts,
    Places,
    branches_at,
    branches_of,
    cell_of,
    clear,
    goes,
    store_counts,
    taken_and_place,
    taken_of,
    units_at,
)
from c45gpu.kernels.cuda_score import Lists
from c45gpu.kernels.cuda_tally import Tally, begin_tally, end_tally, tell, tell_all

ALL = -1  # every branch
MASK_BRANCHES = 62  # branches that a set has room for


class Sets(NamedTuple):
    """What each tile does to the branches; sets of branches."""

    opened: Any  # int64[tiles]
    closed: Any  # int64[tiles]


class Values(NamedTuple):
    """The same where branches are many, by numbers of values within a tile."""

    last: Any  # int32[cells]: the value of the last entry, -1 for none
    running: Any  # int32[cells]: the same while entries are moved
    values: Any  # int32[tiles]: new values in a tile


class Target(NamedTuple):
    """Lists of the next level."""

    entries: Any  # uint32 or uint64
    layout: Layout
    tally: Tally


@on_device
def new_id(place: Any, taken: Any, b: Any, places: Places) -> Any:
    """The number of an instance at a branch in the next level."""
    return place if taken >= 0 else int64(places.spread[place + b])


@on_device
def moved_word(word: Any, new: Any, instance: Any, layout: Any, target: Layout) -> Any:
    """An entry as it stands in the next level."""
    bit = int64(1) if new else int64(0)
    return (bit << target.new_bit) | (class_of(word, layout) << target.id_bits) | instance


@on_device
def count_run_entries(lists: Any, parts: Any, split: Any, run: Any, mine: Any, room: Any) -> Any:
    """Count this thread's run of a tile that is held by branch, and find what it opens and closes."""
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    branches = branches_at(split, parts)
    clear(mine, branches, threads, t)
    opened, closed = int64(0), int64(0)
    for k in range(run[0], run[1]):
        word = mine[room + k]
        if is_new(word, lists.layout):
            opened, closed = (int64(1) << branches) - 1, int64(0)
        taken, instance = held_branch(word), id_of(word, lists.layout)
        low, high = branches_of(taken, parts, split)
        for b in range(low, high):
            if goes(instance, taken, b, parts, split):
                mine[b * threads + t] += 1
                opened &= ~(int64(1) << b)
                closed |= int64(1) << b
    return opened, closed


def count_entries(lists: Lists, parts: Parts, tiles: Tiles, counts: Any, sets: Sets) -> None:
    """Entries of each tile and branch, and what each tile opens and closes."""
    mine = cuda.shared.array(0, int64)
    t, threads, tile = cuda.threadIdx.x, cuda.blockDim.x, int64(cuda.blockIdx.x)
    segment, first, stop = tile_range(tile, tiles)
    split = parts.split_of[segment]
    branches = branches_at(split, parts)
    if branches == 0:
        return
    ends = scan_size(branches, threads)
    room = ends + 2 * threads
    hold_entries(lists, parts, split, first, stop, mine, room)
    run = run_range(int64(0), stop - first)
    mine[ends + t], mine[ends + threads + t] = count_run_entries(lists, parts, split, run, mine, room)
    store_counts(mine, branches, tile, segment, parts, tiles, counts)
    if t == 0:
        opened, closed = look_back_in_block(mine, ends, threads, branches)
        sets.opened[tile], sets.closed[tile] = opened, closed


@on_device
def look_back_in_block(mine: Any, ends: Any, before: Any, branches: Any) -> Any:
    """What the runs of the threads 0..before-1 open and close together."""
    threads, everything = cuda.blockDim.x, (int64(1) << branches) - 1
    opened, closed, other = int64(0), int64(0), before - 1
    while other >= 0 and opened | closed != everything:
        opened |= mine[ends + other] & ~closed
        closed |= mine[ends + threads + other] & ~opened
        other -= 1
    return opened, closed


def move_entries(
    lists: Lists, parts: Parts, tiles: Tiles, before: Any, sets: Sets, places: Places, target: Target
) -> None:
    """Write the entries of the next level."""
    mine = cuda.shared.array(0, int64)
    t, threads, tile = cuda.threadIdx.x, cuda.blockDim.x, int64(cuda.blockIdx.x)
    segment, first, stop = tile_range(tile, tiles)
    split = parts.split_of[segment]
    branches = branches_at(split, parts)
    if branches == 0:
        return
    ends = scan_size(branches, threads)
    room = ends + 2 * threads
    edges = room + 2 * tiles.size
    begin_tally(mine, edges, branches, tile, segment, before, parts, tiles, target.tally)
    hold_places(lists, parts, split, first, stop, mine, room, tiles.size, places)
    run = run_range(int64(0), stop - first)
    mine[ends + t], mine[ends + threads + t] = count_run_entries(lists, parts, split, run, mine, room)
    scan_runs(mine, branches)
    for b in range(branches):
        mine[b * threads + t] += before[cell_of(tile, segment, b, parts, tiles)]
    opened, closed = look_back_in_block(mine, ends, t, branches)
    other, everything = tile - 1, (int64(1) << branches) - 1
    while other >= tiles.first[segment] and opened | closed != everything:
        opened |= sets.opened[other] & ~closed
        closed |= sets.closed[other] & ~opened
        other -= 1
    held = Held(mine, room, room + tiles.size, edges)
    move_run(lists, parts, split, run, held, opened, places, target)
    end_tally(mine, edges, branches, parts.row[segment], target.tally)


@on_device
def move_run(
    lists: Any, parts: Any, split: Any, run: Any, held: Held, opened: Any, places: Any, target: Target
) -> None:
    """Write this thread's run; `opened` holds the branches whose next entry has a new value."""
    t, threads, mine = cuda.threadIdx.x, cuda.blockDim.x, held.cells
    branches = branches_at(split, parts)
    for k in range(run[0], run[1]):
        word, place = mine[held.words + k], mine[held.places + k]
        if is_new(word, lists.layout):
            opened = int64(ALL)
        taken, instance = held_branch(word), id_of(word, lists.layout)
        low, high = branches_of(taken, parts, split)
        for b in range(low, high):
            if goes(instance, taken, b, parts, split):
                to = mine[b * threads + t]
                mine[b * threads + t] = to + 1
                new = (opened >> b) & 1 == 1
                moved = moved_word(word, new, new_id(place, taken, b, places), lists.layout, target.layout)
                target.entries[to] = moved
                opened &= ~(int64(1) << b)
                if target.tally.counts.shape[0] > 0:
                    units = units_at(instance, taken, b, parts, split)
                    tell(mine, held.edges, branches, b, to, class_of(word, lists.layout), units, target.tally)


def count_entries_of_many(lists: Lists, parts: Parts, tiles: Tiles, counts: Any, values: Values) -> None:
    """As :func:`count_entries`, where branches are many: a thread counts a tile."""
    tile = int64(cuda.grid(1))
    if tile >= tiles.segment.shape[0]:
        return
    segment, first, stop = tile_range(tile, tiles)
    split = parts.split_of[segment]
    stride, offset = tiles.first[segment + 1] - tiles.first[segment], cell_of(tile, segment, 0, parts, tiles)
    branches = branches_at(split, parts)
    clear(counts, branches, stride, offset)
    for b in range(branches):
        values.last[offset + b * stride] = values.running[offset + b * stride] = -1
    value = int64(0)
    for i in range(first, stop):
        word = int64(lists.entries[i])
        instance = id_of(word, lists.layout)
        value += 1 if is_new(word, lists.layout) else 0
        taken = taken_of(instance, parts)
        low, high = branches_of(taken, parts, split)
        for b in range(low, high):
            if goes(instance, taken, b, parts, split):
                counts[offset + b * stride] += 1
                values.last[offset + b * stride] = value
    values.values[tile] = value


@on_device
def opened_before(tile: Any, segment: Any, b: Any, values: Any, parts: Any, tiles: Any) -> Any:
    """Whether a branch has met a new value between its last entry and a tile."""
    other = tile - 1
    while other >= tiles.first[segment]:
        last = int64(values.last[cell_of(other, segment, b, parts, tiles)])
        if last >= 0 or values.values[other] > 0:
            return values.values[other] > last
        other -= 1
    return True


def move_entries_of_many(
    lists: Lists, parts: Parts, tiles: Tiles, before: Any, values: Values, places: Places, target: Target
) -> None:
    """As :func:`move_entries`, where branches are many: a thread moves a tile; `before` is overwritten."""
    tile = int64(cuda.grid(1))
    if tile >= tiles.segment.shape[0]:
        return
    segment, first, stop = tile_range(tile, tiles)
    split, value = parts.split_of[segment], int64(0)
    for i in range(first, stop):
        word = int64(lists.entries[i])
        instance = id_of(word, lists.layout)
        value += 1 if is_new(word, lists.layout) else 0
        taken, place = taken_and_place(instance, parts, split, places)
        low, high = branches_of(taken, parts, split)
        for b in range(low, high):
            if goes(instance, taken, b, parts, split):
                cell = cell_of(tile, segment, b, parts, tiles)
                to, last = before[cell], int64(values.running[cell])
                before[cell], values.running[cell] = to + 1, value
                here = last >= 0 or value > 0
                new = value > last if here else opened_before(tile, segment, b, values, parts, tiles)
                moved = moved_word(word, new, new_id(place, taken, b, places), lists.layout, target.layout)
                target.entries[to] = moved
                if target.tally.counts.shape[0] > 0:
                    units = units_at(instance, taken, b, parts, split)
                    tell_all(parts.row[segment] + b, to, class_of(word, lists.layout), units, target.tally)
