"""Where the commands find cases: C4.5's files, or a file whose columns have names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from c45gpu.cli.progress import reading_of
from c45gpu.cli.screen import note
from c45gpu.errors import DataError, OptionError

if TYPE_CHECKING:
    from c45gpu.data.schema import Schema
    from c45gpu.data.table import Table
    from c45gpu.data.values import Unseen
    from c45gpu.model.store import Model

ATTRIBUTES_TOLD = 40  # a screenful; a table as wide as a genome should not scroll it away
STEM_SUFFIXES = (".names", ".data", ".test")  # what completion in a shell adds to a stem


@Parameter(name="*")
@dataclass(frozen=True)
class Columns:
    """How to read a file whose columns have names (CSV, ARFF, Parquet); C4.5's files say it themselves.

    Parameters
    ----------
    target : str
        The column that holds the class. [default: ARFF's last]
    categorical : tuple of str
        Columns to be taken as discrete, comma-separated.
    continuous : tuple of str
        Columns to be taken as continuous, comma-separated.
    ignore : tuple of str
        Columns to be left out, comma-separated.
    weight : str
        The column that holds the weight of a case.
    """

    target: str | None = None
    categorical: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    continuous: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    ignore: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    weight: str | None = None

    def given(self) -> dict[str, Any]:
        """Those that say something, for :func:`c45gpu.data.frames.read_file`."""
        kinds = {name: _split(getattr(self, name)) for name in ("categorical", "continuous", "ignore")}
        named = {name: getattr(self, name) for name in ("target", "weight")}
        return {name: value for name, value in {**named, **kinds}.items() if value}


def _split(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for part in names for name in part.split(","))


def training_table(source: str, columns: Columns) -> Table:
    """The cases to learn from; tells how many there are, and which kinds were inferred.

    Parameters
    ----------
    source : str
        The stem of .names and .data files, or a CSV, ARFF or Parquet file.
    columns : Columns

    Raises
    ------
    DataError
        When they cannot be read, or there is nothing to learn from.
    OptionError
        When the options do not suit the source.
    """
    stem = stem_of(source)
    with reading_of(source) as meter:
        table = file_table(source, columns) if stem is None else stem_table(stem, columns)
        pace = meter.told(table.n_cases)
    if stem is None:
        _refuse_infinities(table, source)
    _require_known_values(table, source if stem is None else f"{stem}.data")
    tell(source, table.n_cases, table.schema, pace)
    if stem is None:
        tell_kinds(table.schema)
    return table


def tell(source: str, n_cases: int, schema: Schema, pace: str = "") -> None:
    """Tell how many cases were read."""
    note(f"{source}: {n_cases} cases, {len(schema.attributes)} attributes, {schema.n_classes} classes{pace}")


def table_for(model: Model, path: str, *, unseen: Unseen = "unknown") -> Table:
    """Cases for a model: a .data or .test file in C4.5's layout, or a CSV, ARFF or Parquet file.

    Parameters
    ----------
    model : Model
    path : str
    unseen : {"error", "unknown"}
        What a value is that the model does not know.

    Raises
    ------
    DataError
        When they cannot be read, or do not suit the model.
    """
    with reading_of(path):
        return cases_with(model.schema, path, unseen)


def cases_with(schema: Schema, path: str, unseen: Unseen) -> Table:
    """Cases with the attributes of a schema; see :func:`table_for`."""
    from c45gpu.data.compressed import without_codec

    if without_codec(path).endswith(STEM_SUFFIXES):
        from c45gpu.data.c45files import read_cases

        closed = _without_capacities(schema) if unseen == "error" else schema
        return replace(read_cases(path, closed, training=False, unseen=unseen), schema=schema)
    from c45gpu.data.frames import read_file

    return read_file(path, schema=schema, unseen=unseen)


def _without_capacities(schema: Schema) -> Schema:
    """A schema in which a ``discrete N`` has the values that it has, so that another one is an error."""
    return replace(schema, attributes=tuple(replace(a, capacity=None) for a in schema.attributes))


def stem_of(source: str) -> str | None:
    """The stem of C4.5's files that a source names, None if it names no such files; they may be compressed."""
    from c45gpu.data.compressed import beside, without_codec

    plain = without_codec(source)
    stem = plain.removesuffix(Path(plain).suffix) if plain.endswith(STEM_SUFFIXES) else source
    return stem if Path(beside(stem, ".names")).exists() else None


def stem_table(stem: str, columns: Columns) -> Table:
    """The cases of STEM.data, of which STEM.names says what they are.

    Raises
    ------
    DataError
        When a file cannot be read.
    OptionError
        When `columns` says something, too.
    """
    require_none(stem, columns)
    from c45gpu.data.c45files import read_cases, read_names
    from c45gpu.data.compressed import beside

    return read_cases(beside(stem, ".data"), read_names(beside(stem, ".names")))


def require_none(stem: str, columns: Columns) -> None:
    """Refuse to be told how to read C4.5's files.

    Raises
    ------
    OptionError
    """
    if given := columns.given():
        raise OptionError(f"--{next(iter(given))} is for CSV, ARFF and Parquet: {stem}.names says what the columns are")


def require_file(source: str, columns: Columns) -> None:
    """Refuse a file that is not there, or of which nothing says which column is the class.

    Raises
    ------
    DataError, OptionError
    """
    if not Path(source).exists():
        raise DataError(
            f"there is no such file, and no {source}.names: give a stem or a CSV, ARFF or Parquet file", source
        )
    if columns.target is None and ".arff" not in Path(source).suffixes[-2:]:
        raise OptionError(f"--target is missing: name the column of {source} that holds the class")


def file_table(source: str, columns: Columns) -> Table:
    """The cases of a file whose columns have names.

    Raises
    ------
    DataError
        When it cannot be read.
    OptionError
        When it is not said which column is the class, and the format does not say it.
    """
    require_file(source, columns)
    if not Path(source).exists():
        raise DataError(
            f"there is no such file, and no {source}.names: give a stem or a CSV, ARFF or Parquet file", source
        )
    if columns.target is None and ".arff" not in Path(source).suffixes[-2:]:
        raise no_target(source)
    from c45gpu.data.frames import read_file

    return read_file(source, **columns.given())


def no_target(source: str) -> OptionError:
    """The error of a file that does not say which column is the class."""
    return OptionError(f"--target is missing: name the column of {source} that holds the class")


def _refuse_infinities(table: Table, path: str) -> None:
    """A tree could use them, but in a CSV file they are the traces of a division by zero."""
    import numpy as np

    for a in table.schema.used:
        infinite = np.isinf(table.column(a))
        if infinite.any():
            where = f"column {table.schema.attributes[a].name!r}, case {int(infinite.argmax()) + 1}"
            raise DataError(f"{where}: the value is infinite: write a number, or leave the field empty", path)


def tell_kinds(schema: Schema) -> None:
    """Tell which kinds were inferred."""
    from c45gpu.data.frames import describe

    *attributes, target = describe(schema)
    for name, kind, values in [*attributes[:ATTRIBUTES_TOLD], target]:
        note(f"    {name}: {kind}{values and f', {values}'}")
    if len(attributes) > ATTRIBUTES_TOLD:
        note(f"    and {len(attributes) - ATTRIBUTES_TOLD} more attributes")


def _require_known_values(table: Table, path: str) -> None:
    def known(attribute: int) -> bool:
        column = table.column(attribute)
        return bool((column == column).any() if column.dtype.kind == "f" else (column >= 0).any())

    if not any(known(a) for a in table.schema.used):
        raise nothing_known(path)


def nothing_known(path: str) -> DataError:
    """The error of cases that tell nothing."""
    return DataError("every value of every attribute is unknown: give some that tell the classes apart", path)
