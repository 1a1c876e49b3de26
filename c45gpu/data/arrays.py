"""Arrays as tables, and the weights of cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.devicearrays import (
    DeviceColumn,
    as_device_array,
    known_column,
    labels_of,
    new_column,
    on_device,
    on_host,
    spread,
)
from c45gpu.data.labels import encode_classes
from c45gpu.data.schema import Attribute, Schema, first_duplicate
from c45gpu.data.table import Floats, Int32s, Table
from c45gpu.data.values import Unseen, listed
from c45gpu.errors import DataError

Array = npt.NDArray[Any]
LARGEST_EXACT = 2**53  # up to here float64 tells every whole number from its neighbours


def from_arrays(
    X: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    schema: Schema | None = None,
    names: Sequence[str] | None = None,
    categorical: Sequence[int] | Sequence[str] | npt.NDArray[Any] | None = None,
    weights: npt.ArrayLike | None = None,
    unseen: Unseen = "unknown",
) -> Table:
    """A table from a two-dimensional array.

    Parameters
    ----------
    X : array_like, shape (n_cases, n_attributes)
        Numbers of float32 stay so, and float16 becomes it; everything else that is a number becomes float64, if its
        value is kept. NaN is unknown, infinities are values. Dates count in seconds. The columns of an array of objects
        or texts are taken one by one: texts and truth values are discrete, their values sorted, None is unknown.
        Numbers on a GPU (CuPy, DLPack, ``__cuda_array_interface__``) stay there for the CUDA engine; so do `y` and its
        codes. Columns of float32 or float64 that are contiguous and may be written to are not copied: leave them as
        they are while the table is in use.
    y : array_like, shape (n_cases,), optional
        A label for each case, see :func:`encode_classes`. Without it the cases have no class.
    schema : Schema, optional
        The attributes and classes of a model, to be matched by position: values and
        kinds are then given. `names` and `categorical` are not used.
    names : sequence of str, optional
        The attributes' names; x0, x1, ... by default.
    categorical : sequence of int or str, or mask of bool, optional
        The columns that are discrete whatever their type, by number, name, or a mask over all columns.
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
        When something does not fit; the message says what and where.
    """
    matrix = _matrix(X)
    n_columns = matrix.shape[1]
    if schema is not None and len(schema.attributes) != n_columns:
        raise DataError(f"X has {n_columns} columns where {len(schema.attributes)} are due, as in the training data")
    pairs: list[tuple[Attribute, Array | DeviceColumn | None]]
    if schema is None:
        names = _checked_names(names, n_columns)
        chosen = chosen_columns(categorical, names)
        pairs = [_new_column(name, matrix[:, j], j in chosen) for j, name in enumerate(names)]
    else:
        pairs = [(a, _known_column(a, matrix[:, j], unseen)) for j, a in enumerate(schema.attributes)]
    return assemble(pairs, y, weights, schema, len(matrix))


def checked_weights(weights: npt.ArrayLike | None, n_cases: int) -> npt.NDArray[np.float64] | None:
    """Weights as float64, if they are some; None stays None.

    Raises
    ------
    DataError
        When they are not one finite number of at least 0 for each case, or all are 0.
    """
    if weights is None:
        return None
    result = finite_weights(weights, n_cases)
    if not result.any():
        raise DataError("every weight is zero: give some case a weight above 0")
    return result


def finite_weights(weights: npt.ArrayLike, n_cases: int) -> npt.NDArray[np.float64]:
    """Weights of some of the cases, which may all be 0, as float64.

    Raises
    ------
    DataError
        When they are not one finite number of at least 0 for each case.
    """
    try:
        result = np.array(on_host(weights), np.float64)
    except (TypeError, ValueError):
        raise DataError("the weights are not numbers: give one for each case") from None
    if result.shape != (n_cases,):
        raise DataError(f"weights of shape {result.shape} for {n_cases} cases: give one for each case")
    wrong = ~(np.isfinite(result) & (result >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"weights[{row}] is {result[row]}: a weight is a finite number of at least 0")
    return result


def inexact(values: Array) -> int | None:
    """The position of the first whole number that float64 cannot hold, None if there is none."""
    if values.itemsize < 8 or not len(values):
        return None
    if values.min() >= -LARGEST_EXACT and values.max() <= LARGEST_EXACT:
        return None
    rounded = values.astype(np.float64)
    ends = np.iinfo(values.dtype)
    outside = (rounded >= float(ends.max)) | (rounded < float(ends.min))  # rounded up, past the type's end
    wrong = np.where(outside, 0, rounded).astype(values.dtype) != values
    return int(np.argmax(wrong)) if wrong.any() else None


def assemble(
    pairs: Iterable[tuple[Attribute, Array | DeviceColumn | None]],
    y: Any,
    weights: npt.ArrayLike | None,
    schema: Schema | None,
    n_cases: int,
) -> Table:
    """The table of some columns and of labels, which may be missing."""
    pairs = list(pairs)
    require_cases(n_cases, len(pairs))
    classes, codes, there = _classes(y, schema, n_cases)
    known = Schema(tuple(a for a, _ in pairs), classes) if schema is None else schema
    both = None if there is None else (codes, there)
    return Table(known, [column for _, column in pairs], codes, checked_weights(weights, n_cases), both)


def require_cases(n_cases: int, n_attributes: int) -> None:
    """Refuse what has no cases or no attributes.

    Raises
    ------
    DataError
    """
    if not n_cases or not n_attributes:
        raise DataError(f"{n_cases} cases with {n_attributes} attributes: give at least one case and one attribute")


def chosen_columns(chosen: Any, names: Sequence[str]) -> set[int]:
    """The numbers of columns that are given by number, by name, or by a boolean mask.

    Raises
    ------
    DataError
        When there is no such column.
    """
    if chosen is None:
        return set()
    given = np.asarray(chosen, object).tolist()
    if len(given) == len(names) and all(isinstance(key, bool) for key in given):
        return set(np.flatnonzero(given).tolist())
    position: dict[Any, int] = dict(zip([*range(len(names)), *names], [*range(len(names))] * 2, strict=True))
    missing = [key for key in given if key not in position]
    if missing:
        raise DataError(
            f"categorical names the column {missing[0]!r}, which is not there: the columns are {listed(names)}"
        )
    return {position[key] for key in given}


def _matrix(X: npt.ArrayLike) -> Array:
    matrix: Array = as_device_array(X) if on_device(X) else _host_matrix(X)
    if matrix.ndim != 2:
        raise DataError(f"X has {matrix.ndim} dimensions where two are due: give it the shape (n_cases, n_attributes)")
    if matrix.dtype.kind not in "fiubOUMm":
        raise DataError(f"X holds {matrix.dtype}, which is neither numbers nor texts")
    return matrix


def _host_matrix(X: npt.ArrayLike) -> Array:
    try:
        return np.asarray(X)
    except ValueError:
        raise DataError("the rows of X have different lengths: give as many values in each") from None


def _checked_names(names: Sequence[str] | None, n_columns: int) -> Sequence[str]:
    if names is None:
        return [f"x{j}" for j in range(n_columns)]
    if len(names) != n_columns:
        raise DataError(f"{len(names)} names for {n_columns} columns of X: give one each")
    if (twice := first_duplicate(names)) is not None:
        raise DataError(f"two columns are named {twice!r}: give each its own name")
    return names


def _new_column(name: str, values: Array, discrete: bool) -> tuple[Attribute, Array | DeviceColumn]:
    if on_device(values):
        return new_column(name, values, discrete)
    if discrete or values.dtype.kind in "OU":
        from c45gpu.data.attributes import column_of, learned

        return learned(name, column_of(name, values), discrete=discrete)
    return Attribute(name, "continuous"), _numbers(name, values)


def _known_column(attribute: Attribute, values: Array, unseen: Unseen) -> Array | DeviceColumn | None:
    if on_device(values):
        return known_column(attribute, values)
    if attribute.kind == "ignored":
        return None
    if attribute.kind == "discrete" or values.dtype.kind in "OU":
        from c45gpu.data.attributes import column_of, matched

        return matched(attribute, column_of(attribute.name, values), unseen=unseen)
    return _numbers(attribute.name, values)


def _numbers(name: str, values: Array) -> Floats:
    kind = values.dtype.kind
    if kind == "f":
        column: Floats = np.ascontiguousarray(values, np.float32 if values.itemsize <= 4 else np.float64)
        return column if column.flags.writeable else column.copy()  # compiled code tells the two apart
    if kind in "Mm":
        return np.where(np.isnat(values), np.nan, values.astype(f"{kind}8[us]").astype(np.int64) / 1e6)
    row = None if kind == "b" else inexact(values)
    if row is not None:
        raise DataError(
            f"column {name!r}, row {row}: float64 cannot hold {values[row]} exactly: take it as categorical"
        )
    return values.astype(np.float64)


def _classes(y: Any, schema: Schema | None, n_cases: int) -> tuple[tuple[str, ...], Int32s, Any]:
    """The classes, their codes, and the codes on the device that `y` is on, if it is on one."""
    if y is None:
        return () if schema is None else schema.classes, np.full(n_cases, -1, np.int32), None
    labels, codes, there = labels_of(y) if on_device(y) else (*encode_classes(y), None)
    if len(codes) != n_cases:
        raise DataError(f"y has {len(codes)} labels for {n_cases} cases: give one for each")
    names = tuple(str(label) for label in labels)
    if schema is None:
        return names, codes, there
    foreign = [name for name in names if name not in schema.class_number]
    if foreign:
        raise DataError(f"y has the class {foreign[0]!r}, but the classes are {listed(schema.classes)}")
    numbers = np.array([schema.class_number[name] for name in names], np.int32)
    return schema.classes, numbers[codes], None if there is None else spread(numbers, there)
