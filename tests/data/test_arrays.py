from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.arrays import checked_weights, from_arrays, inexact
from c45gpu.data.labels import encode_classes
from c45gpu.data.schema import Attribute, Schema
from c45gpu.errors import DataError
from tests.data.same import assert_columns, codes

NAN = math.nan
COLOURS = Attribute("colour", "discrete", ("red", "blue", "green"))
SCHEMA = Schema((COLOURS, Attribute("gone", "ignored"), Attribute("size", "continuous")), ("0", "1"))


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (np.array([[1.5, NAN]], np.float32), np.float32),
        (np.array([[1.5, NAN]], np.float16), np.float32),
        (np.array([[1.5, NAN]]), np.float64),
        ([[1.5, NAN]], np.float64),
        (np.array([[1.5, NAN]], ">f8"), np.float64),
    ],
)
def test_precision_stays(matrix: Any, expected: type) -> None:
    table = from_arrays(matrix, [1])
    assert table.schema == Schema((Attribute("x0", "continuous"), Attribute("x1", "continuous")), ("1",))
    assert_columns(table, np.array([1.5], expected), np.array([NAN], expected))


def test_columns_are_contiguous_copies() -> None:
    matrix = np.array([[1.0, 2], [3, 4]])
    table = from_arrays(matrix)
    matrix[:] = 0
    assert_columns(table, np.array([1.0, 3]), np.array([2.0, 4]))
    assert all(column is not None and column.flags.c_contiguous for column in table.columns)


@pytest.mark.parametrize("kind", ["int8", "uint64", "int64", "bool"])
def test_whole_numbers_become_float64(kind: str) -> None:
    table = from_arrays(np.array([[0, 1], [1, 0]]).astype(kind))
    assert_columns(table, np.array([0.0, 1]), np.array([1.0, 0]))


def test_whole_numbers_that_float64_cannot_hold_are_refused() -> None:
    matrix = np.array([[0, 2**60], [2**53 + 1, 1]])
    with pytest.raises(DataError, match="column 'x0', row 1: float64 cannot hold 9007199254740993 exactly"):
        from_arrays(matrix)
    attribute = from_arrays(matrix, categorical=[0]).schema.attributes[0]
    assert attribute == Attribute("x0", "discrete", ("0", str(2**53 + 1)))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_inexact_finds_the_first(values: list[int]) -> None:
    wrong = [position for position, value in enumerate(values) if int(float(value)) != value]
    assert inexact(np.array(values, np.int64)) == (wrong[0] if wrong else None)


@given(st.lists(st.sampled_from([0, 2**53, 2**53 + 1, 2**63, 2**64 - 1, 2**64 - 2048, 2**64 - 2047]), min_size=1))
def test_inexact_knows_unsigned_numbers(values: list[int]) -> None:
    wrong = [position for position, value in enumerate(values) if int(float(value)) != value]
    assert inexact(np.array(values, np.uint64)) == (wrong[0] if wrong else None)


def test_objects_are_taken_column_by_column() -> None:
    matrix = np.array([["b", 1, True, None], [None, 2.5, False, None], ["a", None, None, None]], object)
    table = from_arrays(matrix, names=["text", "number", "truth", "nothing"])
    assert table.schema.attributes == (
        Attribute("text", "discrete", ("a", "b")),
        Attribute("number", "continuous"),
        Attribute("truth", "discrete", ("False", "True")),
        Attribute("nothing", "continuous"),
    )
    assert_columns(table, codes(1, -1, 0), np.array([1, 2.5, NAN]), codes(1, 0, -1), np.array([NAN, NAN, NAN]))


def test_texts_and_dates() -> None:
    assert from_arrays(np.array([["b"], ["a"]])).schema.attributes == (Attribute("x0", "discrete", ("a", "b")),)
    dates = np.array([["1970-01-02"], ["NaT"]], "datetime64[D]")
    assert_columns(from_arrays(dates), np.array([86400, NAN]))
    assert_columns(from_arrays(np.array([[1500], ["NaT"]], "timedelta64[ms]")), np.array([1.5, NAN]))


@pytest.mark.parametrize("chosen", [[1], ["b"], np.array([False, True])])
def test_columns_of_an_array_can_be_discrete(chosen: Any) -> None:
    table = from_arrays([[1.0, 2.0], [2.0, 1.5], [3.0, NAN]], names=["a", "b"], categorical=chosen)
    assert table.schema.attributes == (Attribute("a", "continuous"), Attribute("b", "discrete", ("1.5", "2")))
    assert_columns(table, np.array([1.0, 2, 3]), codes(1, 0, -1))


