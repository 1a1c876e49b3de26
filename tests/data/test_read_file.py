from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from c45gpu.data.frames import describe, read_file
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import DataError, OptionError
from tests.data.same import assert_columns, codes

TYPICAL = """name, age ,income,member,class
b,30,1.5,true,yes
 a , ?, NA,false,no

"c, d",41,inf,,yes
?,-7,NaN,true,no
"""


def written(tmp_path: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(path: Path, **options: Any) -> str:
    """The message with which a file is refused, without the folder."""
    with pytest.raises(DataError) as caught:
        read_file(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path.parent}/")


def assert_typical(table: Table) -> None:
    assert table.schema.attributes == (
        Attribute("name", "discrete", ("a", "b", "c, d")),
        Attribute("age", "continuous"),
        Attribute("income", "continuous"),
        Attribute("member", "discrete", ("false", "true")),
    )
    assert (table.schema.classes, table.schema.target) == (("no", "yes"), "class")
    reals = np.array([1.5, np.nan, np.inf, np.nan])
    assert_columns(table, codes(1, 0, 2, -1), np.array([30, np.nan, 41, -7]), reals, codes(1, 0, -1, 1))
    np.testing.assert_array_equal(table.classes, codes(1, 0, 1, 0), strict=True)
    assert table.weights is None


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_csv(tmp_path: Path, end: str, mark: bytes) -> None:
    assert_typical(read_file(written(tmp_path, mark + TYPICAL.replace("\n", end).encode()), target="class"))


@pytest.mark.parametrize("last", ["", "\n", "\n\n"])
def test_the_last_line_may_lack_its_end(tmp_path: Path, last: str) -> None:
    assert_typical(read_file(written(tmp_path, TYPICAL.rstrip() + last), target="class"))


def test_tsv_and_compressed_files(tmp_path: Path) -> None:
    tabbed = TYPICAL.replace('"c, d"', "<>").replace(",", "\t").replace("<>", "c, d")
    assert_typical(read_file(written(tmp_path, tabbed, "t.tsv"), target="class"))
    assert_typical(read_file(written(tmp_path, gzip.compress(TYPICAL.encode()), "v1.2.csv.gz"), target="class"))
    for suffix, codec in (("bz2", "bz2"), ("zst", "zstd"), ("lz4", "lz4")):
        with pa.output_stream(tmp_path / f"t.tsv.{suffix}", compression=codec) as file:
            file.write(tabbed.encode())
        assert_typical(read_file(tmp_path / f"t.tsv.{suffix}", target="class"))


def test_text_may_be_latin1(tmp_path: Path) -> None:
    text = "é,class\nü,1\n,2\nü,1\n"
    table = read_file(written(tmp_path, text), target="class")
    assert table.schema.attributes == (Attribute("é", "discrete", ("ü",)),)
    again = read_file(written(tmp_path, text.encode("latin-1")), target="class")
    assert again.schema == table.schema
    assert_columns(again, codes(0, -1, 0))


def test_kinds_can_be_said(tmp_path: Path) -> None:
    path = written(tmp_path, "zip,size,note,w,class\n01,3,x,1,10\n2,4,y,0,9\n01,,z,2.5,10\n")
    table = read_file(path, target="class", categorical=["zip"], ignore=["note"], weight="w")
    assert table.schema.attributes == (
        Attribute("zip", "discrete", ("01", "2")),
        Attribute("size", "continuous"),
        Attribute("note", "ignored"),
    )
    assert table.schema.classes == ("9", "10")
    assert_columns(table, codes(0, 1, 0), np.array([3, 4, np.nan]), None)
    np.testing.assert_array_equal(table.classes, [1, 0, 1])
    np.testing.assert_array_equal(table.weights, np.array([1, 0, 2.5]), strict=True)
    assert describe(table.schema) == [
        ("zip", "discrete", "2: 01, 2"),
        ("size", "continuous", ""),
        ("note", "ignored", ""),
        ("class", "class", "2: 9, 10"),
    ]


def test_classes_are_named_as_they_are_written(tmp_path: Path) -> None:
    table = read_file(written(tmp_path, "x,y\n1,10\n1,9.0\n1,1e1\n1,9.0\n"), target="y")
    assert table.schema.classes == ("9.0", "10", "1e1")
    np.testing.assert_array_equal(table.classes, [1, 0, 2, 0])


def test_numbers_in_text_columns_can_be_continuous(tmp_path: Path) -> None:
    path = written(tmp_path, 'x,class\n"1",a\n 0x1p4 ,a\n-,b\n')
    assert read_file(path, target="class").schema.attributes[0].kind == "discrete"
    assert refusal(path, target="class", continuous=["x"]) == "t.csv:4: column 'x': '-' is not a number"
    table = read_file(written(tmp_path, "x,class\n1,a\n0x1p4,a\n ?,b\n"), target="class", continuous=["x"])
    assert_columns(table, np.array([1, 16, np.nan]))


def test_dates_and_times_count_in_seconds(tmp_path: Path) -> None:
    text = "day,moment,time,class\n1970-01-02,1970-01-01 00:01:00,00:02:00,a\n,1969-12-31 23:59:59,,a\n"
    table = read_file(written(tmp_path, text), target="class")
    assert {a.kind for a in table.schema.attributes} == {"continuous"}
    assert_columns(table, np.array([86400, np.nan]), np.array([60.0, -1]), np.array([120, np.nan]))


def test_a_column_of_nulls_is_continuous_and_unknown(tmp_path: Path) -> None:
    table = read_file(written(tmp_path, "x,y,class\n?,1,a\n,2,b\n"), target="class")
    assert table.schema.attributes[0] == Attribute("x", "continuous")
    assert_columns(table, np.array([np.nan, np.nan]), np.array([1.0, 2]))


def test_types_are_inferred_from_the_whole_file(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i},a\n" for i in range(400_000))
    table = read_file(written(tmp_path, f"x,y,class\n{rows}x,1.5,a\n"), target="class")
    assert [a.kind for a in table.schema.attributes] == ["discrete", "continuous"]
    assert table.columns[1] is not None
    assert table.columns[1].tolist() == [*range(400_000), 1.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,class\n1,2,x\n\n3,y\n", ":4: the row has 2 fields, the header has 3"),
        ("a,b,class\n1,2,x\n3,4,y,5\n", ":3: the row has 4 fields, the header has 3"),
        ('a,b,class\n"1\n2",2,x\n3,y\n', ":4: the row has 2 fields, the header has 3"),
        ('a,b,class\n1,2,x\n1,"2,x\n3,4,y\n', ":3: a quote is opened here and never closed"),
        ('a,b,class\n1,2,x\n"3\n4\n5",y\n', ":3: the row has 2 fields, the header has 3"),
        ("a,b,class\n", ": has columns but no rows"),
        ("a,a,class\n1,2,x\n", ":1: two columns are named 'a'"),
        ("\na, a ,class\n1,2,x\n", ":2: two columns are named 'a'"),
        (",a,class\n1,2,x\n", ":1: column 1 has no name"),
        ("a,b,c\n1,2,x\n", ":1: there is no column 'class': the columns are a, b, c"),
        ("a,b,class\n1,2,x\n1,2,\n", ":3: column 'class': the case has no class"),
        ("a,b,class\n1,2,x\n\n1,2,NA\n", ":4: column 'class': the case has no class"),
        ("a,class\n1,x\n9007199254740993,x\n", ":3: column 'a': 9007199254740993 is too large"),
        ("", ": is empty"),
        ("\r\n\n", ": is empty"),
        ("a,class\n\0\1\2\n", ": is a binary file"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0", ": is a binary file"),
        ("a,class\n1,x\n".encode("utf-16"), ": is a binary file"),
        (b"\xff\xfe\xfd,class\n1\n", ":2: the row has 1 fields, the header has 2"),
    ],
)
def test_bad_csv_is_refused_with_line_and_remedy(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert refusal(written(tmp_path, text), target="class").startswith(f"t.csv{message}")


def test_quotes_may_stand_in_the_header_only(tmp_path: Path) -> None:
    table = read_file(written(tmp_path, '"x, y",class\n1,a\n2,b\n'), target="class")
    assert table.schema.attributes == (Attribute("x, y", "continuous"),)
    assert_columns(table, np.array([1.0, 2]))


def test_a_lone_quote_in_a_text_is_no_quotation(tmp_path: Path) -> None:
    table = read_file(written(tmp_path, 'size,class\n5",a\n"6",b\n'), target="class")
    assert table.schema.attributes[0].values == ('5"', "6")


def test_quoted_fields_may_hold_line_breaks_wherever_arrow_cuts_the_text(tmp_path: Path) -> None:
    field = "\n".join("line" for _ in range(50))
    rows = "".join(f'"{field}",{i}\n' for i in range(20_000))
    table = read_file(written(tmp_path, f"t,class\n{rows}"), target="class", categorical=["t"])
    assert table.n_cases == 20_000
    assert table.schema.attributes[0].values == (field,)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("1\n-1\n", "t.csv:3: column 'w': -1.0 is no weight"),
        ("inf\n1\n", "t.csv:2: column 'w': inf is no weight"),
        ("1\n?\n", "t.csv:3: column 'w': nan is no weight"),
        ("1\nx\n", "t.csv:3: column 'w': 'x' is not a number"),
        ("0\n0\n", "t.csv: column 'w': every weight is zero"),
    ],
)
def test_bad_weights_are_refused(tmp_path: Path, weights: str, message: str) -> None:
    text = "a,class,w\n" + "".join(f"1,x,{w}\n" for w in weights.split())
    assert refusal(written(tmp_path, text), target="class", weight="w").startswith(message)


