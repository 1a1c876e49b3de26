"""From a table to lists and codes: the layout that the CPU engine works on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from queue import Empty, LifoQueue
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.cpu_crew import LEAST_TASK, Crew
from c45gpu.kernels.cpu_entry import Layout
from c45gpu.kernels.cpu_finish import Columns
from c45gpu.kernels.cpu_sort import Room, distinct_values, first_rows, sort_column, write_entries, write_ranks
from c45gpu.kernels.level import Int64s, Problem

MOST_CODES = 255  # a column with more values gets a list; code 255 is unknown
UNKNOWN_CODE = 255
ROWS_AT_A_TIME = 1 << 15  # codes written by row, column after column, stay in a core's cache


class Lists(NamedTuple):
    """What :func:`build_lists` makes of a table.

    Attributes
    ----------
    layout : Layout
    entries : ndarray of uint32 or uint64, shape (n_lists + 1, n_cases)
        The last list is of all rows, in their order.
    counts : ndarray of int64, shape (n_lists + 1,)
        Entries of each list: cases whose value is known.
    columns : Columns
    distinct : list of ndarray or None
        For each used attribute the sorted distinct values if it is continuous.
    """

    layout: Layout
    entries: npt.NDArray[Any]
    counts: npt.NDArray[np.int64]
    columns: Columns
    distinct: list[npt.NDArray[Any] | None]


class _Column(NamedTuple):
    """One attribute, sorted: in a list of so many `entries`, or as ranks."""

    list: int
    entries: int
    ranks: npt.NDArray[np.uint8] | None
    distinct: npt.NDArray[Any] | None


def values_are_near(distinct: npt.NDArray[Any] | None, gap: float) -> bool:
    """Whether some neighbours among sorted values are too near for a cut between them."""
    if distinct is None or gap == 0:
        return False
    values = distinct.astype(np.float64)
    return bool((values[:-1] >= values[1:] - gap).any())


def near_columns(
    problem: Problem, distinct: Sequence[npt.NDArray[Any] | None]
) -> tuple[Int64s, npt.NDArray[np.float32]]:
    """Columns some of whose values are nearer than the gap of release 8, given the values of each that are different.

    Returns
    -------
    near_of : ndarray of int64, shape (n_used,)
        Which of these columns each attribute is, -1 for none.
    columns : ndarray of float32, shape (columns, n_cases)
    """
    used, gap = problem.used, problem.settings.gap
    near = [k for k in range(len(used)) if values_are_near(distinct[k], gap)]
    near_of = np.full(len(used), -1, np.int64)
    near_of[near] = np.arange(len(near))
    columns = [problem.table.column(used[k]) for k in near]
    return near_of, np.array(columns, np.float32).reshape(len(near), -1 if near else 0)


def layout_for(n_cases: int, n_classes: int) -> Layout:
    """The packing of entries: 32 bits if row, class and new-value bit fit."""
    row_bits, class_bits = max(1, (n_cases - 1).bit_length()), max(1, (n_classes - 1).bit_length())
    return Layout(row_bits, class_bits, 31 if row_bits + class_bits <= 31 else 63)


def build_lists(problem: Problem, crew: Crew) -> Lists:
    """Sort the columns, on all workers."""
    table, used = problem.table, problem.used
    layout = layout_for(table.n_cases, problem.settings.n_classes)
    schema = [table.schema.attributes[a] for a in used]
    few = [a.kind == "discrete" and len(a.values) <= MOST_CODES for a in schema]
    to_sort = [k for k in range(len(used)) if not few[k]]
    classes = table.classes.astype(np.uint8 if layout.class_bits <= 8 else np.uint16)
    word = np.uint32 if layout.new_bit == 31 else np.uint64
    entries = np.empty((len(to_sort) + 1, table.n_cases), word)  # memory that no list needs is never touched
    free, gap = iter(range(len(to_sort))), problem.settings.gap

    rooms: LifoQueue[Room] = LifoQueue()

    def job(group: npt.NDArray[Any]) -> list[_Column]:
        try:
            room = rooms.get_nowait()
        except Empty:
            room = Room(table.n_cases)
        columns = []
        for k in group.tolist():
            values, continuous = table.column(used[k]), schema[k].kind == "continuous"
            columns.append(_sort(values, continuous, classes, layout, entries, free, gap, room))
        rooms.put(room)
        return columns

    # short columns stay with this thread: kernels of microseconds, one after the other, would wait for Python's lock
    groups = [np.array(to_sort)] if table.n_cases < LEAST_TASK else crew.groups(np.array(to_sort))
    columns = dict(zip(to_sort, chain.from_iterable(crew.run(job, [(group,) for group in groups])), strict=True))
    n_lists = next(free, len(to_sort))
    entries = entries[: n_lists + 1]
    counts = np.full(n_lists + 1, table.n_cases, np.int64)
    for column in columns.values():
        if column.list >= 0:
            counts[column.list] = column.entries
    distinct = [columns[k].distinct if k in columns else None for k in range(len(used))]
    attributes, codes = _columns(problem, columns)

    def write(first: int) -> None:
        some = slice(first, min(first + ROWS_AT_A_TIME, table.n_cases))
        rows = np.arange(some.start, some.stop, dtype=word)
        entries[-1, some] = rows | np.left_shift(classes[some].astype(word), word(layout.row_bits))
        for k, column in enumerate(codes):
            attributes.codes[some, k] = column[some]

    list(crew.pool.map(write, range(0, table.n_cases, ROWS_AT_A_TIME)))
    return Lists(layout, entries, counts, attributes, distinct)


def _sort(
    values: npt.NDArray[Any],
    continuous: bool,
    classes: npt.NDArray[Any],
    layout: Layout,
    entries: npt.NDArray[Any],
    free: Iterator[int],
    gap: float,
    room: Room,
) -> _Column:
    """Sort one column into the next free list, or into ranks if it is continuous with few values."""
    by_value = sort_column(values, room)
    n_distinct = first_rows(by_value, room.firsts)
    distinct = distinct_values(values, room.firsts[:n_distinct]) if continuous else None
    if continuous and n_distinct <= MOST_CODES and not values_are_near(distinct, gap):
        ranks = np.full(len(values), UNKNOWN_CODE, np.uint8)
        write_ranks(by_value, ranks)
        return _Column(-1, len(by_value), ranks, distinct)
    number = next(free)
    write_entries(by_value, classes, layout, entries[number])
    return _Column(number, len(by_value), None, distinct)


def _columns(problem: Problem, sorted_columns: dict[int, _Column]) -> tuple[Columns, list[npt.NDArray[Any]]]:
    """Which attribute is where, and the codes by column, which are to be written by row yet."""
    table, used = problem.table, problem.used
    schema = [table.schema.attributes[a] for a in used]
    list_of, code_of, list_code_of = (np.full(len(used), -1, np.int64) for _ in range(3))
    codes: list[npt.NDArray[Any]] = []
    list_codes: list[npt.NDArray[Any]] = []
    sizes = [0]
    for k, attribute in enumerate(schema):
        column = sorted_columns.get(k)
        if column is None:
            code_of[k] = len(codes)
            codes.append(table.column(used[k]))
            sizes.append(len(attribute.values))
            continue
        if column.ranks is not None and column.distinct is not None:
            code_of[k] = len(codes)
            codes.append(column.ranks)
            sizes.append(len(column.distinct))
            continue
        list_of[k] = column.list
        if attribute.kind == "discrete":
            list_code_of[k] = len(list_codes)
            list_codes.append(table.column(used[k]))
    by_row = np.empty((table.n_cases, len(codes)), np.uint8)
    continuous = np.array([a.kind == "continuous" for a in schema], np.bool_)
    stacked = np.array(list_codes, np.int32).reshape(len(list_codes), table.n_cases if list_codes else 0)
    return Columns(list_of, code_of, continuous, np.cumsum(sizes), by_row, stacked, list_code_of), codes
