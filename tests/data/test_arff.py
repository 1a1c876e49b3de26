"""Weka's ARFF, read and written."""

from __future__ import annotations

import gzip
import io
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff

from c45gpu.data.frames import read_file
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.data.writing import write_file
from c45gpu.errors import DataError
from tests.data.drawn import TEXTS, named_values, tables
from tests.data.same import assert_columns, assert_same, codes

NAN = math.nan
HEAD = """% A comment, a relation in quotes
@RELATION 'a "relation"'

@Attribute 'body mass' REAL   % another comment
@attribute colour {red, 'dark red',"it's" , blue}
@attribute day date "yyyy-MM-dd"
@attribute note string
@attribute class {yes,no}
"""
DENSE = """@DATA
1.5, red, 1970-01-02, hello, yes

?,'dark red' ? "100 %\\n" no
% between the rows
-2e1\t,\t"it's",'1970-01-01','?',yes,{2.5}
"""
SPARSE = """@data
{0 1.5, 2 1970-01-02, 3 hello}
{0 ?, 1 'dark red', 2 ?, 3 "100 %\\n", 4 no}
{0 -2e1,1 "it's",3 '?'}, {2.5}
"""


def written(tmp_path: Path, text: str, name: str = "t.arff") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def assert_typical(table: Table) -> None:
    assert table.schema == Schema(
        (
            Attribute("body mass", "continuous"),
            Attribute("colour", "discrete", ("red", "dark red", "it's", "blue")),
            Attribute("day", "continuous"),
            Attribute("note", "discrete", ("100 %\n", "?", "hello")),
        ),
        ("yes", "no"),
    )
    days = np.array([86400, NAN, 0])
    assert_columns(table, np.array([1.5, NAN, -20]), codes(0, 1, 2), days, codes(2, 0, 1))
    np.testing.assert_array_equal(table.classes, codes(0, 1, 0), strict=True)
    np.testing.assert_array_equal(table.weights, np.array([1, 1, 2.5]), strict=True)


