from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c45gpu.data.c45files import read_cases, read_names, read_stem
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import DataError

SCHEMA = Schema((Attribute("d", "discrete", ("a", "b")), Attribute("x", "continuous")), ("yes", "no"))
GROWING = Schema(
    (Attribute("d", "discrete", (), 3), Attribute("i", "ignored"), Attribute("x", "continuous")), ("yes", "no")
)


def schema_of(tmp_path: Path, text: str) -> Schema:
    (tmp_path / "t.names").write_bytes(text.encode())
    return read_names(tmp_path / "t.names")


def cases_of(tmp_path: Path, text: str, schema: Schema = SCHEMA, **options: Any) -> Table:
    (tmp_path / "t.data").write_bytes(text.encode())
    return read_cases(tmp_path / "t.data", schema, **options)


def refusal(tmp_path: Path, text: str, schema: Schema = SCHEMA, **options: Any) -> str:
    """The message with which a file is refused, without the folder."""
    with pytest.raises(DataError) as caught:
        cases_of(tmp_path, text, schema, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{tmp_path}/")


def test_names_in_all_their_forms(tmp_path: Path) -> None:
    text = """| a comment: with, delimiters.
yes, no,
  may\\, be.      | classes

x: continuous.
d1 :  a,
      b , St\\. Louis.
d2: discrete 7.
i:ignore.
c: continuous, x
last: p, q"""
    assert schema_of(tmp_path, text) == Schema(
        (
            Attribute("x", "continuous"),
            Attribute("d1", "discrete", ("a", "b", "St. Louis")),
            Attribute("d2", "discrete", (), 7),
            Attribute("i", "ignored"),
            Attribute("c", "discrete", ("continuous", "x")),
            Attribute("last", "discrete", ("p", "q")),
        ),
        ("yes", "no", "may, be"),
    )


def test_one_class_may_be_declared(tmp_path: Path) -> None:
    assert schema_of(tmp_path, "only.\nx: continuous.").classes == ("only",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x: continuous.\n", ":1: 'x' is an attribute, but the classes come first"),
        ("a, b.\n", ": declares no attributes"),
        ("a, b, a.\nx: continuous.", ":1: the classes: 'a' is listed twice"),
        ("a, , b.\nx: continuous.", ":1: the classes: the list holds an empty name"),
        ("a, ?.\nx: continuous.", ":1: the classes: the list holds '?'"),
        ("a, b.\nx: continuous.\nx: continuous.", ":3: attribute 'x' is declared twice"),
        ("a, b.\nx: p, q,\n   p.", ":3: attribute 'x': 'p' is listed twice"),
        ("a, b.\n\nx: p.", ":3: attribute 'x' has only one value, 'p'"),
        ("a, b.\nx: .", ":2: attribute 'x': the list holds an empty name"),
        ("a, b.\nx:", ":2: attribute 'x' has no values"),
        ("a, b.\nx: p, ?.", ":2: attribute 'x': the list holds '?'"),
        ("a, b.\nx: p, q,", ":2: attribute 'x': the list ends in a comma"),
        ("a, b.\nx continuous.", ":2: 'x continuous' has no colon after it"),
        ("a, b.\n: p, q.", ":2: '' has no colon after it"),
        ("a, b.\nx: p, q,\ny: continuous.", ":3: the values of attribute 'x' run into 'y'"),
        ("a, b.\nx: discrete.", ":2: attribute 'x': 'discrete' does not say how many values"),
        ("a, b.\nx: discrete 1.", ":2: attribute 'x': 'discrete 1' does not say how many values"),
        ("a, b.\nx: p\\\n", ":2: the line ends in a backslash"),
    ],
)
def test_bad_names_are_refused_with_line_and_remedy(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        schema_of(tmp_path, text)
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(f"t.names{message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("special", ["", "|\\,: a comment that asks for the exact reader" + 40 * " "])
def test_cases(tmp_path: Path, end: str, special: str) -> None:
    lines = [special, "a, 1.5, yes.", "", "?,?,no|comment", "  b ,\t-2e1,  yes  "]
    table = cases_of(tmp_path, end.join(lines))
    assert table.schema == SCHEMA
    np.testing.assert_array_equal(table.columns[0], np.array([0, -1, 1], np.int32), strict=True)
    np.testing.assert_array_equal(table.columns[1], np.array([1.5, np.nan, -20.0]), strict=True)
    np.testing.assert_array_equal(table.classes, np.array([0, 1, 0], np.int32), strict=True)
    assert table.weights is None


def test_numbers_are_those_of_strtod(tmp_path: Path) -> None:
    lines = "".join(f"a,{x},yes\n" for x in ["inf", "-INF", "nan", "1e3", "5.", ".5", "-0", "-999", "0x10"])
    column = cases_of(tmp_path, lines).columns[1]
    np.testing.assert_array_equal(column, [math.inf, -math.inf, math.nan, 1000, 5, 0.5, 0, -999, 16])


def test_compat_r8_rounds_and_takes_minus_999_for_unknown(tmp_path: Path) -> None:
    column = cases_of(tmp_path, "a,-999,yes\nb,0.1,no\n", compat="r8").columns[1]
    np.testing.assert_array_equal(column, np.array([np.nan, 0.1], np.float32), strict=True)


@pytest.mark.parametrize("width", ["plain", "escaped"])
def test_discrete_n_collects_in_order_of_appearance(tmp_path: Path, width: str) -> None:
    q = "q" if width == "plain" else "\\q"
    training = cases_of(tmp_path, f"{q},-,1,yes\np,-,2,no\n?,-,3,no\n q ,-,4,no\nr,-,5,yes.\n", GROWING)
    assert training.schema.attributes[0] == Attribute("d", "discrete", ("q", "p", "r"), 3)
    assert training.columns[1] is None
    np.testing.assert_array_equal(training.columns[0], [0, 1, -1, 0, 2])
    test = cases_of(tmp_path, f"r,-,1,yes\nnew,-,2,no\n{q},-,2,no\n", training.schema, training=False)
    assert test.schema == training.schema
    np.testing.assert_array_equal(test.columns[0], [2, -1, 0])


def test_discrete_n_refuses_more_than_n_values(tmp_path: Path) -> None:
    message = refusal(tmp_path, "q,-,1,yes\np,-,1,yes\nr,-,1,yes\ns,-,1,yes\n", GROWING)
    assert message.startswith("t.data:4: attribute 'd': 's' is one value too many for 'discrete 3'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,1,yes\nzz,2,no\n", ":2: attribute 'd': 'zz' is not one of its values (a, b): correct it"),
        ("a,1,yes\na,3x,no\n", ":2: attribute 'x': '3x' is not a number"),
        ("a,1,yes\n\n|c\na,1,maybe\n", ":4: 'maybe' is not one of the classes (yes, no): correct it"),
        ("a,1,yes\na,1,?\n", ":2: the case has no class"),
        ("a,1,yes\na,1,.\n", ":2: the case has no class"),
        ("a,1,yes\na,1\n", ":2: the record has 2 fields where 3 fields (2 values and the class) are due"),
        ("a,1,yes\na,1,yes,no\n", ":2: the record has 4 fields where 3 fields (2 values and the class) are due"),
        ("a,1\n", ":1: the record has 2 fields"),
        ("a,,yes\n", ":1: attribute 'x': '' is not a number"),
        (",1,yes\n", ":1: attribute 'd': there is no value: write ? for unknown"),
        ("a,1:2,yes\n", ":1: the record has 4 fields"),
        ("a,St. 1,yes\n", ":1: the record has 4 fields"),
        ("a,1,yes\na,1,yes\\\n", ":2: the line ends in a backslash"),
        ("| nothing\n\n", ": holds no records"),
        (" \n", ": is empty"),
        ("a,1,yes\na,\0,no\n", ": is a binary file"),
        ("a,1,yes\n" + "z" * 500 + ",1,yes\n", f":2: attribute 'd': '{'z' * 60}...' is not one of its values"),
    ],
)
def test_bad_cases_are_refused_with_line_and_remedy(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text).startswith(f"t.data{message}")


