"""Prunings by counts: by the score interval, on held-out cases, and without subtree raising."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from c45gpu.data.table import Table
from c45gpu.errors import OptionError
from c45gpu.estimates import interval_limit, pessimistic_limit
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.prune import ErrorBasedPruning
from c45gpu.induction.prunings import held_out, interval_pruned, pessimistically_pruned, reduced_error_pruned
from c45gpu.induction.train import train
from c45gpu.kernels.engine import Changes
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.predict import leaf_shares
from c45gpu.model.tree import LEAF, Tree
from c45gpu.model.validate import validate_tree
from tests.golden_trees import empty_leaf, inner, leaf, tree_of
from tests.strategies import Sample, larger_samples, sample

SCHEMA = sample([("discrete", 3, [0, 1, 2])] * 2, 2, [0, 1, 0], None).table.schema


def table_of(*cells: tuple[tuple[int | None, int | None], int, int]) -> Table:
    """Values of two attributes, and how many cases of either class have them."""
    rows = [(values, k) for values, *n in cells for k in (0, 1) for _ in range(n[k])]
    columns = [("discrete", 3, [values[a] for values, _ in rows]) for a in range(2)]
    return sample(columns, 2, [k for _, k in rows], None).table  # type: ignore[arg-type]


# ---------------------------------------------------------------- standard errors
def test_standard_errors_decide_what_a_leaf_may_cost() -> None:
    root = inner("discrete", 0, leaf(50.0, 2.0), leaf(42.0, 2.0), leaf(0.0, 4.0))  # costs 5.5, as a leaf 8.5
    needed = (8.5 - 5.5) / np.sqrt(5.5 * 94.5 / 100)
    for standard_errors, n_nodes in ((0.0, 4), (needed - 1e-9, 4), (needed + 1e-9, 1)):
        assert pessimistically_pruned(tree_of(root, SCHEMA), standard_errors).n_nodes == n_nodes
    cost, cases = np.array([5.5]), np.array([100.0])
    assert pessimistic_limit(cost, cases, 0.0)[0] == 5.5
    assert pessimistic_limit(cost, cases, 2.0)[0] - 5.5 == 2 * (pessimistic_limit(cost, cases)[0] - 5.5)


# ---------------------------------------------------------------- the score interval
@given(cases=st.integers(1, 500), part=st.floats(0, 1), confidence=st.sampled_from([0.5, 0.25, 0.1, 0.025, 1e-6]))
def test_the_limit_is_wilsons(cases: int, part: float, confidence: float) -> None:
    errors = round(part * cases)
    limit = interval_limit(np.array([errors / cases]), np.array([float(cases)]), confidence)[0]
    two_sided = binomtest(errors, cases).proportion_ci(1 - 2 * confidence, "wilson")
    assert limit == pytest.approx(two_sided.high, rel=1e-9, abs=1e-12)


def test_a_quarter_is_a_deviation_of_0_6745() -> None:
    """One article has 0.69, which is what Quinlan's table gives; the normal quantile is less."""
    z = norm.ppf(0.75)
    assert z == pytest.approx(0.6745, abs=5e-5)
    exact = (0.1 + z**2 / 40 + z * np.sqrt(0.1 * 0.9 / 20 + z**2 / 1600)) / (1 + z**2 / 20)
    assert interval_limit(np.array([0.1]), np.array([20.0]), 0.25)[0] == pytest.approx(exact, rel=1e-12)


def estimate(*leaves: tuple[float, float], confidence: float = 0.25) -> float:
    return sum(
        (a + b) * float(interval_limit(np.array([min(a, b) / (a + b)]), np.array([a + b]), confidence)[0])
        for a, b in leaves
    )


def test_a_leaf_takes_the_place_of_branches_that_are_expected_to_err_as_often() -> None:
    stays, goes = [(9.0, 1.0), (0.0, 8.0)], [(9.0, 1.0), (8.0, 1.0)]
    assert estimate(*stays) < estimate((9, 9))
    assert estimate((17, 2)) < estimate(*goes)
    for leaves, n_nodes in ((stays, 3), (goes, 1)):
        tree = interval_pruned(tree_of(inner("discrete", 0, *(leaf(*w) for w in leaves)), SCHEMA), 0.25)
        whole = [tuple(np.sum(leaves, axis=0))]
        assert tree.n_nodes == n_nodes
        assert tree.errors[0] == pytest.approx(estimate(*(leaves if n_nodes == 3 else whole)), rel=1e-12)


