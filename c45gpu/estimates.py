"""How many errors a leaf is to be expected to make, by the ones that it made in training, and what that decides.

Floating-point numbers here are added, multiplied, divided and rooted, each step rounded as IEEE 754 has it, so every
machine gets the same bits. The functions that are marked :data:`SHARED` mean the same to NumPy arrays and to numba's
numbers: compiled pruning has these formulas, not others.
"""

from __future__ import annotations

from decimal import Context, Decimal
from functools import cache
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
ClassWeights = TypeVar("ClassWeights", npt.NDArray[np.int64], Floats)

SIMPLER_BY: Final = 0.1  # pruning takes the simpler tree if it is worse by no more errors than this
ONE_WRONG: Final = 0.9999  # from here on errors are whole ones to Quinlan (specification section 8.1)
SOME_WRONG: Final = 1e-6  # and below this none
FEW_CLASSES: Final = 8

# Quinlan's table of confidence limits: upper tail of the normal distribution, and deviation.
_TAILS: Final = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0)
_DEVIATIONS: Final = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)


def totals_and_greatest(class_weights: ClassWeights) -> tuple[ClassWeights, ClassWeights]:
    """The sum of each row and its greatest number; by columns where these are few, which tiny rows are slow for."""
    if class_weights.shape[1] > FEW_CLASSES:
        return class_weights.sum(1), class_weights.max(1)
    total = greatest = class_weights[:, 0]
    for c in range(1, class_weights.shape[1]):
        total, greatest = total + class_weights[:, c], np.maximum(greatest, class_weights[:, c])
    return total, greatest


def wrong_as_leaves(class_weights: ClassWeights) -> ClassWeights:
    """What leaves with these class weights, one a row, get wrong: all but the cases of their most frequent classes."""
    total, greatest = totals_and_greatest(class_weights)
    return total - greatest


def squared_deviation(confidence: float) -> float:
    """The square of the normal deviation of a confidence, interpolated in Quinlan's table (section 8.1)."""
    i = next(i for i in range(1, len(_TAILS)) if confidence <= _TAILS[i])
    span = (confidence - _TAILS[i - 1]) / (_TAILS[i] - _TAILS[i - 1])
    deviation = _DEVIATIONS[i - 1] + (_DEVIATIONS[i] - _DEVIATIONS[i - 1]) * span
    return deviation * deviation


def halvings(y: Any) -> Any:
    """The whole number k nearest to y * log2(e), for y <= 0."""
    return np.rint(np.maximum(y, -745.0) * 1.4426950408889634)


