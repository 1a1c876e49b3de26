"""Move the cases of a level to the branches that are open: first instances, then the lists, a chunk at a time."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from c45gpu.kernels.cuda_counts import Layout, scan_cells
from c45gpu.kernels.cuda_device import Device
from c45gpu.kernels.cuda_entries import Target, move_entries, move_entries_of_many
from c45gpu.kernels.cuda_grouping import (
    Counted,
    Segments,
    Slots,
    counting_cells,
    entries_counted,
    first_cells,
    grouped_by_device,
    grouped_by_host,
)
from c45gpu.kernels.cuda_halves import Halves, shifts, words_of
from c45gpu.kernels.cuda_judging import Division
from c45gpu.kernels.cuda_level import Level, Training, lists_of
from c45gpu.kernels.cuda_move import (
    Moved,
    Parts,
    Places,
    count_instances,
    count_instances_of_many,
    move_halves,
    move_instances,
    move_instances_of_many,
)
from c45gpu.kernels.cuda_sort import Chunk
from c45gpu.kernels.cuda_splitting import Marked
from c45gpu.kernels.cuda_tally import Tally, tally_cells, tally_copies
from c45gpu.kernels.level import Bools, Int64s


def place_type(most: int) -> type[np.signedinteger[Any]]:
    """The type of numbers of instances of the next level."""
    return np.int32 if most <= np.iinfo(np.int32).max else np.int64


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
    marked : Marked
    slots : Slots
        If the host does not know where they start, :meth:`learn` must tell before :meth:`run`.
    """

    def __init__(self, device: Device, training: Training, level: Level, marked: Marked, slots: Slots) -> None:
        self._device, self._training, self._level, self._slots = device, training, level, slots
        every = device.xp.ones(slots.n_slots, np.bool_)
        none = device.xp.zeros(0, np.int64)
        self._parts = Parts(marked.branch, level.units, marked.shares, every, none, none, none, Halves(none, none))
        self._room = marked.room
        self._waiting: deque[tuple[Chunk, Counted | None]] = deque(
            (chunk._replace(counts=None), None) for chunk in level.chunks
        )
        level.chunks.clear()
        self._division: Division

    def count(self) -> Any:
        """Entries of each list at each slot, on the device; without a row where they are as many as instances."""
        return self._device.persist(self._lengths, self._shrink)

    def learn(self, node: Int64s, start: Int64s) -> None:
        """Take note of the nodes that are split, and of their slots."""
        starts = self._device.up(start)
        self._slots = self._slots._replace(node=node, starts=starts, start=start)
        self._parts = self._parts._replace(shares=self._parts.shares._replace(slot_start=starts))

    @property
    def start(self) -> Int64s:
        """The first slot of each split, shape (splits + 1,)."""
        if self._slots.start is None:
            raise AssertionError("the host does not know the slots yet")
        return self._slots.start

    @property
    def _two_way(self) -> Bools:
        two_way: Bools = self._training.counted & (np.diff(self.start) == 2)
        return two_way

    def _lengths(self) -> Any:
        device, n_slots = self._device, self._slots.n_slots
        lengths = [device.xp.zeros((0, n_slots), np.int64)]
        if self._slots.start is not None and self._two_way.any():
            halves = self._parts.halves._replace(words=words_of(device, self._parts.branch))
            self._parts = self._parts._replace(halves=halves)
        for number in range(len(self._waiting)):
            chunk, counted = self._on_device(*self._waiting[number])
            self._waiting[number] = chunk, counted
            if not self._training.counted:
                found = device.xp.diff(device.before(counted.counts)[counted.first])
                lengths.append(found.reshape(chunk.stop - chunk.first, n_slots))
        return device.xp.concatenate(lengths)

    def _on_device(self, chunk: Chunk, counted: Counted | None) -> tuple[Chunk, Counted]:
        """A chunk that may have made room, back and counted."""
        chunk = chunk._replace(entries=self._device.xp.asarray(chunk.entries))
        return chunk, counted or self._counted(chunk)

    def run(self, division: Division) -> Level:
        """The next level."""
        device, level, self._division = self._device, self._level, division
        start = np.concatenate([[0], np.cumsum(division.arrived[division.kept])])
        moved, places = device.persist(lambda: self._move_instances(start), self._shrink)
        layout = Layout.holding(int(start[-1]), self._training.settings.n_classes, level.layout.bits)
        chunks, bounds = [], [np.zeros((3, 0), np.int64)]
        while self._waiting:
            chunk, bound = device.persist(lambda: self._move_chunk(*self._waiting[0], places, layout), self._shrink)
            self._waiting.popleft()
            chunks.append(chunk)
            bounds.append(bound)
        shape = (3, level.list_start.shape[0], len(division.kept))
        list_start, list_stop, list_tile = np.concatenate(bounds, axis=1).reshape(shape)
        return Level(
            start=start[:-1],
            stop=start[1:],
            class_weights=division.class_weights,
            cases=moved.cases,
            units=moved.units,
            list_start=list_start,
            list_stop=list_stop,
            list_tile=list_tile,
            chunks=chunks,
            layout=layout,
            parent=division.parent,
            siblings=division.siblings,
            is_flawed=division.is_flawed,
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

    def _keep(self, start: Int64s) -> None:
        """Note which slots are kept, and where the instances of each begin in the next level."""
        device, division, n_slots = self._device, self._division, self._slots.n_slots
        kept = device.xp.zeros(n_slots, np.bool_)
        kept[device.up(division.kept)] = True
        self._parts = self._parts._replace(kept=kept)
        if self._two_way.any():
            place = np.zeros(n_slots, np.int64)
            place[division.kept] = start
            shift = shifts(self.start, self._level.start[self._slots.node], division.arrived, place)
            self._parts = self._parts._replace(halves=self._parts.halves._replace(shift=device.up(shift)))

    def _move_instances(self, start: Int64s) -> tuple[Moved, Places]:
        """The instances of the next level, of which each node has those from its `start` on."""
        device, level, node, n = self._device, self._level, self._slots.node, int(start[-1])
        self._keep(start[:-1])
        segments = Segments(level.start[node], level.stop[node], np.arange(len(node)), np.zeros(len(node), np.int64))
        groups, base, tiles = grouped_by_host(device, self._parts, self.start, self._two_way, segments)
        counting = [group for group in groups if not group.is_halved]
        counts = device.xp.zeros(int(base[-1]) if counting else 0, np.int64)
        if counting and len(counting) < len(groups):
            at, known = self._known_counts(base, tiles)
            counts[device.up(at)] = device.up(known)
        for group in counting:
            if group.many:
                device.over(count_instances_of_many, group.work.n_tiles, group.parts, group.work.tiles, counts)
            else:
                cells = scan_cells(group.branches, device.sizes.threads)
                device.launch(
                    count_instances, group.work.n_tiles, group.parts, group.work.tiles, counts, shared_cells=cells
                )
        before = device.before(counts)
        units = device.xp.empty(0 if self._training.counted else n, np.int64)
        moved = Moved(device.xp.empty(n, np.int32), units)
        kind = place_type(max(n, self._division.spread))
        place = device.xp.empty(len(level.cases) if counting else 0, kind)
        places = Places(place, device.xp.empty(self._division.spread, kind), self._room)
        for group in groups:
            moving = (level.cases, group.parts, group.work.tiles)
            if group.is_halved:
                device.launch(move_halves, group.work.n_tiles, *moving, places, moved)
            elif group.many:
                device.over(move_instances_of_many, group.work.n_tiles, *moving, before, places, moved)
            else:
                cells = scan_cells(group.branches, device.sizes.threads)
                device.launch(move_instances, group.work.n_tiles, *moving, before, places, moved, shared_cells=cells)
        return moved, places

    def _known_counts(self, base: Int64s, tiles: Int64s) -> tuple[Int64s, Int64s]:
        """Of two-way splits, whose instances nobody counts, a cell of each branch and what goes there in all."""
        two, division = np.flatnonzero(self._two_way), self._division
        kept = np.zeros(self._slots.n_slots, np.int64)
        kept[division.kept] = division.arrived[division.kept]
        low = self.start[two]
        return np.concatenate([base[two], base[two] + tiles[two]]), np.concatenate([kept[low], kept[low + 1]])

    def _counted(self, chunk: Chunk) -> Counted:
        """The entries of a chunk by tile and slot, of all slots."""
        device, level, slots = self._device, self._level, self._slots
        n_lists, here = chunk.stop - chunk.first, slice(chunk.first, chunk.stop)
        lists = lists_of(device, self._training, level, chunk)
        start, stop = (bound[here, slots.node].ravel() for bound in (level.list_start, level.list_stop))
        split_of = np.tile(np.arange(len(slots.node)), n_lists)
        segments = Segments(start, stop, split_of, np.repeat(np.arange(n_lists) * slots.n_slots, len(slots.node)))
        if slots.start is None:
            group, first, n_cells = grouped_by_device(device, self._parts, slots, segments)
            groups = [group]
        else:
            groups, base, tiles = grouped_by_host(device, self._parts, slots.start, self._two_way, segments)
            first, n_cells = device.up(first_cells(slots.start, tiles, n_lists, slots.n_slots)), int(base[-1])
        counts = device.xp.zeros(n_cells, np.int64)
        return Counted(groups, [entries_counted(device, group, lists, counts) for group in groups], counts, first)

    def _move_chunk(
        self, chunk: Chunk, counted: Counted | None, places: Places, layout: Layout
    ) -> tuple[Chunk, Int64s]:
        """The chunk of the next level, and where each list begins, ends and has its first tile at each node."""
        device, sizes = self._device, self._device.sizes
        chunk, counted = self._on_device(chunk, counted)
        lists = lists_of(device, self._training, self._level, chunk)
        before = device.before(self._kept(counted))
        tally, bounds = self._tally(chunk)
        entries = device.xp.empty(
            int(bounds[1, -1]) if bounds.size else 0, np.uint32 if layout.bits == 32 else np.uint64
        )
        target = Target(entries, layout, tally)
        for group, mark in zip(counted.groups, counted.marks, strict=True):
            parts = group.parts._replace(kept=self._parts.kept)
            if group.is_halved:
                parts = parts._replace(halves=self._parts.halves)
            moving = (lists, parts, group.work.tiles, before, mark, places)
            if group.many:
                device.over(move_entries_of_many, group.work.n_tiles, *moving, target)
            else:
                own = target._replace(tally=tally._replace(copies=tally_copies(group.branches, tally.n_classes)))
                cells = counting_cells(group.branches, sizes) + sizes.tile
                cells += tally_cells(group.branches, tally.n_classes) if len(tally.counts) else 0
                device.launch(move_entries, group.work.n_tiles, *moving, own, shared_cells=cells)
        return Chunk(chunk.first, chunk.stop, entries, tally.counts if len(tally.counts) else None), bounds

    def _tally(self, chunk: Chunk) -> tuple[Tally, Int64s]:
        """Room for the class weights of the tiles of the next level, and its lists; see :meth:`_move_chunk`."""
        device, division, n_classes = self._device, self._division, self._training.settings.n_classes
        size, here = device.sizes.tile, slice(chunk.first, chunk.stop)
        lengths = np.zeros((chunk.stop - chunk.first, self._slots.n_slots), np.int64)
        lengths[:, division.kept] = division.lengths[here, division.kept]
        stop, stop_tile = np.cumsum(lengths), np.cumsum(-(-lengths // size))
        bounds = np.stack([stop - lengths.ravel(), stop, stop_tile - -(-lengths.ravel() // size)])
        n_tiles = int(stop_tile[-1:].sum()) if n_classes <= device.sizes.few else 0
        start, _, first = device.up(bounds)
        tally = Tally(device.xp.zeros(n_classes * n_tiles, np.int64), start, first, n_classes, size, 1)
        return tally, bounds.reshape(3, *lengths.shape)[:, :, division.kept].reshape(3, -1)

    def _kept(self, counted: Counted) -> Any:
        """The counts of slots that are kept, 0 for the others."""
        xp = self._device.xp
        row = xp.searchsorted(counted.first[1:], xp.arange(len(counted.counts)), side="right")
        return counted.counts * self._parts.kept[row % self._slots.n_slots]
