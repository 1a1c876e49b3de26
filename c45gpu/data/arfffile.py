"""Weka's ARFF, dense and sparse: its nominal attributes are discrete, with the values in the order declared.

Read as Weka reads it, but stricter: an empty field is refused, and so are relational attributes. Texts are discrete,
dates count in seconds since 1970. A row may end in its weight, ``{2}``; a sparse row, ``{0 3.5, 2 red}``, leaves out
zeros and first values.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from copy import copy
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from c45gpu.data.arffheader import Column, read_header
from c45gpu.data.arfftokens import Token, tokens, values
from c45gpu.data.arrowcolumns import TEXT, coded, read_options, source_of
from c45gpu.data.attributes import literal
from c45gpu.data.csvfile import text_of
from c45gpu.data.namedfiles import NamedFile
from c45gpu.data.tokens import FilePath, with_line_feeds
from c45gpu.data.values import UNKNOWN, listed, shown
from c45gpu.errors import DataError

_DATA: Final = re.compile(rb"^[ \t]*@data(?=[\s%]|\Z)[^\n]*\n?", re.IGNORECASE | re.MULTILINE)
_SPECIAL: Final = (b"'", b'"', b"\\", b"%", b"{", b"}")
_BLANK_INSIDE: Final = re.compile(rb"[^ \t,\n][ \t]+[^ \t,\n]")
_UNKNOWN: Final = [before + UNKNOWN + after for before in ("", " ") for after in ("", " ")]
_OPEN: Final = Token("{", "mark")
_CLOSE: Final = Token("}", "mark")


class ArffFile(NamedFile):
    """An ARFF file; its last attribute is the class, if it is nominal and no other is named.

    Parameters
    ----------
    path : str or os.PathLike
        Decompressed when its suffix says that it is compressed.
    text : bytes, optional
        What the file holds, with line feeds, or begins with, at least its head; else it is read.

    Raises
    ------
    DataError
        When it cannot be read, or its head is not as ARFF has it.
    """

    keeps_order = True

    def __init__(self, path: FilePath, text: bytes | None = None) -> None:
        super().__init__(path)
        text = with_line_feeds(text_of(path)[:]) if text is None else text
        end = end_of_head(text) or len(text)
        self._columns, self.header = read_header(text[:end].decode().split("\n"), path)
        self._body, self._first_line = text[end:], self.header + 1
        self.names = [column.name for column in self._columns]
        if self._columns[-1].kind == "nominal":
            self.own_target = self.names[-1]

    def part(self, rows: bytes, line: int) -> ArffFile:
        """The same columns with other rows, the first of which begins on a line of the file."""
        part = copy(self)
        part._body, part._first_line, part.weights = rows, line, None
        return part

    def types(self, names: Sequence[str]) -> dict[str, Any]:
        """The Arrow types that columns have when they are read."""
        kinds = {column.name: column.kind for column in self._columns}
        return {name: {"nominal": TEXT, "string": pa.string()}.get(kinds[name], pa.float64()) for name in names}

    def read(self, names: Sequence[str], as_text: Collection[str]) -> Any:
        """Some columns: dictionaries in the order declared, numbers, texts; `as_text` asks for nothing here.

        Raises
        ------
        DataError
            At the first row that does not fit, or when there is none.
        """
        table = self.read_rows(names)
        self.require_rows(table.num_rows)
        return table

    def read_rows(self, names: Sequence[str]) -> Any:
        """Some columns, as :meth:`read` gives them; there may be no rows."""
        columns = self._quick() or self._exact()
        return pa.table([columns[self.names.index(name)] for name in names], list(names))

    def spelling(self, value: Any) -> str | None:
        """The name of a value: as it is."""
        return literal(value)

    def fault(self, name: str, message: str, row: int | None) -> DataError:
        """The error of a column, with the line of the row."""
        line = None if row is None else [number for number, _ in self._rows()][row]
        return DataError(f"column {shown(name)}: {message}", self.path, line)

    def _quick(self) -> list[Any] | None:
        """All columns by Arrow's CSV reader; None where the exact reader must tell what there is, or what is wrong."""
        if not _is_plain(self._body) or any(column.kind == "date" for column in self._columns):
            return None
        numbers = [str(a) for a in range(len(self._columns))]
        types = {a: pa.float64() if c.kind == "numeric" else TEXT for a, c in zip(numbers, self._columns, strict=True)}
        try:
            found = arrow_csv.read_csv(
                source_of(self._body),
                read_options=read_options(len(self._body), numbers),
                parse_options=arrow_csv.ParseOptions(quote_char=False, escape_char=False),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types, null_values=_UNKNOWN, strings_can_be_null=True
                ),
            )
            return [_meant(c, found.column(a)) for a, c in zip(numbers, self._columns, strict=True)]
        except (pa.ArrowInvalid, ValueError):
            return None

    def _exact(self) -> list[Any]:
        cells, weights = [_Cells(column) for column in self._columns], array("d")
        for row, (line, found) in enumerate(self._rows()):
            sparse = found[0] == _OPEN
            weights.append(self._weight(found, line, 1 if sparse else 0))
            for a, text in self._sparse(found, line) if sparse else enumerate(self._dense(found, line)):
                try:
                    cells[a].put(row, text)
                except ValueError as fault:
                    raise DataError(f"attribute {shown(self.names[a])}: {fault}", self.path, line) from None
        if weights and set(weights) != {1.0}:
            self.weights = np.array(weights)
        return [column.whole(len(weights)) for column in cells]

    def _rows(self) -> Iterator[tuple[int, list[Token]]]:
        """Line numbers and tokens of the lines that hold something."""
        for line, text in enumerate(self._body.decode().split("\n"), self._first_line):
            if found := list(tokens(text, self.path, line)):
                yield line, found

    def _weight(self, found: list[Token], line: int, start: int) -> float:
        """The weight of a row, 1 where it has none; it is taken from the tokens."""
        if _OPEN not in found[start:]:
            return 1.0
        at = found.index(_OPEN, start)
        part = found[at:]
        del found[at:]
        if found[-1] == Token(",", "mark"):
            found.pop()
        try:
            weight = float(part[1].text) if len(part) == 3 and part[2] == _CLOSE else math.nan
        except ValueError:
            weight = math.nan
        if not 0 <= weight < math.inf:
            raise DataError("the row's weight is no finite number of at least 0: write {2}, or none", self.path, line)
        return weight

    def _dense(self, found: list[Token], line: int) -> list[str | None]:
        row, due = values(found, self.path, line), len(self._columns)
        if len(row) != due:
            remedy = "is one missing?" if len(row) < due else "put quotes around one that holds blanks or commas"
            raise DataError(f"the row has {len(row)} values where {due} are due: {remedy}", self.path, line)
        return row

    def _sparse(self, found: list[Token], line: int) -> Iterator[tuple[int, str | None]]:
        """The attributes that a row mentions, and the texts that it leaves out of none."""
        if found[-1] != _CLOSE:
            raise DataError("the sparse row does not end in '}': close it on its line", self.path, line)
        row = values(found[1:-1], self.path, line)
        numbers = {str(a): a for a in range(len(self._columns))}
        keys = row[::2]
        places = [numbers[key] for key in keys if key in numbers]
        if len(row) % 2 or len(places) < len(keys) or any(b <= a for a, b in pairwise(places)):
            raise DataError(
                "the sparse row does not list pairs of an attribute's number, from 0 and rising, and its value",
                self.path,
                line,
            )
        for a, column in enumerate(self._columns):
            if column.kind == "string" and a not in places:
                message = f"the sparse row leaves out the text {shown(column.name)}: write '' or ? for it"
                raise DataError(message, self.path, line)
        return zip(places, row[1::2], strict=True)


