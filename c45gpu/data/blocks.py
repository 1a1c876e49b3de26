"""A table in blocks of cases, so that what is written of it need not be in memory at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table

CASES_OF_A_BLOCK: Final = 1 << 16
Progress = Callable[[int], None]  # is told how many cases are done


def blocks_of(table: Table, progress: Progress | None = None) -> Iterator[Table]:
    """The cases, some at a time, in order."""
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
