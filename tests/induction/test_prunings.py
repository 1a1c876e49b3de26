"""Prunings by counts: the score interval, held-out cases, standard errors, and error-based pruning without raising."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.table import Table
from c45gpu.errors import OptionError
from c45gpu.formulas import interval_limit, pessimistic_limit
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.prunings import held_out, interval_pruned, pessimistically_pruned, reduced_error_pruned
from c45gpu.induction.train import train
from c45gpu.model.predict import class_frequencies, predicted_classes
from c45gpu.model.tree import LEAF, Tree
from c45gpu.model.validate import validate_tree
from tests.golden_trees import inner, leaf, tree_of
from tests.strategies import Sample, larger_samples, sample

TWO = [("discrete", 2, [0, 1])]


def small_tree(low: tuple[float, float], high: tuple[float, float]) -> Tree:
    return tree_of(inner("discrete", 0, leaf(*low), leaf(*high)), sample(TWO, 2, [0, 1], None).table.schema)


def limit(errors: float, cases: float, confidence: float = 0.25) -> float:
    return float(interval_limit(np.array([errors / cases]), np.array([cases]), confidence)[0])


# ---------------------------------------------------------------- the score interval
def test_the_articles_bound_with_the_right_deviation() -> None:
    # the article takes z = 0.69 at 75 %; the normal quantile is 0.6745
    z, f, n = 0.6744897501960817, 2 / 6, 6.0
    by_hand = (f + z * z / (2 * n) + z * np.sqrt(f * (1 - f) / n + z * z / (4 * n * n))) / (1 + z * z / n)
    assert limit(2, 6) == pytest.approx(by_hand, rel=1e-12)
    assert limit(2, 6) < (f + 0.69**2 / 12 + 0.69 * np.sqrt(f * (1 - f) / 6 + 0.69**2 / 144)) / (1 + 0.69**2 / 6)


@given(st.floats(0, 1), st.floats(0.5, 1e6), st.floats(0.01, 0.49))
def test_the_limit_is_above_the_rate_and_falls_with_confidence(part: float, cases: float, confidence: float) -> None:
    rate, n = np.array([part]), np.array([cases])
    high = float(interval_limit(rate, n, confidence)[0])
    assert part - 1e-12 <= high <= 1 + 1e-12
    assert float(interval_limit(rate, n, confidence * 1.02)[0]) <= high + 1e-12


def test_a_node_is_cut_where_its_limit_is_no_more_than_its_branches() -> None:
    useless, useful = small_tree((5, 1), (5, 1)), small_tree((10, 0), (0, 10))
    assert 12 * limit(2, 12) <= 2 * 6 * limit(1, 6)
    assert interval_pruned(useless, 0.25).n_nodes == 1
    kept = interval_pruned(useful, 0.25)
    assert kept.n_nodes == 3
    assert kept.errors.tolist() == pytest.approx([20 * limit(0, 10), 10 * limit(0, 10), 10 * limit(0, 10)])


@given(larger_samples())
def test_by_the_interval_any_tree_gets_simpler(cases: Sample) -> None:
    model = train(cases.table, Options(min_cases=1, prune="interval"), "reference")
    validate_tree(model.pruned, model.schema)
    assert model.pruned.n_nodes <= model.unpruned.n_nodes


# ---------------------------------------------------------------- standard errors
def test_the_articles_pessimistic_example() -> None:
    # 5 errors of 100 cases: one article has 5 + 0.5 + 1.96 sqrt(5 * 0.95) = 8.3 at 75 %; the sum is 9.77, and with one
    # standard error, which is what Quinlan takes, the limit is 7.78
    assert 5 + 0.5 + 1.96 * np.sqrt(5 * 0.95) == pytest.approx(9.77, abs=0.01)
    cost, cases = np.array([5.5]), np.array([100.0])
    assert pessimistic_limit(cost, cases)[0] == pytest.approx(7.78, abs=0.01)
    assert pessimistic_limit(cost, cases, 0.0)[0] == 5.5
    assert pessimistic_limit(cost, cases, 2.0)[0] == pytest.approx(5.5 + 2 * (7.78 - 5.5), abs=0.01)


def test_the_correction_belongs_to_the_leaves_of_the_subtree() -> None:
    # one article adds a half for each branch to the merged node and none to the subtree: 4 + 1 > 2 + 0 would keep it
    tree = small_tree((5, 1), (3, 1))
    assert float(pessimistic_limit(np.array([2 + 2 * 0.5]), np.array([10.0]), 0.0)[0]) >= 2 + 0.5
    assert pessimistically_pruned(tree, 0.0).n_nodes == 1
    worse = small_tree((10, 1), (3, 4))
    assert [pessimistically_pruned(worse, errors).n_nodes for errors in (0.0, 3.0)] == [3, 1]


# ---------------------------------------------------------------- held-out cases
def table_of(classes: list[int]) -> Table:
    return sample([("continuous", 0, [float(i) for i in range(len(classes))])], 2, classes, None).table


def test_a_share_of_each_class_is_held_out() -> None:
    table = table_of([0] * 31 + [1] * 8)
    held = held_out(table, 1 / 3, seed=4)
    assert np.bincount(held.pruning.classes).tolist() == [10, 3]  # of 10.3 and 2.7
    values = np.concatenate([held.growing.column(0), held.pruning.column(0)])
    assert sorted(values.tolist()) == [float(i) for i in range(39)]
    assert held_out(table, 1 / 3, 5).pruning.column(0).tolist() != held.pruning.column(0).tolist()


def test_one_case_cannot_be_divided() -> None:
    with pytest.raises(OptionError, match=r"held_out=0\.3 leaves no case on one side of 1"):
        held_out(table_of([1]), 0.3, 0)


def wrong(tree: Tree, table: Table) -> float:
    return float((predicted_classes(class_frequencies(tree, table)) != table.classes).sum())


@given(larger_samples(), st.integers(0, 99))
def test_held_out_cases_decide(cases: Sample, seed: int) -> None:
    table = cases.table.take(np.array([row.count(None) == 0 for row in cases.problem.rows]))
    table = Table(table.schema, table.columns, table.classes)
    if table.n_cases < 4:
        table = table_of([0, 1, 0, 1, 1, 0])
    held = held_out(table, 0.5, seed)
    tree = train(held.growing, Options(min_cases=1, prune="none"), "reference").unpruned
    simple = reduced_error_pruned(tree, pose(held.pruning, Options()))
    validate_tree(simple, table.schema)
    assert simple.n_nodes <= tree.n_nodes
    expected = simple.errors[0] * held.pruning.n_cases / tree.weight[0]
    assert expected <= wrong(tree, held.pruning) + 1e-9


def test_training_by_held_out_cases() -> None:
    table = table_of([0] * 20 + [1] * 22)
    model = train(table, Options(prune="rep", held_out=0.5, random_state=3), "reference")
    assert (model.record["held_out"], model.record["cases"]) == (21, 21)
    assert model.pruned.n_nodes == 3


def test_held_out_cases_that_know_nothing_keep_no_test() -> None:
    tree = small_tree((10, 0), (0, 10))
    unknown = sample([("discrete", 2, [None, None])], 2, [0, 1], None).table
    simple = reduced_error_pruned(tree, pose(unknown, Options()))
    assert (simple.n_nodes, simple.errors.tolist()) == (1, [0.0])


# ---------------------------------------------------------------- error-based pruning without raising
@given(larger_samples())
def test_without_raising_every_test_stays_where_it_was(cases: Sample) -> None:
    model = train(cases.table, Options(min_cases=1, subtree_raising=False), "reference")
    grown, simple = model.unpruned, model.pruned
    pairs = [(0, 0)]
    while pairs:
        before, after = pairs.pop()
        if simple.kind[after] != LEAF:
            assert (simple.attribute[after], simple.kind[after]) == (grown.attribute[before], grown.kind[before])
            pairs += zip(grown.branches(before).tolist(), simple.branches(after).tolist(), strict=True)