def test_an_array_is_matched_by_position() -> None:
    table = from_arrays(np.array([["green", 0, 1.5], ["black", 0, None]], object), ["1", "0"], schema=SCHEMA)
    assert table.schema is SCHEMA
    assert table.columns[1] is None
    np.testing.assert_array_equal(table.columns[0], codes(2, -1), strict=True)
    np.testing.assert_array_equal(table.columns[2], np.array([1.5, NAN]), strict=True)
    np.testing.assert_array_equal(table.classes, codes(1, 0), strict=True)
    numeric = Schema((Attribute("d", "discrete", ("1", "2")), Attribute("x", "continuous")), ("0",))
    assert_columns(from_arrays([[2.0, 7.0], [3.0, 8.0]], schema=numeric), codes(1, -1), np.array([7.0, 8]))


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        ([1, 2], {}, "X has 1 dimensions where two are due"),
        ([[1, 2], [3]], {}, "the rows of X have different lengths"),
        (np.zeros((0, 2)), {}, "0 cases with 2 attributes"),
        (np.zeros((2, 0)), {}, "2 cases with 0 attributes"),
        ([[1j]], {}, "X holds complex128"),
        ([[b"a"]], {}, "X holds |S1"),
        ([[1.0]], {"names": ["a", "b"]}, "2 names for 1 columns"),
        ([[1.0, 2.0]], {"names": ["a", "a"]}, "two columns are named 'a'"),
        ([[1.0]], {"schema": SCHEMA}, "X has 1 columns where 3 are due"),
        ([[1.0]], {"y": [1, 2]}, "y has 2 labels for 1 cases"),
        (
            np.array([["red", 0, 1.0]], object),
            {"y": ["2"], "schema": SCHEMA},
            "y has the class '2', but the classes are 0, 1",
        ),
        (np.array([["red", 0, "x"]], object), {"schema": SCHEMA}, "column 'size', row 0: 'x' is not a number"),
        (np.array([[1], ["a"]], object), {}, "column 'x0' does not hold values of one type"),
    ],
)
def test_what_is_no_matrix_is_refused(matrix: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        from_arrays(matrix, **options)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


# -------------------------------------------------------------------------------------------------- labels and weights


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        ([3, 1, 3], [1, 3]),
        (["b", "a", "b"], ["a", "b"]),
        ([True, False, True], [False, True]),
        ([1.5, -2.0, 1.5], [-2.0, 1.5]),
        (np.array(["b", "a", "b"], object), ["a", "b"]),
        (np.array([10, 9, 10], object), [9, 10]),
        (pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"]),
        (pd.Series([3, 1, 3], dtype="Int64"), [1, 3]),
        (pl.Series(["b", "a", "b"]), ["a", "b"]),
        (pa.array(["b", "a", "b"]), ["a", "b"]),
        (np.array(["1971", "1970", "1971"], "datetime64[Y]"), np.array(["1970", "1971"], "datetime64[Y]")),
    ],
)
def test_classes_are_the_sorted_labels(y: Any, labels: Any) -> None:
    found, numbers = encode_classes(y)
    assert list(found) == list(labels)
    np.testing.assert_array_equal(numbers, codes(1, 0, 1), strict=True)


@given(st.lists(st.text(max_size=2), min_size=1))
def test_texts_are_encoded_like_numpy_does(y: list[str]) -> None:
    labels, numbers = encode_classes(np.array(y, object))
    assert labels.tolist() == sorted(set(y))
    assert labels[numbers].tolist() == y


def test_labels_name_the_classes() -> None:
    assert from_arrays([[1.0], [2.0]], [2.0, 10.0]).schema.classes == ("2.0", "10.0")
    assert from_arrays([[1.0], [2.0]], [True, False]).schema.classes == ("False", "True")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[1], [2]], "y has 2 dimensions"),
        (["a", None], r"y\[1\] is missing"),
        ([1.0, 2.0, NAN], r"y\[2\] is missing"),
        (np.array(["a", np.float32("nan")], object), r"y\[1\] is missing"),
        (np.array(["a", pd.NA], object), r"y\[1\] is missing"),
        (np.array(["a", pd.NaT], object), r"y\[1\] is missing"),
        (pd.Series([1, None], dtype="Int64"), r"y\[1\] is missing"),
        (pd.Series([pd.Timestamp(0), pd.NaT]), r"y\[1\] is missing"),
        (np.array(["a", 1], object), r"y mixes labels that cannot be sorted \(int, str\)"),
    ],
)
def test_bad_labels_are_refused(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        encode_classes(y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, 3], r"weights of shape \(3,\) for 2 cases"),
        ([[1, 2]], r"weights of shape \(1, 2\) for 2 cases"),
        ([1, -0.5], r"weights\[1\] is -0.5"),
        ([NAN, 1], r"weights\[0\] is nan"),
        ([1, math.inf], r"weights\[1\] is inf"),
        ([0, 0], "every weight is zero"),
        (["a", "b"], "the weights are not numbers"),
    ],
)
def test_bad_weights_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        checked_weights(weights, 2)


def test_weights_are_copied_as_float64() -> None:
    given_weights = np.array([0, 3], np.int8)
    weights = checked_weights(given_weights, 2)
    given_weights[:] = 0
    np.testing.assert_array_equal(weights, np.array([0.0, 3]), strict=True)
    assert checked_weights(None, 2) is None


def test_contiguous_columns_are_not_copied() -> None:
    columns = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(3, 2))
    assert all(np.shares_memory(from_arrays(columns).column(a), columns) for a in range(2))
    assert not np.shares_memory(from_arrays(np.ascontiguousarray(columns)).column(1), columns)
    columns.flags.writeable = False
    copied = from_arrays(columns).column(0)
    assert copied.flags.writeable
    assert copied.tolist() == [0, 2, 4]
