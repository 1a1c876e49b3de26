"""The level loop: what grows, in batches, by engines that finish nodes themselves; and where thresholds lie."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from c45gpu.choose import NO_TEST
from c45gpu.induction import grow
from c45gpu.induction.cuts import thresholds
from c45gpu.induction.grow import Grower
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.progress import Progress
from c45gpu.kernels.level import Children, Frontier, Int64s, Problem, Splits, Subtrees
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.tree import LEAF, Tree
from c45gpu.model.validate import validate_tree
from tests.strategies import Asked, Column, Sample, asked, larger_samples, sample, samples


def grown(problem: Problem, engine: ReferenceEngine | None = None) -> Tree:
    grower = Grower(engine or ReferenceEngine(), problem)
    for _ in grower:
        pass
    return grower.tree


def tree_of(
    columns: Sequence[Column], classes: Sequence[int], weights: Sequence[float] | None = None, **options: Any
) -> Tree:
    return grown(pose(sample(columns, 2, classes, weights).table, Options(**options)))


# ---------------------------------------------------------------- rules of growing
BITS: list[Column] = [("discrete", 2, [0, 0, 1, 1] * 4), ("discrete", 2, [0, 1, 0, 1] * 4)]


def test_a_parity_is_found_though_its_first_test_gains_nothing() -> None:
    tree = tree_of(BITS, [0, 1, 1, 0] * 4)
    assert tree.attribute.tolist() == [0, 1, -1, -1, 1, -1, -1]
    assert tree.errors.tolist() == [0.0] * 7


def test_a_discrete_attribute_is_tested_once_on_a_path() -> None:
    tree = tree_of([("discrete", 3, [0, 0, 0, 1, 1, 1, 2, 2, 2])], [0, 0, 1, 1, 1, 0, 0, 1, 1], min_cases=1)
    assert tree.attribute.tolist() == [0, -1, -1, -1]


def test_a_continuous_attribute_may_be_tested_again() -> None:
    tree = tree_of([("continuous", 0, [float(i) for i in range(15)])], [0] * 5 + [1] * 5 + [0] * 5)
    assert tree.attribute.tolist() == [0, -1, 0, -1, -1]
    assert tree.threshold[[0, 2]].tolist() == [4.0, 9.0]


def test_min_cases_ends_growing() -> None:
    columns: list[Column] = [("continuous", 0, [float(i) for i in range(15)])]
    sizes = [tree_of(columns, [0] * 5 + [1] * 5 + [0] * 5, min_cases=m).n_nodes for m in (5, 6, 7, 8)]
    assert sizes == [5, 1, 1, 1]


@pytest.mark.parametrize("column", [("ignored", 0, [1.0] * 4), ("continuous", 0, [None] * 4), ("discrete", 1, [0] * 4)])
def test_where_there_is_nothing_to_test_the_root_is_a_leaf(column: Column) -> None:
    tree = tree_of([column], [0, 1, 1, 1])
    assert (tree.n_nodes, tree.class_weights.tolist(), tree.errors.tolist()) == (1, [[1.0, 3.0]], [1.0])


def test_one_class_is_a_leaf() -> None:
    assert tree_of([("continuous", 0, [1.0, 2.0, 3.0, 4.0])], [1, 1, 1, 1]).n_nodes == 1


def test_an_absent_value_has_an_empty_branch() -> None:
    tree = tree_of([("discrete", 4, [0, 0, 3, 3])], [0, 0, 1, 1])
    assert tree.weight.tolist() == [4.0, 2.0, 0.0, 0.0, 2.0]
    assert tree.class_weights[2].tolist() == [2.0, 2.0]


def test_unknown_cases_go_down_every_branch_with_known_ones() -> None:
    tree = tree_of([("discrete", 3, [0, 0, 0, 2, 2, 2, None, None])], [0, 0, 0, 1, 1, 1, 0, 1])
    assert tree.class_weights.tolist() == [[4.0, 4.0], [3.5, 0.5], [4.0, 4.0], [0.5, 3.5]]
    assert tree.weight.tolist() == [8.0, 4.0, 0.0, 4.0]


# ---------------------------------------------------------------- levels and batches
def test_progress_tells_each_level() -> None:
    problem = pose(
        sample([("continuous", 0, [float(i) for i in range(15)])], 2, [0] * 5 + [1] * 5 + [0] * 5, None).table,
        Options(),
    )
    levels = list(Grower(ReferenceEngine(), problem))
    assert levels == [Progress(1, 3, 1, 10.0), Progress(2, 5, 0, 0.0)]


def test_progress_counts_cases_not_units() -> None:
    problem = pose(sample(BITS, 2, [0, 1, 1, 0] * 4, [0.5] * 16).table, Options())
    assert [level.open_weight for level in Grower(ReferenceEngine(), problem)] == [8.0, 0.0]


@settings(max_examples=50)
@given(larger_samples(), asked(), st.integers(1, 500))
def test_batches_give_the_same_tree(table: Sample, question: Asked, batch_bytes: int) -> None:
    problem = pose(table.table, question.options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grow, "BATCH_BYTES", batch_bytes)
        in_batches = grown(problem)
    assert in_batches.equals(grown(problem))


class FinishingEngine(ReferenceEngine):
    """Hands whole subtrees back now and then, as an engine does that grows small nodes by itself."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def load(self, problem: Problem) -> Frontier:
        return self._perhaps_finished(super().load(problem))

    def split(self, splits: Splits) -> Children:
        children = super().split(splits)
        return replace(children, frontier=self._perhaps_finished(children.frontier))

    def _perhaps_finished(self, frontier: Frontier) -> Frontier:
        if not self._problem.may_finish or self._chance.random() < 0.5:
            return frontier
        engine = ReferenceEngine()
        vars(engine).update(vars(self))
        rows = Rows(frontier.class_weights.shape[1])
        open_nodes = np.flatnonzero(frontier.open)
        rows.grow(engine, [(-1 - int(root), 0) for root in open_nodes], frontier.class_weights[open_nodes])
        return Frontier(frontier.class_weights, np.zeros_like(frontier.open), rows.subtrees())


