"""From a table to lists and codes on the device. Values do not stay there: a list knows their order only.

Columns are sorted one after the other, so there is room for one unsorted at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.cuda_codes import Codes
from c45gpu.kernels.cuda_counts import Layout
from c45gpu.kernels.cuda_device import Device
from c45gpu.kernels.level import Int64s, Problem

CODE_TYPES = (np.uint8, np.uint16, np.int32)


class Columns(NamedTuple):
    """What :func:`build_columns` makes of a table.

    Attributes
    ----------
    codes : Codes
    entries : device array of uint32 or uint64
        All lists one after the other.
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
    entries: Any
    counts: Int64s
    layout: Layout
    list_of: Int64s
    code_of: Int64s
    near_of: Int64s
    near_values: Any


def known_values(xp: Any, column: Any) -> Any:
    """The column on the device without -0.0, and which of its values are known."""
    values = xp.asarray(column) + 0.0
    return values, ~xp.isnan(values)


def distinct_values(xp: Any, column: Any) -> Any:
    """Sorted distinct values of a column, on the device."""
    values, known = known_values(xp, column)
    values = xp.sort(values[known])
    differs = xp.ones(len(values), np.bool_)
    differs[1:] = values[1:] != values[:-1]
    return values[differs]


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
        column = self._problem.table.column(self._problem.used[k])
        if attribute.kind == "discrete":
            self._add_codes(self._device.up(column), np.zeros(len(attribute.values)), continuous=False)
            return False
        distinct = distinct_values(self._device.xp, column)
        if len(distinct) > self._device.sizes.most_ranks:
            self._add_list(column, distinct)
            return True
        values, known = known_values(self._device.xp, column)
        ranks = self._device.xp.where(known, self._device.xp.searchsorted(distinct, values), -1)
        self._add_codes(ranks, self._device.down(distinct).astype(np.float64), continuous=True)
        return False

    def _add_codes(self, codes: Any, values: npt.NDArray[np.float64], continuous: bool) -> None:
        self.codes.append(codes)
        self.values.append(values)
        self.continuous.append(continuous)

    def _add_list(self, column: npt.NDArray[Any], distinct: Any) -> None:
        xp, layout = self._device.xp, self._layout
        values, known = known_values(xp, column)
        order = xp.argsort(values, kind="stable")[: int(known.sum())]  # NaN is sorted last
        values = values[order]
        entries = (self._classes[order].astype(np.int64) << layout.id_bits) | order
        entries[0] |= 1 << layout.new_bit
        entries[1:] |= (values[1:] != values[:-1]).astype(np.int64) << layout.new_bit
        self.lists.append(entries.astype(self.word))
        self.near_of.append(self._near_row(column, distinct))

    def _near_row(self, column: npt.NDArray[Any], distinct: Any) -> int:
        gap, wide = self._problem.settings.gap, distinct.astype(np.float64)
        if gap == 0 or not bool((wide[:-1] >= wide[1:] - gap).any()):
            return -1
        self.near.append(self._device.up(column.astype(np.float32)))
        return len(self.near) - 1

    @property
    def word(self) -> type[np.unsignedinteger[Any]]:
        """The type of entries."""
        return np.uint32 if self._layout.bits == 32 else np.uint64

    def stacked_codes(self) -> Codes:
        """All codes in the narrowest type that holds them and one more for unknown."""
        device, n_cases = self._device, self._problem.table.n_cases
        sizes = [len(values) for values in self.values]
        kind = next(kind for kind in CODE_TYPES if max(sizes, default=0) <= np.iinfo(kind).max)
        unknown = int(np.iinfo(kind).max)
        codes = device.xp.zeros((len(sizes) or 1, n_cases), kind)
        for row, column in enumerate(self.codes):
            codes[row] = device.xp.where(column < 0, unknown, column).astype(kind)
            self.codes[row] = None  # its memory makes room
        return Codes(
            codes=codes,
            unknown=unknown,
            first=device.up(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
            continuous=device.up(np.array([*self.continuous, False])),
            values=device.up(np.concatenate([*self.values, np.zeros(1)])),
            attribute=device.up(np.zeros(1, np.int64)),
        )

    def finished(self, list_of: Int64s, code_of: Int64s) -> Columns:
        """All of it."""
        device, xp = self._device, self._device.xp
        entries = xp.concatenate(self.lists) if self.lists else xp.zeros(0, self.word)
        near = xp.stack(self.near) if self.near else xp.zeros((1, 1), np.float32)
        codes = self.stacked_codes()._replace(attribute=device.up(np.flatnonzero(code_of >= 0)))
        counts = np.array([len(entries) for entries in self.lists], np.int64)
        near_of = np.array(self.near_of, np.int64)
        return Columns(codes, entries, counts, self._layout, list_of, code_of, near_of, near)


def build_columns(device: Device, problem: Problem, classes: Any) -> Columns:
    """Sort the columns; `classes` are those of the cases, on the device."""
    builder = _Builder(device, problem, classes)
    listed = np.array([builder.add(k) for k in range(len(problem.used))], np.bool_)
    list_of = np.where(listed, np.cumsum(listed) - 1, -1)
    code_of = np.where(listed, -1, np.cumsum(~listed) - 1)
    return builder.finished(list_of, code_of)
