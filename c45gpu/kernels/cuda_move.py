"""Stably partition instances and lists by branch.

Items are counted by tile and branch; the running sum of these counts is where each tile's items go, since the cells
stand in the order of the result::

    cells   | list 0, split 0                     | list 0, split 1 ...
            | branch 0          | branch 1        |
            | tile 0 1 2 ...    | tile 0 1 2 ...  |

Slots that will not be tested count nothing, so they take no place. An item with an unknown value goes to every branch
in which it has a share. Where splits are two-way and cases count 1, bits say all of that (:mod:`.cuda_halves`). How
lists move is in :mod:`.cuda_entries`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int64

from c45gpu.kernels.cuda_counts import on_device, run_range, scan_runs, sum_groups, tile_range
from c45gpu.kernels.cuda_device import Tiles
from c45gpu.kernels.cuda_halves import Halves, half_and_place, is_above
from c45gpu.kernels.cuda_mark import Shares, share_of


class Parts(NamedTuple):
    """How items are divided."""

    branch: Any  # int8 or int32[instances]
    units: Any  # int64[instances], [0] where every case counts 1
    shares: Shares
    kept: Any  # bool[slots]: it will be tested
    split_of: Any  # int64[segments]
    base: Any  # int64[segments]: the first cell of each
    row: Any  # int64[segments]: of lists the first slot of each, among those of all lists that are moved
    halves: Halves


class Places(NamedTuple):
    """Where instances went."""

    place: Any  # int32 or int64[instances]: the new number, or where `spread` begins
    spread: Any  # the same: of an unknown instance the new number at each branch
    room: Any  # int64[instances + 1]: where `spread` begins for each instance; [0] where no value is unknown


class Moved(NamedTuple):
    """Instances of the next level."""

    cases: Any  # int32
    units: Any  # int64, [0] where every case counts 1


@on_device
def taken_of(instance: Any, parts: Any) -> Any:
    """The branch of an instance, UNKNOWN for all of them."""
    if parts.halves.words.shape[0] > 0:
        return is_above(instance, parts.halves)
    return int64(parts.branch[instance])


@on_device
def taken_and_place(instance: Any, parts: Any, split: Any, places: Any) -> Any:
    """The branch of an instance, and its number in the next level; for all branches where they stand in `spread`."""
    if parts.halves.words.shape[0] > 0:
        return half_and_place(instance, parts.shares.slot_start[split], parts.halves)
    return int64(parts.branch[instance]), int64(places.place[instance])


@on_device
def branches_of(taken: Any, parts: Any, split: Any) -> Any:
    """The branches first..stop-1 that an instance may go to."""
    if taken >= 0:
        return taken, taken + 1
    return int64(0), branches_at(split, parts)


@on_device
def units_at(instance: Any, taken: Any, b: Any, parts: Any, split: Any) -> Any:
    """The units that an instance brings to one of its branches."""
    if parts.units.shape[0] == 0:
        return int64(1)
    if taken >= 0:
        return parts.units[instance]
    first = parts.shares.slot_start[split]
    return share_of(parts.units[instance], first + b, first, parts.shares.upto)


@on_device
def goes(instance: Any, taken: Any, b: Any, parts: Any, split: Any) -> Any:
    """Whether an instance goes to one of its branches: it is kept, and the instance has a share in it."""
    if not parts.kept[parts.shares.slot_start[split] + b]:
        return False
    return taken >= 0 or units_at(instance, taken, b, parts, split) > 0


@on_device
def cell_of(tile: Any, segment: Any, b: Any, parts: Any, tiles: Any) -> Any:
    """The cell of a tile and a branch."""
    n_tiles = tiles.first[segment + 1] - tiles.first[segment]
    return parts.base[segment] + b * n_tiles + tile - tiles.first[segment]


@on_device
def count_item(instance: Any, parts: Any, split: Any, counts: Any, stride: Any, offset: Any) -> None:
    """Count an instance at each of its branches."""
    taken = taken_of(instance, parts)
    begin, end = branches_of(taken, parts, split)
    for b in range(begin, end):
        if goes(instance, taken, b, parts, split):
            counts[offset + b * stride] += 1


@on_device
def clear(counts: Any, branches: Any, stride: Any, offset: Any) -> None:
    """Nothing counted yet."""
    for b in range(branches):
        counts[offset + b * stride] = 0


@on_device
def store_counts(mine: Any, branches: Any, tile: Any, segment: Any, parts: Any, tiles: Any, counts: Any) -> None:
    """Write a block's counts of each branch."""
    groups, threads = sum_groups(mine, branches), cuda.blockDim.x
    for b in range(cuda.threadIdx.x, branches, threads):
        total = int64(0)
        for group in range(groups):
            total += mine[branches * threads + b * groups + group]
        counts[cell_of(tile, segment, b, parts, tiles)] = total


