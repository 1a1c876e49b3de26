"""The formulas against mpmath at 50 digits, and against exact rationals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from c45gpu.formulas import (
    LOG_ERROR,
    SCALED_BITS,
    TOTAL_BITS,
    exponent,
    information_of,
    least_side,
    log2_of,
    q_log_q,
    scale_bits_for,
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
