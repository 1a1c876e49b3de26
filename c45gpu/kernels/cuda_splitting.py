"""Split the nodes of a level: mark, add up, and decide with the host's rule which branches are open."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.choose import is_leaf
from c45gpu.kernels.cuda_codes import Instances
from c45gpu.kernels.cuda_device import Device, Work, work_for
from c45gpu.kernels.cuda_level import Level, Training, lists_of
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
from c45gpu.kernels.cuda_scoring import ranks_of_cuts
from c45gpu.kernels.level import ELSEWHERE, Bools, Int32s, Int64s, Splits
from c45gpu.model.tree import ranges

MOST_OF_A_BYTE = 127  # branches that one byte names


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


class Marked(NamedTuple):
    """Where the cases go, and what the branches get, on the device; see :class:`Division`."""

    slot_start: Int64s
    starts: Any
    branch: Any
    shares: Shares
    room: Any
    totals: Any  # int64: class weights and number of instances of each slot
    sides: Sides


class Division(NamedTuple):
    """What moving the cases needs to know.

    Attributes
    ----------
    slot_start : ndarray of int64, shape (splits + 1,)
    starts : device array of int64
        The same.
    branch : device array of int8 or int32
        Of each instance.
    shares : Shares
    room : device array of int64
        Where the new numbers of each instance with an unknown value begin, and last how many there are; of length 0
        where no value is unknown.
    spread : int
        How many there are.
    arrived : ndarray of int64, shape (slots,)
        Instances of each slot.
    kept, kept_units : ndarray of int64
        The slots that are open, and their weight.
    lengths : ndarray of int64, shape (n_lists, slots)
        The entries of each list that go to each slot.
    parent, siblings : ndarray of int64
        Of the open slots: the node that is split, and how many of its branches hold cases.
    """

    slot_start: Int64s
    starts: Any
    branch: Any
    shares: Shares
    room: Any
    spread: int
    arrived: Int64s
    kept: Int64s
    kept_units: Int64s
    lengths: Int64s
    parent: Int64s
    siblings: Int64s


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
        self.slot_start = np.concatenate([[0], np.cumsum(splits.n_branches(training.n_branches))])
        self._list = np.append(training.columns.list_of, -1)[splits.attribute]  # the last for what is elsewhere
        starts = np.concatenate([self.slot_start, splits.group_start])
        columns = np.append(training.columns.code_of, -1)[splits.attribute]
        packed = device.up(np.concatenate([starts, columns, splits.cut]))
        k = len(splits)
        slot_start, group_start, column, cut = (
            packed[: k + 1],
            packed[k + 1 : 2 * k + 2],
            packed[2 * k + 2 : 3 * k + 2],
            packed[3 * k + 2 :],
        )
        self._tests = Tests(slot_start, column, cut, group_start, device.up(splits.group_branch))
        self._instances = Instances(level.cases, training.classes)

    def mark(self) -> Marked:
        """Find the branch of each instance, and what each branch gets."""
        device, slot_start = self._device, self._tests.slot_start
        kind = np.int8 if int(np.diff(self.slot_start).max(initial=0)) <= MOST_OF_A_BYTE else np.int32
        branch = device.xp.full(len(self._level.cases), DROPPED, kind)
        work = work_for(device, *self._instance_bounds(), device.sizes.tile)
        device.launch(
            mark_codes,
            work.n_tiles,
            self._instances,
            self._training.columns.codes,
            self._tests,
            work.tiles,
            branch,
        )
        sides = self._mark_lists(branch)
        self._mark_given(branch)
        width = self._training.settings.n_classes + 1
        totals = device.xp.zeros(int(self.slot_start[-1]) * width, np.int64)
        cells, weights = device.sizes.shared_cells, self._training.weights(self._level)
        counting = (self._instances, weights, self._tests, work.tiles, branch, cells, totals)
        device.launch(count_branches, work.n_tiles, *counting, shared_cells=cells)
        shares, room = self._share(work, branch, totals)
        return Marked(self.slot_start, slot_start, branch, shares, room, totals, sides)

    def judge(self, marked: Marked, lengths: Any) -> tuple[Divided, Division]:
        """Decide which branches are open: one transfer.

        Parameters
        ----------
        marked : Marked
        lengths : device array of int64
            The entries of each list that go to each slot; of length 0 where as many as instances do.
        """
        device, n_slots = self._device, int(self.slot_start[-1])
        parts = (marked.totals, *marked.sides, marked.room[-1:], lengths)
        totals, below, above, spread, found = np.split(
            device.down(device.xp.concatenate(parts)), np.cumsum([len(part) for part in parts[:-1]])
        )
        slots = totals.reshape(n_slots, self._training.settings.n_classes + 1)
        divided = self._judged(slots[:, :-1], below, above)
        kept = divided.held[divided.is_open]
        n_lists = len(self._level.list_start)
        by_slot = found.reshape(-1, n_slots) if len(found) else np.broadcast_to(slots[:, -1], (n_lists, n_slots))
        of_kept = (slots[:, -1], kept, slots[kept, :-1].sum(1), by_slot)
        where = (marked.slot_start, marked.starts, marked.branch, marked.shares, marked.room)
        split_of_held = np.searchsorted(marked.slot_start, divided.held, side="right") - 1
        split = split_of_held[divided.is_open]
        siblings = np.bincount(split_of_held, minlength=len(self._splits))[split]
        return divided, Division(*where, int(spread.sum()), *of_kept, self._splits.node[split], siblings)

    def _instance_bounds(self) -> tuple[Int64s, Int64s]:
        return self._level.start[self._splits.node], self._level.stop[self._splits.node]

    def _mark_lists(self, branch: Any) -> Sides:
        device, level = self._device, self._level
        sides = Sides(*device.xp.full((2, len(self._splits)), -1, np.int64))
        for chunk in level.chunks:
            tested = np.flatnonzero((self._list >= chunk.first) & (self._list < chunk.stop))
            if len(tested):
                at = (self._list[tested], self._splits.node[tested])
                work = work_for(device, level.list_start[at], level.list_stop[at], device.sizes.tile)
                lists = lists_of(device, self._training, level, chunk)
                marking = (lists, self._tests, device.up(tested), work.tiles, sides, branch)
                device.launch(mark_lists, work.n_tiles, *marking)
        return sides

    def _mark_given(self, branch: Any) -> None:
        splits, given = self._splits, np.flatnonzero(self._splits.attribute == ELSEWHERE)
        if len(given):
            first, stop = (bound[given] for bound in self._instance_bounds())
            branches = splits.group_branch[ranges(splits.group_start[given], splits.group_start[given + 1])]
            branch[self._device.up(ranges(first, stop))] = self._device.up(branches.astype(branch.dtype))

    def taken(self, marked: Marked) -> tuple[Int32s, Int64s, Int64s]:
        """The branch of each instance, and what is on both sides of each cut, as in :class:`Divided`."""
        device, (first, stop) = self._device, self._instance_bounds()
        branch = device.down(marked.branch[device.up(ranges(first, stop))])
        return branch.astype(np.int32), *self._sides(*map(device.down, marked.sides))

    def _share(self, work: Work, branch: Any, totals: Any) -> tuple[Shares, Any]:
        """Divide the cases with an unknown value; shares, and where each one's new numbers begin."""
        device, slot_start = self._device, self._tests.slot_start
        if self._training.counted:
            return Shares(device.xp.zeros(0, np.float64), slot_start), device.xp.zeros(0, np.int64)
        shares = Shares(device.xp.empty(int(self.slot_start[-1]), np.float64), slot_start)
        device.over(find_fractions, len(self._splits), totals, slot_start, shares.upto)
        room = device.xp.zeros(len(self._level.cases), np.int64)
        weights = self._training.weights(self._level)
        sharing = (self._instances, weights, shares, work.tiles, branch, room, totals)
        device.launch(share_unknown, work.n_tiles, *sharing)
        return shares, device.before(room)

    def _judged(self, units: Int64s, below: Int64s, above: Int64s) -> Divided:
        held = np.flatnonzero(units.any(1))
        is_open = ~is_leaf(units[held].sum(1), units[held].max(1), self._training.settings)
        return Divided(held, units[held], is_open, *self._sides(below, above))

    def _sides(self, below: Int64s, above: Int64s) -> tuple[Int64s, Int64s]:
        """Of cuts of codes the ranks in the place of what lists say."""
        code = (self._list < 0) & np.append(self._training.continuous, False)[self._splits.attribute]
        low, high = ranks_of_cuts(self._splits.cut)
        return np.where(code, low, below), np.where(code, high, above)
