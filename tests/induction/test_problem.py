from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from c45gpu.data.table import Table
from c45gpu.errors import DataError
from c45gpu.formulas import TOTAL_BITS, zero_bound
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.kernels.level import Problem
from tests.strategies import Asked, Column, Sample, asked, sample, samples

SIZES: Column = ("continuous", 0, [1.0, 2.0, 3.0, 4.0])


def table(
    columns: Sequence[Column] = (SIZES,), classes: Sequence[int] = (0, 1, 0, 1), weights: Sequence[float] | None = None
) -> Table:
    return sample(columns, 2, classes, weights).table


def posed(*columns: Column, weights: Sequence[float] | None = None, **options: Any) -> Problem:
    return pose(table(columns or (SIZES,), weights=weights), Options(**options))


# ---------------------------------------------------------------- units
def test_cases_are_counted_where_nothing_is_divided() -> None:
    for weights in (None, [1.0, 2.0, 3.0, 1.0]):
        problem = posed(weights=weights)
        assert problem.whole
        assert problem.units.tolist() == (weights or [1] * 4)
        assert problem.settings[:5] == (True, 2, 2, 25, 1)


@pytest.mark.parametrize(
    ("columns", "weights"),
    [
        ([("continuous", 0, [1.0, None, 3.0, 4.0])], None),
        ([("discrete", 2, [1, 0, None, 0])], None),
        ([SIZES], [1.5, 1.0, 1.0, 1.0]),
    ],
)
def test_fractions_take_all_bits(columns: list[Column], weights: list[float] | None) -> None:
    problem = posed(*columns, weights=weights)
    case = problem.settings.case_units
    assert (case, problem.whole) == (1 << (TOTAL_BITS - 3), False)  # 4 and 4.5 are below 2^3
    assert problem.units.tolist() == [case * weight for weight in weights or [1] * 4]
    assert problem.settings.min_units == 2 * case
    assert problem.settings.cap_units == min(25 * case, 1 << TOTAL_BITS)


def test_an_unknown_value_of_an_ignored_attribute_divides_nothing() -> None:
    assert posed(SIZES, ("ignored", 0, [None] * 4)).whole


@given(samples(), asked())
def test_weights_are_kept_to_half_a_unit(drawn: Sample, question: Asked) -> None:
    problem = pose(drawn.table, question.options)
    weights = [1.0] * drawn.table.n_cases if drawn.table.weights is None else drawn.table.weights.tolist()
    held = [Fraction(weight) for weight in weights if weight > 0]
    case, units = problem.settings.case_units, problem.units.tolist()
    assert all(abs(u - weight * case) <= Fraction(1, 2) for u, weight in zip(units, held, strict=True))
    assert case == 1 or 1 << (TOTAL_BITS - 1) <= sum(held) * case < 1 << TOTAL_BITS
    assert problem.whole == (not problem.table.has_unknown() and all(weight.denominator == 1 for weight in held))
    assert sum(units) * problem.settings.scale < 2.0**56 <= 2 * sum(units) * problem.settings.scale
    assert problem.settings.scale == 2.0**problem.settings.scale_bits


def test_units_do_not_depend_on_the_order_of_cases() -> None:
    """Added up one by one, these weights come to 1 or to a little less, depending on their order."""
    assert (0.7 + 0.2) + 0.1 < (0.1 + 0.2) + 0.7
    one, other = (
        pose(table([("continuous", 0, [1.0, 2.0, 3.0])], [0, 1, 0], weights), Options())
        for weights in ([0.7, 0.2, 0.1], [0.1, 0.2, 0.7])
    )
    assert one.settings == other.settings
    assert one.units.tolist() == other.units.tolist()[::-1]


def test_cases_without_weight_are_left_out() -> None:
    problem = posed(weights=[1.0, 0.0, 2.0, 0.0])
    assert (problem.table.n_cases, problem.units.tolist()) == (2, [1, 2])
    assert problem.table.column(0).tolist() == [1.0, 3.0]
    assert problem.table.classes.tolist() == [0, 0]


def test_cases_of_less_than_half_a_unit_are_left_out() -> None:
    problem = posed(weights=[0.5, 1e-30, 2.0, 1e-30])
    assert (problem.table.n_cases, (problem.units > 0).all()) == (2, True)
    assert problem.table.column(0).tolist() == [1.0, 3.0]


def test_an_unknown_value_of_a_case_without_weight_divides_nothing() -> None:
    assert posed(("continuous", 0, [1.0, None, 3.0, 4.0]), weights=[1.0, 0.0, 1.0, 1.0]).whole