def test_cases_to_predict_may_lack_classes(tmp_path: Path) -> None:
    np.testing.assert_array_equal(cases_of(tmp_path, "a,1,?\nb,2,no\n", training=False).classes, [-1, 1])
    for text in ("a,1\nb,2.\n", "a,\\1\nb,2.\n", "a,1,\nb,2,\n"):
        table = cases_of(tmp_path, text, training=False)
        np.testing.assert_array_equal(table.classes, [-1, -1])
        np.testing.assert_array_equal(table.columns[1], [1, 2])
    for text in ("a,1\nb,2,no\n", "b,2,no\na,1\n"):
        assert ":2: the record has" in refusal(tmp_path, text, training=False)
    assert "'maybe' is not one of the classes" in refusal(tmp_path, "a,1,maybe\n", training=False)


@pytest.mark.parametrize("training", [True, False])
def test_undeclared_values_can_be_taken_for_unknown(tmp_path: Path, training: bool) -> None:
    table = cases_of(tmp_path, "zz,1,yes\nb,1,yes\n", training=training, unseen="unknown")
    np.testing.assert_array_equal(table.columns[0], [-1, 1])
    assert table.schema == SCHEMA
    assert "'zz' is not one of its values" in refusal(tmp_path, "zz,1,yes\n", training=training)


