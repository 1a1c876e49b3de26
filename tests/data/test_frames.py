from __future__ import annotations

import decimal
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from c45gpu.data.frames import describe, from_frame
from c45gpu.data.schema import Attribute, Schema
from c45gpu.errors import DataError
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.predict import class_frequencies
from tests.data.same import assert_columns, codes

NAN = math.nan
COLOURS = Attribute("colour", "discrete", ("red", "blue", "green"))
SCHEMA = Schema((COLOURS, Attribute("gone", "ignored"), Attribute("size", "continuous")), ("0", "1"))


def the_column(series: Any, name: str = "x", **options: Any) -> tuple[Attribute, Any]:
    """The attribute and the column that a frame of one column becomes."""
    frame = pd.DataFrame({name: series}) if isinstance(series, pd.Series) else series
    table = from_frame(frame, **options)
    return table.schema.attributes[0], table.columns[0]


@pytest.mark.parametrize(
    ("series", "values", "expected"),
    [
        (pd.Series(["b", None, "a"]), ("a", "b"), codes(1, -1, 0)),
        (pd.Series(["b", np.nan, "a"], dtype=object), ("a", "b"), codes(1, -1, 0)),
        (pd.Series(["b", None, "a"], dtype="string"), ("a", "b"), codes(1, -1, 0)),
        (pd.Series(["b", None, "a"], dtype="string[pyarrow]"), ("a", "b"), codes(1, -1, 0)),
        (pd.Series(["", "?", " a"]), ("", " a", "?"), codes(0, 2, 1)),
        (pd.Series(["10", "9", "10"]), ("9", "10"), codes(1, 0, 1)),
        (pd.Series(pd.Categorical(["x", None], categories=["z", "y", "x"])), ("z", "y", "x"), codes(2, -1)),
        (pd.Series(pd.Categorical([3, 1], categories=[3, 2, 1])), ("3", "2", "1"), codes(0, 2)),
        (pd.cut(pd.Series([1, 5, None]), [0, 3, 6]), ("(0, 3]", "(3, 6]"), codes(0, 1, -1)),
        (pd.Series([True, False]), ("False", "True"), codes(1, 0)),
        (pd.Series([True, None, False], dtype=object), ("False", "True"), codes(1, -1, 0)),
        (pd.Series([True, None, False], dtype="boolean"), ("False", "True"), codes(1, -1, 0)),
        (pd.Series(["b", None], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))), ("b",), codes(0, -1)),
    ],
)
def test_discrete_columns_of_pandas(series: Any, values: tuple[str, ...], expected: Any) -> None:
    attribute, column = the_column(series)
    assert attribute == Attribute("x", "discrete", values)
    np.testing.assert_array_equal(column, expected, strict=True)


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (pd.Series([1.5, np.nan, np.inf]), np.array([1.5, NAN, math.inf])),
        (pd.Series([1.5, np.nan], dtype="float32"), np.array([1.5, NAN], np.float32)),
        (pd.Series([1.5, 2], dtype="float16"), np.array([1.5, 2], np.float32)),
        (pd.Series([1, 2**53]), np.array([1.0, 2**53])),
        (pd.Series([1, None], dtype="Int64"), np.array([1.0, NAN])),
        (pd.Series([1, None], dtype="Float32"), np.array([1.0, NAN], np.float32)),
        (pd.Series([1, None], dtype="uint8[pyarrow]"), np.array([1.0, NAN])),
        (pd.Series([1, 2.5, None], dtype=object), np.array([1, 2.5, NAN])),
        (pd.Series([decimal.Decimal("1.25"), None]), np.array([1.25, NAN])),
        (pd.Series([None, None]), np.array([NAN, NAN])),
        (pd.Series(pd.to_datetime(["1970-01-01 00:00:01.5", None])), np.array([1.5, NAN])),
        (pd.Series(pd.to_datetime(["1970-01-02"]).tz_localize("Asia/Tokyo")), np.array([15 * 3600.0])),
        (pd.Series(pd.to_timedelta([90, None], unit="s")), np.array([90, NAN])),
    ],
)
def test_continuous_columns_of_pandas(series: Any, expected: Any) -> None:
    attribute, column = the_column(series)
    assert attribute == Attribute("x", "continuous")
    np.testing.assert_array_equal(column, expected, strict=True)


@pytest.mark.parametrize(
    ("series", "attribute", "expected"),
    [
        (pl.Series(["b", None, "a"]), Attribute("x", "discrete", ("a", "b")), codes(1, -1, 0)),
        (pl.Series(["y", None], dtype=pl.Enum(["z", "y"])), Attribute("x", "discrete", ("z", "y")), codes(1, -1)),
        (pl.Series([True, None]), Attribute("x", "discrete", ("True",)), codes(0, -1)),
        (pl.Series([1, None], dtype=pl.Int8), Attribute("x", "continuous"), np.array([1.0, NAN])),
        (pl.Series([1.5, None], dtype=pl.Float32), Attribute("x", "continuous"), np.array([1.5, NAN], np.float32)),
        (pl.Series([None, None]), Attribute("x", "continuous"), np.array([NAN, NAN])),
        (pl.Series(["2.50"]).cast(pl.Decimal(9, 2)), Attribute("x", "continuous"), np.array([2.5])),
        (pl.Series(["1970-01-02"]).str.to_date(), Attribute("x", "continuous"), np.array([86400.0])),
    ],
)
def test_columns_of_polars(series: pl.Series, attribute: Attribute, expected: Any) -> None:
    found, column = the_column(pl.DataFrame({"x": series}))
    assert found == attribute
    np.testing.assert_array_equal(column, expected, strict=True)