def end_of_head(text: bytes) -> int:
    """Where the rows begin, behind the line ``@data``; 0 where there is none."""
    data = _DATA.search(text)
    return 0 if data is None else data.end()


class _Cells:
    """The cells of a column while rows are read; a row without one has 0, or the first value."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._rows = array("q")
        self._numeric = column.kind in ("numeric", "date")
        self._cells: array[Any] = array("d" if self._numeric else "i")
        self._code_of = {value: code for code, value in enumerate(column.values)}

    def put(self, row: int, text: str | None) -> None:
        """Take the cell of a row; ValueError where the text does not fit the column."""
        self._rows.append(row)
        self._cells.append(self._meaning(text))

    def whole(self, n_rows: int) -> Any:
        """The column as Arrow's."""
        column = np.zeros(n_rows, np.float64 if self._numeric else np.int32)
        column[np.array(self._rows, np.int64)] = np.array(self._cells, column.dtype)
        return pa.array(column) if self._numeric else _dictionary(self._column, list(self._code_of), column)

    def _meaning(self, text: str | None) -> float:
        if text is None:
            return math.nan if self._numeric else -1
        if self._numeric:
            return self._column.size(text)
        if self._column.kind == "string":
            return self._code_of.setdefault(text, len(self._code_of))
        if text not in self._code_of:
            declared = listed(self._column.values)
            raise ValueError(f"{shown(text)} is not one of its values ({declared}): correct it, or declare it")
        return self._code_of[text]


def _is_plain(body: bytes) -> bool:
    """Whether commas alone part the fields, and nothing has a meaning of its own."""
    if any(mark in body for mark in _SPECIAL):
        return False
    return not (b" " in body or b"\t" in body) or _BLANK_INSIDE.search(body) is None


def _meant(column: Column, found: Any) -> Any:
    """A column that Arrow read; ValueError where the exact reader should look at it."""
    if column.kind == "numeric":
        return found
    texts, codes = coded(found)
    names = [text.strip(" \t") for text in texts]
    if "" in names:
        raise ValueError
    known = column.values or tuple(dict.fromkeys(name for name in names if name != UNKNOWN))
    code_of = {**{name: code for code, name in enumerate(known)}, UNKNOWN: -1}
    if any(name not in code_of for name in names):
        raise ValueError
    return _dictionary(column, known, np.array([*(code_of[name] for name in names), -1], np.int32)[codes])


def _dictionary(column: Column, names: Sequence[str], codes: Any) -> Any:
    """Texts as such, for their order means nothing; nominal values as a dictionary."""
    whole = pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(names, pa.string()))
    return whole.dictionary_decode() if column.kind == "string" else whole
