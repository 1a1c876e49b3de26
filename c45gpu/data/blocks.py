"""Cases in blocks, so that what is read and what is written of them need not be in memory at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema
from c45gpu.data.table import Table

CASES_OF_A_BLOCK: Final = 1 << 16
Progress = Callable[[int], None]  # is told how much is done


class Cases(NamedTuple):
    """Cases that come a block at a time.

    Parameters
    ----------
    schema : Schema
    types : tuple
        NumPy's type of each attribute's column, None for an ignored one.
    weighted : bool
        Whether every block has weights; else none has.
    blocks : callable
        The tables, all of `schema`, in order; what it is given, if not None, is told how much is done.
    """

    schema: Schema
    types: tuple[np.dtype[Any] | None, ...]
    weighted: bool
    blocks: Callable[[Progress | None], Iterator[Table]]


def cases_of(table: Table) -> Cases:
    """The cases of a table, which count as done by their number."""
    types = tuple(None if column is None else np.dtype(column.dtype) for column in table.columns)
    return Cases(table.schema, types, table.weights is not None, lambda progress: blocks_of(table, progress))


def small_blocks(cases: Cases, progress: Progress | None) -> Iterator[Table]:
    """The blocks, none with more than `CASES_OF_A_BLOCK` cases."""
    for block in cases.blocks(progress):
        yield from blocks_of(block)


def blocks_of(table: Table, progress: Progress | None = None) -> Iterator[Table]:
    """The cases, some at a time, in order."""
    if 0 < table.n_cases <= CASES_OF_A_BLOCK:
        yield table
        if progress is not None:
            progress(table.n_cases)
        return
    for first in range(0, table.n_cases, CASES_OF_A_BLOCK):
        end = min(first + CASES_OF_A_BLOCK, table.n_cases)
        yield table.take(np.arange(first, end))
        if progress is not None:
            progress(end)


def spelled(names: Sequence[str], unknown: str, codes: npt.NDArray[Any]) -> list[str]:
    """What each code stands for; -1 is unknown."""
    texts: list[str] = np.array([*names, unknown], object)[codes].tolist()
    return texts


def numeral(value: float) -> str:
    """A number with all digits that it needs, and no others."""
    return repr(value).removesuffix(".0")
