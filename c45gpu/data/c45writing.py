"""Schemas and tables as C4.5's own files; what `c45files` reads back as it was."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy.typing as npt

from c45gpu.data.blocks import Cases, Progress, cases_of, numeral, small_blocks, spelled
from c45gpu.data.compressed import codec_of
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.data.textlines import put_lines, whole_or_told
from c45gpu.data.tokens import FilePath
from c45gpu.data.values import UNKNOWN, shown
from c45gpu.errors import DataError

_UNWRITABLE = re.compile("[\0\n\r\ud800-\udfff]")
# a delimiter; a full stop that would be one; a blank at either end or after a blank; a byte order mark
_ESCAPED = re.compile(r"[\\:,|]|\.(?=[ \t]|\Z)|(?<![^ \t])[ \t]|[ \t]\Z|\ufeff")


def write_names(schema: Schema, path: FilePath) -> None:
    """Write a ``.names`` file.

    A discrete attribute with fewer than two values, which the format has no word for, becomes a ``discrete 2``.

    Parameters
    ----------
    schema : Schema
        What is written.
    path : str or os.PathLike
        Where; what is there is replaced. Compressed if its suffix says so.

    Raises
    ------
    DataError
        When a name cannot be written (it is empty, ``?`` or holds a line break), or the file cannot.
    """
    if not schema.classes:
        raise DataError("the schema has no classes: a .names file lists at least one", path)
    lines = [f"{', '.join(_escaped(schema.classes, path))}.", ""]
    for attribute in schema.attributes:
        (name,) = _escaped([attribute.name], path)
        lines.append(f"{name}: {_declared(attribute, path)}.")
    _write(lines, path)


def write_cases(table: Table, path: FilePath, progress: Progress | None = None) -> None:
    """Write a table as a ``.data`` or ``.test`` file; see :func:`write_records`.

    Parameters
    ----------
    table : Table
        What is written.
    path : str or os.PathLike
        Where; compressed if its suffix says so.
    progress : callable, optional
        Is told how much is written.
    """
    write_records(cases_of(table), path, progress)


def write_records(cases: Cases, path: FilePath, progress: Progress | None = None) -> None:
    """Write a ``.data`` or ``.test`` file; numbers are written with all digits that they need.

    Parameters
    ----------
    cases : Cases
        Values of ignored attributes, which they do not have, are written as unknown; so is a missing class.
    path : str or os.PathLike
        Where; what is there is replaced. Compressed if its suffix says so.
    progress : callable, optional
        Is told how much is written.

    Raises
    ------
    DataError
        When cases have weights, for which the format has no place, a name cannot be written, or the file cannot.
    """
    _write((line for part in small_blocks(cases, progress) for line in _records(part, path)), path)


def _records(table: Table, path: FilePath) -> Iterable[str]:
    if table.weights is not None and (table.weights != 1).any():
        raise DataError("the cases have weights, which a .data file cannot hold: write CSV, or drop the weights", path)
    columns: list[Iterable[str]] = []
    for a, attribute in enumerate(table.schema.attributes):
        if table.columns[a] is None:
            columns.append([UNKNOWN] * table.n_cases)
        elif attribute.kind == "discrete":
            columns.append(_names(attribute.values, table.column(a), path))
        else:
            columns.append(UNKNOWN if value != value else numeral(value) for value in table.column(a).tolist())
    columns.append(_names(table.schema.classes, table.classes, path))
    return map(",".join, zip(*columns, strict=True))


def _declared(attribute: Attribute, path: FilePath) -> str:
    if attribute.kind != "discrete":
        return "ignore" if attribute.kind == "ignored" else "continuous"
    if attribute.capacity is not None:
        return f"discrete {attribute.capacity}"
    return ", ".join(_escaped(attribute.values, path)) if len(attribute.values) > 1 else "discrete 2"


def _escaped(names: Iterable[str], path: FilePath) -> list[str]:
    for name in names:
        if name in ("", UNKNOWN) or _UNWRITABLE.search(name):
            raise DataError(f"the name {shown(name)} cannot be written in C4.5's files: rename it", path)
    return [_ESCAPED.sub(r"\\\g<0>", name) for name in names]


def _names(names: tuple[str, ...], codes: npt.NDArray[Any], path: FilePath) -> Iterable[str]:
    return spelled(_escaped(names, path), UNKNOWN, codes)


def _write(lines: Iterable[str], path: FilePath) -> None:
    with whole_or_told(path) as stream:
        put_lines(lines, codec_of(path), stream)
