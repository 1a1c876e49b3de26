"""Tables from files whose columns have names, from data frames, and from arrays.

What a column becomes, unless told otherwise:

    texts, truth values, categories     discrete
    numbers                             continuous; float32 stays float32, everything else becomes float64
    dates and times                     continuous, in seconds: since 1970, since midnight, or of a duration
    nothing but nulls                   continuous, all unknown
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy.typing as npt
import pyarrow as pa

from c45gpu.data.arrays import assemble, chosen_columns, from_arrays, require_cases
from c45gpu.data.arrowcolumns import Column
from c45gpu.data.attributes import as_column, learned, matched, mixed
from c45gpu.data.devicearrays import DeviceColumn, numbers_of_cudf
from c45gpu.data.labels import encode_classes
from c45gpu.data.readfile import read_file
from c45gpu.data.schema import Attribute, Schema, first_duplicate
from c45gpu.data.table import Table
from c45gpu.data.values import Unseen, listed, shown
from c45gpu.errors import DataError

__all__ = ["describe", "encode_classes", "from_arrays", "from_frame", "read_file"]


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
    any other discrete column's values are sorted. Numbers of cuDF stay on the GPU that they are on. Columns of float32
    or float64 in one piece are not copied: leave them as they are while the table is in use.

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
    categorical : "from_dtype", sequence of str or int, or mask of bool
        Columns that are discrete whatever their type. Not used with a schema.
    weights : array_like, shape (n_cases,), optional
        How much each case counts, 1 by default.
    unseen : {"unknown", "error"}
        What a value is that the schema does not know.

    Returns
    -------
    Table
        Its schema is the one given, or what was learned.

    Raises
    ------
    DataError
        When something does not fit; the message says which column and row.
    """
    native = _narwhals(frame)
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


def _narwhals(frame: Any) -> Any:
    import narwhals.stable.v2 as nw

    return nw.from_native(as_frame(frame), eager_only=True)


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
        # narwhals joins the chunks of pyarrow's columns, which are taken one by one here
        column = as_column(series.to_native() if series.implementation.is_pyarrow() else series.to_arrow())
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise mixed(name, error) from None
    if pa.types.is_dictionary(column.type) and isinstance(column.type.value_type, pa.BaseExtensionType):
        return _with_spelled_categories(series, column)
    return column


def _with_spelled_categories(series: Any, column: Column) -> Column:
    """Categories of a type that only their own library can spell, such as pandas' intervals."""
    categories = pa.array([str(category) for category in series.cat.get_categories().to_list()])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(chunk.indices, categories) for chunk in column.chunks])
