"""The formulas against mpmath at 50 digits, and against exact rationals."""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from c45gpu.formulas import (
    LOG_ERROR,
    SCALED_BITS,
    TOTAL_BITS,
    exponent,
    extra_errors,
    information_of,
    least_rise,
    least_side,
    log2_of,
    one_less_exp,
    pessimistic_limit,
    q_log_q,
    scale_bits_for,
    squared_deviation,
    unit_bits_for,
    units_before,
    zero_bound,
)

LARGEST = (1 << TOTAL_BITS) - 1
EDGES = sorted({q for e in range(TOTAL_BITS) for q in ((1 << e) - 1, 1 << e, (1 << e) + 1)} | {LARGEST - 1, LARGEST})

counts = st.integers(0, TOTAL_BITS).flatmap(lambda bits: st.integers((1 << bits) >> 1, max(0, (1 << bits) - 1)))
unit_fractions = st.floats(0, 1, exclude_min=True)


def in_digits(function: Any, *arguments: float) -> mpmath.mpf:
    """A function of mpmath, taken with 50 digits."""
    with mpmath.workdps(50):
        return function(*map(mpmath.mpf, arguments))


def exact_q_log_q(q: int) -> mpmath.mpf:
    return in_digits(lambda x: x * mpmath.log(x, 2), q) if q else mpmath.mpf(0)


def error_of_q_log_q(q: int, got: Any, scale_bits: int) -> float:
    """How far off a result is, in units of 2^-scale_bits."""
    with mpmath.workdps(50):
        return float(abs(mpmath.mpf(int(got)) - exact_q_log_q(q) * 2**scale_bits))


def scales_of(q: int) -> range:
    """All scales that a total weight of at least q may have."""
    return range(scale_bits_for(LARGEST), scale_bits_for(q) + 1)


# ---------------------------------------------------------------- logarithms
@given(counts)
def test_q_log_q_is_within_its_error_at_every_scale(q: int) -> None:
    with np.errstate(over="raise"):
        assert max(error_of_q_log_q(q, q_log_q(q, s), s) for s in scales_of(q)) < LOG_ERROR


def test_q_log_q_at_the_edges() -> None:
    got = [(q, s, q_log_q(np.array([q]), s)[0]) for q in EDGES for s in scales_of(q)]
    assert max(error_of_q_log_q(q, h, s) for q, s, h in got) < LOG_ERROR


def test_q_log_q_of_every_small_count() -> None:
    q = np.arange(1 << 12)
    scale_bits = scale_bits_for(len(q))
    got = q_log_q(q, scale_bits)
    assert max(error_of_q_log_q(i, h, scale_bits) for i, h in enumerate(got.tolist())) < LOG_ERROR


def test_q_log_q_of_powers_of_two_is_exact() -> None:
    powers = np.array([1 << e for e in range(TOTAL_BITS)])
    for scale_bits in scales_of(LARGEST):
        assert q_log_q(powers, scale_bits).tolist() == [e << (e + scale_bits) for e in range(TOTAL_BITS)]
    assert [q_log_q(1 << e, s) for e in range(TOTAL_BITS) for s in scales_of(1 << e)] == [
        e << (e + s) for e in range(TOTAL_BITS) for s in scales_of(1 << e)
    ]


def test_nothing_has_no_information() -> None:
    assert [q_log_q(0, 4), q_log_q(1, 55), *q_log_q(np.array([0, 1]), 55)] == [0, 0, 0, 0]


@given(st.lists(counts, min_size=1))
@example(EDGES)
def test_numbers_and_arrays_give_the_same(numbers: list[int]) -> None:
    array, scale_bits = np.array(numbers, np.int64), scale_bits_for(max(numbers))
    scaled = q_log_q(array, scale_bits)
    assert scaled.dtype == np.int64
    assert scaled.tolist() == [q_log_q(q, scale_bits) for q in numbers]
    positive = array[array > 0]
    logarithms = log2_of(positive)
    assert logarithms.dtype == np.float64
    assert logarithms.tolist() == [log2_of(q) for q in positive.tolist()]


@given(st.integers(1, LARGEST))
def test_exponent_counts_bits(q: int) -> None:
    assert exponent(q) == q.bit_length() - 1


def test_exponent_at_the_edges() -> None:
    assert exponent(np.array(EDGES)).tolist() == [max(0, q.bit_length() - 1) for q in EDGES]


@given(counts.filter(bool))
@example(1)
@example(3)
@example(LARGEST)
def test_log2_of_is_within_a_rounding(count: int) -> None:
    exact = in_digits(lambda x: mpmath.log(x, 2), count)
    assert abs(log2_of(count) - exact) <= exact * mpmath.mpf(2) ** -53 + mpmath.mpf(2) ** -57


def test_log2_of_powers_of_two_is_exact() -> None:
    assert log2_of(np.array([1 << e for e in range(TOTAL_BITS)])).tolist() == [float(e) for e in range(TOTAL_BITS)]


