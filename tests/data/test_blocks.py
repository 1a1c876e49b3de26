"""Files that are read a block at a time give the cases that reading them whole gives."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from c45gpu.data import arrowfile, textblocks
from c45gpu.data.blocks import Cases
from c45gpu.data.c45blocks import further_cases, training_cases
from c45gpu.data.c45files import read_cases
from c45gpu.data.casefile import file_cases
from c45gpu.data.csvblocks import joined
from c45gpu.data.frames import read_file
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.data.textblocks import TextBlocks, end_of_lines
from c45gpu.data.writing import write_file
from c45gpu.errors import DataError
from tests.data.drawn import TEXTS, tables
from tests.data.same import assert_same, codes
from tests.data.test_records import files as c45_files

ARROW_TEXTS = TEXTS.filter(lambda text: text != "?")


@pytest.fixture(autouse=True, scope="module")
def small_blocks() -> Iterator[None]:
    """Blocks so small that any file has several of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(textblocks, "BYTES_OF_A_BLOCK", 13)
        patch.setattr(arrowfile, "CASES_OF_A_BLOCK", 2)
        yield


def whole(cases: Cases) -> Table:
    """The table that blocks make together; each is as the cases say."""
    blocks = list(cases.blocks(None))
    for block in blocks:
        assert block.schema == cases.schema
        assert (block.weights is not None) == cases.weighted
        assert block.n_cases
        for column, kind in zip(block.columns, cases.types, strict=True):
            assert (None if column is None else column.dtype) == kind
    columns: list[Any] = [
        None if kind is None else np.concatenate([block.column(a) for block in blocks])
        for a, kind in enumerate(cases.types)
    ]
    weights = np.concatenate([block.weights for block in blocks]) if cases.weighted else None  # type: ignore[misc]
    return Table(cases.schema, columns, np.concatenate([block.classes for block in blocks]), weights)


def assert_read_alike(path: Path, **options: Any) -> None:
    """Both ways give the same table, or both refuse the file."""
    try:
        expected = read_file(path, **options)
    except DataError:
        with pytest.raises(DataError):
            whole(file_cases(path, **options))
        return
    found = whole(file_cases(path, **options))
    assert_same(found, expected)
    np.testing.assert_array_equal(found.weights, expected.weights)


CELLS = st.one_of(
    st.sampled_from(["", "?", "NA", "1", "-7", "2.5", "1e3", "0x1F", "007", "inf", "99999999999999999999", " 3 "]),
    st.sampled_from(["2020-01-02", "2020-01-02 03:04:05", "2020-01-02 03:04:05.5", "03:04:05", "2020-01-02T00:00Z"]),
    st.sampled_from(
        ["a", "b c", " a ", "true", "é", '"q"', '"x,y"', '"x\ny"', '"x\r\n"', '"say ""so"""', 'in"ch', '""']
    ),
)
KINDS = [
    CELLS,
    st.sampled_from(["1", "2", "2.5", "", "0x1F"]),
    st.sampled_from(["2020-01-02", "2020-01-02 03:04:05", "NA", "2020-01-02 03:04:05.25"]),
]


