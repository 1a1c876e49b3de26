"""Cases of CSV, TSV, ARFF, Parquet and Arrow IPC files a block at a time: the table of `readfile`, never held whole.

A file is read once to find types, values and classes, and once more for the cases. What stays in memory is a block of
cases, the values of discrete attributes and the classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from c45gpu.data.arffblocks import ArffBlocks
from c45gpu.data.arrowblocks import ArrowBlocks
from c45gpu.data.arrowcolumns import is_discrete, number_type, numbers
from c45gpu.data.arrowfile import IpcFile, ParquetFile
from c45gpu.data.attributes import classes_of, matched, named, values_of
from c45gpu.data.blocks import Cases, Progress
from c45gpu.data.csvblocks import CsvBlocks
from c45gpu.data.partedfile import Part, PartedFile
from c45gpu.data.readfile import NO_WEIGHT, Roles, opened, target_of, weights_of
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.data.tokens import FilePath
from c45gpu.data.values import shown
from c45gpu.errors import DataError

_OPENERS: Final[dict[str, Callable[[FilePath], PartedFile]]] = {
    ".csv": partial(CsvBlocks, delimiter=","),
    ".tsv": partial(CsvBlocks, delimiter="\t"),
    **dict.fromkeys((".parquet", ".pq"), lambda path: ArrowBlocks(ParquetFile(path))),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), lambda path: ArrowBlocks(IpcFile(path))),
    ".arff": ArffBlocks,
}


def file_cases(
    path: FilePath,
    *,
    target: str | None = None,
    categorical: Sequence[str] = (),
    continuous: Sequence[str] = (),
    ignore: Sequence[str] = (),
    weight: str | None = None,
    progress: Progress | None = None,
) -> Cases:
    """The cases of a file whose columns have names, of attributes that are learned from it.

    Parameters
    ----------
    path, target, categorical, continuous, ignore, weight
        See :func:`c45gpu.data.readfile.read_file`.
    progress : callable, optional
        Is told how many bytes of the file have been looked at for types, and then for values. Those of the blocks are
        done by bytes, too.

    Returns
    -------
    Cases
        The same as `read_file` gives, but a case may have no class (-1). What does not fit is told when its block is
        due.

    Raises
    ------
    DataError
        When the file cannot be read or something in it does not fit; the message names the line where it can.
    OptionError
        When a column has two roles.
    """
    file = opened(path, _OPENERS)
    roles = Roles(target_of(file, target), weight, tuple(categorical), tuple(continuous), tuple(ignore))
    roles.require_fit(file)
    wanted = [name for name in file.names if name not in roles.ignore]
    types = file.types(wanted, {roles.target, *roles.categorical}, progress)
    discrete = [name for name in wanted if _is_discrete(name, types[name], roles)]
    values, weighted = _values_of(file, {name: types[name] for name in discrete}, progress)
    attributes = [_attribute(name, values, roles) for name in file.names if name not in roles.apart]
    schema = Schema(tuple(attributes), values[roles.target], roles.target)
    numpy_types = tuple(None if a.kind == "ignored" else _numpy_type(a, types[a.name]) for a in attributes)
    weighted = weighted or weight is not None
    return Cases(schema, numpy_types, weighted, partial(_blocks, file, schema, types, roles, weighted))


def _is_discrete(name: str, kind: Any, roles: Roles) -> bool:
    if name in roles.continuous or name == roles.weight:
        return False
    return name == roles.target or name in roles.categorical or is_discrete(kind)


def _values_of(
    file: PartedFile, types: dict[str, Any], progress: Progress | None
) -> tuple[dict[str, tuple[str, ...]], bool]:
    """The values of discrete columns, the class among them, and whether the rows say weights of their own."""
    found: dict[str, dict[str, None]] = {name: {} for name in types}
    weighted, n_rows = False, 0
    for part, columns in file.parts(types, progress):
        n_rows += columns.num_rows
        weighted = weighted or part.weights is not None
        for name, seen in found.items():
            names, _ = named(columns.column(name), part.spelling, partial(part.fault, name))
            seen.update(dict.fromkeys(value for value in names if value is not None))
    if not n_rows:
        raise DataError("has columns but no rows: give at least one case", file.path)
    return {name: values_of(seen, types[name], keep_order=file.keeps_order) for name, seen in found.items()}, weighted


def _attribute(name: str, values: dict[str, tuple[str, ...]], roles: Roles) -> Attribute:
    if name in roles.ignore:
        return Attribute(name, "ignored")
    return Attribute(name, "discrete", values[name]) if name in values else Attribute(name, "continuous")


def _numpy_type(attribute: Attribute, kind: Any) -> np.dtype[Any]:
    return np.dtype(np.int32 if attribute.kind == "discrete" else number_type(kind))


def _blocks(
    file: PartedFile, schema: Schema, types: dict[str, Any], roles: Roles, weighted: bool, progress: Progress | None
) -> Iterator[Table]:
    any_weight = roles.weight is None
    for part in file.parts(types, progress):
        table = _table(part, schema, roles, weighted)
        any_weight = any_weight or bool(np.any(table.weights))
        yield table
    if not any_weight:
        raise DataError(f"column {shown(str(roles.weight))}: {NO_WEIGHT}", file.path)


def _table(part: Part, schema: Schema, roles: Roles, weighted: bool) -> Table:
    file, columns = part
    n_cases, fault = columns.num_rows, file.fault
    values: list[Any] = [None] * len(schema.attributes)
    for a in schema.used:
        attribute = schema.attributes[a]
        column, its_fault = columns.column(attribute.name), partial(fault, attribute.name)
        if attribute.kind == "continuous":
            values[a] = numbers(column, its_fault)
        else:
            values[a] = matched(attribute, column, spelling=file.spelling, fault=its_fault)
    its_fault = partial(fault, roles.target)
    _, classes = classes_of(columns.column(roles.target), file.spelling, its_fault, schema.classes)
    weights = (
        file.weights if roles.weight is None else weights_of(columns.column(roles.weight), partial(fault, roles.weight))
    )
    return Table(schema, values, classes, np.ones(n_cases) if weighted and weights is None else weights)