@pytest.mark.parametrize("body", [DENSE, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_dense_and_sparse_rows(tmp_path: Path, body: str, end: str) -> None:
    assert_typical(read_file(written(tmp_path, (HEAD + body).replace("\n", end))))


def test_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "t.arff.gz"
    path.write_bytes(gzip.compress((HEAD + DENSE).encode()))
    assert_typical(read_file(path))
    with pa.output_stream(tmp_path / "t.arff.zst", compression="zstd") as stream:
        stream.write((HEAD + DENSE).encode())
    assert_typical(read_file(tmp_path / "t.arff.zst"))


PLAIN = "@relation r\n@attribute x numeric\n@attribute s string\n@attribute c {b, a}\n@data\n"


@pytest.mark.parametrize("comment", ["", "% no longer plain\n"])
def test_plain_rows_give_the_same_by_both_readers(tmp_path: Path, comment: str) -> None:
    """Arrow reads what is plain, the exact reader what has a comment in it."""
    table = read_file(written(tmp_path, f"{PLAIN}{comment} 1 , t ,a\n\n?,?,b\n0x10,\tu,b\ninf,?\t,a"))
    assert table.schema.attributes[1] == Attribute("s", "discrete", ("t", "u"))
    assert table.schema.classes == ("b", "a")
    assert_columns(table, np.array([1, NAN, 16, math.inf]), codes(0, -1, 1, -1))
    np.testing.assert_array_equal(table.classes, codes(1, 0, 0, 1), strict=True)


def test_any_attribute_can_be_the_class(tmp_path: Path) -> None:
    table = read_file(written(tmp_path, PLAIN + "1,t,a\n2,u,b\n"), target="s", ignore=["x"])
    assert table.schema.classes == ("t", "u")
    assert [a.kind for a in table.schema.attributes] == ["ignored", "discrete"]


def test_a_file_is_matched_by_name(tmp_path: Path) -> None:
    schema = Schema((Attribute("c", "discrete", ("a", "z")), Attribute("x", "continuous")), ("t", "u"), "s")
    table = read_file(written(tmp_path, PLAIN + "1,t,a\n2,?,b\n"), schema=schema)
    assert_columns(table, codes(0, -1), np.array([1.0, 2]))
    np.testing.assert_array_equal(table.classes, codes(0, -1), strict=True)


def test_dates(tmp_path: Path) -> None:
    head = """@relation r
        @attribute a date
        @attribute b date "dd/MM/yyyy HH:mm"
        @attribute c date "yyyy-MM-dd'T'HH:mm:ss.SSSZ"
        @attribute k {x}
        @data
        """
    row = "1970-01-01T00:01:00, '02/01/1970 00:00', 1970-01-01T01:00:00.500+0100, x\n"
    assert_columns(read_file(written(tmp_path, head + row)), np.array([60.0]), np.array([86400.0]), np.array([0.5]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation r\n@attribute x numeric\n", ": has no line '@data'"),
        ("@relation r\n@data\n", ":2: declares no attributes"),
        ("@relation r\nx,y\n@data\n", ":2: the line begins with 'x'"),
        ("@attribute x\n@data\n", ":1: the attribute has no name or no type"),
        ("@attribute x float\n@data\n", ":1: attribute 'x' has the type 'float'"),
        ("@attribute x relational\n@data\n", ":1: attribute 'x' has the type 'relational'"),
        ("@attribute x numeric {3}\n@data\n", ":1: attribute 'x': '{' follows the type"),
        ("@attribute x {a, b\n@data\n", ":1: attribute 'x': the list of its values does not end"),
        ("@attribute x {}\n@data\n", ":1: attribute 'x' has no values"),
        ("@attribute x {a, ?}\n@data\n", ":1: attribute 'x' has ?, which means unknown"),
        ("@attribute x {a, b, a}\n@data\n", ":1: attribute 'x': 'a' is listed twice"),
        ("@attribute x numeric\n@attribute x {a}\n@data\n", ":2: attribute 'x' is declared twice"),
        ("@attribute 'x numeric\n@data\n", ":1: a quote is opened here"),
        ("@attribute x date 'YYYY'\n@data\n", ":1: attribute 'x': 'YYYY' in the date pattern cannot be read"),
        ("@attribute x date 'dd/d'\n@data\n", ":1: attribute 'x': 'd' in the date pattern cannot be read"),
        (PLAIN, ": has columns but no rows"),
        (PLAIN + "1,t,a\n\n1,t\n", ":8: the row has 2 values where 3 are due: is one missing?"),
        (PLAIN + "1,t u,a\n", ":6: the row has 4 values where 3 are due: put quotes around one"),
        (PLAIN + "1,,a\n", ":6: there is no value before a comma"),
        (PLAIN + "1,t,a,\n", ":6: there is no value behind the last comma"),
        (PLAIN + "1,t},a\n", ":6: '}' stands where a value is due"),
        (PLAIN + "1,t,A\n", ":6: attribute 'c': 'A' is not one of its values (b, a)"),
        (PLAIN + "1,t,a\none,t,a\n", ":7: attribute 'x': 'one' is not a number"),
        (PLAIN + "1,'t,a\n", ":6: a quote is opened here and never closed"),
        (PLAIN + "1,t,a,{x}\n", ":6: the row's weight is no finite number"),
        (PLAIN + "1,t,a,{\n", ":6: the row's weight is no finite number"),
        (PLAIN + "1,t,a\n% c\n1,t,?\n", ":8: column 'c': the case has no class"),
        (PLAIN + "{0 1, 2 a}\n", ":6: the sparse row leaves out the text 's'"),
        (PLAIN + "{1 t, 0 1}\n", ":6: the sparse row does not list pairs"),
        (PLAIN + "{3 t}\n", ":6: the sparse row does not list pairs"),
        (PLAIN + "{0 1, 1}\n", ":6: the sparse row does not list pairs"),
        (PLAIN + "{0 1, 1 t\n", ":6: the sparse row does not end in '}'"),
        ("@attribute c {a}\n@attribute d date\n@data\na,yesterday\n", ":4: attribute 'd': 'yesterday' is no date"),
    ],
)
def test_what_is_no_arff_is_refused_with_line_and_remedy(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError) as caught:
        read_file(path, target="c")
    assert str(caught.value).startswith(f"{path}{message}")
    assert "\n" not in str(caught.value)


def test_a_class_that_is_no_nominal_attribute_must_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, "@attribute c {a}\n@attribute x numeric\n@data\na,1\n")
    with pytest.raises(DataError, match=r"which column is the class\? Name one as target: c, x"):
        read_file(path)
    assert read_file(path, target="c").schema.classes == ("a",)


# ------------------------------------------------------------------------------------------------------------ written


@given(table=tables(TEXTS), sparse=st.booleans())
def test_what_is_written_is_read_back(table: Table, sparse: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.arff.gz"
        write_file(table, path, sparse=sparse)
        again = read_file(path)
    assert_same(again, table)
    if table.weights is not None:
        np.testing.assert_array_equal(again.weights, table.weights, strict=True)


def test_a_nominal_attribute_without_values_cannot_be_written(tmp_path: Path) -> None:
    table = Table(Schema((Attribute("d", "discrete"),), ("a",)), [codes(-1)], codes(0))
    with pytest.raises(DataError, match="attribute 'd' has no values"):
        write_file(table, tmp_path / "t.arff")
    assert list(tmp_path.iterdir()) == []


def lines_of(table: Table) -> str:
    with tempfile.TemporaryDirectory() as folder:
        write_file(table, Path(folder) / "t.arff")
        return (Path(folder) / "t.arff").read_text()


PLAIN_TEXTS = st.text("abcXYZ09_-.", min_size=1, max_size=6)


@given(table=tables(PLAIN_TEXTS, weighted=False))
def test_scipy_reads_the_same(table: Table) -> None:
    """Names without quotes only: scipy keeps them in some places."""
    data, meta = scipy_arff.loadarff(io.StringIO(lines_of(table)))
    found = [
        (
            name,
            [None if is_unknown(cell) else cell if kind == "numeric" else cell.decode("utf-8") for cell in data[name]],
        )
        for name, kind in zip(meta.names(), meta.types(), strict=True)
    ]
    assert found == named_values(table)


def is_unknown(cell: Any) -> bool:
    return bool(cell == b"?" or cell != cell)


WORDS = st.text("aé. ,{}%\"'", max_size=6).map(lambda inside: f"a{inside}b")


@given(table=tables(WORDS, names=PLAIN_TEXTS, weighted=False))
def test_liac_arff_reads_the_same(table: Table) -> None:
    """Names without quotes only: it keeps escapes in them, and drops blanks at the ends of values."""
    liac = pytest.importorskip("arff", reason="liac-arff is not installed")
    found = liac.loads(lines_of(table))
    columns = [[None if cell != cell else cell for cell in column] for column in zip(*found["data"], strict=True)]
    assert [(name, column) for (name, _), column in zip(found["attributes"], columns, strict=True)] == named_values(
        table
    )
