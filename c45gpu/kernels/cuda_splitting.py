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


class Division(NamedTuple):
    """What moving the cases needs to know.

    Attributes
    ----------
    slot_start : ndarray of int64, shape (splits + 1,)
    starts : device array of int64
        The same.
    branch : device array of int32
        Of each instance.
    shares : Shares
    room : device array of int64
        Where the new numbers of each instance with an unknown value begin, and last how many there are; of length 0
        where no value is unknown.
    spread : int
        How many there are.
    kept, kept_units, kept_count : ndarray of int64
        The slots that are open, their weight and their number of instances.
    """

    slot_start: Int64s
    starts: Any
    branch: Any
    shares: Shares
    room: Any
    spread: int
    kept: Int64s
    kept_units: Int64s
    kept_count: Int64s


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

    def divide(self) -> tuple[Divided, Division]:
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
        shares, room = self._share(work, totals)
        answers = device.down(device.xp.concatenate([totals, *sides, room[-1:]]))
        below, above = answers[len(totals) : len(totals) + 2 * len(splits)].reshape(2, -1)
        slots = answers[: len(totals)].reshape(-1, width)
        divided = self._judged(slots[:, :-1], below, above)
        kept = divided.held[divided.is_open]
        of_kept = (kept, slots[kept, :-1].sum(1), slots[kept, -1])
        spread = int(answers[-1]) if len(room) else 0
        division = Division(self.slot_start, self._tests.slot_start, self._branch, shares, room, spread, *of_kept)
        return divided, division

    def _instance_bounds(self) -> tuple[Int64s, Int64s]:
        return self._level.start[self._splits.node], self._level.start[self._splits.node + 1]

    def _mark_lists(self) -> Sides:
        device, level = self._device, self._level
        sides = Sides(*device.xp.full((2, len(self._splits)), -1, np.int64))
        for chunk in level.chunks:
            tested = np.flatnonzero((self._list >= chunk.first) & (self._list < chunk.stop))
            if len(tested):
                at = (self._list[tested], self._splits.node[tested])
                work = work_for(device, level.list_start[at], level.list_stop[at], device.sizes.tile)
                lists = lists_of(device, self._training, level, chunk)
                marking = (lists, self._tests, device.up(tested), work.tiles, sides, self._branch)
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

    def _judged(self, units: Int64s, below: Int64s, above: Int64s) -> Divided:
        held = np.flatnonzero(units.any(1))
        is_open = ~is_leaf(units[held].sum(1), units[held].max(1), self._training.settings)
        code = (self._list < 0) & self._training.continuous[self._splits.attribute]
        low, high = ranks_of_cuts(self._splits.cut)
        return Divided(held, units[held], is_open, np.where(code, low, below), np.where(code, high, above))
