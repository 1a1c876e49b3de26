"""Parquet files by row groups, so that parts of a data set can be read apart, and on other machines."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow.parquet as parquet

from c45gpu.data.arrowfile import ParquetFile
from c45gpu.data.tokens import FilePath
from c45gpu.data.values import shown
from c45gpu.errors import DataError

SUFFIXES: Final = (".parquet", ".pq")


class Footer(NamedTuple):
    """What the end of a Parquet file says of it.

    Attributes
    ----------
    path : str
    names : tuple of str
        The columns, in order.
    rows, sizes : tuple of int
        Rows of each row group, and its bytes before compression.
    """

    path: str
    names: tuple[str, ...]
    rows: tuple[int, ...]
    sizes: tuple[int, ...]


class RowGroups(NamedTuple):
    """Consecutive row groups of a file.

    Attributes
    ----------
    path : str
    names : tuple of str
        The columns, in the order wanted.
    first : int
        The first of them.
    rows : tuple of int
        Rows of each.
    before : int
        Rows of the file before them.
    """

    path: str
    names: tuple[str, ...]
    first: int
    rows: tuple[int, ...]
    before: int

    @property
    def place(self) -> str:
        """What they are called in messages."""
        last = self.first + len(self.rows) - 1
        return f"{self.path}, row group{'' if last == self.first else 's'} {self.first}" + (
            "" if last == self.first else f" to {last}"
        )


class RowGroupsFile(ParquetFile):
    """Some row groups of a Parquet file, as if they were a file.

    Parameters
    ----------
    groups : RowGroups

    Raises
    ------
    DataError
        When the file cannot be read.
    """

    def __init__(self, groups: RowGroups) -> None:
        super().__init__(groups.path)
        self.names = list(groups.names)
        self._groups = groups

    def fault(self, name: str, message: str, row: int | None) -> DataError:
        """The error of a column, with the row of the file, counted from 1, and its row group, counted from 0."""
        groups = self._groups
        if row is None:
            return DataError(f"column {shown(name)}: {message}", groups.place)
        group = groups.first + sum(row >= end for end in accumulate(groups.rows))
        where = f"column {shown(name)}, row {groups.before + row + 1} (row group {group})"
        return DataError(f"{where}: {message}", groups.path)

    def _columns(self, names: list[str]) -> Any:
        groups = self._groups
        numbers = range(groups.first, groups.first + len(groups.rows))
        with parquet.ParquetFile(groups.path) as file:
            return file.read_row_groups(list(numbers), columns=names)


def files_of(paths: FilePath | Sequence[FilePath]) -> list[str]:
    """The Parquet files that paths name: files, folders with all that is in them, patterns such as ``part-*.parquet``.

    Raises
    ------
    DataError
        When a path names none, or a folder is cut by the values of a column, which the files then lack.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = [file for path in given for file in _files_of(os.path.abspath(path))]
    if not found:
        raise DataError("no path is given: name a Parquet file, a folder of such files, or a pattern")
    return found


def _files_of(path: str) -> list[str]:
    if os.path.isdir(path):
        inside = [str(file) for file in Path(path).rglob("*") if file.suffix in SUFFIXES]
        parts = {file: os.path.relpath(file, path).split(os.sep) for file in inside}
        files = sorted(file for file in inside if not any(part.startswith(("_", ".")) for part in parts[file]))
        if cut := next((part for file in files for part in parts[file][:-1] if "=" in part), None):
            raise DataError(
                f"the folder {cut!r} stands for a column, which its files lack: read the data set with "
                "dask.dataframe.read_parquet instead",
                path,
            )
    else:
        files = [path] if os.path.exists(path) or not glob.has_magic(path) else sorted(glob.glob(path))
    if not files:
        raise DataError("holds no .parquet files: check the path", path)
    return files


def footer_of(path: str) -> Footer:
    """What the end of a Parquet file says.

    Raises
    ------
    DataError
        When it cannot be read.
    """
    file = ParquetFile(path)
    told = file.metadata()
    groups = [told.row_group(i) for i in range(told.num_row_groups)]
    rows, sizes = tuple(g.num_rows for g in groups), tuple(g.total_byte_size for g in groups)
    return Footer(path, tuple(file.names), rows, sizes)


def cut_by_row_groups(footers: Sequence[Footer], part_bytes: int) -> list[RowGroups]:
    """Row groups put together to parts of at most so many bytes, if that holds a whole group; empty ones left out.

    Raises
    ------
    DataError
        When a file lacks a column of the first or has another one.
    """
    names = footers[0].names
    parts: list[RowGroups] = []
    for footer in footers:
        if odd := sorted(set(names) ^ set(footer.names)):
            which = (
                f"lacks the column {shown(odd[0])} of"
                if odd[0] in names
                else f"has a column {shown(odd[0])} beside those of"
            )
            raise DataError(f"{which} {footers[0].path}: give all files the same columns", footer.path)
        parts += _parts_of(footer, names, part_bytes)
    return parts


def _parts_of(footer: Footer, names: tuple[str, ...], part_bytes: int) -> list[RowGroups]:
    parts: list[RowGroups] = []
    first, before = 0, 0
    for last in range(len(footer.sizes)):
        following = footer.sizes[last + 1 : last + 2]
        if following and sum(footer.sizes[first : last + 1]) + following[0] <= part_bytes:
            continue
        rows = footer.rows[first : last + 1]
        if sum(rows):
            parts.append(RowGroups(footer.path, names, first, rows, before))
        first, before = last + 1, before + sum(rows)
    return parts
