"""Discretisers for scikit-learn: numbers become numbers of bins; here a case is a sample and an attribute a feature.

An unknown value (NaN) stays unknown, and takes no part in finding the bins.
"""

from __future__ import annotations

import inspect
import numbers
import warnings
from abc import ABC, abstractmethod
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from c45gpu.errors import OptionError
from c45gpu.induction.mdl import mdl_cuts
from c45gpu.induction.tree_cuts import tree_cuts

Encoding = Literal["ordinal", "onehot-dense"]
Floats = npt.NDArray[np.floating[Any]]
Edges = npt.NDArray[np.float64]
Classes = npt.NDArray[np.int32]


class _Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]  # no types there
    """What all discretisers share: from edges to bins."""

    encode: Encoding
    _side: Literal["left", "right"] = "left"  # of an edge that a value equal to it falls on

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the bins of each feature.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            Numbers; NaN is unknown.
        y : array_like, shape (n_samples,)
            Labels; only the supervised discretisers look at them.

        Returns
        -------
        Self
            Itself.

        Raises
        ------
        OptionError
            When a parameter is out of range; it is a ValueError.
        """
        if self.encode not in ("ordinal", "onehot-dense"):
            raise OptionError(f"encode={self.encode!r} will not do: give 'ordinal' or 'onehot-dense'")
        values, classes = self._validated(X, y)
        known = ~np.isnan(values)
        columns = range(values.shape[1])
        self.bin_edges_ = [self._edges(values[known[:, j], j], classes[known[:, j]]) for j in columns]
        self.n_bins_ = np.array([len(edges) - 1 for edges in self.bin_edges_])
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """The bin of each value.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            Features as in :meth:`fit`.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_features_out)
            0, 1, ..., and NaN where the value is unknown; with ``encode="onehot-dense"`` a column of 0 and 1 for each
            bin, and 0 in all of them where the value is unknown.
        """
        check_is_fitted(self)
        values = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        bins = np.empty(values.shape)
        for j, edges in enumerate(self.bin_edges_):
            bins[:, j] = np.searchsorted(edges[1:-1], values[:, j], side=self._side)
        bins[np.isnan(values)] = np.nan
        if self.encode == "ordinal":
            return bins
        return np.hstack([bins[:, [j]] == np.arange(n) for j, n in enumerate(self.n_bins_)]).astype(np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the features that :meth:`transform` returns: as they came, or with ``_`` and the bin behind them.

        Parameters
        ----------
        input_features : array_like of str, optional
            Names of the features of `X`; those seen in :meth:`fit` if absent.

        Returns
        -------
        ndarray of str, shape (n_features_out,)
            One for each column that :meth:`transform` gives.
        """
        names: npt.NDArray[np.object_] = super().get_feature_names_out(input_features)
        if self.encode == "ordinal":
            return names
        pairs = zip(names, self.n_bins_, strict=True)
        return np.array([f"{name}_{i}" for name, n in pairs for i in range(n)], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _validated(self, X: Any, y: Any) -> tuple[Floats, Classes]:
        """The numbers, and class numbers where they are needed."""
        values = validate_data(self, X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        return values, np.zeros(len(values), np.int32)

    @abstractmethod
    def _edges(self, values: Floats, classes: Classes) -> Edges:
        """The edges of the bins, one more than bins, from the known values of a feature."""


class _BinsOfOneKind(_Discretizer):
    """Bins from :class:`sklearn.preprocessing.KBinsDiscretizer`, from which an edge is in the bin above it."""

    n_bins: int
    _side = "right"
    _strategy: Literal["uniform", "quantile"]

    def _edges(self, values: Floats, classes: Classes) -> Edges:
        _require_whole("n_bins", self.n_bins)
        if not len(values) or values.min() == values.max():
            return _with_ends([])
        more = {"quantile_method": "averaged_inverted_cdf"} if _knows("quantile_method") else {}
        bins = KBinsDiscretizer(self.n_bins, encode="ordinal", strategy=self._strategy, subsample=None, **more)
        with warnings.catch_warnings():
            # that bins were joined, as n_bins_ tells; with a wrong feature
            warnings.simplefilter("ignore", UserWarning)
            edges: Edges = bins.fit(values[:, None]).bin_edges_[0]
        return edges


class EqualWidthDiscretizer(_BinsOfOneKind):
    """Bins of equal width between the least and the greatest known value of each feature.

    Parameters
    ----------
    n_bins : int
        2 or more.
    encode : {"ordinal", "onehot-dense"}
        What :meth:`transform` returns: the number of the bin, or a column for each bin.

    Attributes
    ----------
    bin_edges_ : list of ndarray
        For each feature its edges, one more than bins; an edge belongs to the bin above it. A feature with one value
        has one bin.
    n_bins_ : ndarray of int, shape (n_features,)
    """

    _strategy = "uniform"

    def __init__(self, n_bins: int = 3, *, encode: Encoding = "ordinal") -> None:
        self.n_bins = n_bins
        self.encode = encode


class EqualFrequencyDiscretizer(_BinsOfOneKind):
    """Bins with equally many known values of each feature, as far as values that are equal allow it.

    Parameters
    ----------
    n_bins : int
        2 or more.
    encode : {"ordinal", "onehot-dense"}
        What :meth:`transform` returns: the number of the bin, or a column for each bin.

    Attributes
    ----------
    bin_edges_ : list of ndarray
        For each feature its edges, one more than bins; an edge belongs to the bin above it. Bins that would be too
        narrow to tell apart are joined.
    n_bins_ : ndarray of int, shape (n_features,)
    """

    _strategy = "quantile"

    def __init__(self, n_bins: int = 5, *, encode: Encoding = "ordinal") -> None:
        self.n_bins = n_bins
        self.encode = encode


class _Supervised(_Discretizer):
    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _validated(self, X: Any, y: Any) -> tuple[Floats, Classes]:
        values, labels = validate_data(self, X, y, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        check_classification_targets(labels)
        return values, np.unique(labels, return_inverse=True)[1].astype(np.int32)


class TreeDiscretizer(_Supervised):
    """Bins from a small C4.5 tree of each feature by itself.

    The tree is grown and not pruned; of its tests those are kept that gain most information in all, gain times cases,
    one after the other from the root down, until there are `max_bins` leaves. As in any C4.5 tree, cuts that spare no
    error are not there.

    Parameters
    ----------
    max_bins : int
        2 or more.
    min_cases : int
        Both sides of a cut hold so many samples.
    encode : {"ordinal", "onehot-dense"}
        What :meth:`transform` returns: the number of the bin, or a column for each bin.
    engine : str
        What grows the trees, "auto" or the name of an engine. The bins do not depend on it.

    Attributes
    ----------
    bin_edges_ : list of ndarray
        For each feature minus infinity, the thresholds, infinity; a threshold belongs to the bin below it. A feature
        without a test has one bin.
    n_bins_ : ndarray of int, shape (n_features,)
    """

    def __init__(
        self, max_bins: int = 5, *, min_cases: int = 2, encode: Encoding = "ordinal", engine: str = "auto"
    ) -> None:
        self.max_bins = max_bins
        self.min_cases = min_cases
        self.encode = encode
        self.engine = engine

    def _edges(self, values: Floats, classes: Classes) -> Edges:
        _require_whole("max_bins", self.max_bins)
        least = int(self.min_cases) if isinstance(self.min_cases, np.integer) else self.min_cases
        return _with_ends(tree_cuts(values, classes, self.max_bins - 1, least, self.engine))


class MDLDiscretizer(_Supervised):
    """Bins by minimum description length (Fayyad and Irani 1993); see :func:`c45gpu.induction.mdl.mdl_cuts`.

    Parameters
    ----------
    encode : {"ordinal", "onehot-dense"}
        What :meth:`transform` returns: the number of the bin, or a column for each bin.

    Attributes
    ----------
    bin_edges_ : list of ndarray
        For each feature minus infinity, the cuts, infinity; a cut belongs to the bin below it. A feature that tells
        too little of the labels has one bin.
    n_bins_ : ndarray of int, shape (n_features,)
    """

    def __init__(self, *, encode: Encoding = "ordinal") -> None:
        self.encode = encode

    def _edges(self, values: Floats, classes: Classes) -> Edges:
        return _with_ends(mdl_cuts(values, classes))


def _with_ends(cuts: list[float]) -> Edges:
    return np.array([-np.inf, *cuts, np.inf])


def _knows(parameter: str) -> bool:
    """Whether this version of scikit-learn's discretiser has a parameter."""
    return parameter in inspect.signature(KBinsDiscretizer).parameters


def _require_whole(name: str, value: object) -> None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 2:
        raise OptionError(f"{name}={value!r} will not do: give a whole number from 2 on")