@st.composite
def delimited(draw: st.DrawFn) -> str:
    """A text of CSV: each column of cells of any kind, or of kinds that have a type in common."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3))
    row = st.tuples(*kinds, st.sampled_from(["yes", "no", '"no"'])).map(",".join)
    odd = st.sampled_from(["", "a,b,c,d,e,f", "1", '"open'])
    rows = draw(st.lists(st.one_of(*[row] * 30, odd), min_size=1, max_size=8))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    names = ",".join([*(f"x{number}" for number in range(len(kinds))), "c"])
    return end.join([names, *rows]) + draw(st.sampled_from(["", end]))


@given(text=delimited(), encoding=st.sampled_from(["utf-8", "latin-1", "utf-8-sig"]), packed=st.booleans())
@example(text="x0,c\n0x1F,yes\n1.5,no\n", encoding="utf-8", packed=False)
@example(text='x0,c\n"a\nb",yes\nin"ch,no\n"c\nd",no\n', encoding="utf-8", packed=True)
def test_csv(text: str, encoding: str, packed: bool) -> None:
    content = text.encode(encoding)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("t.csv.gz" if packed else "t.csv")
        path.write_bytes(gzip.compress(content) if packed else content)
        assert_read_alike(path, target="c")
        assert_read_alike(path, target="c", categorical=["x0"])
        assert_read_alike(path, target="c", continuous=["x0"])
        assert_read_alike(path, target="c", ignore=["x0"])
        assert_read_alike(path, target="c", weight="x0")


@given(table=tables(TEXTS, single=True), sparse=st.booleans())
def test_arff(table: Table, sparse: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.arff"
        write_file(table, path, sparse=sparse)
        assert_read_alike(path)
        assert_read_alike(path, ignore=[table.schema.attributes[0].name])


@given(table=tables(ARROW_TEXTS, single=True), suffix=st.sampled_from([".parquet", ".arrow"]))
def test_arrow(table: Table, suffix: str) -> None:
    target, weighted = table.schema.target, table.weights is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t{suffix}"
        write_file(table, path, weight="the weights")
        assert_read_alike(path, target=target, weight="the weights" if weighted else None)
        assert_read_alike(path, target=target, categorical=[table.schema.attributes[0].name])


@given(c45_files(), st.booleans())
def test_data_and_test_files(file: tuple[Schema, str], training: bool) -> None:
    schema, text = file
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.data"
        path.write_text(text or "\n")
        cases = training_cases if training else further_cases
        try:
            expected = read_cases(path, schema, training=training)
        except DataError as fault:
            assert_refused_alike(path, schema, training, str(fault))
        else:
            assert_same(whole(cases(path, schema)), expected)


def assert_refused_alike(path: Path, schema: Schema, training: bool, message: str) -> None:
    """Both ways refuse the file with the same words, unless it only lacks classes."""
    if training and ("the case has no class" in message or "is one missing?" in message):
        return
    with pytest.raises(DataError) as caught:
        whole((training_cases if training else further_cases)(path, schema))
    assert str(caught.value) == message


STRING_ARFF = """@relation r
@attribute s string
@attribute d date yyyy
@attribute c {no,yes}
@data
zz,2001,yes
% a comment
aa,2002,no
'q q',?,yes,{3}
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_texts_dates_and_weights_of_arff(tmp_path: Path, end: str) -> None:
    (tmp_path / "t.arff").write_bytes(STRING_ARFF.replace("\n", end).encode())
    assert_read_alike(tmp_path / "t.arff")


ARROW_TABLES = {
    "types": pa.table(
        {
            "half": pa.array([1, 2, None, 4, 5], pa.float16()),
            "day": pa.array([1, 2, None, 4, 5], pa.date32()),
            "truth": [True, None, False, True, True],
            "view": pa.array(["a", "b", None, "c", "a"], pa.string_view()),
            "n": pa.array([None] * 5),
            "c": ["x", "y", "x", "y", "x"],
        }
    ),
    "dictionaries": pa.table(
        {
            "d": pa.chunked_array(
                [pa.array(["q", "p", "q"]).dictionary_encode(), pa.array(["r", "p"]).dictionary_encode()]
            ),
            "c": pa.array([3, 1, 3, 1, 1]),
        }
    ),
}


@pytest.mark.parametrize("name", list(ARROW_TABLES))
def test_arrow_types(tmp_path: Path, name: str) -> None:
    table = ARROW_TABLES[name]
    parquet.write_table(table.drop_columns(["view"]) if name == "types" else table, tmp_path / "t.parquet")
    assert_read_alike(tmp_path / "t.parquet", target="c")
    table = table.unify_dictionaries()
    for kind, opened in (("file", pa.ipc.new_file), ("stream", pa.ipc.new_stream)):
        with opened(tmp_path / f"{kind}.arrow", table.schema) as writer:
            writer.write_table(table, 2)
        assert_read_alike(tmp_path / f"{kind}.arrow", target="c")


PARTS = ["", "1", "1.5", "2020-01-02", "2020-01-02 03:04:05", "2020-01-02 03:04:05.5", "03:04:05", "a"]
PARTS += ["2020-01-02 03:04:05Z", "2020-01-02 03:04:05.5Z"]


@pytest.mark.parametrize("one", PARTS)
@pytest.mark.parametrize("other", PARTS)
def test_types_are_joined_as_arrow_joins_them(one: str, other: str) -> None:
    def inferred(*cells: str) -> Any:
        options = arrow_csv.ConvertOptions(auto_dict_encode=True, true_values=[], false_values=[])
        text = "\n".join(["x,y", *(f"{cell},1" for cell in cells)])
        return arrow_csv.read_csv(pa.BufferReader(text.encode()), convert_options=options).schema.field("x").type

    assert joined(inferred(one), inferred(other)) == inferred(one, other)


