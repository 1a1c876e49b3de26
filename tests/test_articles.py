"""Examples of articles about C4.5, with the right values; where an article is wrong, a test says so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from c45gpu.estimates import pessimistic_limit
from c45gpu.induction.options import Options
from c45gpu.induction.prunings import interval_pruned, pessimistically_pruned
from c45gpu.induction.train import train
from c45gpu.model.tree import LEAF, THRESHOLD, Tree
from tests.golden_trees import inner, leaf, tree_of
from tests.strategies import Column, sample

TEMPERATURES = [22.0, 25.0, 28.0, 30.0]


def grow(columns: list[Column], classes: str, **options: object) -> Tree:
    """A tree of branches that may hold one case."""
    numbers = [sorted(set(classes)).index(c) for c in classes]
    cases = sample(columns, 2, numbers, None)
    return train(cases.table, Options(min_cases=1, prune="none", **options), "reference").unpruned  # type: ignore[arg-type]


def entropy(*counts: float) -> float:
    return -sum(c / sum(counts) * math.log2(c / sum(counts)) for c in counts if c)


def gain_and_ratio(low: tuple[int, int], high: tuple[int, int]) -> tuple[float, float]:
    n, sides = sum(low) + sum(high), (sum(low), sum(high))
    both = (low[0] + high[0], low[1] + high[1])
    gain = entropy(*both) - sum(side / n * entropy(*k) for side, k in zip(sides, (low, high), strict=True))
    return gain, gain / entropy(*sides)


# ---------------------------------------------------------------- temperatures 22, 25, 28, 30 of N, Y, N, Y
def test_the_best_cut_is_not_26_5_which_gains_nothing() -> None:
    assert gain_and_ratio((1, 1), (1, 1)) == (0, 0)  # the article's best
    assert gain_and_ratio((1, 0), (1, 2)) == pytest.approx((0.3113, 0.3837), abs=5e-5)
    assert gain_and_ratio((2, 1), (0, 1)) == pytest.approx(gain_and_ratio((1, 0), (1, 2)))
    assert entropy(1, 3) == pytest.approx(0.8113, abs=5e-5)


@pytest.mark.parametrize("criterion", ["gain_ratio", "gain"])
def test_of_the_cuts_23_5_and_29_which_tie_the_lowest_wins(criterion: str) -> None:
    tree = grow([("continuous", 0, TEMPERATURES)], "NYNY", criterion=criterion, threshold_cost=False)
    assert (tree.kind[0], tree.threshold[0]) == (THRESHOLD, 22.0)  # the greatest value below 23.5
    assert tree.class_weights[tree.branches(0)].tolist() == [[1, 0], [1, 2]]


def test_a_cut_that_pays_for_the_choice_among_three_is_not_worth_it() -> None:
    assert math.log2(3) / 4 == pytest.approx(0.396, abs=5e-4)
    assert gain_and_ratio((1, 0), (1, 2))[0] < math.log2(3) / 4
    assert grow([("continuous", 0, TEMPERATURES)], "NYNY").kind.tolist() == [LEAF]


# ---------------------------------------------------------------- four rows of weather and temperature
WEATHER: Column = ("discrete", 3, [0, 0, 1, 2])  # sunny, sunny, cloudy, rain
HEAT: Column = ("discrete", 3, [0, 0, 1, 2])  # high, high, mid, low


def test_weather_does_not_win_it_ties_and_stands_first() -> None:
    """Both split the rows alike: gain 1, split information 1.5, ratio 0.6667."""
    assert (entropy(2, 2), entropy(2, 1, 1)) == (1, 1.5)
    for columns in ([WEATHER, HEAT], [HEAT, WEATHER]):
        tree = grow(columns, "NNYY")
        assert (tree.attribute[0], tree.class_weights[tree.branches(0)].tolist()) == (0, [[2, 0], [0, 1], [0, 1]])
    two_branches: Column = ("discrete", 2, [0, 0, 1, 1])  # of the same gain, and a ratio of 1
    assert grow([WEATHER, HEAT, two_branches], "NNYY").attribute[0] == 2
    assert grow([WEATHER, HEAT, two_branches], "NNYY", criterion="gain").attribute[0] == 0


# ---------------------------------------------------------------- pruning
def test_the_bound_is_neither_8_3_nor_that_of_two_sides() -> None:
    """The article's "5 + 0.5 + 1.96 sqrt(5 * 0.95) = 8.3 at 75 %" adds up to 9.77, and 1.96 is for 95 %, two-sided."""
    assert 5 + 0.5 + 1.96 * math.sqrt(5 * 0.95) == pytest.approx(9.77, abs=5e-3)
    limit = float(pessimistic_limit(np.array([5.5]), np.array([100.0]))[0])
    assert limit == pytest.approx(7.78, abs=5e-3)
    assert limit < 8.3
    assert limit > 6.5  # so the conclusion, to prune, is right


def test_the_correction_belongs_to_the_subtree_for_each_of_its_leaves() -> None:
    """One article adds it, for each branch, to the merged leaf and nothing to the subtree.

    Then 4 + 3/2 errors would stand against 2 and a deviation of 1.34, and the subtree would stay.
    """
    assert 2 + math.sqrt(2 * 17 / 19) < 4 + 3 / 2
    assert 2 + 3 / 2 + math.sqrt(3.5 * 15.5 / 19) > 4 + 1 / 2
    root = inner("discrete", 0, leaf(10.0, 2.0), leaf(0.0, 2.0), leaf(5.0, 0.0))
    schema = sample([("discrete", 3, [0, 1, 2])], 2, [0, 1, 0], None).table.schema
    pruned = pessimistically_pruned(tree_of(root, schema))
    assert (pruned.n_nodes, pruned.errors.tolist()) == (1, [4.5])


def test_by_the_score_interval_a_subtree_stays_where_its_leaves_differ() -> None:
    schema = sample([("discrete", 2, [0, 1])], 2, [0, 1], None).table.schema
    same = tree_of(inner("discrete", 0, leaf(47.0, 3.0), leaf(47.0, 3.0)), schema)
    other = tree_of(inner("discrete", 0, leaf(47.0, 3.0), leaf(3.0, 47.0)), schema)
    assert interval_pruned(same, 0.25).n_nodes == 1
    assert interval_pruned(other, 0.25).n_nodes == 3