def one_less_power(y: Any, k: Any, power: Any) -> Any:
    """1 - e^y for y <= 0, given k by :func:`halvings` and 2^k; additions, multiplications and divisions only."""
    r = (np.maximum(y, -745.0) - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
    series = r * 0.0
    for n in range(14, 0, -1):
        series = r / n * (1.0 + series)
    return (1.0 - power) - power * series


def one_less_exp(y: Floats) -> Floats:
    """1 - e^y for y <= 0: the same bits on every machine."""
    k = halvings(y)
    result: Floats = one_less_power(y, k, np.ldexp(1.0, k.astype(np.int64)))
    return result


@cache
def log_of(number: float) -> float:
    """The natural logarithm, correctly rounded but for one case in 10^20: the same bits on every machine."""
    return float(Context(prec=40).ln(Decimal(number)))


def extra_errors(cases: Floats, errors: Floats, confidence: float) -> Floats:
    """Quinlan's pessimistic extra errors E(N, e) of leaves (specification section 8.1).

    Parameters
    ----------
    cases : ndarray of float64
        Weight N of the cases at each leaf, above 0.
    errors : ndarray of float64
        Weight e of those that it gets wrong.
    confidence : float
        CF, 0 < CF <= 1.

    Returns
    -------
    ndarray of float64
        How many errors more than `errors` are to be expected at that confidence.
    """
    extra, few = np.empty_like(cases), errors < ONE_WRONG
    extra[few] = _extra_of_few(cases[few], errors[few], confidence)
    extra[~few] = _extra_of_many(cases[~few], errors[~few], confidence)
    return extra


def _extra_of_few(cases: Floats, errors: Floats, confidence: float) -> Floats:
    """E(N, e) for less than one error."""
    extra: Floats = cases * one_less_exp(log_of(confidence) / cases)
    some = np.flatnonzero(errors >= SOME_WRONG)
    extra[some] = part_wrong(errors[some], extra[some], _extra_of_many(cases[some], np.ones(len(some)), confidence))
    return extra


def _extra_of_many(cases: Floats, errors: Floats, confidence: float) -> Floats:
    """E(N, e) for one error or more."""
    upper = upper_errors(cases, errors, squared_deviation(confidence))
    extra: Floats = np.where(errors + 0.5 >= cases, nearly_all_wrong(cases, errors), upper)
    return extra


def part_wrong(errors: Any, none: Any, one: Any) -> Any:
    """E(N, e) for a part of an error, between those of `none` and of `one`."""
    return none + errors * (one - none)


def nearly_all_wrong(cases: Any, errors: Any) -> Any:
    """E(N, e) where half an error more would be all cases."""
    return 0.67 * (cases - errors)


def upper_errors(cases: Any, errors: Any, q: Any) -> Any:
    """E(N, e) otherwise, from one error on; `q` is the :func:`squared_deviation` of the confidence."""
    half_up = errors + 0.5
    inside = np.maximum(q * (half_up * (1.0 - half_up / cases) + q / 4), 0.0)
    return cases * ((half_up + q / 2 + np.sqrt(inside)) / (cases + q)) - errors


def simplest(as_leaf: Any, as_tree: Any, as_branch: Any) -> Any:
    """Whether nodes become leaves, and whether branches take their place, by the errors estimated for each (8.3).

    The simpler wins unless it is worse than a less simple one by more than :data:`SIMPLER_BY`.
    """
    to_leaf = (as_leaf <= as_tree + SIMPLER_BY) & (as_leaf <= as_branch + SIMPLER_BY)
    return to_leaf, np.logical_not(to_leaf) & (as_branch <= as_tree + SIMPLER_BY)


SHARED: Final = (halvings, one_less_power, part_wrong, nearly_all_wrong, upper_errors, simplest)


def least_rise(confidence: float) -> float:
    """By how much the estimated errors of a leaf rise at least when it gets one more case, and that wrong.

    It is near 1, and least for small leaves, so these are tried; a twentieth is taken off for all others. Where even
    that comes out below one half (confidences far below any of use) nothing is to be concluded from it.
    """
    cases, errors = np.meshgrid(np.arange(1.0, 65.0), np.arange(0.0, 64.0), indexing="ij")
    before = errors + extra_errors(cases, np.minimum(errors, cases), confidence)
    after = errors + 1 + extra_errors(cases + 1, np.minimum(errors, cases) + 1, confidence)
    least = float((after - before)[errors < cases].min())
    return least - 0.05 * abs(least)


def pessimistic_limit(cost: Floats, cases: Floats, standard_errors: float = 1.0) -> Floats:
    """A subtree's cost and some standard errors of it (Quinlan 1987, who takes one).

    `cost` is the errors of its leaves, each with the continuity correction of 1/2; `cases` the weight of its cases.
    """
    spread = np.sqrt(np.maximum(cost * (cases - cost), 0.0) / np.maximum(cases, np.finfo(np.float64).tiny))
    limit: Floats = cost + standard_errors * spread
    return limit


def interval_limit(rate: Floats, cases: Floats, confidence: float) -> Floats:
    """The upper end of Wilson's score interval (1927) of an error rate, one-sided.

    Parameters
    ----------
    rate : ndarray of float64
        Share f of errors among the cases, 0 <= f <= 1.
    cases : ndarray of float64
        Their weight N, above 0.
    confidence : float
        The chance that the true rate is higher; z is the normal deviation of that tail, 0.6745 at 0.25.

    Returns
    -------
    ndarray of float64
        (f + z^2/2N + z * sqrt(f(1-f)/N + z^2/4N^2)) / (1 + z^2/N)
    """
    from scipy.special import ndtri

    z = float(-ndtri(confidence))
    spread = np.sqrt(rate * (1.0 - rate) / cases + z * z / (4.0 * cases * cases))
    limit: Floats = (rate + z * z / (2.0 * cases) + z * spread) / (1.0 + z * z / cases)
    return limit
