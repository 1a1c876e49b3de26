"""Pruning, in numbers that can be checked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c45gpu.data.table import Table
from c45gpu.induction.grow import Grower
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.prune import ErrorBasedPruning, pessimistically_pruned, pruned
from c45gpu.induction.train import train
from c45gpu.kernels.descend import Placement
from c45gpu.kernels.engine import Changes, Pairs, PlacedCases
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.tree import LEAF, Tree
from c45gpu.model.validate import validate_tree
from tests.golden_trees import empty_leaf, inner, leaf, tree_of
from tests.oracle import extra_errors
from tests.strategies import Asked, Column, Sample, Value, asked, larger_samples, sample

Cell = tuple[tuple[Value, ...], int, int]  # values of the attributes, how many cases of each class have them

CF = 0.25


class ListeningEngine(ReferenceEngine):
    """Notes which branches are raised over which nodes."""

    def __init__(self) -> None:
        self.raised: list[list[tuple[int, int]]] = []

    def place(self, tree: Tree) -> PlacedCases:
        return Listening(self._problem, tree, self.raised)


class Listening(Placement):
    def __init__(self, problem: Problem, tree: Tree, raised: list[list[tuple[int, int]]]) -> None:
        super().__init__(problem, tree)
        self.raised = raised

    def raise_branches(self, tree: Tree, pairs: Pairs) -> Int64s:
        self.raised.append(list(zip(pairs.top.tolist(), pairs.branch.tolist(), strict=True)))
        return super().raise_branches(tree, pairs)


def table_of(*cells: Cell, n_values: int = 2) -> Table:
    """Cases of discrete attributes."""
    rows = [(values, k) for values, *n in cells for k in (0, 1) for _ in range(n[k])]
    columns: list[Column] = [("discrete", n_values, column) for column in zip(*(v for v, _ in rows), strict=True)]
    return sample(columns, 2, [k for _, k in rows], None).table


def prune(root: dict[str, Any], table: Table, **options: Any) -> tuple[Tree, list[list[tuple[int, int]]]]:
    """A tree pruned on a table, and what was raised over what."""
    problem, engine = pose(table, Options(**options)), ListeningEngine()
    engine.load(problem)
    tree = pruned(tree_of(root, table.schema), engine, problem, Options(**options))
    validate_tree(tree, table.schema)
    return tree, engine.raised


def estimate(*leaves: tuple[float, float], confidence: float = CF) -> float:
    """The estimated errors of leaves with these class weights."""
    return sum(min(k) + extra_errors(sum(k), min(k), confidence) for k in leaves)


# ---------------------------------------------------------------- leaves
def test_a_leaf_is_given_its_estimate() -> None:
    tree, _ = prune(leaf(14.0, 4.0, errors=4.0), table_of(((0,), 14, 4)))
    assert tree.errors[0] == pytest.approx(4 + extra_errors(18.0, 4.0, CF), rel=1e-12)


def test_quinlans_example_becomes_a_leaf() -> None:
    """Three leaves of 6, 9 and 1 cases without error are expected to err 3.273 times, one of 16 with one 2.512."""
    root = inner("discrete", 0, leaf(6.0, 0.0), leaf(9.0, 0.0), leaf(0.0, 1.0))
    tree, raised = prune(root, table_of(((0,), 6, 0), ((1,), 9, 0), ((2,), 0, 1), n_values=3))
    assert (tree.n_nodes, tree.attribute[0], tree.value_map(0).tolist(), raised) == (1, -1, [], [])
    assert tree.errors.tolist() == [pytest.approx(estimate((15, 1)), rel=1e-12)]
    assert estimate((6, 0), (9, 0), (0, 1)) == pytest.approx(3.273, abs=2e-3)
    assert tree.errors[0] == pytest.approx(2.512, abs=1e-2)


def test_a_subtree_that_is_better_stays_with_the_sum_of_its_estimates() -> None:
    root = inner("discrete", 0, leaf(9.0, 1.0, errors=1.0), leaf(0.0, 8.0), errors=1.0)
    tree, raised = prune(root, table_of(((0,), 9, 1), ((1,), 0, 8)))
    assert tree.errors.tolist() == pytest.approx([estimate((9, 1), (0, 8)), estimate((9, 1)), estimate((0, 8))])
    assert (tree.kind.tolist(), tree.class_weights.tolist()) == ([1, 0, 0], [[9.0, 9.0], [9.0, 1.0], [0.0, 8.0]])
    assert raised == []


def test_a_leaf_may_be_a_tenth_of_an_error_worse() -> None:
    within, beyond = ((3, 1), (2, 3)), ((2, 0), (2, 3))
    for (low, high), n_nodes in ((within, 1), (beyond, 3)):
        both = (low[0] + high[0], low[1] + high[1])
        worse = estimate(both) - estimate(low, high)
        assert (0.0 < worse <= 0.1) == (n_nodes == 1)
        root = inner("discrete", 0, leaf(*map(float, low)), leaf(*map(float, high)))
        tree, raised = prune(root, table_of(((0,), *low), ((1,), *high)))
        assert (tree.n_nodes, raised, tree.errors[0]) == (
            n_nodes,
            [],
            pytest.approx(estimate(both) if n_nodes == 1 else estimate(low, high)),
        )


def test_a_leaf_may_be_a_tenth_of_an_error_worse_than_the_largest_branch() -> None:
    below, low, high = (3, 2), (5, 0), (3, 5)
    as_leaf, as_branch = estimate((11, 7)), estimate(low, (6, 7))
    assert as_branch < as_leaf < as_branch + 0.1
    assert as_leaf < estimate(below, low, high) + 0.1
    root = inner("discrete", 0, leaf(3.0, 2.0), inner("discrete", 1, leaf(5.0, 0.0), leaf(3.0, 5.0)))
    tree, raised = prune(root, table_of(((0, 1), *below), ((1, 0), *low), ((1, 1), *high)))
    assert (tree.n_nodes, raised) == (1, [])


@pytest.mark.parametrize(("confidence", "n_nodes"), [(0.01, 1), (0.25, 3), (1.0, 3)])
def test_confidence_decides_how_much_is_pruned(confidence: float, n_nodes: int) -> None:
    root = inner("discrete", 0, leaf(5.0, 3.0), leaf(1.0, 7.0))
    tree, _ = prune(root, table_of(((0,), 5, 3), ((1,), 1, 7)), confidence=confidence)
    assert tree.n_nodes == n_nodes
    assert tree.errors[0] == pytest.approx(
        estimate((6, 10), confidence=confidence) if n_nodes == 1 else estimate((5, 3), (1, 7), confidence=confidence)
    )


def test_full_confidence_still_prunes_a_little() -> None:
    """Half an error is expected more at each leaf that errs: 3 * 1.5 errors are not better than 4.5."""
    root = inner("discrete", 0, leaf(3.0, 1.0), leaf(4.0, 1.0), leaf(1.0, 2.0))
    tree, _ = prune(root, table_of(((0,), 3, 1), ((1,), 4, 1), ((2,), 1, 2), n_values=3), confidence=1.0)
    assert tree.errors.tolist() == [pytest.approx(4.5)]


def test_a_tied_label_stays() -> None:
    assert prune(leaf(2.0, 2.0, label=1), table_of(((0,), 2, 2)))[0].label.tolist() == [1]
    assert prune(leaf(2.0, 2.0, label=0), table_of(((0,), 2, 2)))[0].label.tolist() == [0]
    assert prune(leaf(3.0, 1.0, label=1), table_of(((0,), 3, 1)))[0].label.tolist() == [0]
    root = inner("discrete", 0, leaf(1.0, 1.0), leaf(1.0, 1.0), leaf=1)
    tree, _ = prune(root, table_of(((0,), 1, 1), ((1,), 1, 1)))
    assert (tree.n_nodes, tree.label.tolist()) == (1, [1])


def test_an_empty_branch_costs_nothing_and_stays_as_it_is() -> None:
    root = inner("discrete", 0, leaf(9.0, 0.0), leaf(0.0, 9.0), empty_leaf(0, 9.0, 9.0))
    tree, _ = prune(root, table_of(((0,), 9, 0), ((1,), 0, 9), n_values=3))
    assert tree.errors.tolist() == pytest.approx([estimate((9, 0), (0, 9)), estimate((9, 0)), estimate((0, 9)), 0.0])
    assert (tree.weight[3], tree.class_weights[3].tolist(), tree.label[3]) == (0.0, [9.0, 9.0], 0)


# ---------------------------------------------------------------- raising
B_BELOW_A = inner("discrete", 0, leaf(1.0, 0.0), inner("discrete", 1, leaf(10.0, 0.0), leaf(0.0, 10.0)))


def test_the_largest_branch_is_raised_with_all_cases() -> None:
    tree, raised = prune(B_BELOW_A, table_of(((0, 0), 1, 0), ((1, 0), 10, 0), ((1, 1), 0, 10)))
    assert raised == [[(0, 2)]]
    assert (tree.attribute.tolist(), tree.branch.tolist()) == ([1, -1, -1], [1, 2])
    assert (tree.weight.tolist(), tree.class_weights.tolist()) == ([21, 11, 10], [[11, 10], [11, 0], [0, 10]])
    assert tree.errors.tolist() == pytest.approx([estimate((11, 0), (0, 10)), estimate((11, 0)), estimate((0, 10))])


def test_a_branch_that_gets_worse_with_all_cases_is_not_raised() -> None:
    tree, raised = prune(B_BELOW_A, table_of(((0, 1), 1, 0), ((1, 0), 10, 0), ((1, 1), 0, 10)))
    assert estimate((10, 0), (1, 10)) > estimate((1, 0), (10, 0), (0, 10)) + 0.1
    assert (raised, tree.n_nodes) == ([], 5)
    assert tree.errors[0] == pytest.approx(estimate((1, 0), (10, 0), (0, 10)))


def test_a_raised_branch_may_be_a_tenth_of_an_error_worse() -> None:
    for below, low, high, is_raised in (((3, 2), (4, 0), (1, 4), True), ((3, 2), (4, 0), (0, 3), False)):
        worse = estimate(low, (high[0] + below[0], high[1] + below[1])) - estimate(below, low, high)
        assert 0.05 < worse < 0.15
        assert (worse <= 0.1) == is_raised
        leaves = [leaf(*map(float, weights)) for weights in (below, low, high)]
        root = inner("discrete", 0, leaves[0], inner("discrete", 1, *leaves[1:]))
        _, raised = prune(root, table_of(((0, 1), *below), ((1, 0), *low), ((1, 1), *high)))
        assert raised == ([[(0, 2)]] if is_raised else [])


def test_cases_with_an_unknown_value_are_divided_anew() -> None:
    tree, raised = prune(B_BELOW_A, table_of(((0, None), 1, 0), ((1, 0), 10, 0), ((1, 1), 0, 10)))
    assert raised == [[(0, 2)]]
    assert tree.class_weights.tolist() == [[11, 10], [10.5, 0], [0.5, 10]]
    assert tree.errors[0] == pytest.approx(estimate((10.5, 0), (0.5, 10)))


def test_raising_may_fill_an_empty_branch() -> None:
    below = inner("discrete", 1, leaf(10.0, 0.0), leaf(0.0, 10.0), empty_leaf(1, 10.0, 10.0))
    root = inner("discrete", 0, leaf(1.0, 0.0), below, empty_leaf(0, 11.0, 10.0))
    tree, raised = prune(root, table_of(((0, 2), 1, 0), ((1, 0), 10, 0), ((1, 1), 0, 10), n_values=3))
    assert raised == [[(0, 2)]]
    assert (tree.weight.tolist(), tree.label.tolist()) == ([21, 10, 10, 1], [0, 0, 1, 0])
    assert tree.errors[[0, 3]].tolist() == pytest.approx([estimate((10, 0), (0, 10), (1, 0)), 0.75])


def test_of_equal_branches_the_last_is_raised() -> None:
    first = inner("discrete", 1, leaf(5.0, 0.0), leaf(0.0, 5.0))
    last = inner("discrete", 2, leaf(5.0, 0.0), leaf(0.0, 5.0))
    cells: list[Cell] = [((0, 0, 0), 5, 0), ((0, 1, 1), 0, 5), ((1, 0, 0), 5, 0), ((1, 1, 1), 0, 5)]
    tree, raised = prune(inner("discrete", 0, first, last), table_of(*cells))
    assert (raised, tree.attribute.tolist()) == ([[(0, 4)]], [2, -1, -1])


def test_raising_below_a_node_that_stays() -> None:
    side = inner("discrete", 1, leaf(0.0, 1.0), inner("discrete", 2, leaf(0.0, 10.0), leaf(10.0, 0.0)))
    root = inner("discrete", 0, leaf(40.0, 0.0), side)
    cells: list[Cell] = [
        ((0, 0, 0), 20, 0),
        ((0, 0, 1), 20, 0),
        ((1, 0, 0), 0, 1),
        ((1, 1, 0), 0, 10),
        ((1, 1, 1), 10, 0),
    ]
    tree, raised = prune(root, table_of(*cells))
    assert raised == [[(2, 4)]]
    assert (tree.attribute.tolist(), tree.branch.tolist()) == ([0, -1, 2, -1, -1], [1, 2, 3, 4])
    assert tree.weight.tolist() == [61, 40, 21, 11, 10]


def test_several_branches_are_raised_at_once() -> None:
    side = inner("discrete", 1, leaf(1.0, 0.0), inner("discrete", 2, leaf(10.0, 0.0), leaf(0.0, 10.0)))
    mirrored = inner("discrete", 1, leaf(0.0, 1.0), inner("discrete", 2, leaf(0.0, 10.0), leaf(10.0, 0.0)))
    cells: list[Cell] = [((0, 0, 0), 1, 0), ((0, 1, 0), 10, 0), ((0, 1, 1), 0, 10)]
    cells += [((1, 0, 0), 0, 1), ((1, 1, 0), 0, 10), ((1, 1, 1), 10, 0)]
    tree, raised = prune(inner("discrete", 0, side, mirrored), table_of(*cells))
    assert raised == [[(1, 3), (6, 8)]]
    assert tree.attribute.tolist() == [0, 2, -1, -1, 2, -1, -1]
    assert tree.class_weights[2:].tolist() == [[11, 0], [0, 10], [10, 11], [0, 11], [10, 0]]


def test_a_raised_branch_is_judged_again() -> None:
    """With the cases of the node above it, the raised branch is worth less than its own largest branch."""
    cells: list[Cell] = [
        ((0, 0, 0), 2, 0),
        ((0, 1, 0), 0, 1),
        ((1, 0, 1), 1, 0),
        ((1, 1, 0), 6, 1),
        ((1, 1, 1), 0, 2),
    ]
    lowest = inner("discrete", 2, leaf(6.0, 1.0), leaf(0.0, 2.0))
    root = inner("discrete", 0, leaf(2.0, 1.0), inner("discrete", 1, leaf(1.0, 0.0), lowest))
    below, low, high = (1, 0), (6, 1), (0, 2)
    assert estimate(low, (1, 2)) > estimate(below, low, high) + 0.1  # not raised at first
    below, low = (3, 0), (6, 2)
    assert estimate(below, low, high) <= estimate((2, 1), (1, 0), (6, 1), high) + 0.1  # raised over the root
    assert estimate((8, 2), (1, 2)) <= estimate(below, low, high) + 0.1  # then its branch over it
    tree, raised = prune(root, table_of(*cells))
    assert raised == [[(0, 2)], [(2, 4)]]
    assert (tree.attribute.tolist(), tree.class_weights.tolist()) == ([2, -1, -1], [[9, 4], [8, 2], [1, 2]])
    assert tree.errors[0] == pytest.approx(estimate((8, 2), (1, 2)))


class HastyEngine(ReferenceEngine):
    """Gives up on every branch whose errors would rise by more than is allowed for."""

    def place(self, tree: Tree) -> PlacedCases:
        return Hasty(self._problem, tree)


class Hasty(Placement):
    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        changes = super().send(tree, units, pairs)
        before = units[changes.leaf]
        more = errors_in(before + changes.units) - errors_in(before)
        rise = np.zeros(len(pairs.top), np.int64)
        np.add.at(rise, changes.pair, more)
        hopeless = rise > pairs.allowed
        stays = ~hopeless[changes.pair]
        return Changes(hopeless, *(x[stays] for x in changes[1:]))


def errors_in(units: Int64s) -> Int64s:
    return units.sum(1) - units.max(1)


@pytest.mark.parametrize("confidence", [1e-9, 0.01, 0.25, 1.0])
@settings(max_examples=40)
@given(table=larger_samples(), min_cases=st.sampled_from([1, 2]))
def test_giving_up_changes_nothing(confidence: float, table: Sample, min_cases: int) -> None:
    options = Options(confidence=confidence, min_cases=min_cases)
    patient, hasty = (train(table.table, options, engine) for engine in (ReferenceEngine(), HastyEngine()))
    assert hasty.pruned.equals(patient.pruned)


class AskingPruning(ErrorBasedPruning):
    """Asks the engine about every branch, leaves too."""

    def _changes(self, pairs: Pairs) -> Changes:
        assert (np.diff(pairs.top) > 0).all()
        return self._placed.send(self._tree, self._units, pairs)


@settings(max_examples=60)
@given(table=larger_samples(), question=asked())
def test_what_a_leaf_would_gain_need_not_be_asked(table: Sample, question: Asked) -> None:
    problem, engine = pose(table.table, question.options), ReferenceEngine()
    grower = Grower(engine, problem)
    for _ in grower:
        pass
    confidence = question.options.confidence
    ours, asking = (of(grower.tree, engine, problem, confidence).run() for of in (ErrorBasedPruning, AskingPruning))
    assert ours.equals(asking)


@given(larger_samples(), asked())
def test_numbers_of_a_pruned_tree_add_up(table: Sample, question: Asked) -> None:
    model = train(table.table, question.options.with_changes(prune="ebp"))
    tree, confidence = model.pruned, question.options.confidence
    validate_tree(tree, model.schema)
    assert tree.weight[0] == model.unpruned.weight[0]
    held = np.where(tree.weight[:, None] > 0, tree.class_weights, 0)
    assert held.sum(1).tolist() == tree.weight.tolist()
    for node in range(tree.n_nodes):
        if tree.kind[node] == LEAF:
            wrong = tree.weight[node] - held[node].max()
            expected = wrong + extra_errors(tree.weight[node], wrong, confidence) if tree.weight[node] else 0.0
            assert tree.errors[node] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        else:
            assert held[tree.branches(node)].sum(0).tolist() == held[node].tolist()
            assert tree.errors[node] == pytest.approx(tree.errors[tree.branches(node)].sum(), rel=1e-12)


# ---------------------------------------------------------------- pessimistic pruning
def pep(root: dict[str, Any]) -> Tree:
    schema = table_of(((0, 0, 0), 1, 1), n_values=3).schema
    tree = pessimistically_pruned(tree_of(root, schema))
    validate_tree(tree, schema)
    return tree


def test_pessimistic_pruning_of_the_articles_example() -> None:
    """A subtree that costs 4 + 3/2 of 100 cases may cost 7.78: a leaf of cost 6.5 takes its place."""
    for wrong, n_nodes in ((6.0, 1), (7.0, 1), (8.0, 4)):
        tree = pep(inner("discrete", 0, leaf(50.0, 2.0), leaf(50.0 - wrong, 2.0), leaf(0.0, wrong - 4.0)))
        assert (tree.weight[0], tree.n_nodes) == (100, n_nodes)
        assert tree.errors[0] == (wrong + 0.5 if n_nodes == 1 else 5.5)


def test_the_correction_is_the_subtrees_not_the_leafs() -> None:
    """With half an error for each branch added to the leaf alone, 3 + 1 errors would lose against 2."""
    tree = pep(inner("discrete", 0, leaf(6.0, 2.0), leaf(0.0, 1.0), leaf(3.0, 0.0)))
    assert (tree.n_nodes, tree.errors.tolist(), tree.class_weights.tolist()) == (1, [3.5], [[9.0, 3.0]])


def test_a_subtree_that_costs_less_stays() -> None:
    tree = pep(
        inner("discrete", 0, leaf(10.0, 1.0, errors=1.0), leaf(1.0, 10.0, errors=1.0), empty_leaf(0, 11.0, 11.0))
    )
    assert tree.errors.tolist() == [3.0, 1.5, 1.5, 0.0]  # an empty leaf costs nothing
    assert tree.kind.tolist() == [1, 0, 0, 0]


def test_a_leaf_that_costs_just_the_limit_takes_the_place() -> None:
    """Three leaves without error cost 3/2 of 4.5 cases: the standard error is 1, the limit 2 + 1/2."""
    tree = pep(inner("discrete", 0, leaf(1.5, 0.0), leaf(1.0, 0.0), leaf(0.0, 2.0)))
    assert (tree.n_nodes, tree.errors.tolist()) == (1, [2.5])


def test_pessimistic_pruning_cuts_within_and_below_what_it_cuts() -> None:
    useless = inner("discrete", 1, leaf(9.0, 0.0), leaf(8.0, 1.0), leaf(7.0, 0.0))
    good = inner(
        "discrete", 1, leaf(30.0, 0.0), inner("discrete", 2, leaf(0.0, 20.0), leaf(1.0, 19.0)), leaf(30.0, 0.0)
    )
    tree = pep(inner("discrete", 0, useless, good, leaf(0.0, 30.0)))
    assert tree.attribute.tolist() == [0, -1, 1, -1, -1, -1, -1]
    assert tree.weight.tolist() == [155, 25, 100, 30, 40, 30, 30]
    assert tree.errors[tree.kind == LEAF].tolist() == [1.5, 0.5, 1.5, 0.5, 0.5]
    inside = pep(inner("discrete", 0, leaf(9.0, 0.0), useless, leaf(8.0, 1.0)))
    assert (inside.n_nodes, inside.errors.tolist()) == (1, [2.5])


# ---------------------------------------------------------------- which pruning
def test_the_option_names_the_pruning() -> None:
    root = inner("discrete", 0, leaf(9.0, 0.0), leaf(0.0, 1.0))
    table = table_of(((0,), 9, 0), ((1,), 0, 1))
    estimated, pessimistic, none = (prune(root, table, prune=name)[0] for name in ("ebp", "pep", "none"))
    assert estimated.errors[0] == pytest.approx(estimate((9, 0), (0, 1)))
    assert (pessimistic.n_nodes, pessimistic.errors.tolist()) == (1, [1.5])
    assert none.equals(tree_of(root, table.schema))
