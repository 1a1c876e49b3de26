"""Tables from files whose columns have names: CSV, TSV, ARFF, Parquet and Arrow IPC."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from c45gpu.data.arfffile import ArffFile
from c45gpu.data.arrowcolumns import Column, Fault, numbers
from c45gpu.data.arrowfile import IpcFile, ParquetFile
from c45gpu.data.attributes import classes_of, learned, matched
from c45gpu.data.compressed import without_codec
from c45gpu.data.csvfile import CsvFile
from c45gpu.data.namedfiles import NamedColumns, NamedFile
from c45gpu.data.schema import Attribute, Schema, first_duplicate
from c45gpu.data.table import Table
from c45gpu.data.tokens import FilePath
from c45gpu.data.values import Unseen, listed, shown
from c45gpu.errors import DataError, OptionError

T = TypeVar("T")

_OPENERS: Final[dict[str, Callable[[FilePath], NamedFile]]] = {
    ".csv": partial(CsvFile, delimiter=","),
    ".tsv": partial(CsvFile, delimiter="\t"),
    **dict.fromkeys((".parquet", ".pq"), ParquetFile),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), IpcFile),
    ".arff": ArffFile,
}
NO_WEIGHT: Final = "every weight is zero: give some case a weight above 0"
_TEXTS: Final = (".csv", ".tsv", ".arff")  # what may be compressed; the others compress by themselves


def read_file(
    path: FilePath,
    *,
    target: str | None = None,
    schema: Schema | None = None,
    categorical: Sequence[str] = (),
    continuous: Sequence[str] = (),
    ignore: Sequence[str] = (),
    weight: str | None = None,
    unseen: Unseen = "unknown",
) -> Table:
    """A table from a CSV, TSV, ARFF, Parquet or Arrow IPC file, told apart by the suffix; texts may be compressed.

    In CSV and TSV the first line names the columns, the blanks around a field do not count, and the texts in
    `c45gpu.data.csvfile.UNKNOWN_TEXTS` (an empty field, ``?``, ``NA``, ``NaN``, ...) are unknown; infinities are
    values. In Parquet and Arrow IPC nulls, NaN, empty texts and ``?`` are unknown. ARFF says itself which attributes
    are discrete, in which order their values come, and what is unknown; texts in it are discrete, too.

    Parameters
    ----------
    path : str or os.PathLike
        The file; its suffix tells the format.
    target : str, optional
        The column that holds the class; needed unless there is a schema, whose target it is by default, or the last
        attribute of an ARFF file is nominal, which it then is.
    schema : Schema, optional
        The attributes and classes of a model, matched by name: columns may come in any order, others are read over,
        values that it does not know are what `unseen` says, and the target may be absent (no case has a class then).
        Without one the attributes are learned from the file: every other column, in order, values and classes sorted
        - by size if all of them are numbers, and named as they are written. ARFF's are in the order declared.
    categorical, continuous, ignore : sequence of str
        Columns that are discrete, continuous or ignored whatever their type. Not with a schema.
    weight : str, optional
        The column that holds the weight of each case.
    unseen : {"unknown", "error"}
        What a value is that the schema does not know.

    Returns
    -------
    Table
        Its schema is the one given, or what was learned.

    Raises
    ------
    DataError
        When the file cannot be read or something in it does not fit; the message names the line where it can.
    OptionError
        When options do not go together.
    """
    file = opened(path, _OPENERS)
    if schema is not None:
        if categorical or continuous or ignore:
            raise OptionError(
                "categorical, continuous and ignore do not go with a schema, which says the kinds already"
            )
        return _matched_table(file, schema, target, weight, unseen)
    roles = Roles(target_of(file, target), weight, tuple(categorical), tuple(continuous), tuple(ignore))
    return _learned_table(file, roles)


class Roles(NamedTuple):
    """What the columns of a file are for, as far as it was said."""

    target: str
    weight: str | None
    categorical: tuple[str, ...]
    continuous: tuple[str, ...]
    ignore: tuple[str, ...]

    @property
    def apart(self) -> set[str]:
        """The columns that are no attributes."""
        return {self.target} if self.weight is None else {self.target, self.weight}

    @property
    def named(self) -> list[str]:
        """All columns that were given a role; each can have only one."""
        return [*self.apart, *self.categorical, *self.continuous, *self.ignore]

    def require_fit(self, file: NamedColumns) -> None:
        """Refuse roles of columns that are not there, and two for one.

        Raises
        ------
        DataError, OptionError
        """
        file.require_names(self.named)
        if (twice := first_duplicate(self.named)) is not None or self.target == self.weight:
            raise OptionError(f"column {shown(twice or self.target)} has two roles: give it one")


def target_of(file: NamedColumns, target: str | None) -> str:
    """The column that holds the class: the one named, or the file's own.

    Raises
    ------
    DataError
        When there is neither.
    """
    target = file.own_target if target is None else target
    if target is None:
        raise DataError(f"which column is the class? Name one as target: {listed(file.names)}", file.path)
    return target


def opened(path: FilePath, openers: Mapping[str, Callable[[FilePath], T]]) -> T:
    """What opens a file of the suffix, applied to the path; a text may be compressed.

    Raises
    ------
    DataError
        When there is none, or the file cannot be read.
    """
    plain = without_codec(path)
    suffix = Path(plain if plain.lower().endswith(_TEXTS) else path).suffix.lower()
    if suffix not in openers:
        raise DataError(f"the suffix tells no format that can be read: use one of {' '.join(openers)}", path)
    return openers[suffix](path)


def _learned_table(file: NamedFile, roles: Roles) -> Table:
    return _weighing_something(file, learned_part(file, roles), roles.weight)


def learned_part(file: NamedFile, roles: Roles) -> Table:
    """A table from a file, or from a part of one, whose weights may then all be 0.

    Raises
    ------
    DataError
        When it cannot be read or something in it does not fit.
    OptionError
        When roles do not go together.
    """
    roles.require_fit(file)
    wanted = [name for name in file.names if name not in roles.ignore]
    columns = file.read(wanted, {roles.target, *roles.categorical})
    names = [name for name in file.names if name not in roles.apart]
    with ThreadPoolExecutor() as threads:
        pairs = list(threads.map(lambda name: _learned(file, name, columns, roles), names))
    classes, codes = classes_of(
        columns.column(roles.target),
        file.spelling,
        partial(file.fault, roles.target),
        keep_order=file.keeps_order,
    )
    schema = Schema(tuple(a for a, _ in pairs), classes, roles.target)
    return Table(schema, [values for _, values in pairs], codes, _weights(file, columns, roles.weight))


def _learned(file: NamedFile, name: str, columns: Any, roles: Roles) -> tuple[Attribute, Any]:
    if name in roles.ignore:
        return Attribute(name, "ignored"), None
    column, fault = columns.column(name), partial(file.fault, name)
    if name in roles.continuous:
        return Attribute(name, "continuous"), numbers(column, fault)
    discrete = name in roles.categorical
    return learned(name, column, discrete=discrete, spelling=file.spelling, keep_order=file.keeps_order, fault=fault)


def _matched_table(file: NamedFile, schema: Schema, target: str | None, weight: str | None, unseen: Unseen) -> Table:
    used = [schema.attributes[a] for a in schema.used]
    target = schema.target if target is None and schema.target in file.names else target
    wanted = [*(a.name for a in used), *(name for name in (target, weight) if name is not None)]
    file.require_names(wanted)
    if (twice := first_duplicate(wanted)) is not None:
        raise OptionError(f"column {shown(twice)} has two roles: give it one")
    columns = file.read(
        wanted, {*(a.name for a in used if a.kind == "discrete"), *([] if target is None else [target])}
    )
    values: list[Any] = [None] * len(schema.attributes)
    for a in schema.used:
        name = schema.attributes[a].name
        fault = partial(file.fault, name)
        column = columns.column(name)
        values[a] = matched(schema.attributes[a], column, spelling=file.spelling, fault=fault, unseen=unseen)
    codes = np.full(columns.num_rows, -1, np.int32)
    if target is not None:
        _, codes = classes_of(columns.column(target), file.spelling, partial(file.fault, target), schema.classes)
    return _weighing_something(file, Table(schema, values, codes, _weights(file, columns, weight)), weight)


def _weights(file: NamedFile, columns: Any, name: str | None) -> npt.NDArray[np.float64] | None:
    if name is None:
        return file.weights
    return weights_of(columns.column(name), partial(file.fault, name))


def weights_of(column: Column, fault: Fault) -> npt.NDArray[np.float64]:
    """A column as the weights of cases.

    Raises
    ------
    DataError
        At the first that is none.
    """
    weights = numbers(column, fault).astype(np.float64)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise fault(f"{weights[row]} is no weight: give a finite number of at least 0", row)
    return weights


def _weighing_something(file: NamedFile, table: Table, name: str | None) -> Table:
    if name is not None and table.weights is not None and not table.weights.any():
        raise file.fault(name, NO_WEIGHT, None)
    return table
