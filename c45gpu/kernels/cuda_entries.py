"""Stably partition lists by branch; an entry's new-value bit becomes the OR of the bits that its branch skipped.

Which branches have met a new value since their last entry is a set of branches. A range of entries *opens* those for
which a new value follows their last entry in it, and *closes* those that have an entry and no new value after it; what
lies before the range decides about the others::

    new value    1     0     0     1     0
    branch       0     1     0     1     1
    open         {1}   {}    {}    {0}   {0}          after each entry, of two branches
    new bit      1     1     0     1     0            in its branch

Ranges are combined over the threads of a tile, and over the tiles of a segment by looking back, which ends at once
unless a tile is a single value and lacks a branch. Where branches are many, each keeps the number of the value of its
last entry instead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int64

from c45gpu.kernels.cuda_counts import Layout, class_of, id_of, is_new, on_device, run_range, scan_runs, tile_range
from c45gpu.kernels.cuda_device import Tiles
from c45gpu.kernels.cuda_move import (
    Parts,
    Places,
    branches_at,
    branches_of,
    cell_of,
    clear,
    count_item,
    store_counts,
    units_at,
)
from c45gpu.kernels.cuda_score import Lists

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


@on_device
def new_id(instance: Any, b: Any, places: Places) -> Any:
    """The number of an instance at a branch in the next level."""
    place = int64(places.place[instance])
    if places.room.shape[0] > 0 and places.room[instance + 1] > places.room[instance]:
        return int64(places.spread[place + b])
    return place


@on_device
def moved_word(word: Any, new: Any, instance: Any, layout: Any, target: Layout) -> Any:
    """An entry as it stands in the next level."""
    bit = int64(1) if new else int64(0)
    return (bit << target.new_bit) | (class_of(word, layout) << target.id_bits) | instance


@on_device
def count_run_entries(lists: Any, parts: Any, split: Any, first: Any, stop: Any, mine: Any) -> Any:
    """Count this thread's run by branch, and find what it opens and closes."""
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    branches = branches_at(split, parts)
    clear(mine, branches, threads, t)
    opened, closed = int64(0), int64(0)
    begin, end = run_range(first, stop)
    for i in range(begin, end):
        word = int64(lists.entries[i])
        instance = id_of(word, lists.layout)
        if is_new(word, lists.layout):
            opened, closed = (int64(1) << branches) - 1, int64(0)
        low, high = branches_of(instance, parts, split)
        for b in range(low, high):
            if units_at(instance, b, parts, split) > 0:
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
    ends = scan_size(branches, threads)
    mine[ends + t], mine[ends + threads + t] = count_run_entries(lists, parts, split, first, stop, mine)
    store_counts(mine, branches, tile, segment, parts, tiles, counts)
    if t == 0:
        opened, closed = look_back_in_block(mine, ends, threads, branches)
        sets.opened[tile], sets.closed[tile] = opened, closed


@on_device
def scan_size(rows: Any, threads: Any) -> Any:
    """As :func:`c45gpu.kernels.cuda_counts.scan_cells`."""
    return rows * (threads + (threads + 16) // 17)


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
    ends = scan_size(branches, threads)
    mine[ends + t], mine[ends + threads + t] = count_run_entries(lists, parts, split, first, stop, mine)
    scan_runs(mine, branches)
    for b in range(branches):
        mine[b * threads + t] += before[cell_of(tile, segment, b, parts, tiles)]
    opened, closed = look_back_in_block(mine, ends, t, branches)
    other, everything = tile - 1, (int64(1) << branches) - 1
    while other >= tiles.first[segment] and opened | closed != everything:
        opened |= sets.opened[other] & ~closed
        closed |= sets.closed[other] & ~opened
        other -= 1
    move_run(lists, parts, split, run_range(first, stop), mine, opened, places, target)


@on_device
def move_run(lists: Any, parts: Any, split: Any, run: Any, mine: Any, opened: Any, places: Any, target: Any) -> None:
    """Write this thread's run; `opened` holds the branches whose next entry has a new value."""
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    for i in range(run[0], run[1]):
        word = int64(lists.entries[i])
        instance = id_of(word, lists.layout)
        if is_new(word, lists.layout):
            opened = int64(ALL)
        low, high = branches_of(instance, parts, split)
        for b in range(low, high):
            if units_at(instance, b, parts, split) > 0:
                to = mine[b * threads + t]
                mine[b * threads + t] = to + 1
                new = (opened >> b) & 1 == 1
                moved = moved_word(word, new, new_id(instance, b, places), lists.layout, target.layout)
                target.entries[to] = moved
                opened &= ~(int64(1) << b)


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
        count_item(instance, parts, split, counts, stride, offset)
        low, high = branches_of(instance, parts, split)
        for b in range(low, high):
            if units_at(instance, b, parts, split) > 0:
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
        low, high = branches_of(instance, parts, split)
        for b in range(low, high):
            if units_at(instance, b, parts, split) > 0:
                cell = cell_of(tile, segment, b, parts, tiles)
                to, last = before[cell], int64(values.running[cell])
                before[cell], values.running[cell] = to + 1, value
                here = last >= 0 or value > 0
                new = value > last if here else opened_before(tile, segment, b, values, parts, tiles)
                target.entries[to] = moved_word(word, new, new_id(instance, b, places), lists.layout, target.layout)
