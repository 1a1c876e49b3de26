"""Move the cases of a level to the branches that are open: first instances, then the lists, a chunk at a time."""

from __future__ import annotations

from collections import deque
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
from c45gpu.kernels.cuda_splitting import Division, Marked
from c45gpu.kernels.level import Int64s, Splits


class Group(NamedTuple):
    """Segments that the same kernels move."""

    work: Work
    parts: Parts
    many: bool
    cells: int  # of shared memory, to count branches


class Counted(NamedTuple):
    """The entries of a chunk, counted by tile and slot."""

    groups: list[Group]
    marks: list[Sets | Values]  # of each group
    counts: Any  # int64[cells]
    first: Any  # int64[lists * slots + 1]: the first cell of each slot in each list


class Mover:
    """Makes the next level of a level; the lists of the old one are let go as it goes on.

    First entries are counted as if all branches were open, so that their numbers can go to the host together with
    what decides which are. When memory runs out, the chunks that are left make room by a detour over the host, and
    come back in halves.

    Parameters
    ----------
    device : Device
    training : Training
    level : Level
    splits : Splits
    marked : Marked
    """

    def __init__(self, device: Device, training: Training, level: Level, splits: Splits, marked: Marked) -> None:
        self._device, self._training, self._level, self._splits = device, training, level, splits
        self._n_branches = np.diff(marked.slot_start)
        self._n_slots = int(marked.slot_start[-1])
        every = device.xp.ones(self._n_slots, np.bool_)
        self._parts = Parts(marked.branch, level.units, marked.shares, every, marked.starts, marked.starts)
        self._waiting: deque[tuple[Chunk, Counted | None]] = deque((chunk, None) for chunk in level.chunks)
        level.chunks.clear()
        self._division: Division

    def count(self) -> Any:
        """Entries of each list at each slot, on the device; of length 0 where they are as many as instances."""
        return self._device.persist(self._lengths, self._shrink)

    def _lengths(self) -> Any:
        device, lengths = self._device, [self._device.xp.zeros(0, np.int64)]
        for number in range(len(self._waiting)):
            chunk, counted = self._on_device(*self._waiting[number])
            self._waiting[number] = chunk, counted
            if not self._training.counted:
                lengths.append(device.xp.diff(device.before(counted.counts)[counted.first]))
        return device.xp.concatenate(lengths)

    def _on_device(self, chunk: Chunk, counted: Counted | None) -> tuple[Chunk, Counted]:
        """A chunk that may have made room, back and counted."""
        chunk = chunk._replace(entries=self._device.xp.asarray(chunk.entries))
        return chunk, counted or self._counted(chunk)

    def run(self, division: Division) -> Level:
        """The next level."""
        device, level, self._division = self._device, self._level, division
        start = np.concatenate([[0], np.cumsum(division.kept_count)])
        moved, places = device.persist(lambda: self._move_instances(int(start[-1])), self._shrink)
        layout = Layout.holding(int(start[-1]), self._training.settings.n_classes, level.layout.bits)
        chunks, bounds = [], [np.zeros((2, 0), np.int64)]
        while self._waiting:
            chunk, bound = device.persist(lambda: self._move_chunk(*self._waiting[0], places, layout), self._shrink)
            self._waiting.popleft()
            chunks.append(chunk)
            bounds.append(bound)
        shape = (2, level.list_start.shape[0], len(division.kept))
        list_start, list_stop = np.concatenate(bounds, axis=1).reshape(shape)
        return Level(
            start=start[:-1],
            stop=start[1:],
            weight=division.kept_units,
            cases=moved.cases,
            units=moved.units,
            list_start=list_start,
            list_stop=list_stop,
            chunks=chunks,
            layout=layout,
            parent=division.parent,
            siblings=division.siblings,
        )

    def _shrink(self) -> None:
        """Halve what waits, by way of the host."""
        self._device.shrink(len(self._training.listed))
        most, waiting = self._device.sizes.lists_at_a_time, self._waiting
        for _ in range(len(waiting)):
            chunk, counted = waiting.popleft()
            fits = chunk.stop - chunk.first <= most
            waiting.extend([(chunk, counted)] if fits else [(part, None) for part in self._apart(chunk, most)])

    def _apart(self, chunk: Chunk, most: int) -> list[Chunk]:
        """A chunk in smaller ones, with entries of their own on the host."""
        level, entries, apart = self._level, self._device.down(chunk.entries), []
        for part in chunk.parts(most):
            lists = slice(part.first, part.stop)
            first, stop = int(level.list_start[part.first, 0]), int(level.list_stop[part.stop - 1, -1])
            level.list_start[lists] -= first
            level.list_stop[lists] -= first
            apart.append(part._replace(entries=entries[first:stop]))
        return apart

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
        kept = device.xp.zeros(self._n_slots, np.bool_)
        kept[device.up(self._division.kept)] = True
        self._parts = self._parts._replace(kept=kept)
        groups, base, _ = self._groups(level.start[node], level.stop[node], np.arange(len(node)))
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

    def _counted(self, chunk: Chunk) -> Counted:
        """The entries of a chunk by tile and slot, of all slots."""
        device, level = self._device, self._level
        n_lists, here = chunk.stop - chunk.first, slice(chunk.first, chunk.stop)
        lists = lists_of(device, self._training, level, chunk)
        start, stop = (bound[here, self._splits.node].ravel() for bound in (level.list_start, level.list_stop))
        groups, base, tiles = self._groups(start, stop, np.tile(np.arange(len(self._splits)), n_lists))
        counts = device.xp.zeros(int(base[-1]), np.int64)
        marks = [self._count_entries(group, lists, counts) for group in groups]
        sizes = np.repeat(tiles, np.tile(self._n_branches, n_lists))
        first = device.up(np.concatenate([[0], np.cumsum(sizes)]))
        return Counted(groups, marks, counts, first)

    def _move_chunk(
        self, chunk: Chunk, counted: Counted | None, places: Places, layout: Layout
    ) -> tuple[Chunk, Int64s]:
        """The chunk of the next level, and where each list begins and ends at each node."""
        device, division = self._device, self._division
        chunk, counted = self._on_device(chunk, counted)
        lists = lists_of(device, self._training, self._level, chunk)
        before = device.before(self._kept(counted))
        lengths = division.lengths[chunk.first : chunk.stop, division.kept].ravel()
        starts = np.concatenate([[0], np.cumsum(lengths)])
        entries = device.xp.empty(int(starts[-1]), np.uint32 if layout.bits == 32 else np.uint64)
        for group, mark in zip(counted.groups, counted.marks, strict=True):
            parts = group.parts._replace(kept=self._parts.kept)
            moving = (lists, parts, group.work.tiles, before, mark, places, Target(entries, layout))
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

    def _kept(self, counted: Counted) -> Any:
        """The counts of slots that are kept, 0 for the others."""
        xp = self._device.xp
        row = xp.searchsorted(counted.first[1:], xp.arange(len(counted.counts)), side="right")
        return counted.counts * self._parts.kept[row % self._n_slots]
