"""CSV, TSV, Parquet and Arrow IPC: what is written is read back, or refused."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from c45gpu.data import blocks
from c45gpu.data.csvfile import UNKNOWN_TEXTS
from c45gpu.data.frames import read_file
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.data.writing import taken_for_numbers, write_file
from c45gpu.errors import DataError, OptionError
from tests.data.drawn import TEXTS, named_values, tables
from tests.data.same import codes

CSV_TEXTS = TEXTS.filter(
    lambda text: text.strip() == text and text not in UNKNOWN_TEXTS and "\r" not in text and text[0] != "\ufeff"
)
ARROW_TEXTS = TEXTS.filter(lambda text: text != "?")
SMALL = Table(
    Schema((Attribute("d", "discrete", ("a", "b")), Attribute("x", "continuous"), Attribute("i", "ignored")), ("y",)),
    [codes(0, -1, 1), np.array([1.5, np.nan, -2]), None],
    codes(0, -1, 0),
)


@given(table=tables(CSV_TEXTS), suffix=st.sampled_from([".csv", ".tsv.gz", ".csv.zst", ".tsv.bz2", ".csv.lz4"]))
def test_csv_is_read_back(table: Table, suffix: str) -> None:
    assume("weight" not in {table.schema.target, *(a.name for a in table.schema.attributes)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t{suffix}"
        write_file(table, path)
        kinds = {kind: [a.name for a in table.schema.attributes if a.kind == kind] for kind in KINDS}
        weight = None if table.weights is None else "weight"
        again = read_file(
            path,
            target=table.schema.target,
            categorical=kinds["discrete"],
            continuous=kinds["continuous"],
            weight=weight,
        )
    assert named_values(again) == named_values(table)
    np.testing.assert_array_equal(again.weights, table.weights)


KINDS = ("discrete", "continuous")


@given(table=tables(ARROW_TEXTS, single=True), suffix=st.sampled_from([".parquet", ".pq", ".arrow", ".feather"]))
def test_parquet_and_arrow_are_read_back(table: Table, suffix: str) -> None:
    assume("weight" not in {table.schema.target, *(a.name for a in table.schema.attributes)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t{suffix}"
        write_file(table, path)
        again = read_file(path, target=table.schema.target, weight=None if table.weights is None else "weight")
    assert named_values(again) == named_values(table)
    assert [a.kind for a in again.schema.attributes] == [a.kind for a in table.schema.attributes]
    for one, other in zip(again.columns, table.columns, strict=True):
        assert one is not None
        assert other is not None
        assert one.dtype == other.dtype
    np.testing.assert_array_equal(again.weights, table.weights)


def test_unknown_values_and_classes_are_empty_in_csv_and_null_in_parquet(tmp_path: Path) -> None:
    write_file(SMALL, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "d,x,class\na,1.5,y\n,,\nb,-2,y\n"
    write_file(SMALL, tmp_path / "t.parquet")
    assert parquet.read_table(tmp_path / "t.parquet").to_pydict() == {
        "d": ["a", None, "b"],
        "x": [1.5, None, -2],
        "class": ["y", None, "y"],
    }


@pytest.mark.parametrize("suffix", [".csv", ".arff", ".parquet", ".arrow"])
def test_blocks_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    write_file(SMALL, tmp_path / f"whole{suffix}")
    monkeypatch.setattr(blocks, "CASES_OF_A_BLOCK", 2)
    done: list[int] = []
    write_file(SMALL, tmp_path / f"parts{suffix}", progress=done.append)
    assert done == [2, 3]
    whole, parts = (read_all(tmp_path / f"{name}{suffix}") for name in ("whole", "parts"))
    assert whole == parts.replace("parts", "whole")


def read_all(path: Path) -> str:
    if path.suffix == ".parquet":
        return str(parquet.read_table(path).to_pylist())
    if path.suffix == ".arrow":
        return str(pa.ipc.open_file(path.read_bytes()).read_all().to_pylist())
    return path.read_text()


@pytest.mark.parametrize(
    ("values", "name", "message"),
    [
        (("NA", "b"), "t.csv", "the value 'NA' would be read as unknown"),
        (("", "b"), "t.tsv.gz", "the value '' would be read as unknown"),
        ((" a", "b"), "t.csv", "the name ' a' would be read otherwise from CSV"),
        (("a\r", "b"), "t.csv", r"the name 'a\\r' would be read otherwise from CSV"),
        (("?", "b"), "t.parquet", r"the value '\?' would be read as unknown"),
        (("\ud800", "b"), "t.arrow", r"the name '\\ud800' cannot be written"),
        (("\0", "b"), "t.arff", r"the name '\\x00' cannot be written in ARFF"),
    ],
)
def test_what_would_be_read_otherwise_is_refused(
    tmp_path: Path, values: tuple[str, ...], name: str, message: str
) -> None:
    table = Table(Schema((Attribute("d", "discrete", values),), ("y",)), [codes(0)], codes(0))
    with pytest.raises(DataError, match=message):
        write_file(table, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("t.xlsx", "the suffix tells no format"),
        ("t", "the suffix tells no format"),
        ("t.parquet.gz", ".parquet files are compressed inside: leave .gz out"),
    ],
)
def test_other_suffixes_are_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        write_file(SMALL, tmp_path / name)


def test_the_columns_must_have_names_of_their_own(tmp_path: Path) -> None:
    schema = Schema((Attribute("weight", "continuous"),), ("y",), "y")
    table = Table(schema, [np.zeros(1)], codes(0), np.full(1, 2.0))
    with pytest.raises(DataError, match="two columns would be named 'weight'"):
        write_file(table, tmp_path / "t.csv")
    write_file(table, tmp_path / "t.csv", weight="w")
    assert (tmp_path / "t.csv").read_text() == "weight,y,w\n0,y,2\n"


def test_which_values_a_csv_file_does_not_tell_from_numbers() -> None:
    values = {"n": ("1", "2"), "mixed": ("1", "b"), "day": ("2020-01-01",), "truth": ("true", "false")}
    schema = Schema(tuple(Attribute(name, "discrete", known) for name, known in values.items()), ("y",))
    assert taken_for_numbers(schema) == ["n", "day"]


def test_a_place_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        write_file(SMALL, tmp_path / "none" / "t.csv")