def test_categories_that_nobody_declared_are_sorted() -> None:
    texts = ["zz", "aa", None, "zz"]
    for frame in (
        pl.DataFrame({"x": pl.Series(texts, dtype=pl.Categorical)}),
        pa.table({"x": pa.array(texts).dictionary_encode()}),
    ):
        attribute, column = the_column(frame)
        assert attribute == Attribute("x", "discrete", ("aa", "zz"))
        np.testing.assert_array_equal(column, codes(1, 0, -1, 1), strict=True)


def test_an_ordered_dictionary_keeps_its_order() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([2, 0]), ["z", "unused", "a"], ordered=True)
    attribute, column = the_column(pa.table({"x": array}))
    assert attribute.values == ("z", "unused", "a")
    np.testing.assert_array_equal(column, codes(2, 0), strict=True)


class Exporter:
    """Something that is no data frame but exports an Arrow stream."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("wrapped", [pa.table, pd.DataFrame, pl.DataFrame, lambda data: Exporter(pa.table(data))])
def test_every_library_gives_the_same_table(wrapped: Any) -> None:
    data = {"colour": ["red", "blue", "red"], "size": [1.5, NAN, 2.0], "n": [3, 1, 2]}
    table = from_frame(wrapped(data), ["q", "p", "q"], weights=[1, 0.5, 2])
    assert table.schema == Schema(
        (
            Attribute("colour", "discrete", ("blue", "red")),
            Attribute("size", "continuous"),
            Attribute("n", "continuous"),
        ),
        ("p", "q"),
    )
    assert_columns(table, codes(1, 0, 1), np.array([1.5, NAN, 2]), np.array([3.0, 1, 2]))
    np.testing.assert_array_equal(table.classes, codes(1, 0, 1), strict=True)
    np.testing.assert_array_equal(table.weights, np.array([1, 0.5, 2]), strict=True)


def test_chunks_of_a_dictionary_may_differ() -> None:
    chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b", None]).dictionary_encode()]
    attribute, column = the_column(pa.table({"x": pa.chunked_array(chunks)}))
    assert attribute.values == ("a", "b", "c")
    np.testing.assert_array_equal(column, codes(1, 0, 2, 1, -1), strict=True)


def test_a_dictionary_may_hold_a_null() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["p", None]))
    attribute, column = the_column(pa.table({"x": array}))
    assert attribute.values == ("p",)
    np.testing.assert_array_equal(column, [0, -1, -1])


def test_an_index_of_pandas_is_no_attribute() -> None:
    frame = pd.DataFrame({"x": [1.0, 2]}, index=["p", "q"])
    assert from_frame(frame, [0, 1]).schema.attributes == (Attribute("x", "continuous"),)


def test_names_of_columns_become_texts() -> None:
    assert [a.name for a in from_frame(pd.DataFrame([[1, 2.0]], columns=[7, "b"])).schema.attributes] == ["7", "b"]


@pytest.mark.parametrize("chosen", [["b", "c"], [1, 2], np.array([False, True, True]), (1, "c")])
def test_numbers_can_be_discrete(chosen: Any) -> None:
    frame = pd.DataFrame({"a": [1.0, 2, 3], "b": [10.0, 9, NAN], "c": [2, 1, 2]})
    table = from_frame(frame, categorical=chosen)
    assert table.schema.attributes == (
        Attribute("a", "continuous"),
        Attribute("b", "discrete", ("9", "10")),
        Attribute("c", "discrete", ("1", "2")),
    )
    assert_columns(table, np.array([1.0, 2, 3]), codes(1, 0, -1), codes(1, 0, 1))


@pytest.mark.parametrize("chosen", [["z"], [3], [-1], np.array([1.5])])
def test_columns_that_are_chosen_must_be_there(chosen: Any) -> None:
    frame = pd.DataFrame({"a": [1.0], "b": [2.0]})
    with pytest.raises(DataError, match="which is not there: the columns are a, b"):
        from_frame(frame, categorical=chosen)


def test_a_frame_is_matched_by_name() -> None:
    frame = pl.DataFrame({"more": [[1], [2]], "size": [1, None], "colour": ["green", "black"]})
    table = from_frame(frame, [1, 0], schema=SCHEMA)
    assert table.schema is SCHEMA
    assert table.columns[1] is None
    np.testing.assert_array_equal(table.columns[0], codes(2, -1), strict=True)
    np.testing.assert_array_equal(table.columns[2], np.array([1.0, NAN]), strict=True)
    np.testing.assert_array_equal(table.classes, codes(1, 0), strict=True)
    np.testing.assert_array_equal(from_frame(frame, schema=SCHEMA).classes, codes(-1, -1), strict=True)


def test_whole_numbers_match_however_they_are_stored() -> None:
    learned = from_frame(pd.DataFrame({"x": [1, 2]}), categorical=["x"]).schema
    for later in ([2.0, 1.0], ["2", "1"], pd.Categorical([2, 1])):
        np.testing.assert_array_equal(from_frame(pd.DataFrame({"x": later}), schema=learned).columns[0], [1, 0])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns are named 'a'"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "two columns are named '1'"),
        (pd.DataFrame({"o": np.array([1, "a"], object)}), "column 'o' does not hold values of one type"),
        (pd.DataFrame({"c": [1j]}), "column 'c' does not hold values of one type"),
        (pd.DataFrame({"p": pd.period_range("2020", periods=1, freq="D")}), "column 'p': has the type extension"),
        (pl.DataFrame({"l": [[1]]}), "column 'l': has the type large_list<item: int64>"),
        (pl.DataFrame({"l": [[1]]}).lazy(), "LazyFrame is no data frame in memory"),
        (pd.DataFrame({"i": [0, 2**53 + 1]}), "column 'i', row 1: 9007199254740993 is too large"),
        (
            pl.DataFrame({"u": pl.Series([None, 2**64 - 1], dtype=pl.UInt64)}),
            "column 'u', row 1: 18446744073709551615 is too",
        ),
        (pd.DataFrame({"a": []}), "0 cases with 1 attributes"),
        (pd.DataFrame(index=[1, 2]), "2 cases with 0 attributes"),
        ([[1, 2]], "list is no data frame"),
    ],
)
def test_what_is_no_table_is_refused(frame: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        from_frame(frame)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"colour": ["red"]}, "there is no column 'size', which the model needs: the columns are colour"),
        ({"colour": ["red"], "size": ["big"]}, "column 'size', row 0: 'big' is not a number"),
        ({"colour": [[1]], "size": [1]}, "column 'colour': has the type list"),
    ],
)
def test_what_does_not_fit_the_schema_is_refused(frame: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        from_frame(pa.table(frame), schema=SCHEMA)
    assert str(caught.value).startswith(message)


def test_describe_shortens_long_lists() -> None:
    schema = Schema((Attribute("d", "discrete", tuple("abcdefghijk")),), ("yes", "no"), "play")
    assert describe(schema) == [
        ("d", "discrete", "11: a, b, c, d, e, f, g, h, and 3 more"),
        ("play", "class", "2: yes, no"),
    ]


def frame_of(kind: str, values: Any) -> Any:
    if kind == "pandas":
        return pd.DataFrame({"x": values})
    return pl.DataFrame({"x": values}) if kind == "polars" else pa.table({"x": values})


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("number", [np.float32, np.float64])
@pytest.mark.parametrize("unknown", [[], [1, 5]])
def test_numbers_in_one_piece_are_not_copied(kind: str, number: Any, unknown: list[int]) -> None:
    values = np.random.default_rng(1).random(30).astype(number)
    values[unknown] = np.nan
    frame = frame_of(kind, values)
    column = from_frame(frame).column(0)
    there = pa.table(frame).column("x").chunk(0).buffers()[1].address if kind != "pandas" else None
    held = frame["x"].to_numpy().__array_interface__["data"][0] if there is None else there
    assert column.__array_interface__["data"][0] == held
    assert column.flags.writeable
    assert column.dtype == number
    del frame
    np.testing.assert_array_equal(column, values)


@pytest.mark.parametrize("engine", ["reference", "cpu"])
@pytest.mark.parametrize("unknown", [0, 300])
def test_no_engine_writes_to_them(engine: str, unknown: int) -> None:
    chance = np.random.default_rng(1)
    values = chance.random((3000, 3)).astype(np.float32)
    values[chance.integers(0, 3000, unknown), 0] = np.nan
    frame = pl.DataFrame({f"x{i}": values[:, i] for i in range(3)})
    table = from_frame(frame, ["a", "b", "b"] * 1000)
    model = train(table, Options(), engine=engine)
    class_frequencies(model.pruned, table)
    np.testing.assert_array_equal(frame.to_numpy(), values)


def test_nulls_that_hold_something_else_are_unknown() -> None:
    buffers = pa.array([1.0, 2.0, 3.0]).buffers()
    nulls = pa.array([1.0, None, 3.0]).buffers()[0]
    array = pa.Array.from_buffers(pa.float64(), 3, [nulls, buffers[1]])
    np.testing.assert_array_equal(from_frame(pa.table({"x": array})).column(0), [1, np.nan, 3])
    np.testing.assert_array_equal(from_frame(pa.table({"x": array.slice(1)})).column(0), [np.nan, 3])
