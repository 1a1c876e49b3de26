"""What the head of an ARFF file declares: ``@relation``, a line ``@attribute NAME TYPE`` for each column, ``@data``.

A TYPE is ``numeric`` (or ``real``, ``integer``), ``{VALUE, VALUE}``, ``string``, or ``date`` with a pattern of Java's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from c45gpu.data.arfftokens import Token, tokens, values
from c45gpu.data.schema import first_duplicate
from c45gpu.data.tokens import FilePath
from c45gpu.data.values import number as spelled_number
from c45gpu.data.values import shown
from c45gpu.errors import DataError

_NUMERIC: Final = ("numeric", "real", "integer")
_DATE: Final = "yyyy-MM-dd'T'HH:mm:ss"
_PATTERN: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_FIELDS: Final = {
    "yyyy": "%Y",
    "MM": "%m",
    "MMM": "%b",
    "MMMM": "%B",
    "dd": "%d",
    "d": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%f",
    "Z": "%z",
}


class Column(NamedTuple):
    """A declared attribute.

    Parameters
    ----------
    name : str
    kind : {"numeric", "nominal", "string", "date"}
    values : tuple of str
        Those of a nominal attribute.
    size : callable
        The number that a text of a numeric or date attribute stands for; raises ValueError.
    """

    name: str
    kind: Literal["numeric", "nominal", "string", "date"]
    values: tuple[str, ...] = ()
    size: Callable[[str], float] = spelled_number


class Header(NamedTuple):
    """The declared attributes, and how many lines the head has, ``@data`` included."""

    columns: tuple[Column, ...]
    n_lines: int


def read_header(lines: Sequence[str], path: FilePath) -> Header:
    """The head of a file.

    Raises
    ------
    DataError
        When something is declared twice, or not as ARFF has it; the message names the line.
    """
    columns: dict[str, Column] = {}
    for number, line in enumerate(lines, 1):
        found = list(tokens(line, path, number))
        if not found:
            continue
        keyword = found[0].text.lower() if found[0].kind == "word" else ""
        if keyword == "@data":
            if not columns:
                raise DataError("declares no attributes: add lines like '@attribute NAME numeric'", path, number)
            return Header(tuple(columns.values()), number)
        if keyword == "@attribute":
            column = _column(found[1:], path, number)
            if column.name in columns:
                raise DataError(f"attribute {shown(column.name)} is declared twice: rename one", path, number)
            columns[column.name] = column
        elif keyword != "@relation":
            raise DataError(
                f"the line begins with {shown(found[0].text)}: before @data stand @relation and @attribute only",
                path,
                number,
            )
    raise DataError("has no line '@data': is it an ARFF file, and whole?", path)


def _column(found: Sequence[Token], path: FilePath, number: int) -> Column:
    if len(found) < 2 or found[0].kind == "mark":
        raise DataError("the attribute has no name or no type: write '@attribute NAME TYPE'", path, number)
    name, first, rest = found[0].text, found[1], found[2:]
    if (first.text, first.kind) == ("{", "mark"):
        return Column(name, "nominal", _nominal(name, rest, path, number))
    kind = first.text.lower()
    if kind == "date" and len(rest) < 2:
        return Column(name, "date", (), _date(name, rest[0].text if rest else _DATE, path, number))
    if kind in (*_NUMERIC, "string"):
        if rest:
            message = f"attribute {shown(name)}: {shown(rest[0].text)} follows the type: take it out"
            raise DataError(message, path, number)
        return Column(name, "string" if kind == "string" else "numeric")
    raise DataError(
        f"attribute {shown(name)} has the type {shown(first.text)}: numeric, string, date and {{A, B}} can be read",
        path,
        number,
    )


def _nominal(name: str, found: Sequence[Token], path: FilePath, number: int) -> tuple[str, ...]:
    if not found or found[-1] != ("}", "mark"):
        raise DataError(f"attribute {shown(name)}: the list of its values does not end in '}}'", path, number)
    listed = values(found[:-1], path, number)
    known = tuple(value for value in listed if value is not None)
    if not known or len(known) < len(listed):
        what = "no values" if not listed else "?, which means unknown, among its values"
        raise DataError(f"attribute {shown(name)} has {what}: list them, with quotes where needed", path, number)
    if (twice := first_duplicate(known)) is not None:
        raise DataError(f"attribute {shown(name)}: {shown(twice)} is listed twice: take one out", path, number)
    return known


def _date(name: str, pattern: str, path: FilePath, number: int) -> Callable[[str], float]:
    parts: list[str] = []
    for part in _PATTERN.finditer(pattern):
        if part[2] is not None and _FIELDS.get(part[0]) in (None, *parts):
            once = f"use {', '.join(_FIELDS)}, each once"
            raise DataError(
                f"attribute {shown(name)}: {part[0]!r} in the date pattern cannot be read: {once}", path, number
            )
        plain = part[1] if part[1] is not None else part[0]
        parts.append(_FIELDS[part[0]] if part[2] is not None else plain.replace("''", "'").replace("%", "%%"))
    layout = "".join(parts)

    def seconds(text: str) -> float:
        try:
            moment = datetime.strptime(text, layout)
        except ValueError:
            raise ValueError(f"{shown(text)} is no date of the pattern {pattern!r}: correct it") from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

    return seconds