class Rows:
    """Nodes with their parents' rows, branches, tests and class weights."""

    def __init__(self, n_classes: int) -> None:
        self.rows: list[list[int]] = []
        self.n_classes = n_classes

    def grow(self, engine: ReferenceEngine, places: list[tuple[int, int]], class_weights: Int64s) -> None:
        """Grow open nodes, each of them a branch of the row of its parent, to the end."""
        while len(places):
            candidates = engine.score(0, len(places))
            chosen = engine.choose(candidates, class_weights.sum(1))
            node = np.flatnonzero(chosen != NO_TEST)
            children = engine.split(Splits(node, chosen[node], candidates.cut[node, chosen[node]]))
            tests = np.full((len(places), 3), -1)
            tests[node] = np.column_stack([chosen[node], children.below, children.above])
            first = len(self.rows)
            self.add(places, tests, class_weights)
            parents = (first + node[children.split]).tolist()
            below = np.array(list(zip(parents, children.branch.tolist(), strict=True)), np.int64).reshape(-1, 2)
            is_open, weights = children.frontier.open, children.frontier.class_weights
            self.add(below[~is_open].tolist(), np.full((int((~is_open).sum()), 3), -1), weights[~is_open])
            places, class_weights = below[is_open].tolist(), weights[is_open]

    def add(self, places: Sequence[Sequence[int]], tests: Int64s, class_weights: Int64s) -> None:
        columns = zip(places, tests.tolist(), class_weights.tolist(), strict=True)
        self.rows += [[*place, *test, *weights] for place, test, weights in columns]

    def subtrees(self) -> Subtrees:
        numbers = np.array(self.rows, np.int64).reshape(-1, 5 + self.n_classes)
        return Subtrees(*numbers[:, :5].T.copy(), numbers[:, 5:])