def test_the_class_column_must_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, TYPICAL)
    assert refusal(path) == ("t.csv: which column is the class? Name one as target: name, age, income, member, class")


@pytest.mark.parametrize("option", ["categorical", "continuous", "ignore"])
def test_columns_that_are_named_must_be_there(tmp_path: Path, option: str) -> None:
    path = written(tmp_path, TYPICAL)
    assert "there is no column 'salary'" in refusal(path, target="class", **{option: ["salary"]})
    with pytest.raises(OptionError, match="column 'class' has two roles"):
        read_file(path, target="class", **{option: ["class"]})
    with pytest.raises(OptionError, match="do not go with a schema"):
        read_file(path, schema=Schema((), ("yes",)), **{option: ["age"]})


def test_a_weight_cannot_be_the_class(tmp_path: Path) -> None:
    path = written(tmp_path, TYPICAL)
    with pytest.raises(OptionError, match="'age' has two roles"):
        read_file(path, target="age", weight="age")
    schema = read_file(path, target="class").schema
    with pytest.raises(OptionError, match="'age' has two roles"):
        read_file(path, schema=schema, weight="age")


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.gz", "t.parquet.gz", "csv"])
def test_other_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    assert "the suffix tells no format" in refusal(written(tmp_path, TYPICAL, name), target="class")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.arrow", "t.feather"])
def test_missing_and_damaged_files_are_told_in_one_line(tmp_path: Path, name: str) -> None:
    assert refusal(tmp_path / name, target="class").startswith(f"{name}: cannot be read")
    (tmp_path / name).mkdir()
    assert refusal(tmp_path / name, target="class").startswith(f"{name}: ")
    (tmp_path / name).rmdir()
    for content in (b"", b"\x00junk" * 999, gzip.compress(TYPICAL.encode())[:-20]):
        assert refusal(written(tmp_path, content, name), target="class").startswith(f"{name}: ")