FAULTS = {
    "t.csv": ("x,c\n1,a\n2,b\n3,a\n4\n5,b\n", "t.csv:5: the row has 1 fields, the header has 2"),
    "quote.csv": ('x,c\n1,a\n"2,b\n3,a\n4,a\n', "quote.csv:3: a quote is opened here and never closed"),
    "weight.csv": ("w,c\n1,a\n2,b\n-1,a\n", "weight.csv:4: column 'w': -1.0 is no weight"),
    "zero.csv": ("w,c\n0,a\n0,b\n0,a\n", "zero.csv: column 'w': every weight is zero"),
    "none.csv": ("w,c\n\n\n", "none.csv: has columns but no rows"),
    "blank.csv": ("\n\n", "blank.csv: is empty"),
    "t.arff": (
        "@attribute x real\n@attribute c {a}\n@data\n1,a\n2,a\n3,b\n",
        "t.arff:6: attribute 'c': 'b' is not one",
    ),
    "cut.arff": ("@relation x\n@attribute c {a}\n", "cut.arff: has no line '@data'"),
    "cut.csv.gz": (gzip.compress(b"x,c\n1,a\n" * 50)[:-12], "cut.csv.gz: is not a gzip file, or is cut short"),
    "nul.csv": (b"x,c\n1,a\n2,\0\n", "nul.csv: is a binary file"),
    "text.parquet": ("x,c\n", "text.parquet: cannot be read ("),
}


@pytest.mark.parametrize("name", list(FAULTS))
def test_faults_are_told_with_their_line(tmp_path: Path, name: str) -> None:
    content, message = FAULTS[name]
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    options = (
        {} if "arff" in name else {"target": "c", "weight": "w" if b"w,c" in (tmp_path / name).read_bytes() else None}
    )
    with pytest.raises(DataError) as caught:
        whole(file_cases(tmp_path / name, **options))  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"{tmp_path}/{message}")
    with pytest.raises(DataError) as caught_whole:
        read_file(tmp_path / name, **options)  # type: ignore[arg-type]
    assert str(caught_whole.value) == str(caught.value)


def test_a_number_that_is_too_large_is_told_with_its_row(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"n": [1, 2, 3, 2**53 + 1], "c": list("abab")}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"column 'n', row 4: 9007199254740993 is too large"):
        whole(file_cases(tmp_path / "t.parquet", target="c"))


def test_a_case_may_have_no_class(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,c\n1,a\n2,\n3,b\n")
    table = whole(file_cases(tmp_path / "t.csv", target="c"))
    assert (table.schema.classes, table.classes.tolist()) == (("a", "b"), [0, -1, 1])
    schema = Schema((Attribute("d", "discrete", (), 3),), ("a", "b"))
    (tmp_path / "t.data").write_text("p,a\nq,?\np,b\n")
    table = whole(training_cases(tmp_path / "t.data", schema))
    assert table.schema.attributes[0].values == ("p", "q")
    np.testing.assert_array_equal(table.classes, codes(0, -1, 1))


def test_a_row_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textblocks, "LONGEST_ROW", 1 << 20)
    monkeypatch.setattr(textblocks, "BYTES_OF_A_BLOCK", 1 << 18)
    (tmp_path / "t.csv").write_text('x,c\n1,a\n"2,b\n' + "3,a\n" * (1 << 19))
    with pytest.raises(DataError, match=r"t\.csv:3: a row begins here that has not ended after 1 MiB"):
        file_cases(tmp_path / "t.csv", target="c")


def test_progress_is_told_in_bytes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,c\n" + "1,a\n" * 20)
    done: list[int] = []
    cases = file_cases(tmp_path / "t.csv", target="c", progress=done.append)
    assert done[-1] == 84
    done.clear()
    assert sum(block.n_cases for block in cases.blocks(done.append)) == 20
    assert done == sorted(done)
    assert done[-1] == 84


def test_what_is_read_twice_must_be_a_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is no plain file"):
        TextBlocks("/dev/null", end_of_lines)
    with pytest.raises(DataError, match=r"none\.csv: cannot be read \(No such file or directory\)"):
        TextBlocks(tmp_path / "none.csv", end_of_lines)
