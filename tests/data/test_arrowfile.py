from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.frames import read_file
from c45gpu.data.schema import Attribute
from c45gpu.errors import DataError
from tests.data.same import assert_columns, assert_same, codes


def refusal(path: Path, **options: Any) -> str:
    """The message with which a file is refused, without the folder."""
    with pytest.raises(DataError) as caught:
        read_file(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path.parent}/")


ARROW = pa.table(
    {
        "f32": pa.array([1, None, 0.1, math.nan], pa.float32()),
        "f16": pa.array(np.array([1, 2, 3, 4], np.float16)),
        "i8": pa.array([1, None, 3, 4], pa.int8()),
        "dec": pa.array([1, 2, 3, None], pa.decimal128(5, 2)),
        "flag": pa.array([True, None, False, True]),
        "text": pa.array(["b", "?", "", "10"]),
        "large": pa.array(["b", None, " a", "a"], pa.large_string()),
        "cat": pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 2]), ["z", "unused", "y"]),
        "day": pa.array([1, 2, None, 4], pa.date32()),
        "ns": pa.array([10**9, None, -(10**9), 0], pa.timestamp("ns", "UTC")),
        "took": pa.array([1500, None, 0, 1], pa.duration("ms")),
        "none": pa.nulls(4),
        "y": pa.array([2, 1, 10, 1], pa.int64()),
    }
)


def store(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=3)
    elif path.suffix == ".feather":
        feather.write_feather(table, path)
    elif path.suffix == ".ipc":
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=3)
    return path


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow", "ipc"])
def test_typed_files(tmp_path: Path, suffix: str) -> None:
    table = read_file(store(ARROW, tmp_path / f"t.{suffix}"), target="y", categorical=["i8"])
    nan = np.nan
    assert table.schema.attributes == (
        Attribute("f32", "continuous"),
        Attribute("f16", "continuous"),
        Attribute("i8", "discrete", ("1", "3", "4")),
        Attribute("dec", "continuous"),
        Attribute("flag", "discrete", ("False", "True")),
        Attribute("text", "discrete", ("10", "b")),
        Attribute("large", "discrete", (" a", "a", "b")),
        Attribute("cat", "discrete", ("unused", "y", "z")),
        Attribute("day", "continuous"),
        Attribute("ns", "continuous"),
        Attribute("took", "continuous"),
        Attribute("none", "continuous"),
    )
    assert_columns(
        table,
        np.array([1, nan, 0.1, nan], np.float32),
        np.array([1, 2, 3, 4], np.float32),
        codes(0, -1, 1, 2),
        np.array([1, 2, 3, nan]),
        codes(1, -1, 0, 1),
        codes(1, -1, -1, 0),
        codes(2, -1, 0, 1),
        codes(1, -1, 2, 1),
        np.array([1, 2, nan, 4]) * 86400,
        np.array([1, nan, -1, 0]),
        np.array([1.5, nan, 0, 0.001]),
        np.array([nan, nan, nan, nan]),
    )
    assert table.schema.classes == ("1", "2", "10")
    np.testing.assert_array_equal(table.classes, [1, 0, 2, 0])


def test_an_index_of_pandas_is_no_attribute(tmp_path: Path) -> None:
    pd.DataFrame({"x": [1.0, 2], "y": ["a", "b"]}, index=["p", "q"]).to_parquet(tmp_path / "t.parquet")
    assert [a.name for a in read_file(tmp_path / "t.parquet", target="y").schema.attributes] == ["x"]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([[1], [2]]), "column 'x': has the type list<"),
        (pa.array([b"a", b"b"]), "column 'x': has the type binary"),
        (pa.array([1, 2**53 + 1]), "column 'x', row 2: 9007199254740993 is too large"),
    ],
)
def test_columns_that_cannot_be_attributes_are_refused(tmp_path: Path, column: pa.Array, message: str) -> None:
    path = store(pa.table({"x": column, "y": ["a", "b"]}), tmp_path / "t.parquet")
    assert message in refusal(path, target="y")
    assert [a.kind for a in read_file(path, target="y", ignore=["x"]).schema.attributes] == ["ignored"]


def test_a_case_without_class_is_told_by_its_row(tmp_path: Path) -> None:
    path = store(pa.table({"x": [1, 2], "y": ["a", None]}), tmp_path / "t.parquet")
    assert refusal(path, target="y").startswith("t.parquet: column 'y', row 2: the case has no class")


def test_a_typed_file_without_rows_is_refused(tmp_path: Path) -> None:
    path = store(pa.table({"x": pa.array([], pa.int8()), "y": pa.array([], pa.string())}), tmp_path / "t.parquet")
    assert "has columns but no rows" in refusal(path, target="y")


def test_a_file_whose_codes_point_nowhere_is_refused(tmp_path: Path) -> None:
    wrong = pa.DictionaryArray.from_arrays(pa.array([0, 7], pa.int32()), pa.array(["a"]), safe=False)
    path = store(pa.table({"x": wrong, "y": ["p", "q"]}), tmp_path / "t.arrow")
    assert refusal(path, target="y").startswith("t.arrow: cannot be read (")


@pytest.mark.parametrize("described", [b"{not json", b"[1]", b'{"index_columns": 3}', b"\xff"])
def test_what_pandas_noted_may_be_nonsense(tmp_path: Path, described: bytes) -> None:
    table = pa.table({"x": [1, 2], "y": ["p", "q"]}).replace_schema_metadata({b"pandas": described})
    path = store(table, tmp_path / "t.parquet")
    assert read_file(path, target="y").n_cases == 2


CELLS = st.sampled_from(["a", "b", "", "?", " a", "x y", 'say "hi"', "é", "1", "2.5"])


@given(st.lists(st.tuples(CELLS, st.floats(allow_nan=True), st.sampled_from(["p", "q"])), min_size=1, max_size=8))
def test_a_csv_file_and_its_parquet_twin_give_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, float, str]]
) -> None:
    folder = tmp_path_factory.mktemp("twins")
    texts, numbers, classes = zip(*rows, strict=True)
    plain = [text.strip() for text in texts]
    table = pa.table({"text": plain, "number": pa.array(numbers, from_pandas=True), "y": classes})
    arrow_csv.write_csv(table, folder / "t.csv")
    store(table, folder / "t.parquet")
    said = {"target": "y", "categorical": ["text"], "continuous": ["number"]}
    one, other = read_file(folder / "t.csv", **said), read_file(folder / "t.parquet", **said)
    assert_same(one, other)
