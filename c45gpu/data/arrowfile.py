"""Parquet and Arrow IPC files, which say the types of their columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as parquet

from c45gpu.data.attributes import literal
from c45gpu.data.namedfiles import NamedFile
from c45gpu.data.tokens import FilePath
from c45gpu.data.values import UNKNOWN, shown
from c45gpu.errors import DataError

T = TypeVar("T")


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
        return DataError(f"column {shown(name)}{'' if row is None else f', row {row + 1}'}: {message}", self.path)

    @abstractmethod
    def _schema(self) -> Any: ...

    @abstractmethod
    def _columns(self, names: list[str]) -> Any: ...

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

    def _schema(self) -> Any:
        return parquet.read_schema(self.path)

    def _columns(self, names: list[str]) -> Any:
        return parquet.ParquetFile(self.path).read(columns=names)


class IpcFile(ArrowFile):
    """An Arrow IPC file (Feather version 2) or stream."""

    def _schema(self) -> Any:
        return self._opened().schema

    def _columns(self, names: list[str]) -> Any:
        return self._opened().read_all()

    def _opened(self) -> Any:
        with pa.OSFile(str(self.path)) as file:
            content = file.read_buffer()
        try:
            return pa.ipc.open_file(content)
        except pa.ArrowInvalid:
            return pa.ipc.open_stream(content)
