"""Labels, weights and parameters as scikit-learn's users give them, as the layers below take them."""

from __future__ import annotations

import numbers
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from c45gpu.data.devicearrays import on_device

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
