"""Gini impurity and chi-square in integers: against exact fractions, and in each kind of number."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import c45gpu.kernels.compiled  # noqa: F401  makes the formulas known to numba
from c45gpu.formulas import scale_bits_for, zero_bound
from c45gpu.measures import CHI2, CHI2_SCALE, ENTROPY, GINI, bound_of_zero, gain_in_cases, term

MEASURES = pytest.mark.parametrize("measure", [GINI, CHI2])
Branches = list[list[int]]


@st.composite
def divisions(draw: st.DrawFn) -> Branches:
    """Class weights of branches, from single cases to the greatest total."""
    n_classes, most = draw(st.integers(2, 6)), draw(st.sampled_from([3, 1000, 2**31, 2**47]))
    row = st.lists(st.integers(0, most), min_size=n_classes, max_size=n_classes)
    return draw(st.lists(row, min_size=2, max_size=5).filter(lambda rows: any(map(any, rows))))


def exact(branches: Branches, measure: int) -> Fraction:
    """What the division gains: the decrease of impurity in units, or the statistic over the weight."""
    totals = [sum(column) for column in zip(*branches, strict=True)]
    if measure == GINI:
        return sum((parts(row) for row in branches), Fraction(0)) - parts(totals)
    seen = [(q, sum(row), k) for row in branches for q, k in zip(row, totals, strict=True) if q]
    return sum((Fraction(q * q, side * k) for q, side, k in seen), Fraction(0)) - 1


def parts(row: list[int]) -> Fraction:
    return sum((Fraction(q * q, sum(row)) for q in row), Fraction(0)) if any(row) else Fraction(0)


def in_integers(branches: Branches, measure: int, scale_bits: int) -> int:
    totals = [sum(column) for column in zip(*branches, strict=True)]
    scale = 2.0**scale_bits
    gain = -sum(int(term(k, sum(totals), k, measure, scale)) for k in totals)
    for row in branches:
        gain += sum(int(term(q, sum(row), k, measure, scale)) for q, k in zip(row, totals, strict=True))
    return gain


@MEASURES
@given(branches=divisions())
def test_the_gain_is_right_to_the_bound_of_zero(measure: int, branches: Branches) -> None:
    total = sum(map(sum, branches))
    scale_bits = scale_bits_for(total)
    unit = Fraction(int(CHI2_SCALE)) if measure == CHI2 else Fraction(2) ** scale_bits
    error = in_integers(branches, measure, scale_bits) - exact(branches, measure) * unit
    assert abs(error) <= bound_of_zero(measure, len(branches[0]), len(branches))


@MEASURES
def test_branches_alike_gain_nothing(measure: int) -> None:
    gain = in_integers([[10, 20, 7], [30, 60, 21]], measure, scale_bits_for(148))
    assert abs(gain) <= bound_of_zero(measure, 3, 2)


def test_by_hand() -> None:
    # sums of squares over the weight: 5 and 6.25 of the branches, 8.125 of the node
    branches = [[6, 2], [1, 7]]
    assert exact(branches, GINI) == Fraction(25, 8)
    assert exact(branches, CHI2) * 16 == pytest.approx(16 * (6 * 7 - 2 * 1) ** 2 / (8 * 8 * 7 * 9))
    assert in_integers(branches, GINI, 40) / 2**40 == pytest.approx(25 / 8)
    assert gain_in_cases(in_integers(branches, CHI2, 40), 16, 32) == pytest.approx(float(exact(branches, CHI2)) / 2)


@MEASURES
def test_python_numpy_and_compiled_code_agree(measure: int) -> None:
    chance = np.random.default_rng(7)
    side = chance.integers(1, 2**52, 20_000)
    q, of_class = (side * chance.random(20_000)).astype(np.int64), chance.integers(1, 2**52, 20_000)
    q = np.minimum(q, of_class)
    arrays = term(q, side, of_class, measure, 16.0)
    assert arrays.tolist() == by_numba(q, side, of_class, measure).tolist()
    assert (arrays == np.floor(arrays)).all()
    some = [term(*(int(x[i]) for x in (q, side, of_class)), measure, 16.0) for i in range(2000)]
    assert arrays[:2000].tolist() == some


@njit
def by_numba(q: Any, side: Any, of_class: Any, measure: Any) -> Any:
    terms = np.empty(len(q), np.float64)
    for i in range(len(q)):
        terms[i] = term(q[i], side[i], of_class[i], measure, 16.0)
    return terms


def test_nothing_contributes_nothing() -> None:
    assert [term(0, side, k, measure, 1.0) for side in (0, 3) for k in (0, 3) for measure in (GINI, CHI2)] == [0.0] * 8


def test_by_information_the_bound_is_that_of_the_formulas() -> None:
    assert bound_of_zero(ENTROPY, 5, 3) == zero_bound(5, 3)