# ---------------------------------------------------------------- what is refused
@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_wrong_weight_is_refused_with_its_case(weight: float) -> None:
    with pytest.raises(DataError, match=f"case 3 has the weight {weight}: weights are finite and not negative"):
        posed(weights=[1.0, 0.0, weight, -2.0])


def test_no_case_of_any_weight_is_refused() -> None:
    with pytest.raises(DataError, match="no cases to learn from: give at least one with a weight above 0"):
        posed(weights=[0.0] * 4)
    with pytest.raises(DataError, match="no cases to learn from"):
        pose(table([("continuous", 0, [])], []), Options())


def test_a_case_without_a_class_is_refused() -> None:
    with pytest.raises(DataError, match="case 2 has no class: leave such cases out"):
        pose(table(classes=[0, -1, 1, -1]), Options())


def test_weights_that_do_not_fit_are_refused() -> None:
    largest = 2.0 ** (TOTAL_BITS - 1)
    assert posed(weights=[largest - 4, 1.0, 1.0, 1.0]).units.sum() == largest - 1
    with pytest.raises(DataError, match=r"add up to 2.25e\+15: scale them so that they stay below 2\^51"):
        posed(weights=[largest - 4, 2.0, 1.0, 1.0])


def test_weights_too_small_to_be_divided_are_refused() -> None:
    least = [2.0**-11] * 4
    assert posed(weights=least).units.tolist() == [1 << 49] * 4
    with pytest.raises(DataError, match=r"add up to 0.0019: scale them so that they add up to 0.001953125 or more"):
        posed(weights=[*least[:3], 0.9 * least[3]])


@pytest.mark.parametrize("weights", [[2.0**-11] * 4, [0.25] * 4, [2.0**49] * 3 + [0.5]])
def test_all_settings_fit_64_bits(weights: list[float]) -> None:
    settings = posed(weights=weights, min_cases=1_000_000).settings
    assert max(settings) < 1 << 62
    assert settings.min_units >= min(1 << TOTAL_BITS, 1_000_000 * settings.case_units)


# ---------------------------------------------------------------- options
def test_options_become_settings() -> None:
    settings = posed(criterion="gain", min_cases=7).settings
    assert (settings.ratio, settings.min_units, settings.gap) == (False, 7, 0.0)


def test_release_8_reads_single_precision_and_999_as_unknown() -> None:
    columns: list[Column] = [("continuous", 0, [0.1, -999.0, 16777217.0, 2.0])]
    plain, release8 = posed(*columns), posed(*columns, compat="r8")
    assert plain.table.column(0).tolist() == [0.1, -999.0, 16777217.0, 2.0]
    assert release8.table.column(0).dtype == np.float32
    assert release8.table.column(0).astype(float).tolist() == pytest.approx(
        [float(np.float32(0.1)), math.nan, 16777216.0, 2.0], nan_ok=True, rel=0
    )
    assert (plain.whole, plain.settings.gap, release8.whole, release8.settings.gap) == (True, 0.0, False, 1e-5)


# ---------------------------------------------------------------- the average gain
def averaged(n_values: Sequence[int], n_cases: int, weight: float = 1.0) -> list[bool]:
    """Which attributes count towards the average; 0 values: a continuous one."""
    columns: list[Column] = [("discrete" if n else "continuous", n, [0] * n_cases) for n in n_values]
    problem = pose(table(columns, [0] * n_cases, [weight] * n_cases), Options())
    return list(map(bool, problem.facts.averaged))


def test_attributes_with_many_values_do_not_count_towards_the_average() -> None:
    assert averaged([2, 3, 4], 10) == [True, False, False]
    assert averaged([0, 3, 2], 10) == [True, False, True]
    assert averaged([8, 9, 10], 30) == [True, False, False]


def test_they_do_if_all_have_many_values() -> None:
    assert averaged([3, 4, 9], 10) == [True, True, True]


def test_how_many_is_many_depends_on_the_weight_of_all_cases() -> None:
    assert averaged([0, 5, 6], 10, weight=2.0) == [True, True, False]
    assert averaged([0, 3, 4], 7, weight=1.5) == [True, True, False]  # a weight of 10.5: more than 3.15 are many


def test_each_attribute_has_its_bound_for_zero() -> None:
    columns: list[Column] = [SIZES, ("ignored", 0, [0] * 4), ("discrete", 3, [0, 1, 2, 0]), ("discrete", 1, [0] * 4)]
    assert posed(*columns).facts.zero_bound.tolist() == [zero_bound(2, 2), zero_bound(2, 3), zero_bound(2, 1)]
