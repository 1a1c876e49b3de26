"""Choosing a node's test from its candidates, each rule by itself, in numbers that can be checked by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from c45gpu.choose import NO_TEST, Facts, Settings, choose, is_leaf
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.formulas import EPSILON, information_of
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.train import train
from c45gpu.kernels.level import Splits
from c45gpu.kernels.reference import ReferenceEngine

CASES = 16
SCALE_BITS = 40
UNIT = 2.0**-SCALE_BITS / CASES  # the least information of the node, in bits


def settings(ratio: bool = True, case_units: int = 1) -> Settings:
    return Settings(ratio, 2, 2 * case_units, 25 * case_units, case_units, SCALE_BITS, 2.0**SCALE_BITS, 0.0)


@dataclass
class Candidate:
    """What a test gains and its split information, in bits; the cuts tried, 0 for a discrete attribute."""

    gain: float
    split: float
    tries: int = 0
    possible: bool = True
    averaged: bool = True
    zero_bound: int = 9


def chosen(*tests: Candidate, ratio: bool = True, cases: int = CASES, case_units: int = 1) -> tuple[int, list[float]]:
    """What is chosen at a node of some cases, and the net gains."""
    weight = cases * case_units
    gain, split = ([round(bits * weight * 2**SCALE_BITS) for bits in column] for column in in_bits(tests))
    candidates = gain, split, [t.tries for t in tests], [t.possible for t in tests]
    facts = Facts([t.zero_bound for t in tests], [t.averaged for t in tests])
    net = [math.nan] * len(tests)
    return choose(weight, candidates, facts, settings(ratio, case_units), net), net


def in_bits(tests: Sequence[Candidate]) -> tuple[list[float], list[float]]:
    return [t.gain for t in tests], [t.split for t in tests]


# ---------------------------------------------------------------- criterion and ties
def test_the_greatest_ratio_wins() -> None:
    assert chosen(Candidate(0.5, 1.0), Candidate(0.5, 0.75), Candidate(0.5, 0.875))[0] == 1


def test_by_gain_the_greatest_gain_wins_whatever_the_ratio() -> None:
    tests = Candidate(0.5, 0.5), Candidate(0.5625, 2.0), Candidate(0.25, 0.125)
    assert chosen(*tests, ratio=False)[0] == 1
    assert chosen(*tests, ratio=True)[0] == 0


@pytest.mark.parametrize("ratio", [True, False])
def test_the_first_of_equals_wins(ratio: bool) -> None:
    assert (
        chosen(Candidate(0.25, 1.0), Candidate(0.5, 1.0), Candidate(0.5, 1.0), Candidate(0.5, 1.0), ratio=ratio)[0] == 1
    )


def test_equal_ratios_of_different_tests_tie() -> None:
    assert chosen(Candidate(0.75, 1.5), Candidate(0.5, 1.0, averaged=False))[0] == 0
    assert chosen(Candidate(0.75, 1.5), Candidate(1.0, 2.0, averaged=False))[0] == 0


def test_the_least_unit_more_wins_over_the_first() -> None:
    assert chosen(Candidate(0.5, 1.0), Candidate(0.5 + UNIT, 1.0))[0] == 1


def test_two_articles_example_is_a_tie_and_the_first_wins() -> None:
    weather = Attribute("weather", "discrete", ("sunny", "cloudy", "rain"))
    temperature = Attribute("temperature", "discrete", ("high", "mid", "low"))
    rows = np.array([0, 0, 1, 2], np.int32)
    classes = np.array([0, 0, 1, 1], np.int32)
    for first, second in ((weather, temperature), (temperature, weather)):
        problem = pose(Table(Schema((first, second), ("n", "y")), [rows, rows], classes), Options(min_cases=1))
        engine = ReferenceEngine()
        engine.load(problem)
        candidates = engine.score(0, 1)
        assert information_of(candidates.gain, 4, problem.settings.scale).tolist() == [[1.0, 1.0]]
        assert information_of(candidates.split, 4, problem.settings.scale).tolist() == [[1.5, 1.5]]
        assert train(problem.table, Options(min_cases=1)).unpruned.attribute.tolist() == [0, -1, -1, -1]


# ---------------------------------------------------------------- the average gain
def test_a_gain_below_average_does_not_compete_on_ratio() -> None:
    low, high = Candidate(0.25, 0.25), Candidate(0.75, 1.5)
    assert chosen(low, high)[0] == 1
    assert chosen(low, Candidate(0.25, 1.5))[0] == 0


def test_a_gain_may_be_a_thousandth_below_average() -> None:
    below = EPSILON - 1e-6
    assert chosen(Candidate(0.5 - 2 * below, 0.25), Candidate(0.5, 1.0))[0] == 0
    assert chosen(Candidate(0.5 - 2 * (EPSILON + 1e-6), 0.25), Candidate(0.5, 1.0))[0] == 1


def test_a_gain_of_zero_counts_towards_the_average() -> None:
    tests = Candidate(0.75, 1.0), Candidate(0.3, 0.25)
    assert chosen(*tests)[0] == 0
    assert chosen(*tests, Candidate(0.0, 1.0), Candidate(0.0, 1.0))[0] == 1


def test_an_impossible_test_counts_for_nothing() -> None:
    tests = Candidate(0.75, 1.0), Candidate(0.3, 0.25)
    assert chosen(*tests, *[Candidate(0.0, 1.0, possible=False)] * 2)[0] == 0
    assert chosen(Candidate(0.9, 0.5, possible=False), Candidate(0.5, 1.0)) == (1, [-EPSILON, 0.5])


def test_a_many_valued_attribute_is_left_out_of_the_average_but_competes() -> None:
    low, many = Candidate(0.25, 0.25), Candidate(0.75, 1.5, averaged=False)
    assert chosen(low, many)[0] == 0
    assert chosen(low, Candidate(0.75, 0.5, averaged=False))[0] == 1


def test_without_an_average_no_ratio_is_good_enough() -> None:
    assert chosen(Candidate(0.75, 0.5, averaged=False))[0] == NO_TEST
    assert chosen(Candidate(0.75, 0.5, averaged=False), ratio=False)[0] == 0


# ---------------------------------------------------------------- what a test must gain
def test_a_gain_of_zero_may_be_chosen() -> None:
    assert chosen(Candidate(0.0, 1.0), Candidate(0.0, 0.5)) == (0, [0.0, 0.0])
    assert chosen(Candidate(0.0, 1.0), ratio=False)[0] == 0


def test_a_cut_must_gain_something() -> None:
    assert chosen(Candidate(0.0, 1.0, tries=1)) == (NO_TEST, [-EPSILON])
    assert chosen(Candidate(10 * UNIT, 1.0, tries=1))[0] == 0


def test_a_gain_within_rounding_is_none() -> None:
    assert chosen(Candidate(9 * UNIT, 1.0, zero_bound=9))[1] == [0.0]
    assert chosen(Candidate(-9 * UNIT, 1.0, zero_bound=9))[1] == [0.0]
    assert chosen(Candidate(10 * UNIT, 1.0, zero_bound=9))[1] == [10 * UNIT]
    assert chosen(Candidate(9 * UNIT, 1.0, tries=1, zero_bound=9))[0] == NO_TEST


def test_a_cut_must_gain_more_than_its_choice_costs() -> None:
    assert chosen(Candidate(0.125, 1.0, tries=4)) == (NO_TEST, [-EPSILON])  # log2(4) / 16
    assert chosen(Candidate(0.125 + UNIT, 1.0, tries=4)) == (0, [UNIT])


def test_the_cost_is_taken_off_the_gain_before_anything_else() -> None:
    assert chosen(Candidate(0.5, 0.5, tries=8), Candidate(0.5, 0.5)) == (1, [0.3125, 0.5])
    assert chosen(Candidate(0.5, 0.5, tries=8), Candidate(0.3125, 0.5))[0] == 0
    assert (
        chosen(Candidate(0.25, 0.125, tries=2), Candidate(0.5, 1.0), Candidate(0.0, 1.0))[0] == 1
    )  # 0.1875 is below the average


def test_the_cost_is_for_each_case_not_for_each_unit() -> None:
    assert chosen(Candidate(0.5, 1.0, tries=8), case_units=64)[1] == [0.3125]


def test_a_test_that_does_not_divide_is_none() -> None:
    assert chosen(Candidate(0.5, EPSILON / 2))[0] == NO_TEST
    assert chosen(Candidate(0.5, EPSILON / 2), ratio=False)[0] == 0
    assert chosen(Candidate(0.5, 0.0), ratio=False)[0] == NO_TEST
    assert chosen(Candidate(0.5, 2 * EPSILON))[0] == 0


def test_no_attributes_no_test() -> None:
    assert choose(CASES, ([], [], [], []), Facts([], []), settings(), []) == NO_TEST
    assert chosen(Candidate(0.9, 0.5, possible=False))[0] == NO_TEST


# ---------------------------------------------------------------- nodes
def test_a_leaf_is_of_one_class_or_too_light() -> None:
    weights = [(8, 8), (8, 7), (4, 3), (3, 2), (4, 4)]
    assert [bool(is_leaf(*pair, settings())) for pair in weights] == [True, False, False, True, True]
    weight, largest = np.array(weights).T
    assert is_leaf(weight, largest, settings()).tolist() == [True, False, False, True, True]


def test_the_articles_temperatures() -> None:
    """The cut 26.5 gains nothing; 23.5 and 29 tie, and the lowest is taken; but its choice costs more than it gains."""
    schema = Schema((Attribute("temperature", "continuous"),), ("N", "Y"))
    values, classes = np.array([22.0, 25.0, 28.0, 30.0]), np.array([0, 1, 0, 1], np.int32)
    problem = pose(Table(schema, [values], classes), Options(min_cases=1))
    engine, mirrored = ReferenceEngine(), ReferenceEngine()
    engine.load(problem)
    candidates = engine.score(0, 1)
    gain, split = (information_of(x[0, 0], 4, problem.settings.scale) for x in (candidates.gain, candidates.split))
    assert (candidates.possible[0, 0], candidates.tries[0, 0]) == (True, 3)
    assert (round(gain, 4), round(split, 4), round(gain / split, 4)) == (0.3113, 0.8113, 0.3837)
    children = engine.split(Splits(np.array([0]), np.array([0]), candidates.cut[0]))
    assert (children.below.tolist(), children.above.tolist()) == ([0], [1])
    mirrored.load(pose(Table(schema, [-values], classes), Options(min_cases=1)))
    assert mirrored.score(0, 1).gain.tolist() == candidates.gain.tolist()
    children = mirrored.split(Splits(np.array([0]), np.array([0]), mirrored.score(0, 1).cut[0]))
    assert (children.below.tolist(), children.above.tolist()) == ([0], [1])  # 29 there, which is 23.5 here
    assert math.log2(3) / 4 > gain
    assert train(problem.table, Options(min_cases=1)).unpruned.n_nodes == 1