@on_device
def branches_at(split: Any, parts: Any) -> Any:
    """The number of branches of a split."""
    return parts.shares.slot_start[split + 1] - parts.shares.slot_start[split]


def count_instances(parts: Parts, tiles: Tiles, counts: Any) -> None:
    """Instances of each tile and branch."""
    mine = cuda.shared.array(0, int64)
    tile = int64(cuda.blockIdx.x)
    segment, first, stop = tile_range(tile, tiles)
    split = parts.split_of[segment]
    branches, t, threads = branches_at(split, parts), cuda.threadIdx.x, cuda.blockDim.x
    clear(mine, branches, threads, t)
    begin, end = run_range(first, stop)
    for i in range(begin, end):
        count_item(i, parts, split, mine, threads, t)
    store_counts(mine, branches, tile, segment, parts, tiles, counts)


def count_instances_of_many(parts: Parts, tiles: Tiles, counts: Any) -> None:
    """As :func:`count_instances`, where branches are many: a thread counts a tile."""
    tile = int64(cuda.grid(1))
    if tile >= tiles.segment.shape[0]:
        return
    segment, first, stop = tile_range(tile, tiles)
    split = parts.split_of[segment]
    stride, offset = tiles.first[segment + 1] - tiles.first[segment], cell_of(tile, segment, 0, parts, tiles)
    clear(counts, branches_at(split, parts), stride, offset)
    for i in range(first, stop):
        count_item(i, parts, split, counts, stride, offset)


@on_device
def move_instance(
    i: Any, cases: Any, parts: Any, split: Any, at: Any, stride: Any, offset: Any, places: Any, moved: Any
) -> None:
    """Write an instance to each of its branches; ``at[offset + b * stride]`` is the next place of a branch."""
    taken = taken_of(i, parts)
    begin, end = branches_of(taken, parts, split)
    place = int64(-1) if taken >= 0 else int64(places.room[i])
    for b in range(begin, end):
        if goes(i, taken, b, parts, split):
            to = at[offset + b * stride]
            at[offset + b * stride] = to + 1
            moved.cases[to] = cases[i]
            if parts.units.shape[0] > 0:
                moved.units[to] = units_at(i, taken, b, parts, split)
            if taken >= 0:
                place = to
            else:
                places.spread[place + b] = to
    places.place[i] = place


def move_instances(cases: Any, parts: Parts, tiles: Tiles, before: Any, places: Places, moved: Moved) -> None:
    """Write the instances of the next level."""
    mine = cuda.shared.array(0, int64)
    tile = int64(cuda.blockIdx.x)
    segment, first, stop = tile_range(tile, tiles)
    split = parts.split_of[segment]
    branches, t, threads = branches_at(split, parts), cuda.threadIdx.x, cuda.blockDim.x
    clear(mine, branches, threads, t)
    begin, end = run_range(first, stop)
    for i in range(begin, end):
        count_item(i, parts, split, mine, threads, t)
    scan_runs(mine, branches)
    for b in range(branches):
        mine[b * threads + t] += before[cell_of(tile, segment, b, parts, tiles)]
    for i in range(begin, end):
        move_instance(i, cases, parts, split, mine, threads, t, places, moved)


def move_halves(cases: Any, parts: Parts, tiles: Tiles, places: Places, moved: Moved) -> None:
    """As :func:`move_instances`, where bits say where each goes, so nothing has to be counted."""
    segment, first, stop = tile_range(int64(cuda.blockIdx.x), tiles)
    split = parts.split_of[segment]
    for i in range(first + cuda.threadIdx.x, stop, cuda.blockDim.x):
        taken, place = taken_and_place(i, parts, split, places)
        if parts.kept[parts.shares.slot_start[split] + taken]:
            moved.cases[place] = cases[i]


def move_instances_of_many(cases: Any, parts: Parts, tiles: Tiles, before: Any, places: Places, moved: Moved) -> None:
    """As :func:`move_instances`, where branches are many: a thread moves a tile; `before` is overwritten."""
    tile = int64(cuda.grid(1))
    if tile >= tiles.segment.shape[0]:
        return
    segment, first, stop = tile_range(tile, tiles)
    split = parts.split_of[segment]
    stride, offset = tiles.first[segment + 1] - tiles.first[segment], cell_of(tile, segment, 0, parts, tiles)
    for i in range(first, stop):
        move_instance(i, cases, parts, split, before, stride, offset, places, moved)
