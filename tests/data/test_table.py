from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import C45Error, DataError

NAN = math.nan
SCHEMA = Schema(
    (Attribute("d", "discrete", ("p", "q")), Attribute("i", "ignored"), Attribute("x", "continuous")), ("yes", "no")
)


def table(d: list[int], x: list[float], kind: Any = np.float64, weights: Any = None) -> Table:
    classes = np.arange(len(d), dtype=np.int32) % 2
    return Table(SCHEMA, [np.array(d, np.int32), None, np.array(x, kind)], classes, weights)


def test_columns_are_found_by_number() -> None:
    one = table([0, 1], [1.5, 2.5])
    assert one.n_cases == 2
    assert one.column(2).tolist() == [1.5, 2.5]
    with pytest.raises(DataError, match="attribute 'i' is ignored"):
        one.column(1)


def test_columns_must_fit_the_schema_and_the_cases() -> None:
    with pytest.raises(DataError, match="2 columns for 3 attributes"):
        Table(SCHEMA, [None, None], np.zeros(1, np.int32))
    with pytest.raises(DataError, match="attribute 'x' has 3 values for 2 cases"):
        Table(SCHEMA, [None, None, np.zeros(3)], np.zeros(2, np.int32))


def test_ranks_as_drawn_in_the_module() -> None:
    ranks, distinct = table([0] * 4, [3.5, NAN, 1.0, 3.5], np.float32).ranks(2)
    np.testing.assert_array_equal(ranks, np.array([1, -1, 0, 1], np.int32), strict=True)
    np.testing.assert_array_equal(distinct, np.array([1.0, 3.5], np.float32), strict=True)


def test_both_zeros_are_one_value_and_infinities_are_values() -> None:
    ranks, distinct = table([0] * 5, [0.0, -0.0, math.inf, -math.inf, NAN]).ranks(2)
    assert ranks.tolist() == [1, 1, 2, 0, -1]
    assert [math.copysign(1, value) for value in distinct.tolist()] == [-1, 1, 1]


def test_ranks_are_computed_once_and_leave_the_column_alone() -> None:
    one = table([0, 0], [-0.0, NAN])
    assert one.ranks(2)[0] is one.ranks(2)[0]
    assert math.copysign(1, one.column(2)[0]) == -1


@given(st.lists(st.floats(), max_size=20), st.sampled_from([np.float32, np.float64]))
def test_ranks_and_distinct_values_give_the_column_back(values: list[float], kind: Any) -> None:
    with np.errstate(over="ignore"):
        one = table([0] * len(values), values, kind)
    ranks, distinct = one.ranks(2)
    assert distinct.dtype == kind
    assert sorted(set(distinct.tolist())) == distinct.tolist()
    back = np.append(distinct, NAN)[ranks]
    np.testing.assert_array_equal(back, one.column(2))


@pytest.mark.parametrize(
    ("d", "x", "expected"), [([0, 1], [1, 2], False), ([0, -1], [1, 2], True), ([0, 1], [NAN, math.inf], True)]
)
def test_has_unknown(d: list[int], x: list[float], expected: bool) -> None:
    assert table(d, x).has_unknown() is expected


@pytest.mark.parametrize("cases", [np.array([2, 0]), np.array([True, False, True])])
def test_take(cases: Any) -> None:
    whole = table([0, 1, -1], [1, 2, NAN], weights=np.array([0.5, 1, 2]))
    some = whole.take(cases)
    assert some.schema is whole.schema
    assert some.columns[1] is None
    np.testing.assert_array_equal(some.column(0), whole.column(0)[cases], strict=True)
    np.testing.assert_array_equal(some.column(2), whole.column(2)[cases], strict=True)
    np.testing.assert_array_equal(some.classes, whole.classes[cases], strict=True)
    np.testing.assert_array_equal(some.weights, np.array([0.5, 1, 2])[cases], strict=True)
    assert table([0, 1, 1], [1, 2, 3]).take(cases).weights is None


def test_as_release8_rounds_to_float32_and_takes_minus_999_for_unknown() -> None:
    whole = table([0, 1, 1, 0], [0.1, -999, 16777217, -999.00000001], weights=np.ones(4))
    old = whole.as_release8()
    np.testing.assert_array_equal(old.column(2), np.array([0.1, NAN, 16777216, NAN], np.float32), strict=True)
    assert old.column(0) is whole.column(0)
    assert old.columns[1] is None
    assert old.weights is whole.weights
    assert whole.column(2)[1] == -999


@pytest.mark.parametrize(
    ("path", "line", "message"), [(None, None, "bad"), ("x.data", None, "x.data: bad"), ("x.data", 3, "x.data:3: bad")]
)
def test_a_data_error_names_its_place(path: str | None, line: int | None, message: str) -> None:
    error = DataError("bad", path, line)
    assert str(error) == message
    assert (error.path, error.line) == (path, line)
    assert isinstance(error, ValueError)
    assert isinstance(error, C45Error)
