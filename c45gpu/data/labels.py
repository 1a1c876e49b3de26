"""Labels as classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Int32s
from c45gpu.data.values import listed
from c45gpu.errors import DataError

Array = npt.NDArray[Any]


def encode_classes(y: Any) -> tuple[Array, Int32s]:
    """The distinct labels of some cases, and which of them each case has.

    Parameters
    ----------
    y : array_like, shape (n_cases,)
        Labels that can be sorted: numbers, texts or truth values, in an array, a list or a column of a data frame.

    Returns
    -------
    labels : ndarray
        Sorted, without duplicates, of the type of `y`.
    codes : ndarray of int32, shape (n_cases,)
        The position of each case's label.

    Raises
    ------
    DataError
        When a label is missing, labels cannot be compared, or `y` has not one dimension.
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise DataError(f"y has {labels.ndim} dimensions where one is due: give one label for each case")
    missing = _missing(labels)
    if missing.any():
        raise DataError(f"y[{int(np.argmax(missing))}] is missing: give every case a class, or leave the case out")
    try:
        distinct, codes = (
            _distinct_objects(labels) if labels.dtype == object else np.unique(labels, return_inverse=True)
        )
    except TypeError:
        kinds = listed(sorted({type(label).__name__ for label in labels.tolist()}))
        raise DataError(f"y mixes labels that cannot be sorted ({kinds}): give labels of one type") from None
    return distinct, codes.astype(np.int32)


def _missing(labels: Array) -> npt.NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind in "Mm":
        return np.isnat(labels)
    if labels.dtype == object:
        return np.array([_is_missing(label) for label in labels.tolist()], bool)
    return np.zeros(len(labels), bool)


def _is_missing(label: Any) -> bool:
    """Whether a label is None, a NaN, or pandas' NA or NaT (which are not imported for the purpose)."""
    return (
        label is None
        or type(label).__name__ in ("NAType", "NaTType")
        or (isinstance(label, float | np.floating) and label != label)
    )


def _distinct_objects(labels: Array) -> tuple[Array, Int32s]:
    """What np.unique gives, without sorting all labels: texts are slow to compare."""
    position: dict[Any, int] = {}
    codes = np.array([position.setdefault(label, len(position)) for label in labels.tolist()], np.int64)
    distinct = np.empty(len(position), object)
    distinct[:] = list(position)
    order = np.argsort(distinct, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return distinct[order], rank[codes]
