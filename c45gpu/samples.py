"""Samples, labels, weights and parameters as scikit-learn's users give them, as the layers below take them."""

from __future__ import annotations

import numbers
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from c45gpu.data.devicearrays import on_device
from c45gpu.errors import DataError

if TYPE_CHECKING:
    from c45gpu.data.table import Table

PART_OF_ONE: Final = 1e-6


def as_counts(weights: npt.ArrayLike | None) -> npt.ArrayLike | None:
    """Weights as numbers of samples: those that sum to 1, as AdaBoost's do, are parts of all that have any."""
    given = None if weights is None or on_device(weights) else np.asarray(weights)
    if given is None or given.ndim != 1 or given.dtype.kind != "f" or not sum_to_one(given.sum()):
        return weights
    return given * np.count_nonzero(given)


def sum_to_one(total: float) -> bool:
    """Whether weights with that sum, if they are no whole numbers, are parts of all samples."""
    return abs(total - 1.0) <= PART_OF_ONE


def labels_of_samples(y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.int32], Any]:
    """The label of each sample, the distinct ones, which of them each sample has, and this on the device of `y`."""
    from c45gpu.data.devicearrays import labels_of
    from c45gpu.data.labels import encode_classes

    if on_device(y):
        distinct, codes, there = labels_of(y)
        labels = distinct[codes]
        check_classification_targets(labels)
        return labels, distinct, codes, there
    labels = column_or_1d(y.to_numpy() if hasattr(y, "dtype") and hasattr(y, "to_numpy") else y, warn=True)
    if labels.dtype != object:  # scikit-learn cannot tell which one of some objects is missing
        check_classification_targets(labels)
    distinct, classes = encode_classes(labels)
    if labels.dtype == object:
        check_classification_targets(distinct)
    return labels, distinct, classes, None


def plain(value: Any) -> Any:
    """A number or truth value of whatever type as Python's own; anything else as it is."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value


class FromSamples:
    """An estimator that makes tables of samples: of arrays, of data frames, and of what is on a device."""

    feature_names_in_: npt.NDArray[Any]
    n_features_in_: int

    def _table(self, X: Any, *, reset: bool, **how: Any) -> Table:
        if hasattr(X, "columns") or (hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__")):
            from c45gpu.data.frames import as_frame, from_frame

            X = as_frame(X)
            self._require_features(X, reset=reset)
            return from_frame(X, **how)
        from c45gpu.data.arrays import from_arrays

        if on_device(X):  # scikit-learn would fetch it; what it checks, from_arrays does
            table = from_arrays(X, **how)
            if reset:
                self.__dict__.pop("feature_names_in_", None)
                self.n_features_in_ = len(table.schema.attributes)
            return table
        values = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        return from_arrays(values, **how)

    def _require_features(self, X: Any, *, reset: bool) -> None:
        """Refuse features that are not those of training, or learn which there are."""
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
        except ValueError as fault:
            raise fault if reset else DataError(f"{fault}{self._misplaced(X)}") from None

    def _misplaced(self, X: Any) -> str:
        names, due = list(getattr(X, "column_names", X.columns)), self.feature_names_in_.tolist()
        at, (one, other) = next((at, pair) for at, pair in enumerate(zip_longest(names, due)) if pair[0] != pair[1])
        return f"Column {at} is {one!r} where {other or 'none'!r} is due: give X[list(fitted.feature_names_in_)]"
