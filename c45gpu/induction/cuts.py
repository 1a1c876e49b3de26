"""Thresholds of tests, and the subtrees that an engine grew by itself, as they stand in a tree."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Floats, Table
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Int64s, Problem, Subtrees
from c45gpu.model.growing import Growth


class Cuts:
    """Knows the values that thresholds are.

    Parameters
    ----------
    engine : Engine
    problem : Problem
    whole : Table, optional
        Where the problem's cases are a window of it: thresholds are values of its columns.
    """

    def __init__(self, engine: Engine, problem: Problem, whole: Table | None = None) -> None:
        self._engine, self._whole = engine, whole
        self._used, self._release8 = np.array(problem.used, np.int64), problem.settings.gap > 0

    def thresholds(self, attribute: Int64s, below: Int64s, above: Int64s) -> npt.NDArray[np.float64]:
        """For each test on a continuous attribute its threshold, NaN for the others; see :class:`.level.Children`."""
        threshold = np.full(len(attribute), np.nan)
        continuous = below >= 0
        for a in np.unique(attribute[continuous]).tolist():
            here = continuous & (attribute == a)
            distinct, low, high = self._engine.distinct(a), below[here], above[here]
            if self._whole is not None:
                values, distinct = distinct, self._whole.distinct(int(self._used[a]))
                low, high = np.searchsorted(distinct, values[low]), np.searchsorted(distinct, values[high])
            threshold[here] = thresholds(distinct, low, high, self._release8)
        return threshold

    def grafts(self, subtrees: Subtrees, nodes: Int64s) -> Growth:
        """Subtrees to be added to a tree, given the numbers of the nodes whose positions their roots are named by."""
        parent, root = subtrees.parent.copy(), subtrees.parent < 0
        parent[root] = -1 - nodes[-1 - parent[root]]
        attribute, tested = subtrees.attribute.copy(), subtrees.attribute >= 0
        attribute[tested] = self._used[attribute[tested]]
        return Growth(
            parent=parent,
            branch=subtrees.branch,
            attribute=attribute,
            threshold=self.thresholds(subtrees.attribute, subtrees.below, subtrees.above),
            class_units=subtrees.class_weights,
        )


def thresholds(distinct: Floats, below: Int64s, above: Int64s, release8: bool) -> npt.NDArray[np.float64]:
    """The threshold of each cut: the greatest value of the whole column that does not exceed the midpoint.

    Parameters
    ----------
    distinct : ndarray
        Sorted distinct values of the column.
    below, above : ndarray of int64
        Ranks of the values on both sides of each cut. The threshold never reaches the upper one.
    release8 : bool
        Take the midpoint in float32.

    Returns
    -------
    ndarray of float64
    """
    low, high = distinct[below].astype(np.float64), distinct[above].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        middle = np.where(np.isfinite(low + high), (low + high) / 2, low / 2 + high / 2)
        rounded = middle.astype(np.float32 if release8 else distinct.dtype)
    if not release8:  # the greatest number of the column's precision that is not above the midpoint finds the same rank
        rounded = np.where(rounded > middle, np.nextafter(rounded, distinct.dtype.type(-np.inf)), rounded)
    rank = np.searchsorted(distinct, rounded.astype(distinct.dtype), side="right") - 1
    return distinct[np.clip(rank, below, above - 1)].astype(np.float64)