def test_branches_are_judged_before_the_node_above() -> None:
    below = inner("discrete", 1, leaf(6.0, 1.0), leaf(7.0, 1.0), empty_leaf(0, 13.0, 2.0))
    tree = interval_pruned(tree_of(inner("discrete", 0, below, leaf(0.0, 20.0), empty_leaf(0, 1.0, 1.0)), SCHEMA), 0.25)
    assert tree.kind.tolist() == [1, 0, 0, 0]
    assert tree.errors[1:].tolist() == pytest.approx([estimate((13, 2)), estimate((0, 20)), 0.0])
    assert tree.errors[0] == pytest.approx(tree.errors[1:].sum())
    validate_tree(tree, SCHEMA)


def test_less_confidence_prunes_more() -> None:
    root = inner("discrete", 0, leaf(9.0, 4.0), leaf(4.0, 6.0))
    sizes = [interval_pruned(tree_of(root, SCHEMA), confidence).n_nodes for confidence in (0.001, 0.25, 0.5)]
    assert sizes == [1, 3, 3]


def test_a_bound_below_the_rate_is_refused() -> None:
    Options(prune="interval", confidence=0.5)
    with pytest.raises(OptionError, match=r"prune='interval' and confidence=0\.6 exclude each other"):
        Options(prune="interval", confidence=0.6)


# ---------------------------------------------------------------- held-out cases
def test_a_share_of_each_class_is_held_out() -> None:
    table = sample([("continuous", 0, list(range(100)))], 3, [0] * 60 + [1] * 30 + [2] * 10, None).table
    held = held_out(table, 0.3, seed=4)
    assert np.bincount(held.pruning.classes).tolist() == [18, 9, 3]
    both = np.concatenate([held.growing.columns[0], held.pruning.columns[0]])  # type: ignore[list-item]
    assert sorted(both.tolist()) == list(range(100))
    again, other = held_out(table, 0.3, seed=4), held_out(table, 0.3, seed=5)
    assert np.array_equal(again.pruning.columns[0], held.pruning.columns[0])  # type: ignore[arg-type]
    assert not np.array_equal(other.pruning.columns[0], held.pruning.columns[0])  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_a_share_that_leaves_nothing_is_refused(share: float) -> None:
    table = sample([("continuous", 0, [1, 2, 3, 4])], 2, [0, 0, 1, 1], None).table
    with pytest.raises(OptionError, match=rf"held_out={share} leaves no case on one side of 4"):
        train(table, Options(prune="rep", held_out=share), "reference")


def on_held_out(root: dict[str, Any], *cells: tuple[tuple[int | None, int | None], int, int]) -> Tree:
    tree = reduced_error_pruned(tree_of(root, SCHEMA), pose(table_of(*cells), Options()))
    validate_tree(tree, SCHEMA)
    return tree


TWO_LEVELS = inner("discrete", 0, inner("discrete", 1, leaf(8.0, 0.0), leaf(0.0, 5.0)), leaf(0.0, 9.0))


def test_a_leaf_may_err_as_often_as_the_subtree_and_no_more() -> None:
    equal = on_held_out(TWO_LEVELS, ((0, 0), 2, 0), ((0, 1), 1, 1), ((1, 0), 0, 3))  # 1 error either way
    assert equal.kind.tolist() == [1, 0, 0]
    assert equal.errors.tolist() == [1 * 22 / 7, 1 * 22 / 7, 0]
    assert equal.class_weights.tolist() == [[8, 14], [8, 5], [0, 9]]  # of the cases that it was grown on
    better = on_held_out(TWO_LEVELS, ((0, 0), 2, 0), ((0, 1), 0, 1), ((1, 0), 0, 3))
    assert (better.n_nodes, better.errors.tolist()) == (5, [0] * 5)
    assert on_held_out(TWO_LEVELS, ((1, 0), 0, 4)).n_nodes == 1


def test_an_unknown_value_counts_in_parts() -> None:
    """Two thirds of the case that is unknown lie where class 0 is right, so the subtree errs by a third less."""
    cells = (((0, 0), 2, 0), ((1, 0), 0, 1))
    root = inner("discrete", 0, leaf(8.0, 0.0), leaf(0.0, 9.0))
    assert on_held_out(root, *cells, ((None, 0), 1, 0)).errors[0] == pytest.approx(17 / 4 / 3)
    assert on_held_out(root, *cells, ((None, 0), 0, 1)).errors[0] == pytest.approx(17 / 4 * 2 / 3)


