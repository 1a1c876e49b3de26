from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.compressed import read_text
from c45gpu.data.tokens import Token, fields, tokens
from c45gpu.data.values import in_order, listed, number, shown
from c45gpu.errors import DataError


def names(text: str) -> list[str]:
    return [token.name for token in tokens(text, "x.names")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b.\n", [Token("a", ",", 1), Token("b", ".", 1)]),
        ("a: b\n", [Token("a", ":", 1), Token("b", "\n", 1)]),
        ("a | comment, with: delimiters.\n b", [Token("a", "\n", 1), Token("b", "\n", 2)]),
        ("|first\n\n \t\n|next\na,\n b", [Token("a", ",", 5), Token("b", "\n", 6)]),
        ("a.|comment\nb.", [Token("a", ".", 1), Token("b", ".", 2)]),
        ("a. b.\tc.", [Token("a", ".", 1), Token("b", ".", 1), Token("c", ".", 1)]),
        ("1.5, v1.2.3", [Token("1.5", ",", 1), Token("v1.2.3", "\n", 1)]),
        ("5.,6", [Token("5.", ",", 1), Token("6", "\n", 1)]),
        ("a,,b", [Token("a", ",", 1), Token("", ",", 1), Token("b", "\n", 1)]),
    ],
)
def test_tokens(text: str, expected: list[Token]) -> None:
    assert list(tokens(text, "x.names")) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (r"a\,b", "a,b"),
        (r"a\:b\|c\\d", r"a:b|c\d"),
        (r"St\. Louis", "St. Louis"),
        (r"etc\.", "etc."),
        (r"\?", "?"),
        ("  two   words\t ", "two words"),
        ("tab\tinside  here", "tab\tinside here"),
        (r"\ lead", " lead"),
        (r"trail\  ", "trail "),
        (r"trail\\  ", "trail\\"),
        (r"two\ \ spaces", "two  spaces"),
        (r"one\    space", "one space"),
    ],
)
def test_escapes_and_blanks(text: str, name: str) -> None:
    assert names(text) == [name]


def test_a_backslash_at_the_end_of_a_line_is_refused() -> None:
    with pytest.raises(DataError, match=r"x\.names:2: the line ends in a backslash"):
        names("a,\nb\\\nc")


@given(st.text("ab5 \t.,:|\\\x0b\u2028é", max_size=30))
def test_a_line_has_the_same_fields_the_fast_way(line: str) -> None:
    try:
        expected = names(line)
    except DataError:
        with pytest.raises(DataError):
            fields(line, "x.data", 1)
    else:
        assert fields(line, "x.data", 1) == expected


@pytest.mark.parametrize(
    "raw",
    [
        "é, b.\nc\n".encode(),
        "é, b.\r\nc\r\n".encode(),
        "é, b.\rc\r".encode(),
        b"\xef\xbb\xbf" + "é, b.\nc\n".encode(),
        "é, b.\nc\n".encode("latin-1"),
    ],
)
def test_line_ends_and_encodings_do_not_matter(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "x.names").write_bytes(raw)
    assert read_text(tmp_path / "x.names").decode() == "é, b.\nc\n"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is empty"),
        (b" \n\r\n\t", "is empty"),
        (b"\x7fELF\x00\x01", "binary"),
        ("a, b.".encode("utf-16"), "binary"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "x.data"
    path.write_bytes(raw)
    with pytest.raises(DataError, match=message) as caught:
        read_text(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.data", tmp_path):
        with pytest.raises(DataError, match="cannot be read"):
            read_text(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("1", 1.0),
        ("+1.5", 1.5),
        ("-.5e3", -500.0),
        ("5.", 5.0),
        ("1E-2", 0.01),
        ("1e999", math.inf),
        ("-Infinity", -math.inf),
        ("INF", math.inf),
        ("0x1A", 26.0),
        ("-0x.8p1", -1.0),
        ("0x1p9999", math.inf),
        ("-0x1p9999", -math.inf),
        ("0.1", 0.1),
        ("123456789012345678901234567890", 123456789012345678901234567890.0),
    ],
)
def test_number(name: str, value: float) -> None:
    assert number(name) == value


@pytest.mark.parametrize("name", ["?", "nan", "-NaN", "nan(0x1)"])
def test_number_unknown(name: str) -> None:
    assert math.isnan(number(name))


@pytest.mark.parametrize("name", ["", "x", "3x", "1_000", "1e", ".", "1,5", "\u0661", "0x", "1\x0b", "--1", "infinit"])
def test_what_is_no_number(name: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        number(name)


@given(st.floats(allow_nan=False))
def test_number_reads_what_python_writes(value: float) -> None:
    assert number(repr(value)) == value
    assert number(value.hex()) == value


@pytest.mark.parametrize(
    ("given_names", "expected"),
    [
        (["10", "9", "1e1"], ["9", "10", "1e1"]),
        (["b", "10", "9"], ["10", "9", "b"]),
        (["nan", "10", "9"], ["10", "9", "nan"]),
        (["-1", "+2", "inf", "-inf"], ["-inf", "-1", "+2", "inf"]),
        ([], []),
    ],
)
def test_in_order(given_names: list[str], expected: list[str]) -> None:
    assert in_order(given_names) == expected


def test_messages_stay_short() -> None:
    assert len(shown("x" * 1000)) < 80
    assert listed(str(i) for i in range(100)) == "0, 1, 2, 3, 4, 5, 6, 7, and 92 more"
    assert len(listed("x" * 1000 for _ in range(100))) < 600
    assert listed(["a", "two\nlines"]) == r"a, 'two\nlines'"
    assert listed([]) == "none so far"
