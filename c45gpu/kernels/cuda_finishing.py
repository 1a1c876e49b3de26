"""Finish the small nodes of a level: which, how many together, and what the host gets of them."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np

from c45gpu.choose import Facts
from c45gpu.kernels.cuda_device import Device, work_for
from c45gpu.kernels.cuda_finish import Growing, Roots, finish
from c45gpu.kernels.cuda_finish_divide import Heirs
from c45gpu.kernels.cuda_finish_divided import finish_divided
from c45gpu.kernels.cuda_finish_lists import copy_lists, find_unknown, sort_codes
from c45gpu.kernels.cuda_finish_move import Records
from c45gpu.kernels.cuda_finish_plan import NUMBERS, Plan, layout_of, plan
from c45gpu.kernels.cuda_finish_score import Attributes
from c45gpu.kernels.cuda_level import Level, Training
from c45gpu.kernels.cuda_score import Found, Lists
from c45gpu.kernels.level import Bools, Int64s, Subtrees


class Finisher:
    """Finishes small nodes: those without an unknown value, whose cases are whole, and the others apart from them.

    Parameters
    ----------
    device : Device
    training : Training
    facts : Facts
    may_finish : bool
        As of the problem.
    """

    def __init__(self, device: Device, training: Training, facts: Facts, may_finish: bool) -> None:
        self._device, self._training, self._settings = device, training, training.settings
        self._may_finish = may_finish and not self._codes_are_near()
        self._number_type = np.int32 if training.counted else np.int64  # class weights are in units
        self._facts = Facts(device.up(facts.zero_bound), device.up(facts.averaged))
        self._attributes = Attributes(device.up(training.continuous), device.up(training.columns.code_of))
        self._n_attributes = len(training.continuous)
        near_of = np.full(self._n_attributes, -1, np.int64)
        near_of[training.listed] = training.columns.near_of
        self._near_of = device.up(near_of)

    def run(self, level: Level, position: Int64s, class_weights: Int64s) -> tuple[Int64s, Subtrees | None]:
        """Finish nodes; returns those that are left, and the subtrees of the others.

        Parameters
        ----------
        level : Level
        position : ndarray of int64, shape (m,)
            Of each node in the frontier.
        class_weights : ndarray of int64, shape (m, C)
        """
        count, parts = level.stop - level.start, []
        is_left = np.ones(len(count), np.bool_)
        for how, some in self._planned(level, count) if self._may_finish else ():
            small = some[np.argsort(-count[some], kind="stable")]  # a block that begins last should have little to do
            for batch in _batches(count[small], how.together):
                nodes = small[batch]
                part, is_left[nodes] = self._finish(level, nodes, position[nodes], class_weights[nodes], how)
                parts.append(part)
        return np.flatnonzero(is_left), None if is_left.all() else _joined(parts)

    def _planned(self, level: Level, count: Int64s) -> list[tuple[Plan, Int64s]]:
        """The small nodes without unknown values, and those with some, and how they are finished."""
        sizes, shape = self._device.sizes, (self._n_attributes, self._settings.n_classes)
        limits, number_bytes = (sizes.finish_cases, sizes.threads, sizes.histogram_bytes), self._number_type().itemsize
        how = [plan(*shape, *limits, number_bytes=number_bytes, divided=divided) for divided in (False, True)]
        small = np.flatnonzero(count <= max(one.most_cases for one in how))
        whole = self._whole(level, small)
        divided = np.setdiff1d(small, whole)
        some = [nodes[count[nodes] <= one.most_cases] for one, nodes in zip(how, (whole, divided), strict=True)]
        return [(one, nodes) for one, nodes in zip(how, some, strict=True) if len(nodes)]

    def _whole(self, level: Level, nodes: Int64s) -> Int64s:
        """Those nodes without an unknown value; a case in part has one, the value that it was divided by."""
        if self._training.counted:
            return nodes
        device, count = self._device, level.stop - level.start
        known = (level.list_stop - level.list_start == count).all(axis=0)
        nodes = nodes[known[nodes]]
        if not len(nodes) or not len(self._training.unknown_codes):
            return nodes
        found = device.xp.zeros(len(nodes), np.int64)
        work = work_for(device, level.start[nodes], level.stop[nodes], device.sizes.tile)
        device.launch(find_unknown, work.n_tiles, level.cases, self._training.unknown_codes, work.tiles, found)
        complete: Int64s = nodes[device.down(found) == 0]
        return complete

    def _finish(
        self, level: Level, nodes: Int64s, position: Int64s, class_weights: Int64s, how: Plan
    ) -> tuple[Subtrees, Bools]:
        """The subtrees of nodes, and which of these were too large in the end."""
        device, count = self._device, (level.stop - level.start)[nodes]
        blocks, n_rows, divided = min(len(nodes), how.blocks), 2 * int(count.sum()), how.room > 1
        table = device.xp.empty((NUMBERS + self._settings.n_classes, n_rows), self._number_type)
        cells = blocks * how.group * self._n_attributes
        roots = self._roots(level.start[nodes], count, class_weights, how.room)
        cases, units = self._instances(level, roots, how)
        growing = Growing(
            roots=roots,
            lists=self._lists(level, nodes, roots, cases),
            attributes=self._attributes,
            codes=self._training.columns.codes,
            records=Records(*(*table[:NUMBERS], table[NUMBERS:].reshape(-1))),
            marks=device.xp.empty(len(cases), np.int32),
            room=Found(*device.xp.empty((len(Found._fields), cells), np.int64)),
            net=device.xp.empty(cells, np.float64),
        )
        rows = device.xp.empty(len(nodes), np.int64)
        weights = self._training.weights(level)._replace(units=units)
        task = (weights, self._settings, self._facts, how.group, rows)
        shared, threads = how.shared_cells(self._settings.n_classes), how.threads
        if divided:
            heirs = self._heirs(len(cases), n_rows)
            device.launch(finish_divided, blocks, growing, heirs, *task, shared_cells=shared, threads=threads)
        else:
            device.launch(finish, blocks, growing, *task, shared_cells=shared, threads=threads)
        written = device.down(rows)
        return self._collected(table, written, np.cumsum(count) - count, position), written == 0

    def _instances(self, level: Level, roots: Roots, how: Plan) -> tuple[Any, Any]:
        """Cases and units by place; no units where all cases count the same and are whole."""
        xp, n_cases = self._device.xp, len(roots.owner)
        place = xp.arange(n_cases) + (roots.begin - roots.offset[:-1])[roots.owner]
        instance = xp.arange(n_cases) + (roots.start - roots.offset[:-1])[roots.owner]
        cases = xp.empty(how.places(n_cases), np.int32)
        cases[place] = level.cases[instance]
        units = xp.empty(0 if self._training.even and how.room == 1 else len(cases), np.int64)
        if len(units):
            units[place] = level.units[instance]
        return cases, units

    def _heirs(self, places: int, n_rows: int) -> Heirs:
        xp = self._device.xp
        row, following = (xp.empty(places, np.int32) for _ in range(2))
        return Heirs(row, following, xp.empty(n_rows, np.int32), xp.empty(n_rows, np.float64), self._training.classes)

    def _roots(self, start: Int64s, count: Int64s, class_weights: Int64s, room: int) -> Roots:
        device, n, offset = self._device, len(start), np.cumsum([0, *count])
        packed = device.up(np.concatenate([start, room * offset[:-1], offset]))
        owner = device.xp.searchsorted(packed[2 * n + 1 :], device.xp.arange(int(offset[-1])), side="right")
        weights = device.up(class_weights.astype(self._number_type).ravel())
        return Roots(packed[:n], packed[2 * n :], packed[n : 2 * n], owner, weights)

    def _lists(self, level: Level, nodes: Int64s, roots: Roots, cases: Any) -> Lists:
        """The lists of all attributes at some nodes, the largest first."""
        device, training, n_cases = self._device, self._training, len(roots.owner)
        n_entries = self._n_attributes * max(len(cases), 2 * n_cases)
        entries, layout = device.xp.empty(n_entries, np.uint32), layout_of(self._settings.n_classes)
        lists = Lists(entries, layout, cases, self._near_of, training.columns.near_values)
        for chunk in level.chunks:
            here = (slice(chunk.first, chunk.stop), nodes)
            bounds = device.up(np.concatenate([level.list_start[here].ravel(), level.list_stop[here].ravel()]))
            source = lists._replace(entries=chunk.entries, layout=level.layout, cases=level.cases)
            which = device.up(training.listed[chunk.first : chunk.stop])
            device.over(copy_lists, (chunk.stop - chunk.first) * n_cases, source, bounds, which, roots, lists)
        largest = int(level.stop[nodes[0]] - level.start[nodes[0]])
        sorting = (training.columns.codes, training.classes, roots, lists)
        cells = 1 << (largest - 1).bit_length()
        device.launch(sort_codes, len(nodes) * training.n_code_columns, *sorting, shared_cells=cells)
        return lists

    def _codes_are_near(self) -> bool:
        """Whether some neighbouring values of a column of codes are too near for a cut."""
        codes, gap = self._training.columns.codes, self._settings.gap
        if gap == 0:
            return False
        first, values, continuous = map(self._device.down, (codes.first, codes.values, codes.continuous))
        columns = np.split(values, first[1:])
        return any(bool((v[:-1] >= v[1:] - gap).any()) for v, is_it in zip(columns, continuous, strict=True) if is_it)

    def _collected(self, table: Any, rows: Int64s, offset: Int64s, position: Int64s) -> Subtrees:
        """The records that were written, on the host."""
        device, xp = self._device, self._device.xp
        before = np.cumsum(rows) - rows
        owner = np.repeat(np.arange(len(rows)), rows)
        shift = (2 * offset - before)[owner]
        parent, branch, attribute, below, above, *others = device.down(
            table[:, xp.arange(len(owner)) + device.up(shift)]
        ).astype(np.int64)
        class_weights = np.stack(others[NUMBERS - 5 :], axis=1)
        parent = np.where(parent < 0, -1 - position[owner], parent - shift)
        return Subtrees(parent, branch, attribute, below, above, class_weights)


def _batches(count: Int64s, together: int) -> list[slice]:
    """Runs of nodes with so many cases together at most; none has more alone."""
    before, bounds = np.concatenate([[0], np.cumsum(count)]), [0]
    while bounds[-1] < len(count):
        bounds.append(int(np.searchsorted(before, before[bounds[-1]] + together, side="right")) - 1)
    return [slice(*bound) for bound in pairwise(bounds)]


def _joined(parts: list[Subtrees]) -> Subtrees:
    """All subtrees in one."""
    start = 0
    for part in parts:
        part.parent[part.parent >= 0] += start
        start += len(part.parent)
    return Subtrees(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Subtrees)))
