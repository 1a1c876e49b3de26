"""Split the nodes of a level: mark, add up, decide with the host's rule who is open, and move instances and lists."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.choose import is_leaf
from c45gpu.kernels.cuda_codes import Instances
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
from c45gpu.kernels.cuda_level import Level, Training
from c45gpu.kernels.cuda_mark import (
    DROPPED,
    Shares,
    Sides,
    Tests,
    count_branches,
    find_fractions,
    mark_codes,
    mark_lists,
    share_unknown,
)
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
from c45gpu.kernels.cuda_scoring import ranks_of_cuts
from c45gpu.kernels.level import Bools, Int64s, Splits


class Divided(NamedTuple):
    """What the branches got, on the host.

    Attributes
    ----------
    held : ndarray of int64, shape (m,)
        The slots that hold cases.
    units : ndarray of int64, shape (m, C)
    is_open : ndarray of bool, shape (m,)
    below, above : ndarray of int64, shape (splits,)
        Of a cut of a list the cases on both sides, of codes the ranks, else -1.
    """

    held: Int64s
    units: Int64s
    is_open: Bools
    below: Int64s
    above: Int64s


class Group(NamedTuple):
    """Segments that the same kernels move."""

    work: Work
    parts: Parts
    many: bool
    cells: int  # of shared memory, to count branches


class Splitter:
    """Splits nodes of a level.

    Parameters
    ----------
    device : Device
    training : Training
    level : Level
    splits : Splits
    """

    def __init__(self, device: Device, training: Training, level: Level, splits: Splits) -> None:
        self._device, self._training, self._level, self._splits = device, training, level, splits
        self._n_branches = training.n_branches[splits.attribute]
        self.slot_start = np.concatenate([[0], np.cumsum(self._n_branches)])
        self._list = training.columns.list_of[splits.attribute]
        packed = device.up(np.concatenate([self.slot_start, training.columns.code_of[splits.attribute], splits.cut]))
        k = len(splits)
        self._tests = Tests(packed[: k + 1], packed[k + 1 : 2 * k + 1], packed[2 * k + 1 :])
        self._instances = Instances(level.cases, training.classes)
        self._branch = device.xp.full(len(level.cases), DROPPED, np.int32)
        self._lists = Lists(level.entries, level.layout, level.cases, *self._nothing_near())

    def _nothing_near(self) -> tuple[Any, Any]:
        return self._device.xp.zeros(1, np.int64), self._training.columns.near_values

    def divide(self) -> Divided:
        """Find what each branch gets: one transfer."""
        device, splits = self._device, self._splits
        work = work_for(device, *self._instance_bounds(), device.sizes.tile)
        device.launch(
            mark_codes,
            work.n_tiles,
            self._instances,
            self._training.columns.codes,
            self._tests,
            work.tiles,
            self._branch,
        )
        sides = self._mark_lists()
        width = self._training.settings.n_classes + 1
        totals = device.xp.zeros(int(self.slot_start[-1]) * width, np.int64)
        cells, weights = device.sizes.shared_cells, self._training.weights(self._level)
        counting = (self._instances, weights, self._tests, work.tiles, self._branch, cells, totals)
        device.launch(count_branches, work.n_tiles, *counting, shared_cells=cells)
        self._shares, self._room = self._share(work, totals)
        answers = device.down(device.xp.concatenate([totals, *sides, self._room[-1:]]))
        self._spread = int(answers[-1]) if len(self._room) else 0
        slots = answers[: len(totals)].reshape(-1, width)
        below, above = answers[len(totals) : len(totals) + 2 * len(splits)].reshape(2, -1)
        return self._judged(slots, below, above)

    def _instance_bounds(self) -> tuple[Int64s, Int64s]:
        return self._level.start[self._splits.node], self._level.start[self._splits.node + 1]

    def _mark_lists(self) -> Sides:
        device, splits = self._device, self._splits
        sides = Sides(*device.xp.full((2, len(splits)), -1, np.int64))
        tested = np.flatnonzero(self._list >= 0)
        if len(tested):
            at = (self._list[tested], splits.node[tested])
            work = work_for(device, self._level.list_start[at], self._level.list_stop[at], device.sizes.tile)
            marking = (self._lists, self._tests, device.up(tested), work.tiles, sides, self._branch)
            device.launch(mark_lists, work.n_tiles, *marking)
        return sides

    def _share(self, work: Work, totals: Any) -> tuple[Shares, Any]:
        """Divide the cases with an unknown value; shares, and where each one's new numbers begin."""
        device, slot_start = self._device, self._tests.slot_start
        if self._training.counted:
            return Shares(device.xp.zeros(0, np.float64), slot_start), device.xp.zeros(0, np.int64)
        shares = Shares(device.xp.empty(int(self.slot_start[-1]), np.float64), slot_start)
        device.over(find_fractions, len(self._splits), totals, slot_start, shares.upto)
        room = device.xp.zeros(len(self._level.cases), np.int64)
        weights = self._training.weights(self._level)
        device.launch(
            share_unknown, work.n_tiles, self._instances, weights, shares, work.tiles, self._branch, room, totals
        )
        return shares, device.before(room)

    def _judged(self, slots: Int64s, below: Int64s, above: Int64s) -> Divided:
        units = slots[:, :-1]
        held = np.flatnonzero(units.any(1))
        is_open = ~is_leaf(units[held].sum(1), units[held].max(1), self._training.settings)
        self._kept = held[is_open]
        self._kept_units, self._kept_count = units[self._kept].sum(1), slots[self._kept, -1]
        code = (self._list < 0) & self._continuous()
        low, high = ranks_of_cuts(self._splits.cut)
        return Divided(held, units[held], is_open, np.where(code, low, below), np.where(code, high, above))

    def _continuous(self) -> Bools:
        return self._training.continuous[self._splits.attribute]

    def move(self) -> Level:
        """The next level."""
        device, level = self._device, self._level
        kept = device.xp.zeros(int(self.slot_start[-1]), np.bool_)
        kept[device.up(self._kept)] = True
        parts = Parts(self._branch, level.units, self._shares, kept, self._tests.slot_start, self._tests.slot_start)
        start = np.concatenate([[0], np.cumsum(self._kept_count)])
        moved, places = self._move_instances(parts, int(start[-1]))
        target = self._target(int(start[-1]))
        entries, list_start, list_stop = self._move_lists(parts, places, target)
        return Level(start, self._kept_units, moved.cases, moved.units, list_start, list_stop, entries, target)

    def _target(self, instances: int) -> Layout:
        return Layout.holding(instances, self._training.settings.n_classes, self._level.layout.bits)

    def _groups(
        self, parts: Parts, start: Int64s, stop: Int64s, split_of: Int64s
    ) -> tuple[list[Group], Int64s, Int64s]:
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
            own = parts._replace(split_of=packed[0], base=packed[1])
            groups.append(Group(work, own, bool(many[which[0]]), cells))
        return groups, base, tiles

    def _move_instances(self, parts: Parts, n: int) -> tuple[Moved, Places]:
        device, level = self._device, self._level
        groups, base, _ = self._groups(parts, *self._instance_bounds(), np.arange(len(self._splits)))
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
        spread = device.xp.empty(self._spread, np.int64)
        places = Places(device.xp.empty(len(level.cases), np.int64), spread, self._room)
        for group in groups:
            moving = (level.cases, group.parts, group.work.tiles, before, places, moved)
            if group.many:
                device.over(move_instances_of_many, group.work.n_tiles, *moving)
            else:
                device.launch(move_instances, group.work.n_tiles, *moving, shared_cells=group.cells)
        return moved, places

    def _move_lists(self, parts: Parts, places: Places, target: Layout) -> tuple[Any, Int64s, Int64s]:
        device, level, k = self._device, self._level, len(self._splits)
        n_lists = level.list_start.shape[0]
        start, stop = (bound[:, self._splits.node].ravel() for bound in (level.list_start, level.list_stop))
        groups, base, tiles = self._groups(parts, start, stop, np.tile(np.arange(k), n_lists))
        counts = device.xp.zeros(int(base[-1]), np.int64)
        marks = [self._count_entries(group, counts) for group in groups]
        before = device.before(counts)
        starts = self._list_starts(base, tiles, before, n_lists)
        entries = device.xp.empty(int(starts[-1]), np.uint32 if target.bits == 32 else np.uint64)
        for group, mark in zip(groups, marks, strict=True):
            moving = (self._lists, group.parts, group.work.tiles, before, mark, places, Target(entries, target))
            if group.many:
                device.over(move_entries_of_many, group.work.n_tiles, *moving)
            else:
                cells = group.cells + 2 * device.sizes.threads
                device.launch(move_entries, group.work.n_tiles, *moving, shared_cells=cells)
        shape = (n_lists, len(self._kept))
        return entries, starts[:-1].reshape(shape), starts[1:].reshape(shape)

    def _count_entries(self, group: Group, counts: Any) -> Sets | Values:
        device, work = self._device, group.work
        if group.many:
            last, running = (device.xp.empty(len(counts), np.int32) for _ in range(2))
            values = Values(last, running, device.xp.empty(work.n_tiles, np.int32))
            device.over(count_entries_of_many, work.n_tiles, self._lists, group.parts, work.tiles, counts, values)
            return values
        sets = Sets(*(device.xp.empty(work.n_tiles, np.int64) for _ in Sets._fields))
        cells = group.cells + 2 * device.sizes.threads
        device.launch(
            count_entries, work.n_tiles, self._lists, group.parts, work.tiles, counts, sets, shared_cells=cells
        )
        return sets

    def _list_starts(self, base: Int64s, tiles: Int64s, before: Any, n_lists: int) -> Int64s:
        """Where each kept slot begins in each list of the next level, and the end of all."""
        if self._training.counted:
            counts = np.tile(self._kept_count, n_lists)
            return np.concatenate([[0], np.cumsum(counts)])
        k = len(self._splits)
        split = np.searchsorted(self.slot_start, self._kept, side="right") - 1
        segment = np.arange(n_lists)[:, None] * k + split[None, :]
        cell = base[segment] + (self._kept - self.slot_start[split])[None, :] * tiles[segment]
        places = np.concatenate([cell.ravel(), [len(before) - 1]])
        return self._device.down(before[self._device.up(places)])