# ------------------------------------------------------------------------------------------------------ with a schema

SCHEMA = Schema(
    (Attribute("d", "discrete", ("b", "a")), Attribute("gone", "ignored"), Attribute("x", "continuous")),
    ("no", "yes"),
    "y",
)


def test_columns_are_matched_by_name(tmp_path: Path) -> None:
    table = read_file(written(tmp_path, "extra,y,x,d\n7,yes,1,a\n8,?,?,new\n9,no,2,?\n"), schema=SCHEMA)
    assert table.schema is SCHEMA
    assert_columns(table, codes(1, -1, -1), None, np.array([1, np.nan, 2]))
    np.testing.assert_array_equal(table.classes, codes(1, -1, 0), strict=True)


def test_the_class_may_be_absent_or_elsewhere(tmp_path: Path) -> None:
    path = written(tmp_path, "x,d,label,w\n1,a,yes,2\n,b,no,3\n")
    table = read_file(path, schema=SCHEMA, weight="w")
    np.testing.assert_array_equal(table.classes, codes(-1, -1), strict=True)
    np.testing.assert_array_equal(table.weights, [2, 3])
    np.testing.assert_array_equal(read_file(path, schema=SCHEMA, target="label").classes, [1, 0])
    assert "there is no column 'nowhere'" in refusal(path, schema=SCHEMA, target="nowhere")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d,y\na,yes\n", ":1: there is no column 'x': the columns are d, y"),
        ("d,x,y\na,1,yes\na,1,maybe\n", ":3: column 'y': 'maybe' is not one of the classes (no, yes)"),
        ("d,x,y\na,1,yes\na,old,no\n", ":3: column 'x': 'old' is not a number"),
        ("d,x,y\n", ": has columns but no rows"),
        ("d,x,y\na,1\n", ":2: the row has 2 fields, the header has 3"),
    ],
)
def test_what_does_not_fit_the_schema_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(written(tmp_path, text), schema=SCHEMA).startswith(f"t.csv{message}")


def test_values_of_a_schema_are_compared_as_texts(tmp_path: Path) -> None:
    schema = Schema((Attribute("d", "discrete", ("1", "01", "true", "2020-01-01")),), ("0", "1"))
    table = read_file(written(tmp_path, "d,class\n01,1\n1,0\ntrue,0\n2020-01-01,0\n"), schema=schema)
    assert_columns(table, codes(1, 0, 2, 3))
    np.testing.assert_array_equal(table.classes, [1, 0, 0, 0])
