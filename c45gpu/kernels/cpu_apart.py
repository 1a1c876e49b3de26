"""Nodes that a counting engine sets apart, whose lists another one is given to go on with, without sorting them anew.

lists        | open nodes  ->      <- nodes set apart |     apart from the end on, never moved again
given away   row 907 501 733 ...                            rows of all cases
             case  2   0   1 ...                            numbers in the nodes asked for, one after the other
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_entry import Layout, class_of, new_of, packed, row_of, rows_of
from c45gpu.kernels.cpu_finish import Columns
from c45gpu.kernels.cpu_lists import Lists, layout_for
from c45gpu.kernels.level import Int32s, Int64s

Array = npt.NDArray[Any]


class SortedCases(NamedTuple):
    """The cases of some nodes, numbered from 0, one node after the other.

    Attributes
    ----------
    entries : ndarray of uint32 or uint64, shape (n,)
        Class and number of each, packed as :func:`.cpu_lists.layout_for` n cases.
    counts : ndarray of int64, shape (m,)
        Cases of each node.
    rows : ndarray of int32, shape (n,)
        Of each; none where they are not asked for.
    """

    entries: Array
    counts: Int64s
    rows: Int32s


class SortedColumns(NamedTuple):
    """Some attributes of the cases of some nodes.

    Attributes
    ----------
    lists : ndarray of uint32 or uint64, shape (n_lists, n)
        Entries in the order of values, one node after the other.
    codes : ndarray of uint8, shape (n, n_code)
    list_codes : ndarray of int32, shape (k, n)
    list_of, code_of, list_code_of : ndarray of int64, shape (attributes,)
        As in :class:`.cpu_finish.Columns`.
    n_codes : ndarray of int64, shape (n_code,)
    """

    lists: Array
    codes: npt.NDArray[np.uint8]
    list_codes: Int32s
    list_of: Int64s
    code_of: Int64s
    list_code_of: Int64s
    n_codes: Int64s

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return self.lists.nbytes + self.codes.nbytes + self.list_codes.nbytes


@compiled
def number_cases(rows: Any, layout: Any, first: Any, local: Any, numbers: Any, out: Any) -> None:
    """Number the cases of a row list, by row, and write them with their numbers."""
    for i in range(len(rows)):
        row = row_of(rows[i], layout)
        numbers[row] = first + i
        out[i] = packed(0, class_of(rows[i], layout), first + i, local)


@compiled
def renumber(lists: Any, first: Any, layout: Any, numbers: Any, local: Any, out: Any) -> None:
    """Write the entries of a node, from `first` on in all lists, with the numbers of cases in the place of rows."""
    for k in range(len(out)):
        for i in range(out.shape[1]):
            entry = lists[k, first + i]
            number = numbers[row_of(entry, layout)]
            out[k, i] = packed(new_of(entry, layout), class_of(entry, layout), number, local)


class Apart:
    """The nodes that were set apart, in the order in which they were.

    Parameters
    ----------
    layout : Layout
    columns : Columns
    n_cases, n_classes : int
    numbers : ndarray of int32, shape (n_cases,)
        Room for the number of each row; several nodes may be asked about at once, as no two have a row in common.
    """

    def __init__(self, layout: Layout, columns: Columns, n_cases: int, n_classes: int, numbers: Int32s) -> None:
        self._layout, self._columns, self._n_classes, self._numbers = layout, columns, n_classes, numbers
        self._end = n_cases
        self._nodes: list[tuple[Array, int, int]] = []
        self._final: list[Int64s] = [np.zeros(0, np.int64)]

    def room(self, counts: Int64s) -> Int64s:
        """Where nodes with so many cases are to be moved to."""
        self._end -= int(counts.sum())
        return self._end + np.cumsum(counts) - counts

    def add(self, lists: Array, first: Int64s, counts: Int64s, final: Int64s) -> None:
        """Note that nodes lie there, and where their cases will lie in the order of leaves."""
        self._final.append(final)
        self._nodes += [(lists, a, n) for a, n in zip(first.tolist(), counts.tolist(), strict=True)]

    def cases(self, nodes: Int64s, with_rows: bool) -> SortedCases:
        """The cases of some nodes."""
        some, counts = self._some(nodes)
        rows = self.rows(nodes) if with_rows else np.zeros(0, np.int64)
        return SortedCases(self._numbered(some, counts), counts, rows.astype(np.int32))

    def places(self) -> tuple[Int64s, Int64s]:
        """Where the cases of each node will lie in the order of leaves, and how many there are."""
        return np.concatenate(self._final), np.array([n for _, _, n in self._nodes], np.int64)

    def columns(self, nodes: Int64s) -> SortedColumns:
        """All attributes of the cases of some nodes."""
        some, counts = self._some(nodes)
        cases, columns, start = self._numbered(some, counts), self._columns, 0
        lists = np.empty((len(some[0][0]) - 1 if some else 0, len(cases)), cases.dtype)
        local = self._local(counts)
        for (there, first, _), stop in zip(some, np.cumsum(counts).tolist(), strict=True):
            renumber(there, first, self._layout, self._numbers, local, lists[:, start:stop])
            start = stop
        n_code, n_listed = columns.codes.shape[1], len(columns.list_codes)
        rows = self.rows(nodes) if n_code or n_listed else np.zeros(0, np.int64)
        return SortedColumns(
            lists,
            columns.codes[rows] if n_code else np.empty((len(cases), 0), np.uint8),
            columns.list_codes[:, rows] if n_listed else np.empty((0, 0), np.int32),
            columns.list_of,
            columns.code_of,
            columns.list_code_of,
            np.diff(columns.code_first),
        )

    @property
    def listed(self) -> npt.NDArray[np.bool_]:
        """Which attributes have a list."""
        found: npt.NDArray[np.bool_] = self._columns.list_of >= 0
        return found

    def rows(self, nodes: Int64s) -> Int64s:
        """The rows of the cases of some nodes."""
        some, _ = self._some(nodes)
        return np.concatenate([rows_of(lists[-1, first : first + n], self._layout) for lists, first, n in some])

    def _some(self, nodes: Int64s) -> tuple[list[tuple[Array, int, int]], Int64s]:
        some = [self._nodes[node] for node in nodes.tolist()]
        return some, np.array([n for _, _, n in some], np.int64)

    def _local(self, counts: Int64s) -> Layout:
        return layout_for(int(counts.sum()), self._n_classes)

    def _numbered(self, some: list[tuple[Array, int, int]], counts: Int64s) -> Array:
        """The cases, whose numbers are noted by row."""
        local, start = self._local(counts), 0
        cases = np.empty(int(counts.sum()), np.uint32 if local.new_bit == 31 else np.uint64)
        for lists, first, n in some:
            rows = lists[-1, first : first + n]
            number_cases(rows, self._layout, start, local, self._numbers, cases[start : start + n])
            start += n
        return cases


def lists_from(
    cases: SortedCases, parts: Sequence[tuple[Int64s, SortedColumns]], continuous: npt.NDArray[np.bool_], n_classes: int
) -> Lists:
    """Put lists together from those of several engines; of each the attributes that it has."""
    n, n_used = len(cases.entries), len(continuous)
    entries = np.empty((sum(len(part.lists) for _, part in parts) + 1, n), cases.entries.dtype)
    entries[-1] = cases.entries
    list_of, code_of, list_code_of = (np.full(n_used, -1, np.int64) for _ in range(3))
    n_lists, n_code, n_listed = 0, 0, 0
    for owned, part in parts:
        entries[n_lists : n_lists + len(part.lists)] = part.lists
        for whole, own, before in (
            (list_of, part.list_of, n_lists),
            (code_of, part.code_of, n_code),
            (list_code_of, part.list_code_of, n_listed),
        ):
            whole[owned] = np.where(own >= 0, own + before, -1)
        n_lists, n_code = n_lists + len(part.lists), n_code + len(part.n_codes)
        n_listed += len(part.list_codes)
    codes = np.concatenate([np.empty((n, 0), np.uint8), *(part.codes for _, part in parts)], axis=1)
    listed = [part.list_codes for _, part in parts if len(part.list_codes)]
    list_codes = np.concatenate(listed) if listed else np.empty((0, 0), np.int32)
    code_first = np.cumsum(np.concatenate([[0], *(part.n_codes for _, part in parts)])).astype(np.int64)
    columns = Columns(list_of, code_of, continuous, code_first, codes, list_codes, list_code_of)
    counts = np.full(len(entries), n, np.int64)
    return Lists(layout_for(n, n_classes), entries, counts, columns, [None] * n_used)
