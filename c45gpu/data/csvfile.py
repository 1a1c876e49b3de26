"""CSV and TSV by Arrow's reader; Python's own reader only finds the line when something is wrong."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice
from mmap import ACCESS_READ, mmap
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from c45gpu.data.arrowcolumns import TEXT, read_options, source_of
from c45gpu.data.attributes import literal
from c45gpu.data.compressed import codec_of, content_of
from c45gpu.data.namedfiles import NamedFile
from c45gpu.data.tokens import FilePath, empty, read_bytes, utf8
from c45gpu.data.values import UNKNOWN, shown
from c45gpu.errors import DataError

UNKNOWN_TEXTS: Final = ("", UNKNOWN, "NA", "N/A", "NaN", "nan", "NULL", "null", "<NA>")

_LINE: Final = re.compile(rb"[^\r\n]*+(?:\r\n?|\n|\Z)")


class _Row(NamedTuple):
    """A row that is not blank, with its first and last line."""

    first: int
    last: int
    fields: list[str]


class CsvFile(NamedFile):
    """Delimited text with a header; blanks around names and fields do not count.

    Parameters
    ----------
    path : str or os.PathLike
        Decompressed when its suffix says that it is compressed.
    delimiter : str
    text : bytes or mmap, optional
        What the file holds, or begins with; else it is read.
    lines_before : int
        How many lines of the file stand before the text.

    Raises
    ------
    DataError
        When it cannot be read, is blank, or is no text.
    """

    def __init__(self, path: FilePath, delimiter: str, text: bytes | mmap | None = None, lines_before: int = 0) -> None:
        super().__init__(path)
        self._delimiter, self._lines_before = delimiter, lines_before
        self._text = text_of(path) if text is None else text
        header = next(self._rows(), None)
        if header is None:
            raise empty(path)
        self.header, self._header_end = header.first, header.last - lines_before
        self.names = [name.strip() for name in header.fields]
        self.first_row = self._after_header()
        self._has_quotes = self._text.find(b'"', self.first_row) >= 0

    def part(self, rows: bytes, line: int) -> CsvFile:
        """The same columns with other rows, the first of which begins on a line of the file."""
        part = copy(self)
        part._text = self._text[: self.first_row] + rows
        part._lines_before = line - 1 - self._header_end
        part._has_quotes = b'"' in rows
        return part

    def read(self, names: Sequence[str], as_text: Collection[str]) -> Any:
        """Some columns; types are inferred from all rows, except for `as_text`.

        Raises
        ------
        DataError
            When a row has too few or too many fields, a quote is left open, or there are no rows.
        """
        table = self.read_as(names, dict.fromkeys(as_text, TEXT))
        self.require_rows(table.num_rows)
        return table

    def read_as(self, names: Sequence[str], types: Mapping[str, Any]) -> Any:
        """Some columns, of the types given; others are inferred. There may be no rows.

        Raises
        ------
        DataError
            As :meth:`read` does.
        """
        self._require_closed_quotes()
        try:
            return self._parsed(names, types, across_lines=False)
        except pa.ArrowInvalid:
            self._require_equal_widths()
            return self._parsed_across_lines(names, types)

    def holds(self, types: Mapping[str, Any]) -> bool:
        """Whether some columns can be read as of the types given."""
        try:
            self._parsed(list(types), types, across_lines=self._has_quotes)
        except pa.ArrowInvalid:
            return False
        return True

    def spelling(self, value: Any) -> str | None:
        """A text without the blanks around it; None for `UNKNOWN_TEXTS`."""
        text = literal(value)
        text = None if text is None else text.strip()
        return None if text in UNKNOWN_TEXTS else text

    def fault(self, name: str, message: str, row: int | None) -> DataError:
        """The error of a column, with the line on which the row begins."""
        return DataError(f"column {shown(name)}: {message}", self.path, None if row is None else self._line_of(row))

    def _parsed(self, names: Sequence[str], types: Mapping[str, Any], across_lines: bool) -> Any:
        return arrow_csv.read_csv(
            source_of(self._text),
            read_options=read_options(len(self._text), self.names, self._header_end),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self._delimiter,
                quote_char='"' if self._has_quotes else False,
                newlines_in_values=across_lines,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                include_columns=list(names),
                null_values=[before + text for before in ("", " ") for text in UNKNOWN_TEXTS],
                strings_can_be_null=True,
                true_values=[],  # "true" is a text, so that a class keeps its spelling
                false_values=[],
                auto_dict_encode=True,
                auto_dict_max_cardinality=2**31 - 1,
                check_utf8=False,  # it is, see `text_of`
            ),
        )

    def _parsed_across_lines(self, names: Sequence[str], types: Mapping[str, Any]) -> Any:
        """Once more, slower, for quoted fields with line breaks: Arrow may have cut the text inside one."""
        try:
            return self._parsed(names, types, across_lines=True)
        except pa.ArrowInvalid as error:
            reason = str(error).partition("\n")[0]
            raise DataError(f"cannot be read as CSV ({reason}): check the file", self.path) from None

    def _rows(self, *, strict: bool = False) -> Iterator[_Row]:
        """The rows by Python's reader; a strict one tells an open quote, and ends early where quotes stand oddly."""
        lines = io.TextIOWrapper(pa.BufferReader(pa.py_buffer(self._text)), "utf-8", newline="")
        reader = csv.reader(lines, delimiter=self._delimiter, strict=strict)
        last = self._lines_before
        try:
            for fields in reader:
                last = self._lines_before + reader.line_num
                if fields:
                    yield _Row(last - sum(field.count("\n") for field in fields), last, fields)
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                raise DataError("a quote is opened here and never closed: close it", self.path, last + 1) from None
            if not strict:
                raise DataError(f"cannot be read as CSV ({error}): check this line", self.path, last + 1) from None

    def _after_header(self) -> int:
        """The byte at which the first row begins."""
        at = 0
        for _ in range(self._header_end):
            line = _LINE.match(self._text, at)
            assert line is not None  # it matches any text
            at = line.end()
        return at

    def _line_of(self, row: int) -> int:
        return next(islice(self._rows(), row + 1, None)).first

    def _require_equal_widths(self) -> None:
        due = len(self.names)
        for row in self._rows():
            if len(row.fields) != due:
                raise DataError(
                    f"the row has {len(row.fields)} fields, the header has {due}: fill in what is missing, or put "
                    f"quotes around a field that holds {self._delimiter!r}",
                    self.path,
                    row.first,
                )

    def _require_closed_quotes(self) -> None:
        """Refuse a quote that nothing closes: readers take it and all that follows for one field."""
        if self._has_quotes and np.count_nonzero(np.frombuffer(self._text, np.uint8) == ord('"')) % 2:
            deque(self._rows(strict=True), maxlen=0)


def text_of(path: FilePath) -> bytes | mmap:
    """The text of a file, decompressed, as UTF-8: not copied where it is plain ASCII, as nearly all large files are."""
    if codec_of(path) is not None:
        return utf8(content_of(path), path)
    try:
        with open(path, "rb") as file:
            mapped = mmap(file.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError):  # not to be mapped: empty, a pipe, not there; then the plain way tells why
        return utf8(read_bytes(path), path)
    plain = np.frombuffer(mapped, np.int8).min() > 0  # neither NUL nor, as negative numbers, bytes above 127
    return mapped if plain else utf8(mapped[:], path)
