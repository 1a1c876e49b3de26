"""The values of cases, by case and column, wherever the columns lie.

Compiled code cannot pick one of many arrays by a number. So columns that are not copied are read as parts of one array
that begins at the lowest of them in memory and ends with the highest; what lies between them is never looked at::

    memory    ...  column 2  ...   column 0  column 1  ...
    floats         [................................]        start = 410, 700, 0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from c45gpu.data.table import Table
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_prune_order import gather
from c45gpu.kernels.level import Int32s, Int64s

Array = npt.NDArray[Any]
Word = type[np.floating[Any]]

LINE = 64  # bytes of a cache line, where each array begins


class Cells(NamedTuple):
    """Values of cases.

    Attributes
    ----------
    floats : ndarray of float32 or float64
        A continuous value of case i is ``floats[start[column] + i]``.
    codes : ndarray
        A discrete one is ``codes[start[column] + i]``.
    start : ndarray of int64, shape (columns,)
    """

    floats: Any
    codes: Any
    start: Any


class InPlace(NamedTuple):
    """Cells, and the columns that must live as long as they are read."""

    cells: Cells
    columns: Sequence[Array]


class Memory:
    """Arrays that nobody needs any more, to be used again: fresh memory costs more than what is written to it.

    Parameters
    ----------
    arrays : sequence of ndarray
        Each in one piece.
    """

    def __init__(self, arrays: Sequence[Array] = ()) -> None:
        self._free = [array.reshape(-1).view(np.uint8) for array in arrays]

    @property
    def is_empty(self) -> bool:
        """Whether there never was any."""
        return not self._free

    def take(self, length: int, dtype: npt.DTypeLike) -> Array:
        """An array with arbitrary contents, new where there is no more to be used again."""
        word = np.dtype(dtype)
        used = length * word.itemsize
        for i, block in enumerate(self._free):
            if used <= len(block):
                self._free[i] = block[-(-used // LINE) * LINE :]
                return block[:used].view(word)
        return np.empty(length, word)


def cells_of_rows(rows: Array) -> Cells:
    """The cells of rows that lie by column, codes being floats among the others."""
    flat = rows.reshape(-1, order="F")
    return Cells(flat, flat, np.arange(rows.shape[1], dtype=np.int64) * len(rows))


def cells_in_place(table: Table, attributes: Int64s, word: Word) -> InPlace:
    """The cells of some attributes' columns; copied are those that are not in one piece, or of another precision.

    Parameters
    ----------
    table : Table
    attributes : ndarray of int64
        In the order of the cells' columns.
    word : type
        The precision of the continuous values.
    """
    words = _words(table, attributes, word)
    columns = [np.require(table.column(a), w, ["C", "A"]) for a, w in zip(attributes.tolist(), words, strict=True)]
    return _spanning(columns, words, word)


def cells_in_order(
    table: Table, attributes: Int64s, word: Word, order: Int32s, crew: Crew, memory: Memory
) -> tuple[InPlace, Int32s]:
    """The same for cases in an order, and their classes: case i of the cells is case ``order[i]`` of the table."""
    words = _words(table, attributes, word)
    if memory.is_empty:  # one array for all: the system gives it larger pages
        memory = Memory([np.empty(sum(len(order) * np.dtype(w).itemsize + LINE for w in words), np.uint8)])
    columns = [memory.take(len(order), w) for w in words]
    classes = np.empty(len(order), np.int32)

    def job(column: Array, out: Array) -> None:
        gather(np.require(column, requirements=["C", "W"]), order, out)

    tasks = [(table.column(a), out) for a, out in zip(attributes.tolist(), columns, strict=True)]
    crew.run(job, [*tasks, (table.classes, classes)])
    return _spanning(columns, words, word), classes


def _words(table: Table, attributes: Int64s, word: Word) -> list[type[np.generic]]:
    kinds = [table.schema.attributes[a].kind for a in attributes.tolist()]
    return [np.int32 if kind == "discrete" else word for kind in kinds]


def _spanning(columns: Sequence[Array], words: Sequence[type[np.generic]], word: Word) -> InPlace:
    is_code, start = np.array([w == np.int32 for w in words], np.bool_), np.zeros(len(columns), np.int64)
    floats = _spanned(columns, np.flatnonzero(~is_code), word, start)
    return InPlace(Cells(floats, _spanned(columns, np.flatnonzero(is_code), np.int32, start), start), columns)


def _spanned(columns: Sequence[Array], which: npt.NDArray[np.intp], word: type[np.generic], start: Int64s) -> Array:
    """One array, not to be written to, from the first to the last of some columns; writes where in it they start."""
    size = np.dtype(word).itemsize
    address = np.array([columns[k].ctypes.data for k in which], np.int64)
    if not len(address):
        return as_strided(np.zeros(1, word), writeable=False)
    lowest = int(address.min())
    start[which] = (address - lowest) // size
    span = int(start[which].max()) + len(columns[which[0]])
    return as_strided(columns[which[address.argmin()]], (span,), (size,), writeable=False)
