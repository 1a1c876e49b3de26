"""Move the cases of a level to the branches that are open: first instances, then the lists, a chunk at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.kernels.cuda_counts import Layout, scan_cells
from c45gpu.kernels.cuda_device import Device, Work, work_for
from c45gpu.kernels.cuda_entries import (
    MASK_BRANCHES,
    Sets,
    Target,
    Values,
    count_entries,
    count_entries_of_many,
    move_entries,
    move_entries_of_many,
)
from c45gpu.kernels.cuda_level import Level, Training, lists_of
from c45gpu.kernels.cuda_move import (
    Moved,
    Parts,
    Places,
    count_instances,
    count_instances_of_many,
    move_instances,
    move_instances_of_many,
)
from c45gpu.kernels.cuda_score import Lists
from c45gpu.kernels.cuda_sort import Chunk
from c45gpu.kernels.cuda_splitting import Division
from c45gpu.kernels.level import Int64s, Splits


class Group(NamedTuple):
    """Segments that the same kernels move."""

    work: Work
    parts: Parts
    many: bool
    cells: int  # of shared memory, to count branches


class Mover:
    """Makes the next level of a level; the lists of the old one are let go as it goes on.

    Parameters
    ----------
    device : Device
    training : Training
    level : Level
    splits : Splits
    division : Division
    """

    def __init__(self, device: Device, training: Training, level: Level, splits: Splits, division: Division) -> None:
        self._device, self._training, self._level, self._splits = device, training, level, splits
        self._division = division
        self._n_branches = np.diff(division.slot_start)
        kept = device.xp.zeros(int(division.slot_start[-1]), np.bool_)
        kept[device.up(division.kept)] = True
        starts = division.starts
        self._parts = Parts(division.branch, level.units, division.shares, kept, starts, starts)

    def run(self) -> Level:
        """The next level."""
        level, division = self._level, self._division
        start = np.concatenate([[0], np.cumsum(division.kept_count)])
        moved, places = self._move_instances(int(start[-1]))
        layout = Layout.holding(int(start[-1]), self._training.settings.n_classes, level.layout.bits)
        chunks, bounds = [], [np.zeros((2, 0), np.int64)]
        while level.chunks:
            chunk, bound = self._move_chunk(level.chunks.pop(0), places, layout)
            chunks.append(chunk)
            bounds.append(bound)
        shape = (2, level.list_start.shape[0], len(division.kept))
        list_start, list_stop = np.concatenate(bounds, axis=1).reshape(shape)
        return Level(
            start=start,
            weight=division.kept_units,
            cases=moved.cases,
            units=moved.units,
            list_start=list_start,
            list_stop=list_stop,
            chunks=chunks,
            layout=layout,
        )

    def _groups(self, start: Int64s, stop: Int64s, split_of: Int64s) -> tuple[list[Group], Int64s, Int64s]:
        """Segments with few and with many branches; their first cells and the number of all, and their tiles."""
        device, branches = self._device, self._n_branches[split_of]
        many = branches > min(device.sizes.few, MASK_BRANCHES)
        works, tiles = [], np.zeros(len(start), np.int64)
        for which in (np.flatnonzero(~many), np.flatnonzero(many)):
            if len(which):
                size = (
                    device.sizes.tile if not many[which[0]] else max(device.sizes.tile, 2 * int(branches[which].max()))
                )
                works.append((which, work_for(device, start[which], stop[which], size)))
                tiles[which] = works[-1][1].counts
        base = np.concatenate([[0], np.cumsum(tiles * branches)])
        groups = []
        for which, work in works:
            packed = device.up(np.stack([split_of[which], base[:-1][which]]))
            cells = scan_cells(int(branches[which].max()), device.sizes.threads)
            own = self._parts._replace(split_of=packed[0], base=packed[1])
            groups.append(Group(work, own, bool(many[which[0]]), cells))
        return groups, base, tiles

    def _move_instances(self, n: int) -> tuple[Moved, Places]:
        device, level, node = self._device, self._level, self._splits.node
        groups, base, _ = self._groups(level.start[node], level.start[node + 1], np.arange(len(node)))
        counts = device.xp.zeros(int(base[-1]), np.int64)
        for group in groups:
            if group.many:
                device.over(count_instances_of_many, group.work.n_tiles, group.parts, group.work.tiles, counts)
            else:
                device.launch(
                    count_instances, group.work.n_tiles, group.parts, group.work.tiles, counts, shared_cells=group.cells
                )
        before = device.before(counts)
        units = device.xp.empty(0 if self._training.counted else n, np.int64)
        moved = Moved(device.xp.empty(n, np.int32), units)
        spread = device.xp.empty(self._division.spread, np.int64)
        places = Places(device.xp.empty(len(level.cases), np.int64), spread, self._division.room)
        for group in groups:
            moving = (level.cases, group.parts, group.work.tiles, before, places, moved)
            if group.many:
                device.over(move_instances_of_many, group.work.n_tiles, *moving)
            else:
                device.launch(move_instances, group.work.n_tiles, *moving, shared_cells=group.cells)
        return moved, places

    def _move_chunk(self, chunk: Chunk, places: Places, layout: Layout) -> tuple[Chunk, Int64s]:
        """The chunk of the next level, and where each list begins and ends at each node."""
        device, level = self._device, self._level
        n_lists, here = chunk.stop - chunk.first, slice(chunk.first, chunk.stop)
        lists = lists_of(device, self._training, level, chunk)
        start, stop = (bound[here, self._splits.node].ravel() for bound in (level.list_start, level.list_stop))
        groups, base, tiles = self._groups(start, stop, np.tile(np.arange(len(self._splits)), n_lists))
        counts = device.xp.zeros(int(base[-1]), np.int64)
        marks = [self._count_entries(group, lists, counts) for group in groups]
        before = device.before(counts)
        starts = self._list_starts(base, tiles, before, n_lists)
        entries = device.xp.empty(int(starts[-1]), np.uint32 if layout.bits == 32 else np.uint64)
        for group, mark in zip(groups, marks, strict=True):
            moving = (lists, group.parts, group.work.tiles, before, mark, places, Target(entries, layout))
            if group.many:
                device.over(move_entries_of_many, group.work.n_tiles, *moving)
            else:
                cells = group.cells + 2 * device.sizes.threads
                device.launch(move_entries, group.work.n_tiles, *moving, shared_cells=cells)
        return Chunk(chunk.first, chunk.stop, entries), np.stack([starts[:-1], starts[1:]])

    def _count_entries(self, group: Group, lists: Lists, counts: Any) -> Sets | Values:
        device, work = self._device, group.work
        if group.many:
            last, running = (device.xp.empty(len(counts), np.int32) for _ in range(2))
            values = Values(last, running, device.xp.empty(work.n_tiles, np.int32))
            device.over(count_entries_of_many, work.n_tiles, lists, group.parts, work.tiles, counts, values)
            return values
        sets = Sets(*(device.xp.empty(work.n_tiles, np.int64) for _ in Sets._fields))
        cells = group.cells + 2 * device.sizes.threads
        device.launch(count_entries, work.n_tiles, lists, group.parts, work.tiles, counts, sets, shared_cells=cells)
        return sets

    def _list_starts(self, base: Int64s, tiles: Int64s, before: Any, n_lists: int) -> Int64s:
        """Where each kept slot begins in each list of the next level, and the end of all."""
        if self._training.counted:
            counts = np.tile(self._division.kept_count, n_lists)
            return np.concatenate([[0], np.cumsum(counts)])
        k, kept = len(self._splits), self._division.kept
        split = np.searchsorted(self._division.slot_start, kept, side="right") - 1
        segment = np.arange(n_lists)[:, None] * k + split[None, :]
        cell = base[segment] + (kept - self._division.slot_start[split])[None, :] * tiles[segment]
        places = np.concatenate([cell.ravel(), [len(before) - 1]])
        return self._device.down(before[self._device.up(places)])
