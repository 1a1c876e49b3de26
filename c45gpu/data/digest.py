"""Numbers that tell whether two tables hold the same, however the rows are cut into parts.

Every value is mixed with the number of its row into 64 bits, and these are added up for each column: sums of parts are
the sum of the whole, and two rows that change places change it. SHA-256 makes one word of the sums and of what else
training takes from a table. It is made to notice mistakes, not forgery.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema
from c45gpu.data.table import Table

Words = npt.NDArray[np.uint64]

AT_A_TIME: Final = 1 << 16  # rows; what is made of them stays in a core's cache


def mixed(x: Words) -> Words:
    """Each number as another one, so that any change of it changes about half of the bits (Steele et al. 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: Words = x ^ (x >> np.uint64(31))
    return result


def sums_of(table: Table, first: int = 0) -> Words:
    """A sum for each used attribute, for the classes and for the weights.

    Parameters
    ----------
    table : Table
        Some rows of a table, or all.
    first : int
        The number of its first row.

    Returns
    -------
    ndarray of uint64, shape (n_used + 2,)
        To be added to those of the other rows.
    """
    weights = np.broadcast_to(1.0, table.n_cases) if table.weights is None else table.weights
    arrays = [*(table.column(a) for a in table.schema.used), table.classes, weights]
    return np.array([_sum(array, first) for array in arrays], np.uint64)


def digest_of_sums(schema: Schema, types: Sequence[npt.DTypeLike], n_cases: int, sums: Words) -> str:
    """SHA-256, in hexadecimal, of all that training takes from rows with these sums.

    Parameters
    ----------
    schema : Schema
    types : sequence of dtype
        Of the columns of the used attributes.
    n_cases : int
    sums : ndarray of uint64
        Of all rows.
    """
    told = [schema.to_dict(), [np.dtype(x).str for x in types], n_cases, sums.tolist()]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def digest_of(table: Table) -> str:
    """The same of a table."""
    types = [table.column_in_place(a).dtype for a in table.schema.used]
    return digest_of_sums(table.schema, types, table.n_cases, sums_of(table))


def _sum(array: npt.NDArray[Any], first: int) -> int:
    total = 0
    for start in range(0, len(array), AT_A_TIME):
        some = array[start : start + AT_A_TIME]
        rows = np.arange(first + start, first + start + len(some), dtype=np.uint64)
        total += int(mixed(_bits(some) ^ mixed(rows)).sum(dtype=np.uint64))
    return total & 0xFFFFFFFFFFFFFFFF


def _bits(values: npt.NDArray[Any]) -> Words:
    if values.dtype.kind != "f":
        return values.astype(np.int64).view(np.uint64)
    numbers = values.astype(np.float64)
    numbers[np.isnan(numbers)] = np.nan  # of all that are not numbers there is one
    return numbers.view(np.uint64)
