"""Parquet and Arrow IPC files, which say the types of their columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.parquet as parquet

from c45gpu.data.attributes import literal
from c45gpu.data.blocks import CASES_OF_A_BLOCK, Progress
from c45gpu.data.namedfiles import NamedFile
from c45gpu.data.tokens import FilePath
from c45gpu.data.values import UNKNOWN, shown
from c45gpu.errors import DataError

T = TypeVar("T")
_BUFFER: Final = 1 << 20  # bytes of a column that are read at a time; without it all of a row group


class ArrowFile(NamedFile):
    """A file with Arrow types; an index that pandas stored beside the columns is none of them.

    Parameters
    ----------
    path : str or os.PathLike

    Raises
    ------
    DataError
        When it cannot be read or is of another format.
    """

    def __init__(self, path: FilePath) -> None:
        super().__init__(path)
        self._rows_before = 0
        self.names = self._told(lambda: _without_index(self._schema()))

    def read(self, names: Sequence[str], as_text: Collection[str]) -> Any:
        """Some columns, of the types they have; `as_text` asks for nothing here.

        Raises
        ------
        DataError
            When the file is damaged or has no rows.
        """
        table = self._told(lambda: self._columns(list(names)).select(list(names)))
        self._told(lambda: table.validate(full=True))  # Arrow trusts a file's offsets: a damaged one would crash it
        self.require_rows(table.num_rows)
        return table

    def spelling(self, value: Any) -> str | None:
        """The name of a value; empty texts and question marks are unknown, as they are in a CSV file."""
        text = literal(value)
        return None if text in ("", UNKNOWN) else text

    def fault(self, name: str, message: str, row: int | None) -> DataError:
        """The error of a column, with the row counted from 1."""
        place = "" if row is None else f", row {self._rows_before + row + 1}"
        return DataError(f"column {shown(name)}{place}: {message}", self.path)

    def types(self) -> dict[str, Any]:
        """The Arrow type of each column."""
        schema = self._told(self._schema)
        return {name: schema.field(name).type for name in self.names}

    def parts(self, names: Sequence[str], progress: Progress | None = None) -> Iterator[tuple[ArrowFile, Any]]:
        """Some columns, a few rows at a time, each with what tells their faults.

        Raises
        ------
        DataError
            When the file is damaged.
        """
        batches, rows_before = self._told(lambda: self._batches(list(names))), 0
        while (found := self._told(lambda: next(batches, None))) is not None:
            batch, bytes_done = found
            self._told(partial(batch.validate, full=True))
            part = copy(self)
            part._rows_before = rows_before
            yield part, pa.table(batch.select(list(names)))
            rows_before += batch.num_rows
            if progress is not None:
                progress(bytes_done)

    @abstractmethod
    def _schema(self) -> Any: ...

    @abstractmethod
    def _columns(self, names: list[str]) -> Any: ...

    @abstractmethod
    def _batches(self, names: list[str]) -> Iterator[tuple[Any, int]]:
        """The rows, at least those columns, a few at a time, and how many bytes of the file are done with them."""

    def _told(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except (OSError, pa.ArrowException) as error:
            reason = str(error).partition("\n")[0].partition(". Detail:")[0].removesuffix(".")
            raise DataError(f"cannot be read ({reason}): check the file", self.path) from None


def _without_index(schema: Any) -> list[str]:
    try:
        described = schema.pandas_metadata
    except ValueError:  # a note that is no JSON is no reason to refuse the data
        described = None
    index = described.get("index_columns") if isinstance(described, dict) else None
    return [name for name in schema.names if not (isinstance(index, list) and name in index)]


class ParquetFile(ArrowFile):
    """A Parquet file."""

    def metadata(self) -> Any:
        """What the end of the file says of its row groups, as pyarrow has it.

        Raises
        ------
        DataError
            When it cannot be read.
        """
        return self._told(lambda: parquet.read_metadata(self.path))

    def _schema(self) -> Any:
        return parquet.read_schema(self.path)

    def _columns(self, names: list[str]) -> Any:
        return parquet.ParquetFile(self.path).read(columns=names)

    def _batches(self, names: list[str]) -> Iterator[tuple[Any, int]]:
        file = parquet.ParquetFile(self.path, buffer_size=_BUFFER, pre_buffer=False)
        rows, size = 0, Path(self.path).stat().st_size
        for batch in file.iter_batches(CASES_OF_A_BLOCK, columns=names):
            rows += batch.num_rows
            yield batch, size * rows // file.metadata.num_rows


class IpcFile(ArrowFile):
    """An Arrow IPC file (Feather version 2) or stream."""

    def _schema(self) -> Any:
        with pa.OSFile(str(self.path)) as file:
            return _opened(file).schema

    def _columns(self, names: list[str]) -> Any:
        with pa.OSFile(str(self.path)) as file:
            content = file.read_buffer()
        return _opened(pa.BufferReader(content)).read_all()

    def _batches(self, names: list[str]) -> Iterator[tuple[Any, int]]:
        with pa.OSFile(str(self.path)) as file:
            reader = _opened(file)
            is_file = hasattr(reader, "num_record_batches")
            batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
            for batch in batches:
                yield batch, file.tell()


def _opened(source: Any) -> Any:
    """The reader of an IPC file, or else of a stream."""
    try:
        return pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source)
