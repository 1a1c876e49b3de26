"""Tables from files whose columns have names, from data frames, and from arrays.

What a column becomes, unless told otherwise:

    texts, truth values, categories     discrete
    numbers                             continuous; float32 stays float32, everything else becomes float64
    dates and times                     continuous, in seconds: since 1970, since midnight, or of a duration
    nothing but nulls                   continuous, all unknown
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from c45gpu.data.arfffile import ArffFile
from c45gpu.data.arrays import assemble, chosen_columns, encode_classes, from_arrays, require_cases
from c45gpu.data.arrowcolumns import Column, numbers
from c45gpu.data.arrowfile import IpcFile, ParquetFile
from c45gpu.data.attributes import as_column, classes_of, learned, matched, mixed
from c45gpu.data.csvfile import COMPRESSED, CsvFile
from c45gpu.data.devicearrays import DeviceColumn, numbers_of_cudf
from c45gpu.data.namedfiles import NamedFile
from c45gpu.data.schema import Attribute, Schema, first_duplicate
from c45gpu.data.table import Table
from c45gpu.data.tokens import FilePath
from c45gpu.data.values import Unseen, listed, shown
from c45gpu.errors import DataError, OptionError

__all__ = ["describe", "encode_classes", "from_arrays", "from_frame", "read_file"]

_OPENERS: Final[dict[str, Callable[[FilePath], NamedFile]]] = {
    ".csv": partial(CsvFile, delimiter=","),
    ".tsv": partial(CsvFile, delimiter="\t"),
    **dict.fromkeys((".parquet", ".pq"), ParquetFile),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), IpcFile),
    ".arff": ArffFile,
}
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
) -> Table:
    """A table from a CSV, TSV, ARFF, Parquet or Arrow IPC file, told apart by the suffix; texts may be compressed.

    In CSV and TSV the first line names the columns, the blanks around a field do not count, and the texts in
    `c45gpu.data.csvfile.UNKNOWN_TEXTS` (an empty field, ``?``, ``NA``, ``NaN``, ...) are unknown; infinities are
    values. In Parquet and Arrow IPC nulls, NaN, empty texts and ``?`` are unknown. ARFF says itself which attributes
    are discrete, in which order their values come, and what is unknown; texts in it are discrete, too.

    Parameters
    ----------
    path : str or os.PathLike
    target : str, optional
        The column that holds the class; needed unless there is a schema, whose target it is by default, or the last
        attribute of an ARFF file is nominal, which it then is.
    schema : Schema, optional
        The attributes and classes of a model, matched by name: columns may come in any order, others are read over,
        values that it does not know are unknown, and the target may be absent (no case has a class then). Without one
        the attributes are learned from the file: every other column, in order, values and classes sorted - by size
        if all of them are numbers, and named as they are written. ARFF's are in the order declared.
    categorical, continuous, ignore : sequence of str
        Columns that are discrete, continuous or ignored whatever their type. Not with a schema.
    weight : str, optional
        The column that holds the weight of each case.

    Raises
    ------
    DataError
        When the file cannot be read or something in it does not fit; the message names the line where it can.
    OptionError
        When options do not go together.
    """
    file = _opened(path)
    if schema is not None:
        if categorical or continuous or ignore:
            raise OptionError(
                "categorical, continuous and ignore do not go with a schema, which says the kinds already"
            )
        return _matched_table(file, schema, target, weight)
    target = file.own_target if target is None else target
    if target is None:
        raise DataError(f"which column is the class? Name one as target: {listed(file.names)}", path)
    return _learned_table(file, _Roles(target, weight, tuple(categorical), tuple(continuous), tuple(ignore)))


def from_frame(
    frame: Any,
    y: Any = None,
    *,
    schema: Schema | None = None,
    categorical: str | Sequence[str] | Sequence[int] | npt.NDArray[Any] = "from_dtype",
    weights: npt.ArrayLike | None = None,
    unseen: Unseen = "unknown",
) -> Table:
    """A table from a data frame: pandas, polars, pyarrow, cuDF, or anything that exports Arrow streams.

    Nulls and NaN are unknown; texts are taken as they are, ``""`` and ``"?"`` included. The values of a column of
    pandas' categories, of polars' Enum or of an ordered dictionary are what was declared, in its order, used or not;
    any other discrete column's values are sorted. Numbers of cuDF stay on the GPU that they are on.

    Parameters
    ----------
    frame : data frame, n_cases rows
        Columns of attributes only.
    y : array_like, shape (n_cases,), optional
        A label for each case, see :func:`encode_classes`; a class is called ``str(label)``. Without it the cases have
        no class.
    schema : Schema, optional
        The attributes and classes of a model, matched by name; columns may come in any order, others are not looked
        at.
    categorical : "from_dtype", sequence of str or int, or boolean mask
        Columns that are discrete whatever their type. Not used with a schema.
    weights : array_like, shape (n_cases,), optional
    unseen : {"unknown", "error"}
        What a value is that the schema does not know.

    Raises
    ------
    DataError
        When something does not fit; the message says which column and row.
    """
    import narwhals.stable.v2 as nw

    native = nw.from_native(as_frame(frame), eager_only=True)
    names = [str(name) for name in native.columns]
    require_cases(len(native), len(names))
    series = dict(zip(names, native.iter_columns(), strict=True))
    if schema is None:
        chosen = chosen_columns(None if isinstance(categorical, str) else categorical, names)
        declared = native.implementation.is_pandas_like()
        pairs: list[tuple[Attribute, Any]] = [
            _learned_from_series(name, series[name], j in chosen, declared) for j, name in enumerate(names)
        ]
    else:
        if missing := [schema.attributes[a].name for a in schema.used if schema.attributes[a].name not in series]:
            raise DataError(
                f"there is no column {shown(missing[0])}, which the model needs: the columns are {listed(names)}"
            )
        pairs = [
            (a, None if a.kind == "ignored" else _matched_series(a, series[a.name], unseen)) for a in schema.attributes
        ]
    return assemble(pairs, y, weights, schema, len(native))


def as_frame(frame: Any) -> Any:
    """A data frame as it is; one that only exports Arrow streams as pyarrow's.

    Raises
    ------
    DataError
        When it is none, is not in memory, or two columns have the same name.
    """
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import NarwhalsError

    if not hasattr(type(frame), "columns") and hasattr(frame, "__arrow_c_stream__"):
        frame = pa.table(frame)
    try:
        nw.from_native(frame, eager_only=True)
    except TypeError:
        kind = type(frame).__name__
        raise DataError(f"{kind} is no data frame in memory: give one of pandas, polars or pyarrow") from None
    except NarwhalsError as error:
        _require_own_names(getattr(frame, "column_names", frame.columns))
        raise DataError(f"the data frame cannot be used ({' '.join(str(error).split())})") from None
    _require_own_names(getattr(frame, "column_names", frame.columns))
    return frame


def _require_own_names(names: Iterable[Any]) -> None:
    if (twice := first_duplicate(str(name) for name in names)) is not None:
        raise DataError(f"two columns are named {shown(twice)}: give each its own name")


def describe(schema: Schema) -> list[tuple[str, str, str]]:
    """What each column was taken for: its name, its kind, and the values where it has some; the class comes last."""
    rows = [
        (a.name, a.kind, f"{len(a.values)}: {listed(a.values)}" if a.kind == "discrete" else "")
        for a in schema.attributes
    ]
    return [*rows, (schema.target, "class", f"{schema.n_classes}: {listed(schema.classes)}")]


class _Roles(NamedTuple):
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


def _opened(path: FilePath) -> NamedFile:
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes[-1:] and suffixes[-1] in COMPRESSED and suffixes[-2:-1] and suffixes[-2] in _TEXTS:
        suffixes.pop()
    opener = _OPENERS.get(suffixes[-1] if suffixes else "")
    if opener is None:
        raise DataError(f"the suffix tells no format that can be read: use one of {' '.join(_OPENERS)}", path)
    return opener(path)


def _learned_table(file: NamedFile, roles: _Roles) -> Table:
    file.require_names(roles.named)
    if (twice := first_duplicate(roles.named)) is not None or roles.target == roles.weight:
        raise OptionError(f"column {shown(twice or roles.target)} has two roles: give it one")
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


def _learned(file: NamedFile, name: str, columns: Any, roles: _Roles) -> tuple[Attribute, Any]:
    if name in roles.ignore:
        return Attribute(name, "ignored"), None
    column, fault = columns.column(name), partial(file.fault, name)
    if name in roles.continuous:
        return Attribute(name, "continuous"), numbers(column, fault)
    discrete = name in roles.categorical
    return learned(name, column, discrete=discrete, spelling=file.spelling, keep_order=file.keeps_order, fault=fault)


def _matched_table(file: NamedFile, schema: Schema, target: str | None, weight: str | None) -> Table:
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
        values[a] = matched(schema.attributes[a], columns.column(name), spelling=file.spelling, fault=fault)
    codes = np.full(columns.num_rows, -1, np.int32)
    if target is not None:
        _, codes = classes_of(columns.column(target), file.spelling, partial(file.fault, target), schema.classes)
    return Table(schema, values, codes, _weights(file, columns, weight))


def _weights(file: NamedFile, columns: Any, name: str | None) -> npt.NDArray[np.float64] | None:
    if name is None:
        return file.weights
    fault = partial(file.fault, name)
    weights = numbers(columns.column(name), fault).astype(np.float64)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise fault(f"{weights[row]} is no weight: give a finite number of at least 0", row)
    if not weights.any():
        raise fault("every weight is zero: give some case a weight above 0", None)
    return weights


def _learned_from_series(name: str, series: Any, discrete: bool, declared: bool) -> tuple[Attribute, Any]:
    """The attribute of a series; `declared` says that even unordered categories were put in their order by someone."""
    there = None if discrete else _numbers_in_place(name, series)
    if there is not None:
        return Attribute(name, "continuous"), there
    column = _column(name, series)
    ordered = pa.types.is_dictionary(column.type) and column.type.ordered
    return learned(name, column, discrete=discrete, keep_order=declared or ordered)


def _matched_series(attribute: Attribute, series: Any, unseen: Unseen) -> Any:
    there = _numbers_in_place(attribute.name, series) if attribute.kind == "continuous" else None
    return matched(attribute, _column(attribute.name, series), unseen=unseen) if there is None else there


def _numbers_in_place(name: str, series: Any) -> DeviceColumn | None:
    """A column of numbers of cuDF, which is on a GPU and stays there."""
    return numbers_of_cudf(name, series.to_native()) if series.implementation.is_cudf() else None


def _column(name: str, series: Any) -> Column:
    if "sparse" in type(getattr(series.to_native(), "dtype", None)).__name__.lower():
        raise DataError(f"column {shown(name)} is sparse: make it dense, frame[{name!r}].sparse.to_dense()")
    try:
        column = as_column(series.to_arrow())
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise mixed(name, error) from None
    if pa.types.is_dictionary(column.type) and isinstance(column.type.value_type, pa.BaseExtensionType):
        return _with_spelled_categories(series, column)
    return column


def _with_spelled_categories(series: Any, column: Column) -> Column:
    """Categories of a type that only their own library can spell, such as pandas' intervals."""
    categories = pa.array([str(category) for category in series.cat.get_categories().to_list()])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(chunk.indices, categories) for chunk in column.chunks])
