"""Finish the small nodes of a level: which, how many together, and what the host gets of them."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np

from c45gpu.choose import Facts
from c45gpu.kernels.cuda_counts import scan_cells
from c45gpu.kernels.cuda_device import Device, work_for
from c45gpu.kernels.cuda_finish import Growing, Roots, finish
from c45gpu.kernels.cuda_finish_lists import copy_lists, find_unknown, sort_codes
from c45gpu.kernels.cuda_finish_move import Records
from c45gpu.kernels.cuda_finish_plan import NUMBERS, Plan, layout_of, plan
from c45gpu.kernels.cuda_finish_score import Attributes
from c45gpu.kernels.cuda_level import Level, Training
from c45gpu.kernels.cuda_score import Found, Lists
from c45gpu.kernels.level import Int64s, Subtrees


class Finisher:
    """Finishes nodes whose cases have no unknown value, and so are whole; each may have a weight of its own.

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
        self._may_finish = training.heavy and may_finish and not self._codes_are_near()
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
        count, sizes = level.stop - level.start, self._device.sizes
        limits = (sizes.finish_cases, sizes.threads, sizes.histogram_bytes)
        number_bytes = np.dtype(self._number_type).itemsize
        how = plan(self._n_attributes, self._settings.n_classes, *limits, number_bytes=number_bytes)
        small = self._whole(level, np.flatnonzero(count <= how.most_cases)) if self._may_finish else count[:0]
        if not len(small):
            return np.arange(len(count)), None
        left = np.delete(np.arange(len(count)), small)
        small = small[np.argsort(-count[small], kind="stable")]  # a block that begins last should have little to do
        parts = []
        for batch in _batches(count[small], how.together):
            nodes = small[batch]
            parts.append(self._finish(level, nodes, position[nodes], class_weights[nodes], how))
        return left, _joined(parts)

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

    def _finish(self, level: Level, nodes: Int64s, position: Int64s, class_weights: Int64s, how: Plan) -> Subtrees:
        device, count = self._device, (level.stop - level.start)[nodes]
        blocks, n_rows = min(len(nodes), how.blocks), 2 * int(count.sum())
        table = device.xp.empty((NUMBERS + self._settings.n_classes, n_rows), self._number_type)
        cells = blocks * how.group * self._n_attributes
        roots = self._roots(level.start[nodes], count, class_weights)
        instance = roots.start[roots.owner] + device.xp.arange(len(roots.owner)) - roots.offset[roots.owner]
        growing = Growing(
            roots=roots,
            lists=self._lists(level, nodes, roots, level.cases[instance]),
            attributes=self._attributes,
            codes=self._training.columns.codes,
            records=Records(*(*table[:NUMBERS], table[NUMBERS:].reshape(-1))),
            marks=device.xp.empty(n_rows // 2, np.int32),
            room=Found(*device.xp.empty((len(Found._fields), cells), np.int64)),
            net=device.xp.empty(cells, np.float64),
        )
        rows = device.xp.empty(len(nodes), np.int64)
        units = device.xp.zeros(0, np.int64) if self._training.even else level.units[instance]
        weights = self._training.weights(level)._replace(units=units)
        task = (growing, weights, self._settings, self._facts, how.group, rows)
        shared = scan_cells(1, how.threads) + 1 + self._settings.n_classes * how.threads
        device.launch(finish, blocks, *task, shared_cells=shared, threads=how.threads)
        return self._collected(table, device.down(rows), np.cumsum(count) - count, position)

    def _roots(self, start: Int64s, count: Int64s, class_weights: Int64s) -> Roots:
        device, n = self._device, len(start)
        packed = device.up(np.concatenate([start, [0], np.cumsum(count)]))
        offset = packed[n:]
        owner = device.xp.searchsorted(offset[1:], device.xp.arange(int(count.sum())), side="right")
        return Roots(packed[:n], offset, owner, device.up(class_weights.astype(self._number_type).ravel()))

    def _lists(self, level: Level, nodes: Int64s, roots: Roots, cases: Any) -> Lists:
        """The lists of all attributes at some nodes, the largest first."""
        device, xp, training = self._device, self._device.xp, self._training
        entries, layout = xp.empty(2 * self._n_attributes * len(cases), np.uint32), layout_of(self._settings.n_classes)
        lists = Lists(entries, layout, cases, self._near_of, training.columns.near_values)
        for chunk in level.chunks:
            starts = device.up(level.list_start[chunk.first : chunk.stop, nodes].ravel())
            source = lists._replace(entries=chunk.entries, layout=level.layout, cases=level.cases)
            which = device.up(training.listed[chunk.first : chunk.stop])
            items = (chunk.stop - chunk.first) * len(cases)
            device.over(copy_lists, items, source, starts, which, roots, lists)
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