@given(counts.filter(bool))
@example(LARGEST)
def test_information_of_halves_is_one_bit(half: int) -> None:
    whole = min(2 * half, LARGEST - 1)
    scale_bits = scale_bits_for(whole)
    gain = q_log_q(whole, scale_bits) - 2 * q_log_q(whole // 2, scale_bits)
    assert information_of(gain, whole, 2.0**scale_bits) == pytest.approx(1.0, rel=2.0**-50)


# ---------------------------------------------------------------- scales and bounds
@given(counts.filter(bool))
@example(LARGEST)
@example(1)
def test_the_scale_is_the_finest_that_fits(total: int) -> None:
    assert total << scale_bits_for(total) < 1 << SCALED_BITS <= total << (scale_bits_for(total) + 1)


def test_information_of_the_largest_weights_does_not_overflow() -> None:
    scale_bits = scale_bits_for(LARGEST)
    parts = np.array([LARGEST // 3, LARGEST // 5, LARGEST - LARGEST // 3 - LARGEST // 5])
    gain = q_log_q(parts.sum(), scale_bits) - q_log_q(parts, scale_bits).sum()
    with mpmath.workdps(50):
        exact = (exact_q_log_q(LARGEST) - sum(map(exact_q_log_q, parts.tolist()))) * 2**scale_bits
        assert abs(int(gain) - exact) < 4 * LOG_ERROR
    assert 0 < int(q_log_q(parts.sum(), scale_bits)) < 1 << 62


@given(st.floats(2.0**-900, 2.0**51, exclude_max=True))
@example(1.0)
@example(math.nextafter(1.0, 0))
@example(math.nextafter(2.0**51, 0))
def test_units_are_the_finest_that_fit(total: float) -> None:
    units = Fraction(total) * Fraction(2) ** unit_bits_for(total, whole=False)
    assert 1 << (TOTAL_BITS - 1) <= units < 1 << TOTAL_BITS


@given(st.integers(1, LARGEST >> 1))
def test_whole_weights_are_their_own_units(total: int) -> None:
    assert unit_bits_for(float(total), whole=True) == 0


@given(
    st.lists(st.integers(0, 1000), min_size=2, max_size=6).filter(any),
    st.lists(st.integers(1, 1000), min_size=1, max_size=6),
    st.integers(1, LARGEST // 36_000_000),
)
@example([1, 2], [3, 5, 7], 1)
def test_proportional_branches_gain_nothing_but_rounding(shape: list[int], sizes: list[int], factor: int) -> None:
    branches = [[factor * part * size for part in shape] for size in sizes]
    assert abs(integer_gain(branches)) <= zero_bound(len(shape), len(sizes))


def test_rounding_alone_can_look_like_a_gain() -> None:
    gains = [integer_gain([[a, b], [2 * a, 2 * b], [5 * a, 5 * b]]) for a in range(1, 40) for b in range(1, 40)]
    assert min(gains) < 0 < max(gains) <= zero_bound(2, 3)


def test_the_zero_bound_counts_a_term_for_each_branch_and_its_classes() -> None:
    assert [zero_bound(2, 2), zero_bound(2, 3), zero_bound(5, 3)] == [9, 12, 24]


@given(st.lists(counts.map(lambda q: q >> 3), min_size=2, max_size=4), st.integers(1, 3))
def test_mirrored_classes_and_branches_tie_exactly(low: list[int], turn: int) -> None:
    high = low[turn:] + low[:turn]
    mirrored = [list(reversed(high)), list(reversed(low))]
    assert integer_gain([low, high]) == integer_gain(mirrored)


def integer_gain(branches: Sequence[Sequence[int]]) -> int:
    """The information that a test gains, as the engines add it up."""
    weights = np.array(branches, np.int64)
    scale_bits = scale_bits_for(max(1, int(weights.sum())))

    def inner(classes: Any) -> int:
        return int(q_log_q(classes.sum(), scale_bits) - q_log_q(classes, scale_bits).sum())

    return inner(weights.sum(axis=0)) - sum(map(inner, weights))


# ---------------------------------------------------------------- weights
@given(counts, st.integers(1, 60), st.integers(1, 100), st.sampled_from([0, 1, 20, 46]))
@example(20, 1, 2, 0)
@example(21, 1, 2, 0)
@example(500, 2, 1, 0)
@example(2 * 10 * 25, 1, 2, 0)
@example(2 * 10 * 25 + 1, 1, 2, 0)
@example(1000, 30, 2, 0)
@example(601, 30, 2, 0)
@example(560, 30, 2, 0)
def test_least_side_is_the_exact_quotient_rounded_up(known: int, min_cases: int, n_classes: int, bits: int) -> None:
    least_units, cap = min_cases << bits, 25 << bits
    quotient = Fraction(known, 10 * n_classes)
    exact = least_units if quotient <= least_units else cap if quotient > cap else quotient
    assert least_side(known, n_classes, least_units, cap) == math.ceil(exact)
    assert least_side(np.array([known, known]), n_classes, least_units, cap).tolist() == [math.ceil(exact)] * 2


@given(counts, st.lists(st.integers(0, LARGEST >> 4), min_size=1, max_size=9).filter(any))
@example(10, [1, 1, 1])
@example(LARGEST, [1, 0, LARGEST >> 4, 3])
def test_shares_make_up_the_weight(weight: int, branches: list[int]) -> None:
    upto = np.cumsum(branches) / sum(branches)
    shares = np.diff(units_before(weight, np.concatenate([[0.0], upto])))
    assert shares.sum() == weight
    for share, known in zip(shares.tolist(), branches, strict=True):
        assert share == int(share) >= 0
        assert abs(share - Fraction(weight * known, sum(branches))) < 2


def test_shares_are_rounded_down() -> None:
    assert [units_before(10, 1 / 3), units_before(10, 2 / 3), units_before(10, 1.0)] == [3, 6, 10]
    assert units_before(np.array([1, 3, LARGEST]), 0.5).tolist() == [0, 1, LARGEST // 2]


# ---------------------------------------------------------------- pruning
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
