r"""Text as C4.5 reads it: clean bytes from a file, and the names in them.

Glossary: a *name* is what stands between two delimiters, be it a class, an attribute, a value or a number; the
*delimiters* are ``:`` ``,`` the end of a line, and a ``.`` that a blank, a ``|`` or the end of the line follows; ``|``
opens a comment that runs to the end of its line; ``\x`` is the character x and no delimiter.

    play St\. Louis:  rain , drizzle.   | a comment
    ^-------------^^  ^--^ ^ ^-----^^
    name           :  name , name   .
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from c45gpu.errors import DataError

FilePath = str | PathLike[str]

BLANKS = " \t"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SKIPPED = re.compile(r"(?:[ \t\n]++|\|[^\n]*+)*+")
_NAME = re.compile(r"(?:[^\\:,|.\n]++|\\[^\n]|\.(?![ \t|\n]|\Z))*+")
_ESCAPE_OR_SPACES = re.compile(r"(?s)\\ +|\\(.)| +")
_SPECIAL = re.compile(r"[\\|:]|\.[ \t]")


class Token(NamedTuple):
    """A name, the delimiter that ended it (``:`` ``,`` ``.`` or a line feed), and its line, counted from 1."""

    name: str
    delimiter: str
    line: int


def read_bytes(path: FilePath) -> bytes:
    """The bytes of a file.

    Raises
    ------
    DataError
        When the file is missing or cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: FilePath, error: OSError) -> DataError:
    """The error of a file that is missing or cannot be read."""
    reason = os.strerror(error.errno) if error.errno else str(error)  # not strerror: Arrow says more there, in lines
    return DataError(f"cannot be read ({reason}): check the path", path)


def empty(path: FilePath) -> DataError:
    """The error of a file without text."""
    return DataError("is empty: give a file with data in it", path)


def binary(path: FilePath) -> DataError:
    """The error of a file that is no text."""
    return DataError("is a binary file (it holds NUL bytes), not text: give text, encoded as UTF-8", path)


def utf8(raw: bytes, path: FilePath) -> bytes:
    """Text as UTF-8 without a byte order mark; what is not UTF-8 is taken for Latin-1.

    Raises
    ------
    DataError
        When it is blank, or holds NUL bytes: then it is no text, or UTF-16.
    """
    if not raw or raw.isspace():
        raise empty(path)
    if b"\0" in raw:
        raise binary(path)
    raw = raw.removeprefix(BYTE_ORDER_MARK)
    if raw.isascii():
        return raw
    try:
        raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1").encode()
    return raw


def with_line_feeds(text: bytes) -> bytes:
    """A text whose lines all end in a line feed."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def tokens(text: str, path: FilePath, first_line: int = 1) -> Iterator[Token]:
    """The names of a text, one after the other.

    Raises
    ------
    DataError
        When a line ends in a backslash.
    """
    at, line = 0, first_line
    while True:
        start = _end(_SKIPPED, text, at)
        line += text.count("\n", at, start)
        if start == len(text):
            return
        at = _end(_NAME, text, start)
        delimiter = text[at : at + 1]
        if delimiter == "\\":
            raise DataError(
                "the line ends in a backslash, which escapes nothing: write \\\\ for a backslash", path, line
            )
        if delimiter in ("", "|"):
            delimiter = "\n"
        yield Token(_plain(text[start:at]), delimiter, line)
        at += delimiter != "\n"


def fields(line: str, path: FilePath, number: int) -> list[str]:
    """The names in one line of a ``.data`` file: what `tokens` gives, only faster where nothing special is in it."""
    if _SPECIAL.search(line):
        return [token.name for token in tokens(line, path, number)]
    parts = [part.strip(BLANKS) for part in line.split(",")]
    if not parts[-1]:
        parts.pop()  # nothing after the last comma, or nothing at all
    elif parts[-1].endswith("."):
        parts[-1] = parts[-1][:-1].rstrip(BLANKS)
    return [_single_spaced(part) if "  " in part else part for part in parts]


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None  # both patterns match the empty text
    return found.end()


def _plain(raw: str) -> str:
    """A name without its escapes; a run of spaces becomes one, blanks at the end go."""
    if "\\" not in raw:
        return _single_spaced(raw.rstrip(BLANKS))
    end = len(raw.rstrip(BLANKS))
    backslashes = end - len(raw[:end].rstrip("\\"))
    end += backslashes % 2  # an odd one escapes the blank behind it, which then stays
    return _ESCAPE_OR_SPACES.sub(lambda piece: piece[1] or " ", raw[:end])


def _single_spaced(raw: str) -> str:
    return re.sub(" +", " ", raw)
