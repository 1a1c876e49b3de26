"""Cuts of one column by minimum description length.

The source is Fayyad and Irani, Multi-interval discretization of continuous-valued attributes for classification
learning, IJCAI 1993.

The cases of a column lie in the order of their values. A *segment* is a range of them that no cut divides yet, a
*boundary* a place between two different values, unless all cases of both are of one class: there no cut is best.

With `earlier[i]` cases of the same class before case i, what H sums to over the class weights of both sides is two
running sums, however many classes there are::

    class      a a b a b b
    earlier    0 1 0 2 1 2          left of a place: the sum of H(earlier + 1) - H(earlier) over the cases before it
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.formulas import information_of, log2_of, q_log_q, scale_bits_for, zero_bound
from c45gpu.kernels.level import Int64s

MOST_EXACT_CLASSES = 33  # 3^33 is the last power of 3 below 2^53, from where on a 2 less tells nothing in a logarithm


class _Side(NamedTuple):
    """A set of cases: how many, of how many classes, and their entropy times their number, in 2^-scale_bits."""

    cases: int
    classes: int
    information: int


def mdl_cuts(values: npt.NDArray[Any], classes: npt.NDArray[np.integer[Any]]) -> list[float]:
    """Where a column is cut, in ascending order.

    A segment is cut where the entropy of its classes falls most (of equals at the lowest place), if that gain is above
    ``log2(N - 1)/N + delta/N`` with ``delta = log2(3^k - 2) - (k*E - k1*E1 - k2*E2)``; N cases of k classes have the
    entropy E, its sides k1, E1 and k2, E2. Both sides are segments then.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        Without NaN.
    classes : ndarray of int, shape (n,)
        0, 1, ...

    Returns
    -------
    list of float
        Midpoints between neighbouring values; the lower one belongs to those that do not exceed the cut.
    """
    return _Column(values, classes).cuts() if len(values) else []


class _Column:
    def __init__(self, values: npt.NDArray[Any], classes: npt.NDArray[np.integer[Any]]) -> None:
        order = np.argsort(values, kind="stable")
        self._values, self._classes = values[order], classes[order].astype(np.int64)
        self._n_classes = int(classes.max()) + 1
        self._scale_bits = scale_bits_for(len(values))
        self._h: Int64s = q_log_q(np.arange(len(values) + 1), self._scale_bits)
        by_class = np.argsort(self._classes, kind="stable")
        counts = np.bincount(self._classes)
        self._earlier = np.empty(len(values), np.int64)
        self._earlier[by_class] = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
        self._boundaries = self._found_boundaries()

    def cuts(self) -> list[float]:
        """Cut segments until none is worth it."""
        cuts, segments = [], [(0, len(self._values), np.zeros(self._n_classes, np.int64))]
        while segments:
            first, stop, before = segments.pop()
            place, inside = self._best_cut(first, stop, before)
            if place >= 0:
                cuts.append(self._middle(place))
                segments += [(first, place, before), (place, stop, before + inside)]
        return sorted(cuts)

    def _found_boundaries(self) -> Int64s:
        """Numbers of the first cases behind boundaries, ascending."""
        first = np.flatnonzero(np.concatenate([[True], self._values[1:] != self._values[:-1]]))
        least, most = np.minimum.reduceat(self._classes, first), np.maximum.reduceat(self._classes, first)
        one_class = (least[:-1] == most[:-1]) & (least[1:] == most[1:]) & (least[:-1] == least[1:])
        boundaries: Int64s = first[1:][~one_class]
        return boundaries

    def _best_cut(self, first: int, stop: int, before: Int64s) -> tuple[int, Int64s]:
        """The first case behind the cut of a segment, -1 for none, and the class weights on its low side.

        `before` is the class weights of all that is below the segment.
        """
        low, high = np.searchsorted(self._boundaries, (first + 1, stop))
        places = self._boundaries[low:high]
        if not len(places):
            return -1, before
        classes = self._classes[first:stop]
        total = np.bincount(classes, minlength=self._n_classes)
        earlier = self._earlier[first:stop] - before[classes]
        later = total[classes] - earlier
        joins = np.cumsum(self._h[earlier + 1] - self._h[earlier])[places - first - 1]
        leaves = np.cumsum(self._h[later] - self._h[later - 1])[places - first - 1]
        sides = self._h[places - first] + self._h[stop - places]
        best = int(np.argmin(sides - joins + leaves))  # of equals the lowest
        place = int(places[best])
        inside = np.bincount(classes[: place - first], minlength=self._n_classes)
        worth_it = self._is_worth_it(*(self._side(weights) for weights in (total, inside, total - inside)))
        return (place if worth_it else -1), inside

    def _side(self, weights: Int64s) -> _Side:
        cases = int(weights.sum())
        return _Side(cases, int((weights > 0).sum()), int(self._h[cases] - self._h[weights].sum()))

    def _is_worth_it(self, whole: _Side, low: _Side, high: _Side) -> bool:
        scale = 2.0**self._scale_bits
        gain = whole.information - low.information - high.information
        if gain <= zero_bound(self._n_classes, 2):
            return False
        k = whole.classes
        types = log2_of(3**k - 2) if k <= MOST_EXACT_CLASSES else k * log2_of(3)
        entropies = [side.classes * information_of(side.information, side.cases, scale) for side in (whole, low, high)]
        delta = types - (entropies[0] - entropies[1] - entropies[2])
        return bool(gain / scale > log2_of(whole.cases - 1) + delta)

    def _middle(self, place: int) -> float:
        below, above = float(self._values[place - 1]), float(self._values[place])
        middle = below / 2 + above / 2
        return middle if below <= middle < above else below
