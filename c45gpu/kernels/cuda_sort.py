"""From a table to lists and codes on the device. Values do not stay there: a list knows their order only.

Columns are sorted one after the other, so there is room for one unsorted at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.cuda_codes import Codes
from c45gpu.kernels.cuda_counts import Layout
from c45gpu.kernels.cuda_device import Device
from c45gpu.kernels.cuda_plan import Needs, planned
from c45gpu.kernels.level import Int64s, Problem

CODE_TYPES: tuple[type[np.integer[Any]], ...] = (np.uint8, np.uint16, np.int32)


class Chunk(NamedTuple):
    """The lists first..stop-1, one after the other."""

    first: int
    stop: int
    entries: Any  # device array of uint32 or uint64
    counts: Any = None  # device array of int64: class weights of each tile, ``counts[c * tiles + tile]``, if known

    def parts(self, most: int) -> list[Chunk]:
        """The same in parts of at most so many lists, which see the entries of all."""
        firsts = range(self.first, self.stop, most)
        return [self._replace(first=first, stop=min(first + most, self.stop)) for first in firsts]


class Columns(NamedTuple):
    """What :func:`build_columns` makes of a table.

    Attributes
    ----------
    codes : Codes
    chunks : list of Chunk
        All lists; whoever takes the columns over may empty it.
    counts : ndarray of int64, shape (n_lists,)
        Entries of each.
    layout : Layout
    list_of, code_of : ndarray of int64, shape (n_used,)
        The list or the column of codes of each attribute, -1 for the other kind.
    near_of : ndarray of int64, shape (n_lists,)
        The row of `near_values` where some values are too near for a cut between them, -1 for none.
    near_values : device array of float32, shape (rows, n_cases)
    """

    codes: Codes
    chunks: list[Chunk]
    counts: Int64s
    layout: Layout
    list_of: Int64s
    code_of: Int64s
    near_of: Int64s
    near_values: Any


class Sorted(NamedTuple):
    """The known values of a column in their order, on the device."""

    cases: Any  # int64
    values: Any  # without -0.0
    differs: Any  # bool: from the one before; True first


def sort_column(xp: Any, column: Any) -> Sorted:
    """Sort a column; NaN, which is sorted last, is left out."""
    values = xp.asarray(column) + 0.0  # turns -0.0 into 0.0
    cases = xp.argsort(values, kind="stable")[: int((~xp.isnan(values)).sum())]
    values = values[cases]
    differs = xp.ones(len(values), np.bool_)
    differs[1:] = values[1:] != values[:-1]
    return Sorted(cases, values, differs)


def distinct_values(xp: Any, column: Any) -> Any:
    """Sorted distinct values of a column, on the device."""
    by_value = sort_column(xp, column)
    return by_value.values[by_value.differs]


def _code_type(n_codes: int) -> type[np.integer[Any]]:
    """The narrowest type for so many codes and unknown, which is its greatest number."""
    return next(kind for kind in CODE_TYPES if n_codes <= np.iinfo(kind).max)


class _Builder:
    """Collects lists and codes, column by column."""

    def __init__(self, device: Device, problem: Problem, classes: Any) -> None:
        self._device, self._problem, self._classes = device, problem, classes
        self._layout = Layout.holding(problem.table.n_cases, problem.settings.n_classes)
        self.lists: list[Any] = []
        self.near_of: list[int] = []
        self.near: list[Any] = []
        self.codes: list[Any] = []
        self.values: list[npt.NDArray[np.float64]] = []
        self.continuous: list[bool] = []

    def add(self, k: int) -> bool:
        """Add a used attribute; returns whether it got a list."""
        attribute = self._problem.table.schema.attributes[self._problem.used[k]]
        column = self._device.xp.asarray(self._problem.table.column_in_place(self._problem.used[k]))
        if attribute.kind == "discrete":
            self._add_codes(column, np.zeros(len(attribute.values)), continuous=False)
            return False
        by_value = sort_column(self._device.xp, column)
        distinct = by_value.values[by_value.differs]
        if len(distinct) > self._device.sizes.most_ranks:
            self._add_list(by_value)
            self.near_of.append(self._near_row(column, distinct))
            return True
        ranks = self._device.xp.full(len(column), -1, np.int32)
        ranks[by_value.cases] = self._device.xp.cumsum(by_value.differs) - 1
        self._add_codes(ranks, self._device.down(distinct).astype(np.float64), continuous=True)
        return False

    def _add_codes(self, codes: Any, values: npt.NDArray[np.float64], continuous: bool) -> None:
        kind = _code_type(len(values))
        self.codes.append(self._device.xp.where(codes < 0, np.iinfo(kind).max, codes).astype(kind))
        self.values.append(values)
        self.continuous.append(continuous)

    def _add_list(self, by_value: Sorted) -> None:
        layout, cases, word = self._layout, by_value.cases, self.word
        entries = self._classes[cases].astype(word)
        entries <<= word(layout.id_bits)
        entries |= cases.astype(word)
        entries |= by_value.differs.astype(word) << word(layout.new_bit)
        self.lists.append(entries)

    def _near_row(self, column: Any, distinct: Any) -> int:
        gap, wide = self._problem.settings.gap, distinct.astype(np.float64)
        if gap == 0 or not bool((wide[:-1] >= wide[1:] - gap).any()):
            return -1
        self.near.append(column.astype(np.float32))
        return len(self.near) - 1

    @property
    def word(self) -> type[np.unsignedinteger[Any]]:
        """The type of entries."""
        return np.uint32 if self._layout.bits == 32 else np.uint64

    def stacked_codes(self) -> Codes:
        """All codes in the narrowest type that holds them and one more for unknown."""
        device, n_cases = self._device, self._problem.table.n_cases
        sizes = [len(values) for values in self.values]
        kind = self._common_type()
        unknown = np.iinfo(kind).max
        codes = device.xp.zeros((len(sizes) or 1, n_cases), kind)
        for row, column in enumerate(self.codes):
            is_known = column != np.iinfo(column.dtype).max
            codes[row] = device.xp.where(is_known, column.astype(kind), kind(unknown))
            self.codes[row] = None  # its memory makes room
        return Codes(
            codes=codes,
            unknown=int(unknown),
            first=device.up(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
            continuous=device.up(np.array([*self.continuous, False])),
            values=device.up(np.concatenate([*self.values, np.zeros(1)])),
            attribute=device.up(np.zeros(1, np.int64)),
        )

    def needs(self) -> Needs:
        """What the columns need beside the lists that are there."""
        table, kind = self._problem.table, np.dtype(self._common_type())
        return Needs(
            n_cases=table.n_cases,
            n_classes=self._problem.settings.n_classes,
            n_lists=len(self.lists),
            word_bytes=self._layout.bits // 8,
            code_bytes=len(self.codes) * kind.itemsize,
            divided=not self._problem.whole or bool((self._problem.units != 1).any()),
        )

    def _common_type(self) -> type[np.integer[Any]]:
        return _code_type(max((len(values) for values in self.values), default=0))

    def _chunk(self, first: int) -> Chunk:
        stop = min(first + self._device.sizes.lists_at_a_time, len(self.lists))
        entries = self._device.xp.concatenate(self.lists[first:stop])
        self.lists[first:stop] = [entries[:0]] * (stop - first)  # their memory makes room
        return Chunk(first, stop, entries)

    def finished(self, list_of: Int64s, code_of: Int64s) -> Columns:
        """All of it."""
        device, xp = self._device, self._device.xp
        near = xp.stack(self.near) if self.near else xp.zeros((1, 1), np.float32)
        codes = self.stacked_codes()._replace(attribute=device.up(np.flatnonzero(code_of >= 0)))
        counts = np.array([len(entries) for entries in self.lists], np.int64)
        chunks = [self._chunk(first) for first in range(0, len(self.lists), device.sizes.lists_at_a_time)]
        near_of = np.array(self.near_of, np.int64)
        return Columns(codes, chunks, counts, self._layout, list_of, code_of, near_of, near)


def build_columns(device: Device, problem: Problem, classes: Any, free: Callable[[], int] | None = None) -> Columns:
    """Sort the columns, and plan how they are moved.

    Parameters
    ----------
    device : Device
        Its sizes are changed to what fits.
    problem : Problem
    classes : device array
        Of the cases.
    free : callable, optional
        Bytes of free device memory; without it there is no limit.

    Raises
    ------
    MemoryPlanError
        If a level would not fit.
    """
    builder = _Builder(device, problem, classes)
    listed = np.array([builder.add(k) for k in range(len(problem.used))], np.bool_)
    if free is not None:
        device.sizes = planned(builder.needs(), free(), device.sizes)
    list_of = np.where(listed, np.cumsum(listed) - 1, -1)
    code_of = np.where(listed, -1, np.cumsum(~listed) - 1)
    return builder.finished(list_of, code_of)


def unknown_codes(xp: Any, codes: Codes) -> Any:
    """Which cases have an unknown code, on the device; of length 0 where there are none."""
    found = xp.zeros(codes.codes.shape[1], np.bool_)
    for column in codes.codes:
        found |= column == codes.unknown
    return found if bool(found.any()) else found[:0]
