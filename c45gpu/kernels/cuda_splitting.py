"""Mark the cases of the nodes that are split with their branches, and add up what each branch gets.

The tests may be known to the device only, see :mod:`.cuda_choose`. Then each node is a split, which has no slot where
nothing is tested, and there is room for as many slots as there could be.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from c45gpu.kernels.cuda_choose import Chosen
from c45gpu.kernels.cuda_codes import Instances
from c45gpu.kernels.cuda_device import Device, Work, work_for
from c45gpu.kernels.cuda_level import Level, Training, lists_of
from c45gpu.kernels.cuda_mark import (
    DROPPED,
    Shares,
    Sides,
    Tests,
    Totals,
    count_branches,
    find_flawed,
    find_fractions,
    mark_codes,
    mark_lists,
    share_unknown,
)
from c45gpu.kernels.level import ELSEWHERE, Int32s, Int64s, Splits
from c45gpu.model.tree import ranges

MOST_OF_A_BYTE = 127  # branches that one byte names


class Asked(NamedTuple):
    """The splits of a level, to be marked.

    Attributes
    ----------
    tests : Tests
        On the device.
    node : ndarray of int64, shape (splits,)
    n_slots, widest : int
        Slots of all, and branches of one, at most.
    slot_start : ndarray of int64, shape (splits + 1,), or None
        As on the device; None where the host does not know it yet.
    splits : Splits or None
        None where the host does not know them yet.
    """

    tests: Tests
    node: Int64s
    n_slots: int
    widest: int
    slot_start: Int64s | None = None
    splits: Splits | None = None


def asked_by_host(device: Device, training: Training, level: Level, splits: Splits) -> Asked:
    """The splits that the host chose."""
    n_branches, k = splits.n_branches(training.n_branches), len(splits)
    slot_start = np.concatenate([[0], np.cumsum(n_branches)])
    list_of = np.append(training.columns.list_of, -1)[splits.attribute]  # the last for what is elsewhere
    column = np.append(training.columns.code_of, -1)[splits.attribute]
    first, stop = np.zeros((2, k), np.int64)
    listed = list_of >= 0
    at = list_of[listed], splits.node[listed]
    first[listed], stop[listed] = level.list_start[at], level.list_stop[at]
    parts = (slot_start, column, splits.cut, list_of, first, stop, splits.group_start)
    packed = device.up(np.concatenate(parts))
    edges = np.cumsum([0, *map(len, parts)]).tolist()
    tests = Tests._make([*(packed[a:b] for a, b in pairwise(edges)), device.up(splits.group_branch)])
    return Asked(tests, splits.node, int(slot_start[-1]), int(n_branches.max(initial=0)), slot_start, splits)


def asked_by_device(device: Device, training: Training, level: Level, chosen: Chosen) -> Asked:
    """The splits that the device chose, of which the host knows nothing."""
    xp, m, widest = device.xp, len(level.start), int(training.n_branches.max(initial=0))
    bounds = np.stack([level.list_start, level.list_stop])
    bounds = device.up(np.concatenate([np.zeros((2, 1, m), np.int64), bounds], axis=1).reshape(2, -1))
    list_of, column = xp.take(training.places[:2], chosen.attribute + 1, axis=1)
    first, stop = xp.take(bounds, (list_of + 1) * m + xp.arange(m), axis=1)
    no_groups = xp.zeros(m + 1, np.int64), xp.zeros(0, np.int32)
    tests = Tests(device.before(chosen.branches), column, chosen.cut, list_of, first, stop, *no_groups)
    return Asked(tests, np.arange(m), m * widest, widest)


class Marked(NamedTuple):
    """Where the cases go, and what the slots get, on the device; see :mod:`.cuda_mark`."""

    branch: Any  # int8 or int32[instances]
    shares: Shares
    room: Any  # int64: where the new numbers of each instance with an unknown value begin, and last how many there are
    totals: Totals
    sides: Sides
    flawed: Any  # int64[slots]: it has a case with an unknown code; of length 0 where no code is unknown


class Splitter:
    """Marks the cases of nodes that are split.

    Parameters
    ----------
    device : Device
    training : Training
    level : Level
    asked : Asked
    """

    def __init__(self, device: Device, training: Training, level: Level, asked: Asked) -> None:
        self._device, self._training, self._level, self._asked = device, training, level, asked
        self._instances = Instances(level.cases, training.classes)

    def mark(self) -> Marked:
        """Find the branch of each instance, and what each branch gets."""
        device, xp, tests, n_slots = self._device, self._device.xp, self._asked.tests, self._asked.n_slots
        kind = np.int8 if self._asked.widest <= MOST_OF_A_BYTE else np.int32
        branch = xp.full(len(self._level.cases), DROPPED, kind)
        work = work_for(device, *self._instance_bounds(), device.sizes.tile)
        marking = (self._instances, self._training.columns.codes, tests, work.tiles, branch)
        device.launch(mark_codes, work.n_tiles, *marking)
        sides = self._mark_lists(work, branch)
        self._mark_given(branch)
        width = self._training.settings.n_classes + 1
        totals = Totals(xp.zeros(n_slots * width, np.int64), width)
        cells, weights = device.sizes.shared_cells, self._training.weights(self._level)
        counting = (self._instances, weights, tests, work.tiles, branch, cells, totals)
        device.launch(count_branches, work.n_tiles, *counting, shared_cells=cells)
        shares, room = self._share(work, branch, totals)
        unknown = self._training.unknown_codes
        flawed = xp.zeros(n_slots if len(unknown) else 0, np.int64)
        if len(unknown):
            device.launch(find_flawed, work.n_tiles, self._level.cases, unknown, tests, work.tiles, branch, flawed)
        return Marked(branch, shares, room, totals, sides, flawed)

    def _instance_bounds(self) -> tuple[Int64s, Int64s]:
        return self._level.start[self._asked.node], self._level.stop[self._asked.node]

    def _mark_lists(self, work: Work, branch: Any) -> Sides:
        device, level = self._device, self._level
        sides = Sides(*device.xp.full((2, len(self._asked.node)), -1, np.int64))
        for chunk in level.chunks:
            lists = lists_of(device, self._training, level, chunk)
            marking = (lists, (chunk.first, chunk.stop), self._asked.tests, work.tiles, sides, branch)
            device.launch(mark_lists, work.n_tiles, *marking)
        return sides

    def _mark_given(self, branch: Any) -> None:
        splits = self._asked.splits
        given = np.zeros(0, np.int64) if splits is None else np.flatnonzero(splits.attribute == ELSEWHERE)
        if splits is not None and len(given):
            first, stop = (bound[given] for bound in self._instance_bounds())
            branches = splits.group_branch[ranges(splits.group_start[given], splits.group_start[given + 1])]
            branch[self._device.up(ranges(first, stop))] = self._device.up(branches.astype(branch.dtype))

    def taken(self, marked: Marked) -> tuple[Int32s, Int64s, Int64s]:
        """The branch of each instance, and the cases on both sides of each cut of a list."""
        device, (first, stop) = self._device, self._instance_bounds()
        branch, below, above = device.down_all([marked.branch[device.up(ranges(first, stop))], *marked.sides])
        return branch.astype(np.int32), below, above

    def _share(self, work: Work, branch: Any, totals: Totals) -> tuple[Shares, Any]:
        """Divide the cases with an unknown value; shares, and where each one's new numbers begin."""
        device, slot_start = self._device, self._asked.tests.slot_start
        if self._training.counted:
            return Shares(device.xp.zeros(0, np.float64), slot_start), device.xp.zeros(0, np.int64)
        shares = Shares(device.xp.empty(self._asked.n_slots, np.float64), slot_start)
        device.over(find_fractions, len(self._asked.node), totals, slot_start, shares.upto)
        room = device.xp.zeros(len(self._level.cases), np.int64)
        weights = self._training.weights(self._level)
        device.launch(share_unknown, work.n_tiles, self._instances, weights, shares, work.tiles, branch, room, totals)
        return shares, device.before(room)