def test_quotes_are_ordinary_characters(tmp_path: Path) -> None:
    schema = Schema((Attribute("d", "discrete", ('"a', 'b"')),), ("'yes'",))
    np.testing.assert_array_equal(cases_of(tmp_path, "\"a,'yes'\nb\",'yes'\n", schema).columns[0], [0, 1])


def test_a_stem_may_have_dots_and_needs_no_test_file(tmp_path: Path) -> None:
    stem = tmp_path / "v1.2.set"
    Path(f"{stem}.names").write_text("yes, no.\nd: discrete 5.\n")
    Path(f"{stem}.data").write_text("p,yes\nq,no\n")
    training, test = read_stem(stem)
    assert test is None
    assert training.schema.attributes[0].values == ("p", "q")
    Path(f"{stem}.test").write_text("q,no\nr,?\n")
    training, test = read_stem(str(stem))
    assert test is not None
    assert test.schema == training.schema
    np.testing.assert_array_equal(test.columns[0], [1, -1])
    np.testing.assert_array_equal(test.classes, [1, -1])


def test_a_stem_without_names_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.names: cannot be read \(No such file or directory\)"):
        read_stem(tmp_path / "none")


DELIBERATE = {"t30_crlf", "t32_illegal_value"}  # the original takes the CR for a part of names, and illegal values


def test_the_originals_files_are_read_as_the_original_does(golden: Path) -> None:
    stems = {path.with_suffix("") for path in golden.glob("*/*.names")} - {
        golden / "tiny" / name for name in DELIBERATE
    }
    assert stems
    for stem in sorted(stems):
        training, test = read_stem(stem)
        answer = json.loads(Path(f"{stem}.json").read_text())
        assert list(training.schema.classes) == answer["classes"]
        kinds = {"continuous": "continuous", "discrete": "discrete", "discrete-n": "discrete", "ignore": "ignored"}
        for ours, theirs in zip(training.schema.attributes, answer["attributes"], strict=True):
            assert (ours.name, ours.kind) == (theirs["name"], kinds[theirs["type"]])
            assert list(ours.values) == theirs.get("values", [])
        assert (test is None) == (not Path(f"{stem}.test").exists())