@given(larger_samples(), asked(), st.randoms(use_true_random=False))
def test_nodes_that_the_engine_finishes_give_the_same_tree(
    table: Sample, question: Asked, chance: random.Random
) -> None:
    problem = pose(table.table, question.options)
    assert grown(problem, FinishingEngine(chance)).equals(grown(problem))


@given(samples(), asked())
def test_what_is_grown_is_a_tree(table: Sample, question: Asked) -> None:
    problem = pose(table.table, question.options)
    tree = grown(problem)
    validate_tree(tree, problem.table.schema)
    inner = np.flatnonzero(tree.kind != LEAF)
    units = np.where(tree.weight[:, None] > 0, tree.class_weights * problem.settings.case_units, 0)
    for node in inner:
        assert units[tree.branches(node)].sum(axis=0).tolist() == units[node].tolist()
    assert units[0].sum() == problem.units.sum()


# ---------------------------------------------------------------- thresholds
finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite | st.sampled_from([math.inf, -math.inf]), min_size=2, unique=True), st.data())
@example([1.0, math.nextafter(1.0, 2.0)], None)
@example([-1.7e308, 1.7e308], None)
@example([1.6e308, 1.7e308], None)
@example([5e-324, 1e-323], None)
def test_a_threshold_is_the_greatest_value_up_to_the_middle(values: list[float], data: Any) -> None:
    distinct = sorted(value + 0.0 for value in values)
    below = data.draw(st.integers(0, len(distinct) - 2)) if data else 0
    above = data.draw(st.integers(below + 1, len(distinct) - 1)) if data else 1
    low, high = distinct[below], distinct[above]
    middle = (low + high) / 2 if math.isfinite(low + high) else low / 2 + high / 2
    fits = [value for value in distinct if low <= value < high and (value <= middle or math.isnan(middle))]
    (threshold,) = thresholds(np.array(distinct), np.array([below]), np.array([above]), False)
    assert threshold == (fits[-1] if fits else low)


def test_thresholds_are_values_of_the_whole_column() -> None:
    distinct = np.array([1.0, 2.0, 2.5, 3.0, 4.0, 9.0])
    below, above = np.array([0, 0, 1, 4]), np.array([4, 5, 3, 5])
    assert thresholds(distinct, below, above, False).tolist() == [2.5, 4.0, 2.5, 4.0]


def test_the_middle_of_the_greatest_numbers_is_no_infinity() -> None:
    distinct = np.array([-1.7e308, 1.6e308, 1.63e308, 1.67e308, 1.7e308, math.inf])
    below, above = np.array([1, 0, 3]), np.array([4, 4, 5])
    assert thresholds(distinct, below, above, False).tolist() == [1.63e308, -1.7e308, 1.7e308]


def test_release_8_takes_the_middle_in_single_precision() -> None:
    """Between neighbours there is none, and their middle rounds to even: to the upper one, which is never reached."""
    step = 2.0**-23
    distinct = np.array([1.0, 1 + step, 1 + 2 * step], np.float32)
    below, above = np.array([0, 0, 1]), np.array([1, 2, 2])
    assert thresholds(distinct, below, above, True).tolist() == [1.0, 1 + step, 1 + step]
    wide = np.array([1.0, 1 + 0.75 * step, 1 + 1.25 * step])
    assert thresholds(wide, np.array([0]), np.array([2]), True).tolist() == [1.0 + 0.75 * step]
    assert thresholds(wide, np.array([0]), np.array([2]), False).tolist() == [1.0]


def test_thresholds_of_single_precision_stay_exact() -> None:
    distinct = np.array([0.1, 0.2, 0.3], np.float32)
    found = thresholds(distinct, np.array([0]), np.array([2]), False)
    assert found.dtype == np.float64
    assert found.tolist() == [float(np.float32(0.2))]