def test_held_out_cases_that_are_all_unknown_tell_nothing() -> None:
    tree = on_held_out(TWO_LEVELS, ((None, 0), 3, 0))
    assert (tree.n_nodes, tree.errors.tolist()) == (1, [0])


@given(cases=larger_samples(), seed=st.integers(0, 3))
def test_the_record_says_how_many_cases_were_held_out(cases: Sample, seed: int) -> None:
    options = Options(prune="rep", random_state=seed)
    model = train(cases.table, options, "reference")
    held = held_out(pose(cases.table, options).table, options.held_out, seed)
    assert (model.record["cases"], model.record["held_out"]) == (held.growing.n_cases, held.pruning.n_cases)
    assert train(held.growing, Options(prune="none"), "reference").unpruned.equals(model.unpruned)


@given(cases=larger_samples().filter(lambda cases: not cases.table.has_unknown()), seed=st.integers(0, 3))
def test_every_test_that_stays_saves_errors_on_held_out_cases(cases: Sample, seed: int) -> None:
    options = Options(prune="rep", random_state=seed)
    tree = train(cases.table, options, "reference").pruned
    problem = pose(held_out(pose(cases.table, options).table, options.held_out, seed).pruning, options)
    assert reduced_error_pruned(tree, problem).equals(tree)
    for node in np.flatnonzero(tree.kind != LEAF).tolist():
        kind = tree.kind.copy()
        kind[node] = LEAF
        assert errors_on(problem, replace(tree, kind=kind)) > errors_on(problem, tree)


def errors_on(problem: Problem, tree: Tree) -> float:
    wrong = predicted_labels(tree, problem.table) != problem.table.classes
    return float(problem.units[wrong].sum())


def predicted_labels(tree: Tree, table: Table) -> npt.NDArray[np.int32]:
    return tree.label[leaf_shares(tree, table).leaves]


@pytest.mark.parametrize("options", [{"prune": "rep"}, {"prune": "interval"}, {"subtree_raising": False}], ids=str)
def test_engines_prune_alike(options: dict[str, Any]) -> None:
    chance = np.random.default_rng(5)
    x, y = chance.random((2, 900)).round(2)
    x[chance.random(900) < 0.1] = np.nan
    classes = ((x > 0.5) ^ (y > 0.3) ^ (chance.random(900) < 0.2)).astype(int).tolist()
    columns = [("continuous", 0, [None if v != v else v for v in values]) for values in (x.tolist(), y.tolist())]
    table = sample(columns, 2, classes, None).table  # type: ignore[arg-type]
    trees = [train(table, Options(**options), engine).pruned for engine in ("reference", "cpu")]
    assert trees[0].n_nodes > 3
    assert trees[0].equals(trees[1])


# ---------------------------------------------------------------- without raising
class NeverRaising(ErrorBasedPruning):
    """A branch is never better than what is there."""

    def _branch_estimates(self, branches: Int64s, changes: Changes) -> Any:
        return np.full(len(branches), np.inf)


@given(cases=larger_samples(), confidence=st.sampled_from([0.25, 0.05, 0.8]))
def test_without_raising_a_branch_is_never_considered(cases: Sample, confidence: float) -> None:
    options = Options(subtree_raising=False, confidence=confidence)
    model = train(cases.table, options, "reference")
    problem, engine = pose(cases.table, options), ReferenceEngine()
    engine.load(problem)
    assert NeverRaising(model.unpruned, engine, problem, confidence).run().equals(model.pruned)


def test_raising_is_what_the_option_switches_off() -> None:
    chance = np.random.default_rng(3)
    x, y = chance.random((2, 400)).round(2)
    classes = ((x > 0.5) ^ (y > 0.3) ^ (chance.random(400) < 0.3)).astype(int).tolist()
    cases = sample([("continuous", 0, x.tolist()), ("continuous", 0, y.tolist())], 2, classes, None)
    with_it, without = (train(cases.table, Options(subtree_raising=on)) for on in (True, False))
    assert with_it.unpruned.equals(without.unpruned)
    assert (with_it.pruned.n_nodes, without.pruned.n_nodes) == (7, 19)
