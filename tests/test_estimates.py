"""The errors to be expected, against mpmath at 50 digits."""

from __future__ import annotations

import decimal
import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from c45gpu.estimates import extra_errors, least_rise, one_less_exp, pessimistic_limit, squared_deviation
from tests.test_formulas import in_digits, unit_fractions

TAILS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0)
DEVIATIONS = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)
CONFIDENCES = [0.25, 1.0, 0.1, 0.5, 0.001, 1e-6, 5e-324, *TAILS[1:]]
confidences = st.sampled_from(CONFIDENCES) | st.floats(0, 1, exclude_min=True)


def exact_deviation(confidence: float) -> mpmath.mpf:
    above = next(i for i in range(1, len(TAILS)) if confidence <= TAILS[i])
    (x0, x1), (y0, y1) = (map(mpmath.mpf, table[above - 1 : above + 1]) for table in (TAILS, DEVIATIONS))
    return y0 + (y1 - y0) * (mpmath.mpf(confidence) - x0) / (x1 - x0)


def exact_extra_errors(n: float, e: float, confidence: float) -> mpmath.mpf:
    """Section 8.1 of the specification, word for word; the caller sets the digits."""
    cases, errors, q = mpmath.mpf(n), mpmath.mpf(e), exact_deviation(confidence) ** 2
    without = cases * (1 - mpmath.exp(mpmath.log(confidence) / cases))
    if e < 1e-6:
        return without
    if e < 0.9999:
        return without + errors * (exact_extra_errors(n, 1.0, confidence) - without)
    if e + 0.5 >= n:
        return mpmath.mpf(0.67) * (cases - errors)
    half = errors + mpmath.mpf(0.5)
    rate = (half + q / 2 + mpmath.sqrt(q * (half * (1 - half / cases) + q / 4))) / (cases + q)
    return cases * rate - errors


def extra(n: float, e: float, confidence: float) -> float:
    (result,) = extra_errors(np.array([n]), np.array([e]), confidence)
    return float(result)


@st.composite
def leaves(draw: st.DrawFn) -> tuple[float, float]:
    """The weight of the cases at a leaf and of its errors: whole or not, near the limits of the formulas or not."""
    n = float(draw(st.floats(1e-12, 1e7) | st.integers(1, 1000)))
    edges = [0.0, 1e-6, math.nextafter(1e-6, 0), 0.9999, math.nextafter(0.9999, 0), 1.0, n - 0.5, n - 0.6, n]
    near = [e for e in edges if 0 <= e <= n]
    return n, draw(st.sampled_from(near) | st.floats(0, n) | st.integers(0, int(n)).map(float))


@given(leaves(), confidences)
@example((0.5, 0.5), 0.25)
@example((100.0, 1.0), 5e-324)
@example((8.0, 7.5), 0.25)
@example((8.0, math.nextafter(7.5, 0)), 0.25)
@example((1.0, 1.0), 1.0)
@example((100.0, 0.9999), 0.25)
@example((100.0, math.nextafter(0.9999, 0)), 0.25)
@example((100.0, 1e-6), 0.25)
@example((100.0, math.nextafter(1e-6, 0)), 0.25)
def test_extra_errors_are_those_of_the_specification(leaf: tuple[float, float], confidence: float) -> None:
    with mpmath.workdps(50):
        exact = exact_extra_errors(*leaf, confidence)
        assert abs(extra(*leaf, confidence) - exact) <= 1e-15 * (sum(leaf) + 1)


def test_nearly_all_wrong() -> None:
    assert extra(8.0, 7.5, 0.25) == pytest.approx(0.67 * 0.5)
    assert extra(8.0, 8.0, 0.25) == 0.0
    assert extra(0.5, 0.25, 0.25) == pytest.approx(0.46875 - 0.25 * (0.46875 + 0.67 * 0.5))  # E(0.5, 1) is negative


def test_full_confidence_still_expects_half_an_error() -> None:
    assert extra(20.0, 0.0, 1.0) == 0.0
    assert extra(20.0, 3.0, 1.0) == pytest.approx(0.5, abs=1e-14)


def test_estimates_of_quinlans_example() -> None:
    cases, errors = np.array([6.0, 9.0, 1.0, 16.0]), np.array([0.0, 0.0, 0.0, 1.0])
    estimates = errors + extra_errors(cases, errors, 0.25)
    assert estimates[:3].sum() == pytest.approx(3.273, abs=2e-3)  # printed with three digits for each leaf's rate
    assert estimates[3] == pytest.approx(2.512, abs=1e-2)


def test_each_leaf_is_estimated_by_itself() -> None:
    cases, errors = np.array([6.0, 0.5, 40.0, 3.0]), np.array([0.0, 0.25, 12.0, 3.0])
    assert extra_errors(cases, errors, 0.25).tolist() == [
        extra(n, e, 0.25) for n, e in zip(cases.tolist(), errors.tolist(), strict=True)
    ]


def test_estimates_do_not_depend_on_the_callers_decimal_context() -> None:
    expected = extra(6.0, 0.0, 0.25)
    with decimal.localcontext(prec=3, rounding=decimal.ROUND_UP):
        assert extra(6.0, 0.0, 0.25) == expected


@given(confidences, st.integers(1, 10**6), st.integers(0, 10**6))
@example(0.4, 4000, 0)
@example(0.0001, 2, 1)
def test_an_estimate_rises_with_a_wrong_case_and_never_falls_with_a_right_one(
    confidence: float, n: int, e: int
) -> None:
    assume(least_rise(confidence) >= 0.5)  # pruning does not rely on it below
    errors = float(min(e, n - 1))
    before = errors + extra(n, errors, confidence)
    assert errors + 1 + extra(n + 1, errors + 1, confidence) - before >= least_rise(confidence)
    assert errors + extra(n + 1, errors, confidence) - before >= -1e-9


@given(confidences)
def test_deviations_are_interpolated_in_the_table(confidence: float) -> None:
    with mpmath.workdps(50):
        assert abs(squared_deviation(confidence) - exact_deviation(confidence) ** 2) < 1e-14


def test_deviation_of_the_default_confidence() -> None:
    assert squared_deviation(0.25) == pytest.approx(0.47955625, rel=1e-15)


@given(st.floats(-800, 0) | st.floats(-1, 0).map(lambda y: y**9) | st.sampled_from([0.0, -0.0, -5e-324, -math.inf]))
@example(-0.34657359027997264)
@example(-0.3465735902799727)
@example(-745.13)
def test_one_less_exp_is_within_two_roundings(y: float) -> None:
    (got,) = one_less_exp(np.array([y]))
    exact = in_digits(lambda x: -mpmath.expm1(x), y)
    assert abs(got - exact) <= exact * mpmath.mpf(2) ** -52


@given(unit_fractions, st.floats(1e-3, 1e9))
@example(0.055, 100.0)
def test_pessimistic_limit_is_the_cost_and_one_standard_error(part: float, cases: float) -> None:
    cost = part * cases
    exact = in_digits(lambda c, n: c + mpmath.sqrt(c * (n - c) / n), cost, cases)
    assert float(pessimistic_limit(np.array([cost]), np.array([cases]))[0]) == pytest.approx(float(exact), rel=1e-12)


def test_pessimistic_limit_of_the_articles_example() -> None:
    limit = pessimistic_limit(np.array([5.5, 3.0, 0.5]), np.array([100.0, 2.0, 0.0]))
    assert limit[0] == pytest.approx(7.78, abs=5e-3)
    assert limit[1:].tolist() == [3.0, 0.5]  # more cost than cases: no spread
