"""Finish the small nodes of a level: which, how many together, and what the host gets of them.

The records of subtrees lie far apart on the device until it is known how many there are, then they are put together::

    written    | node 0's . . . . | node 1's . . |        room for twice as many as the node has cases
    gathered   | node 0's | node 1's |                    what the host fetches
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.cuda_device import Device
from c45gpu.kernels.cuda_finish import Growing, Roots, finish
from c45gpu.kernels.cuda_finish_divide import Heirs
from c45gpu.kernels.cuda_finish_divided import finish_divided
from c45gpu.kernels.cuda_finish_lists import copy_lists, sort_codes
from c45gpu.kernels.cuda_finish_move import Records
from c45gpu.kernels.cuda_finish_plan import NUMBERS, Plan, layout_of, plan
from c45gpu.kernels.cuda_finish_score import Attributes
from c45gpu.kernels.cuda_level import Level, Training
from c45gpu.kernels.cuda_score import Found, Lists
from c45gpu.kernels.level import Int64s, Subtrees

OF_HOST = 5  # numbers of a record that the host asks for, the first five of Records; in tables they stand last


class Running(NamedTuple):
    """Nodes that are being finished together.

    Attributes
    ----------
    nodes : ndarray of int64, shape (m,)
        Of the level.
    offset : ndarray of int64, shape (m,)
        Cases of the nodes before.
    table : device array of int32 or int64, shape (numbers + classes, room for records)
    rows : device array of int64, shape (m,)
        Records of each node once it is finished, 0 where it did not fit.
    may_fail : bool
        A node may not fit.
    """

    nodes: Int64s
    offset: Int64s
    table: Any
    rows: Any
    may_fail: bool


class Gathered(NamedTuple):
    """Their records, one after the other.

    Attributes
    ----------
    nodes, offset : ndarray of int64, shape (m,)
        As of :class:`Running`, those that fitted.
    rows : ndarray of int64, shape (m,)
    table : device array of int32 or int64
        Numbers and class weights, each of all records.
    """

    nodes: Int64s
    offset: Int64s
    rows: Int64s
    table: Any


class Finisher:
    """Finishes small nodes: those without an unknown value, whose cases are whole, and the others apart from them.

    Parameters
    ----------
    device : Device
    training : Training
    may_finish : bool
        As of the problem.
    """

    def __init__(self, device: Device, training: Training, may_finish: bool) -> None:
        self._device, self._training, self._settings = device, training, training.settings
        self._may_finish = may_finish and not self._codes_are_near()
        self._number_type = np.int32 if training.counted else np.int64  # class weights are in units
        self._attributes = Attributes(device.up(training.continuous), device.up(training.columns.code_of))
        self._n_attributes = len(training.continuous)
        near_of = np.full(self._n_attributes, -1, np.int64)
        near_of[training.listed] = training.columns.near_of
        self._near_of = device.up(near_of)

    def batches(self, level: Level) -> Iterator[tuple[Plan, Int64s]]:
        """The small nodes of a level, as many at a time as there is memory for, and how they are finished."""
        count = level.stop - level.start
        for how, some in self._planned(level, count) if self._may_finish else ():
            small = some[np.argsort(-count[some], kind="stable")]  # a block that begins last should have little to do
            for batch in _batches(count[small], how.together):
                yield how, small[batch]

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
        known = (level.list_stop - level.list_start == level.stop - level.start).all(axis=0) & ~level.is_flawed
        whole: Int64s = nodes[known[nodes]]
        return whole

    def begin(self, level: Level, nodes: Int64s, how: Plan) -> Running:
        """Start to finish nodes, as :meth:`batches` has them."""
        device, count = self._device, (level.stop - level.start)[nodes]
        blocks, n_rows, divided = min(len(nodes), how.blocks), 2 * int(count.sum()), how.room > 1
        at = NUMBERS - OF_HOST
        table = device.xp.empty((NUMBERS + self._settings.n_classes, n_rows), self._number_type)
        cells = blocks * how.group * self._n_attributes
        roots = self._roots(level.start[nodes], count, level.class_weights[nodes], how.room)
        cases, units = self._instances(level, roots, how)
        growing = Growing(
            roots=roots,
            lists=self._lists(level, nodes, roots, cases),
            attributes=self._attributes,
            codes=self._training.columns.codes,
            records=Records._make([*table[at:NUMBERS], *table[:at], table[NUMBERS:].reshape(-1)]),
            marks=device.xp.empty(len(cases), np.int32),
            room=Found(*device.xp.empty((len(Found._fields), cells), np.int64)),
            net=device.xp.empty(cells, np.float64),
        )
        rows = device.xp.empty(len(nodes), np.int64)
        weights = self._training.weights(level)._replace(units=units)
        task = (weights, self._settings, self._training.facts, how.group, rows)
        shared, threads = how.shared_cells(self._settings.n_classes), how.threads
        if divided:
            heirs = self._heirs(len(cases), n_rows)
            device.launch(finish_divided, blocks, growing, heirs, *task, shared_cells=shared, threads=threads)
        else:
            device.launch(finish, blocks, growing, *task, shared_cells=shared, threads=threads)
        return Running(nodes, np.cumsum(count) - count, table, rows, divided)

    def gather(self, running: Running, rows: Int64s) -> Gathered:
        """Put the records of finished nodes together, given how many each has."""
        device, fits = self._device, rows > 0
        nodes, offset, rows = running.nodes[fits], running.offset[fits], rows[fits]
        shift = _shift(rows, offset)
        record = device.xp.arange(len(shift)) + device.up(shift)
        table = device.xp.take(running.table[NUMBERS - OF_HOST :], record, axis=1)
        return Gathered(nodes, offset, rows, table.ravel())

    def subtrees(self, gathered: Gathered, table: npt.NDArray[Any], number: Int64s) -> Subtrees:
        """The subtrees, given what was gathered, on the host, and a number for each node that its root is named by."""
        rows = gathered.rows
        numbers = table.reshape(OF_HOST + self._settings.n_classes, -1).astype(np.int64)
        parent, branch, attribute, below, above = numbers[:OF_HOST]
        parent = np.where(parent < 0, np.repeat(-1 - number, rows), parent - _shift(rows, gathered.offset))
        return Subtrees(parent, branch, attribute, below, above, np.ascontiguousarray(numbers[OF_HOST:].T))

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


def _batches(count: Int64s, together: int) -> list[slice]:
    """Runs of nodes with so many cases together at most; none has more alone."""
    before, bounds = np.concatenate([[0], np.cumsum(count)]), [0]
    while bounds[-1] < len(count):
        bounds.append(int(np.searchsorted(before, before[bounds[-1]] + together, side="right")) - 1)
    return [slice(*bound) for bound in pairwise(bounds)]


def _shift(rows: Int64s, offset: Int64s) -> Int64s:
    """How far each record stands behind where it stands once all are put together; see :class:`Gathered`."""
    return np.repeat(2 * offset - (np.cumsum(rows) - rows), rows)


def joined(parts: list[Subtrees]) -> Subtrees:
    """All subtrees in one."""
    before = np.cumsum([0, *(len(part.parent) for part in parts)]).tolist()
    moved = [
        np.where(part.parent < 0, part.parent, part.parent + k) for part, k in zip(parts, before[:-1], strict=True)
    ]
    others = (np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Subtrees)[1:])
    return Subtrees(np.concatenate(moved), *others)
