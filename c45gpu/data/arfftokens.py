r"""The tokens of Weka's ARFF, as Java's StreamTokenizer gives them to Weka.

A *word* ends at a blank, a comma, a brace, a quote or a ``%``, which opens a comment up to the end of the line. A
*quotation* stands between ``'`` or ``"``; a backslash in it escapes the character behind it. A *mark* is a comma or
a brace. A line break ends everything.

    @attribute 'body mass' {low, 'very high'}   % a comment
    word-----^ quotation-^ m    m quotation m
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from c45gpu.data.tokens import FilePath
from c45gpu.data.values import UNKNOWN
from c45gpu.errors import DataError

_TOKEN: Final = re.compile(
    r"""[\0-\ ]*+ (?: (?P<quotation> ' (?: [^'\\] | \\. )*+ ' | " (?: [^"\\] | \\. )*+ " )
                    | (?P<mark> [{},] ) | (?P<open> ['"] ) | (?P<comment> %.* | \Z )
                    | (?P<word> [^\0-\ {},'"%]++ ) )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([0-3]?[0-7]{1,2})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a", "b": "\b"}
_NEEDS_QUOTES: Final = re.compile(r"""[\0-\ {},'"%\\]""")
_WRITTEN: Final = str.maketrans(
    {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "%": "\\%"}
)


class Token(NamedTuple):
    """A text and what it is: "word", "quotation" (then without its quotes and escapes) or "mark"."""

    text: str
    kind: str


def tokens(line: str, path: FilePath, number: int) -> Iterator[Token]:
    """The tokens of a line.

    Raises
    ------
    DataError
        When a quotation is not closed on its line.
    """
    at = 0
    while True:
        found = _TOKEN.match(line, at)
        assert found is not None  # any character begins one of the tokens, and so does the end
        kind, at = str(found.lastgroup), found.end()
        text = found[kind]
        if kind == "comment":
            return
        if kind == "open":
            raise DataError(
                f"a quote is opened here and never closed: close it, or write \\{text} for one that belongs to a name",
                path,
                number,
            )
        yield Token(_plain(text[1:-1]) if kind == "quotation" else text, kind)


def values(found: Iterable[Token], path: FilePath, number: int) -> list[str | None]:
    """The values of a row or a list, between which a comma or blanks stand; None where one is unknown.

    Raises
    ------
    DataError
        When a comma has no value before or behind it, or a brace is among them.
    """
    read: list[str | None] = []
    due = True  # a comma now would have nothing before it
    for text, kind in found:
        if kind != "mark":
            read.append(None if kind == "word" and text == UNKNOWN else text)
            due = False
        elif text != ",":
            raise DataError(f"{text!r} stands where a value is due: put quotes around it", path, number)
        elif due:
            raise DataError("there is no value before a comma: write ? for unknown", path, number)
        else:
            due = True
    if due and read:
        raise DataError("there is no value behind the last comma: write ? for unknown", path, number)
    return read


def quoted(name: str) -> str:
    """A name as Weka writes it: between quotes where it is not a plain word."""
    if name and name != UNKNOWN and not _NEEDS_QUOTES.search(name):
        return name
    return f"'{name.translate(_WRITTEN)}'"


def _plain(raw: str) -> str:
    return _ESCAPE.sub(_meant, raw) if "\\" in raw else raw


def _meant(escape: re.Match[str]) -> str:
    hexadecimal, octal, other = escape.groups()
    if other is None:
        return chr(int(hexadecimal, 16) if hexadecimal else int(octal, 8))
    return _ESCAPED.get(other, other)
