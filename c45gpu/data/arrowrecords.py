"""The records of a ``.data`` or ``.test`` file by Arrow's CSV reader: fast, and silent about what it cannot read.

Texts become names by the same functions as in `records`, only once for each distinct text. Whenever a file holds
something that Arrow may take otherwise than C4.5 does, or something wrong, the answer is None: the exact reader then
finds out what it is, and on which line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from c45gpu.data.arrowcolumns import TEXT, coded, floats, read_options, source_of
from c45gpu.data.records import Columns, Reading
from c45gpu.data.table import Int32s, Table
from c45gpu.data.tokens import fields
from c45gpu.data.values import UNKNOWN

_COMMENT = re.compile(rb"\|[^\n]*")
_STOP_INSIDE = re.compile(rb"\.[ \t]+[^ \t\n]")
_UNKNOWN_NUMBERS = [before + UNKNOWN + after for before in ("", " ") for after in ("", " ")]


class _Fault(Exception):
    """Something that the exact reader should look at."""


class _Body(NamedTuple):
    """Lines for Arrow, and how many fields each should have."""

    text: bytes
    width: int


def quick_table(text: bytes, reading: Reading) -> Table | None:
    """The table of a text that is plain enough, else None.

    Parameters
    ----------
    text : bytes
        UTF-8 whose lines end in a line feed.
    reading : Reading
        Not to be used again after None.
    """
    body = _plain_body(text, reading)
    if body is None:
        return None
    try:
        table = _table(body, reading)
    except (pa.ArrowInvalid, ValueError, _Fault):
        return None
    reading.width = body.width
    return table


def _plain_body(text: bytes, reading: Reading) -> _Body | None:
    if b"\\" in text or b":" in text:
        return None
    if b"|" in text:
        text = _COMMENT.sub(b"", text)
    if (b". " in text or b".\t" in text) and _STOP_INSIDE.search(text):
        return None
    first = text.lstrip(b"\n").partition(b"\n")[0]
    width = first.count(b",") + 1
    return _Body(text, width) if width == (reading.width or reading.due(width)) else None


def _table(body: _Body, reading: Reading) -> Table:
    schema, last = reading.schema, body.width - 1
    types = {a: TEXT if a in reading.codes else pa.float64() for a in schema.used}
    types.setdefault(last, TEXT)  # the class; or an ignored attribute, which must still be one field
    found = arrow_csv.read_csv(
        source_of(body.text),
        read_options=read_options(len(body.text), [str(a) for a in range(body.width)]),
        parse_options=arrow_csv.ParseOptions(quote_char=False, escape_char=False),
        convert_options=arrow_csv.ConvertOptions(
            column_types={str(a): type_ for a, type_ in types.items()},
            include_columns=[str(a) for a in types],
            null_values=_UNKNOWN_NUMBERS,
            strings_can_be_null=False,
        ),
    )
    if not found.num_rows:
        raise _Fault
    columns: Columns = [None] * len(schema.attributes)
    for a in schema.used:
        column = found.column(str(a))
        columns[a] = (
            _codes(column, reading.codes[a].code, a == last) if a in reading.codes else floats(column, np.float64)
        )
    if last in schema.used:
        return reading.table(columns, np.full(found.num_rows, -1, np.int32))
    end = reading.class_number if last == len(columns) else _no_class
    return reading.table(columns, _codes(found.column(str(last)), end, True))


def _no_class(_: str) -> int:
    return -1


def _codes(column: Any, code: Callable[[str], int], is_last: bool) -> Int32s:
    """Codes of a column of texts, each distinct one read as the field it is."""
    texts, codes = coded(column)
    meant = [code(_field(text, is_last)) for text in texts]
    return np.array(meant, np.int32)[codes]


def _field(text: str, is_last: bool) -> str:
    names = fields(text if is_last else text + ",", "", 0)
    if len(names) != 1:
        raise _Fault
    return names[0]
