"""Which kernels move which segments, and where the counts of their tiles and branches stand.

    cells   | segment 0                         | segment 1 ...
            | branch 0          | branch 1      |
            | tile 0 1 2 ...    | tile 0 1 ...  |
            ^base[0]                            ^base[1]

The number of branches of each split may be known to the device only. Then there is room for as many cells as there
could be, and few branches at most, so that one kind of kernel suits all segments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.kernels.cuda_counts import scan_cells
from c45gpu.kernels.cuda_device import Device, Sizes, Work, work_for
from c45gpu.kernels.cuda_entries import MASK_BRANCHES, Sets, Values, count_entries, count_entries_of_many
from c45gpu.kernels.cuda_move import Parts
from c45gpu.kernels.cuda_score import Lists
from c45gpu.kernels.level import Bools, Int64s


class Group(NamedTuple):
    """Segments that the same kernels move."""

    work: Work
    parts: Parts
    many: bool
    branches: int  # of a split, at most

    @property
    def is_halved(self) -> bool:
        """Whether bits say where each instance goes."""
        return len(self.parts.halves.words) > 0


class Counted(NamedTuple):
    """The entries of a chunk, counted by tile and slot."""

    groups: list[Group]
    marks: list[Sets | Values]  # of each group
    counts: Any  # int64[cells]
    first: Any  # int64[lists * slots + 1]: the first cell of each slot in each list


class Segments(NamedTuple):
    """Ranges that are moved.

    Attributes
    ----------
    start, stop : ndarray of int64, shape (segments,)
    split_of : ndarray of int64, shape (segments,)
    row : ndarray of int64, shape (segments,)
        Of a list the first slot of all splits, among those of all lists that are moved; else 0.
    """

    start: Int64s
    stop: Int64s
    split_of: Int64s
    row: Int64s


class Slots(NamedTuple):
    """What is known of the slots of splits when their cases are counted.

    Attributes
    ----------
    node : ndarray of int64, shape (splits,)
    starts : device array of int64, shape (splits + 1,)
    n_slots, widest : int
        Slots of all, and branches of one, at most.
    start : ndarray of int64, shape (splits + 1,), or None
        As `starts`; None where only the device knows it.
    """

    node: Int64s
    starts: Any
    n_slots: int
    widest: int
    start: Int64s | None


def suits_all(widest: int, sizes: Sizes) -> bool:
    """Whether one kind of kernel suits all splits, whatever they are."""
    return widest <= min(sizes.few, MASK_BRANCHES)


def grouped_by_host(
    device: Device, parts: Parts, start: Int64s, two_way: Bools, segments: Segments
) -> tuple[list[Group], Int64s, Int64s]:
    """Segments of two-way splits, of few and of many branches; their first cells and that of none, and their tiles.

    Parameters
    ----------
    device : Device
    parts : Parts
    start : ndarray of int64, shape (splits + 1,)
        The first slot of each split.
    two_way : ndarray of bool, shape (splits,)
        Bits say where its instances go.
    segments : Segments
    """
    split_of, branches = segments.split_of, np.diff(start)[segments.split_of]
    many, half = branches > min(device.sizes.few, MASK_BRANCHES), two_way[split_of]
    whole = parts._replace(halves=parts.halves._replace(words=parts.halves.words[:0]))
    works, tiles = [], np.zeros(len(split_of), np.int64)
    for is_one, is_many, its_parts in (
        (half, False, parts),
        (~half & ~many, False, whole),
        (~half & many, True, whole),
    ):
        which = np.flatnonzero(is_one)
        if len(which):
            size = max(device.sizes.tile, 2 * int(branches[which].max())) if is_many else device.sizes.tile
            works.append(
                (which, is_many, its_parts, work_for(device, segments.start[which], segments.stop[which], size))
            )
            tiles[which] = works[-1][-1].counts
    base = np.concatenate([[0], np.cumsum(tiles * branches)])
    groups = []
    for which, is_many, its_parts, work in works:
        row = segments.row[which] + start[split_of[which]]
        packed = device.up(np.stack([split_of[which], base[:-1][which], row]))
        own = its_parts._replace(split_of=packed[0], base=packed[1], row=packed[2])
        groups.append(Group(work, own, is_many, int(branches[which].max())))
    return groups, base, tiles


def first_cells(start: Int64s, tiles: Int64s, n_lists: int, n_slots: int) -> Int64s:
    """The first cell of each slot in each list, and that of none.

    Parameters
    ----------
    start : ndarray of int64, shape (splits + 1,)
        The first slot of each split.
    tiles : ndarray of int64, shape (n_lists * splits,)
    n_lists : int
    n_slots : int
        Slots that are numbered; those beyond the last split's have no cell.
    """
    cells = np.zeros((n_lists, n_slots), np.int64)
    cells[:, : start[-1]] = np.repeat(tiles, np.tile(np.diff(start), n_lists)).reshape(n_lists, -1)
    return np.concatenate([[0], np.cumsum(cells)])


def grouped_by_device(device: Device, parts: Parts, slots: Slots, segments: Segments) -> tuple[Group, Any, int]:
    """All segments of lists; where the cells of each slot begin, as :func:`first_cells` says, and how many cells."""
    xp, n_splits = device.xp, len(slots.node)
    work = work_for(device, segments.start, segments.stop, device.sizes.tile)
    split_of, row, tiles = device.up(np.stack([segments.split_of, segments.row, work.counts]))
    base = device.before(tiles * (slots.starts[1:] - slots.starts[:-1])[split_of])
    own = parts._replace(split_of=split_of, base=base[:-1], row=row + slots.starts[:-1][split_of])
    slot, n_lists = xp.arange(slots.n_slots), len(segments.start) // max(1, n_splits)
    split = xp.searchsorted(slots.starts[1:], slot, side="right")
    at = (xp.arange(n_lists) * n_splits)[:, None] + split[None, :]  # of slots that are none, the list after this one
    within = xp.where(split < n_splits, slot - slots.starts[xp.minimum(split, n_splits - 1)], 0)
    tiles = xp.concatenate([tiles, xp.zeros(1, np.int64)])
    first = xp.concatenate([(base[at] + within[None, :] * tiles[at]).ravel(), base[-1:]])
    return Group(work, own, False, slots.widest), first, work.n_tiles * slots.widest


def entries_counted(device: Device, group: Group, lists: Lists, counts: Any) -> Sets | Values:
    """Count the entries of a group into its cells; what its tiles do to new-value bits."""
    work = group.work
    if group.many:
        last, running = (device.xp.empty(len(counts), np.int32) for _ in range(2))
        values = Values(last, running, device.xp.empty(work.n_tiles, np.int32))
        device.over(count_entries_of_many, work.n_tiles, lists, group.parts, work.tiles, counts, values)
        return values
    sets = Sets(*(device.xp.empty(work.n_tiles, np.int64) for _ in Sets._fields))
    counting = (lists, group.parts, work.tiles, counts, sets)
    device.launch(count_entries, work.n_tiles, *counting, shared_cells=counting_cells(group.branches, device.sizes))
    return sets


def counting_cells(branches: int, sizes: Sizes) -> int:
    """Counters of shared memory to count the entries of a tile by branch: those, the ends of runs, and the tile."""
    return scan_cells(branches, sizes.threads) + 2 * sizes.threads + sizes.tile
