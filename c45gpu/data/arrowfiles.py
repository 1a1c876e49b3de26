"""Files whose columns have names: CSV, Parquet and Arrow IPC, each as columns of Arrow's.

Every error is one line of our own: Arrow's messages run over several and do not always know the line.
"""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv as arrow_csv

from c45gpu.data.arrowcolumns import TEXT, read_options
from c45gpu.data.attributes import literal
from c45gpu.data.schema import first_duplicate
from c45gpu.data.tokens import FilePath, read_bytes, utf8
from c45gpu.data.values import UNKNOWN
from c45gpu.errors import DataError

UNKNOWN_TEXTS: Final = ("", UNKNOWN, "NA", "N/A", "NaN", "nan", "NULL", "null", "<NA>")
COMPRESSED: Final = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
IPC: Final = (".arrow", ".feather", ".ipc")
PARQUET: Final = (".parquet", ".pq")


class NamedColumns(ABC):
    """A file whose columns have names.

    Parameters
    ----------
    path : str or os.PathLike

    Attributes
    ----------
    names : list of str
        The columns, in order.
    """

    names: list[str]

    def __init__(self, path: FilePath) -> None:
        self.path = path

    @abstractmethod
    def read(self, names: Sequence[str], as_text: Collection[str]) -> Any:
        """Some columns as a pyarrow.Table; those in `as_text` keep their spelling where the file has one."""

    @abstractmethod
    def spelling(self, value: Any) -> str | None:
        """The name of a value, None where it stands for unknown."""

    @abstractmethod
    def fault(self, name: str, message: str, row: int | None) -> DataError:
        """The error of a column, at a row counted from 0."""

    def require_names(self) -> None:
        """Refuse a file that has a column without a name or two with the same."""
        if "" in self.names:
            raise DataError(f"column {self.names.index('') + 1} has no name: name it in the header", self.path, self._header)
        if (twice := first_duplicate(self.names)) is not None:
            raise DataError(f"two columns are named {twice!r}: rename one", self.path, self._header)

    @property
    def _header(self) -> int | None:
        return None


class CsvFile(NamedColumns):
    """Delimited text with a header; blanks around names and fields do not count.

    Parameters
    ----------
    path : str or os.PathLike
    delimiter : str
    """

    def __init__(self, path: FilePath, delimiter: str) -> None:
        super().__init__(path)
        self._delimiter = delimiter
        raw = _decompressed(path) if Path(path).suffix in COMPRESSED else read_bytes(path)
        self._text = utf8(raw, path)
        self._header_lines, header = next(self._rows(), (1, [""]))
        self.names = [name.strip() for name in header]

    def read(self, names: Sequence[str], as_text: Collection[str]) -> Any:
        """Some columns, kinds inferred except for `as_text`; the whole file is looked at, not its beginning.

        Raises
        ------
        DataError
            When a row has too few or too many fields, a quote is left open, or there are no rows.
        """
        self._require_closed_quotes()
        convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(as_text, TEXT),
            include_columns=list(names),
            null_values=[before + text for before in ("", " ") for text in UNKNOWN_TEXTS],
            strings_can_be_null=True,
            true_values=[],  # "true" is a text: a class keeps its spelling
            false_values=[],
            auto_dict_encode=True,
            auto_dict_max_cardinality=2**31 - 1,
        )
        try:
            table = self._parsed(convert, across_lines=False)
        except pa.ArrowInvalid:
            self._require_equal_widths()
            table = self._parsed_across_lines(convert)
        if not table.num_rows:
            raise DataError("has a header but no rows: give at least one case", self.path)
        return table

    def spelling(self, value: Any) -> str | None:
        """A text without the blanks around it; None for `UNKNOWN_TEXTS`."""
        text = literal(value)
        text = None if text is None else text.strip()
        return None if text in UNKNOWN_TEXTS else text

    def fault(self, name: str, message: str, row: int | None) -> DataError:
        """The error of a column, with the line on which the row begins."""
        line = None if row is None else self._line_of(row)
        return DataError(f"column {name!r}: {message}", self.path, line)

    @property
    def _header(self) -> int | None:
        return self._header_lines

    @cached_property
    def _has_quotes(self) -> bool:
        return b'"' in self._text

    def _parsed(self, convert: Any, across_lines: bool) -> Any:
        return arrow_csv.read_csv(
            pa.BufferReader(self._text),
            read_options=read_options(len(self._text), self.names, self._header_lines),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self._delimiter, quote_char='"' if self._has_quotes else False, newlines_in_values=across_lines
            ),
            convert_options=convert,
        )

    def _parsed_across_lines(self, convert: Any) -> Any:
        """Once more, slower, for quoted fields with line breaks in them: Arrow may have cut the text inside one."""
        try:
            return self._parsed(convert, across_lines=True)
        except pa.ArrowInvalid as error:
            raise DataError(f"cannot be read as CSV: {_first_line(error)}", self.path) from None

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Each row that is not blank, with the number of its last line."""
        lines = io.TextIOWrapper(io.BytesIO(self._text), "utf-8", newline="")
        reader = csv.reader(lines, delimiter=self._delimiter)
        try:
            for row in reader:
                if row:
                    yield reader.line_num, row
        except csv.Error as error:
            raise DataError(f"cannot be read as CSV: {error}", self.path, reader.line_num) from None

    def _line_of(self, row: int) -> int:
        """The first line of a row after the header."""
        before, (_, fields) = islice(self._rows(), row, row + 2)
        return before[0] + 1
    
    def _require_equal_widths(self) -> None:
        last = 0
        for line, row in self._rows():
            if len(row) != len(self.names):
                raise DataError(
                    f"the row has {len(row)} fields, but the header has {len(self.names)}: "
                    f"put quotes around a field that holds {self._delimiter!r}, or fill in what is missing",
                    self.path,
                    last + 1,
                )
            last = line
