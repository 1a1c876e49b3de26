"""Sorting a column once: order, ranks, distinct values and list entries, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from c45gpu.kernels.cpu_entry import Layout
from c45gpu.kernels.cpu_sort import (
    Room,
    distinct_values,
    first_rows,
    sort_column,
    write_entries,
    write_ranks,
)

pytestmark = pytest.mark.usefixtures("kernels")

Column = npt.NDArray[Any]

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -5e-324, 1e-45, 3.4e38, 1.7e308, 1 + 2.0**-52]


def in_order(column: Column) -> npt.NDArray[np.uint64]:
    return sort_column(column, Room(len(column)))


def known_rows(column: Column) -> npt.NDArray[np.int64]:
    """Rows of known values by value, equal ones in their order."""
    known = np.flatnonzero(column >= 0 if column.dtype.kind == "i" else ~np.isnan(column))
    return known[np.argsort(column[known] + column.dtype.type(0), kind="stable")]


def sorted_rows(column: Column) -> list[int]:
    """The rows in the order that sort_column gives, and that it tells equal values from different ones."""
    words = in_order(column)
    rows, values = (words & np.uint64(0xFFFFFFFF)).astype(np.int64), words >> np.uint64(32)
    assert (values[1:] == values[:-1]).tolist() == (column[rows][1:] == column[rows][:-1]).tolist()
    assert (values[1:] >= values[:-1]).all()
    return list(rows.tolist())


@given(
    arrays.arrays(np.float32, st.integers(0, 40), elements=st.floats(width=32))
    | arrays.arrays(np.float64, st.integers(0, 40), elements=st.floats() | st.sampled_from(SPECIAL))
    | arrays.arrays(np.int32, st.integers(0, 40), elements=st.integers(-1, 5) | st.integers(0, 2**31 - 1))
)
def test_order_of_any_column(column: Column) -> None:
    assert sorted_rows(column) == known_rows(column).tolist()


@pytest.mark.parametrize("number", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_order_of_long_columns(number: type[np.floating[Any]], seed: int) -> None:
    chance = np.random.default_rng(seed)
    column = (chance.standard_normal(50_000) * 10.0 ** chance.integers(-30, 30, 50_000)).astype(number)
    column[::11] = np.nan
    column[::13] = column[5]
    assert sorted_rows(column) == known_rows(column).tolist()


@pytest.mark.parametrize("codes", [300, 70_000, 2**31 - 1])
def test_order_of_codes(codes: int) -> None:
    column = np.random.default_rng(codes).integers(-1, codes, 20_000).astype(np.int32)
    assert sorted_rows(column) == known_rows(column).tolist()


@pytest.mark.parametrize("near", [2, 20, 300, 20_000])
@pytest.mark.parametrize("values", [1, 3, 10**9])
def test_order_of_values_that_agree_in_their_first_bits(near: int, values: int) -> None:
    """Groups of float64 that differ in their last bits only, beside numbers that are far away."""
    chance = np.random.default_rng(near)
    column = np.repeat(chance.standard_normal(20_000 // near), near)
    column += chance.integers(0, values, len(column)) * np.spacing(column)
    column[::5000] = 1e300
    assert sorted_rows(column) == known_rows(column).tolist()


@pytest.mark.parametrize(
    ("column", "key_bits"),
    [
        (np.arange(1000.0), 20),  # 11 of the exponent, 9 of the numbers from 512 to 1023
        (np.arange(256.0, 512.0), 8),
        (np.array([1.5, -1.5]), 11),  # twice the magnitude, in units of its last bit
        (np.array([3.0, 3.0]), 0),
        (np.array([4, 7, 5], np.int32), 2),
    ],
)
def test_bits_that_all_values_have_are_left_out(column: Column, key_bits: int) -> None:
    assert int(in_order(column)[-1] >> np.uint64(32)).bit_length() == key_bits


@pytest.mark.parametrize("column", [np.full(5, np.nan, np.float32), np.full(5, np.nan), np.full(5, -1, np.int32)])
def test_nothing_is_known(column: Column) -> None:
    assert len(in_order(column)) == 0


def test_columns_that_are_strided_or_read_only() -> None:
    matrix = np.random.default_rng(0).random((400, 3))
    assert sorted_rows(matrix[:, 1]) == known_rows(matrix[:, 1]).tolist()
    column = matrix[:, 2].copy()
    column.flags.writeable = False
    assert sorted_rows(column) == known_rows(column).tolist()


COLUMNS = {
    "float32": np.random.default_rng(1).integers(-40, 40, 500).astype(np.float32) / 8,
    "float64": np.random.default_rng(2).integers(-40, 40, 500) / 10,
    "with unknown": np.where(np.arange(500) % 3 == 0, np.nan, np.arange(500) % 7),
    "zeros": np.where(np.arange(500) % 2 == 0, -0.0, np.arange(500) % 3 - 1.0),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_distinct_values_and_ranks(name: str) -> None:
    column = COLUMNS[name]
    by_value = in_order(column)
    firsts, ranks = np.empty(len(by_value), np.uint32), np.full(len(column), 255, np.uint8)
    known = ~np.isnan(column)
    expected, inverse = np.unique(column[known] + column.dtype.type(0), return_inverse=True)
    distinct = distinct_values(column, firsts[: first_rows(by_value, firsts)])
    write_ranks(by_value, ranks)
    assert distinct.dtype == column.dtype
    assert distinct.tobytes() == expected.tobytes()  # so no zero is negative
    assert ranks[known].tolist() == inverse.tolist()
    assert (ranks[~known] == 255).all()


@pytest.mark.parametrize(("word", "layout"), [(np.uint32, Layout(9, 3, 31)), (np.uint64, Layout(40, 16, 63))])
@pytest.mark.parametrize("name", COLUMNS)
def test_entries(name: str, word: type[np.unsignedinteger[Any]], layout: Layout) -> None:
    column, classes = COLUMNS[name], np.random.default_rng(3).integers(0, 8, 500).astype(np.uint8)
    by_value = in_order(column)
    entries = np.zeros(len(by_value), word)
    write_entries(by_value, classes, layout, entries)
    rows = known_rows(column).tolist()
    values = column[rows]
    new = [True, *(values[1:] != values[:-1]).tolist()]
    expected = [
        n << layout.new_bit | int(classes[row]) << layout.row_bits | row for n, row in zip(new, rows, strict=True)
    ]
    assert entries.tolist() == expected
