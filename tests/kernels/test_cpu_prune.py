"""The CPU engine's two ways of sending training cases through a tree, against the reference engine's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.schema import Attribute, Kind, Schema
from c45gpu.data.table import Table
from c45gpu.induction.grow import Grower
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.prune import ErrorBasedPruning
from c45gpu.kernels import cpu_counting, cpu_prune_divided
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.kernels.cpu_counting import CountingGrower
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_prune import WholePlacement
from c45gpu.kernels.cpu_prune_divided import DividedPlacement
from c45gpu.kernels.cpu_sending import PART
from c45gpu.kernels.descend import Placement, sums
from c45gpu.kernels.engine import Changes, Pairs
from c45gpu.kernels.level import Int32s, Int64s, Problem
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.tree import LEAF, Tree, ranges
from tests.golden_trees import inner, leaf, tree_of
from tests.kernels.seeded import TABLES, reference_model, table_of
from tests.strategies import Asked, Sample, asked, larger_samples

pytestmark = pytest.mark.usefixtures("kernels")

WHOLE = ["whole cases", "3 classes", "60 classes", "strange float64", "whole weights", "fractional weights"]
DIVIDED = ["unknown values", "unknown values and weights", "mostly unknown"]
ORDERED = ["whole cases", "3 classes", "60 classes", "1,000 classes", "only codes", "strange float64"]
RAISING = ["whole cases", "3 classes", "60 classes", "whole weights", "fractional weights", *DIVIDED[:2]]


@pytest.fixture(scope="module")
def crew() -> Iterator[Crew]:
    crew = Crew(2)
    yield crew
    crew.dismiss()


def placement(problem: Problem, tree: Tree, crew: Crew, part: int = PART) -> WholePlacement | DividedPlacement:
    """As the engine chooses."""
    if problem.table.has_unknown():
        return DividedPlacement(problem, tree, crew)
    return WholePlacement(problem, tree, crew, part=part)


def added_errors(units: Int64s, changes: Changes, n_pairs: int) -> Int64s:
    """By how many units the errors at each pair's leaves rise."""
    old = units[changes.leaf]
    new = old + changes.units
    more = (new.sum(1) - new.max(1)) - (old.sum(1) - old.max(1))
    return np.bincount(changes.pair, weights=more, minlength=n_pairs).astype(np.int64)


def assert_same_changes(ours: Changes, theirs: Changes, units: Int64s, pairs: Pairs) -> None:
    """Equal rows where ours did not give up, and there more errors than were allowed."""
    assert (added_errors(units, theirs, len(pairs.top))[ours.hopeless] > pairs.allowed[ours.hopeless]).all()
    kept = ~ours.hopeless[theirs.pair]
    np.testing.assert_array_equal(ours.pair, theirs.pair[kept])
    np.testing.assert_array_equal(ours.leaf, theirs.leaf[kept])
    np.testing.assert_array_equal(ours.units, theirs.units[kept])


class Twins:
    """Asks both, finds that they agree, and answers as the first; as much of an engine as pruning needs."""

    name = "twins"

    def __init__(self, problem: Problem, crew: Crew, part: int = PART) -> None:
        self.problem, self.crew, self.part, self.raised = problem, crew, part, 0

    def place(self, tree: Tree) -> Twins:
        self.ours, self.theirs = placement(self.problem, tree, self.crew, self.part), Placement(self.problem, tree)
        return self

    def known(self, tree: Tree) -> Int64s:
        return self.agreed(tree, self.ours.known(tree), self.theirs.known(tree))

    def agreed(self, tree: Tree, ours: Int64s, theirs: Int64s, root: int = 0) -> Int64s:
        """What is known at branches of nodes that a case can still get to."""
        nodes, living = np.array([root]), []
        while len(nodes):
            nodes = nodes[tree.kind[nodes] != LEAF]
            living.append(ranges(tree.branch_start[nodes], tree.branch_start[nodes + 1]))
            nodes = tree.branch[living[-1]]
        entries = np.concatenate(living)
        np.testing.assert_array_equal(ours[entries], theirs[entries])
        return ours

    def cut(self, nodes: Int64s) -> None:
        self.ours.cut(nodes)
        self.theirs.cut(nodes)

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        ours, theirs = self.ours.send(tree, units, pairs), self.theirs.send(tree, units, pairs)
        assert_same_changes(ours, theirs, units, pairs)
        return ours

    def both_raised(self, tree: Tree, pairs: Pairs) -> tuple[Int64s, Int64s]:
        self.raised += len(pairs.top)
        return self.ours.raise_branches(tree, pairs), self.theirs.raise_branches(tree, pairs)

    raise_branches = both_raised


class Judge(ErrorBasedPruning):
    """Pruning that lets the twins compare once a raise is complete."""

    def _raise(self, pairs: Pairs, changes: Changes, which: npt.NDArray[np.bool_]) -> None:
        super()._raise(pairs, changes, which)
        if len(pairs.top):
            self._known = self._placed.agreed(self._tree, *self._known, self._root)  # type: ignore[attr-defined]


@pytest.mark.parametrize("confidence", [0.25, 0.02])
@pytest.mark.parametrize("name", [*WHOLE, *DIVIDED])
def test_pruning_step_by_step(name: str, confidence: float, crew: Crew) -> None:
    problem, tree = pose(TABLES[name](), Options()), reference_model(name).unpruned
    twins = Twins(problem, crew)
    pruned = Judge(tree, twins, problem, confidence).run()  # type: ignore[arg-type]
    assert twins.raised or name not in RAISING
    assert pruned.equals(ErrorBasedPruning(tree, Loaded(problem), problem, confidence).run())


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("name", WHOLE)
def test_all_workers_send_the_cases_of_one_node(name: str, threads: int) -> None:
    problem, tree, crew = pose(TABLES[name](), Options()), reference_model(name).unpruned, Crew(threads)
    twins = Twins(problem, crew, part=3)
    pruned = Judge(tree, twins, problem, 0.25).run()  # type: ignore[arg-type]
    crew.dismiss()
    assert pruned.equals(reference_model(name).pruned)


def few_held(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """No more than so many instances of a case are held."""
    monkeypatch.setattr(cpu_prune_divided, "HELD", most)
    monkeypatch.setattr(cpu_prune_divided, "HELD_AT_LEAST", 0)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("name", DIVIDED)
def test_few_instances_are_held(name: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    few_held(monkeypatch, 1)
    problem, tree, crew = pose(TABLES[name](), Options()), reference_model(name).unpruned, Crew(threads)
    twins = Twins(problem, crew)
    pruned = Judge(tree, twins, problem, 0.25).run()  # type: ignore[arg-type]
    placed = placement(problem, tree, crew)
    assert isinstance(placed, DividedPlacement)
    assert len(placed._placed[0]) <= problem.table.n_cases < len(Placement(problem, tree)._case)
    assert pruned.equals(reference_model(name).pruned)
    crew.dismiss()


def test_every_instance_of_a_small_table_is_at_its_leaf(crew: Crew) -> None:
    problem, tree = pose(TABLES["unknown values"](), Options()), reference_model("unknown values").unpruned
    placed = DividedPlacement(problem, tree, crew)
    assert (tree.kind[placed._node] == LEAF).all()
    np.testing.assert_array_equal(placed._placed[0], Placement(problem, tree)._case)


def in_a_chain(values: list[list[float]], units: list[int]) -> tuple[Problem, Tree]:
    """Nodes 0 to 3 are one below the other and each test a value for 0 or 1; the rest are leaves."""
    below = inner("threshold", 2, inner("threshold", 3, leaf(1), leaf(0), cut=0.5), leaf(1), cut=0.5)
    top = inner("threshold", 0, inner("threshold", 1, below, leaf(1), cut=0.5), leaf(1), cut=0.5)
    table = table_of(list(np.array(values, np.float32).T.copy()), np.zeros(len(values)), 1)
    return replace(pose(table, Options()), units=np.array(units)), tree_of(top, table.schema)


@pytest.mark.parametrize("most", [1, 1 << 20])
def test_a_case_that_is_lost_where_all_values_are_unknown(
    most: int, crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all cases of node 1, node 2 gives node 3 no unit of the only case that has a value there."""
    few_held(monkeypatch, most)
    values = [[1, 0, 0, 0], [0, 0, np.nan, 0], [0, 0, 0, np.nan], [0, 0, 1, 0], [0, 1, 1, 0], [0, 0, np.nan, np.nan]]
    problem, tree = in_a_chain(values, [5, 2, 1000, 10, 1 << 40, 1 << 41])
    twins = Twins(problem, crew)
    twins.place(tree).known(tree)
    raise_some(tree, twins, Pairs(np.array([1]), np.array([2]), np.array([1 << 50])))
    units = units_at_leaves(problem, twins.theirs, tree.n_nodes)
    assert units.sum() < problem.units.sum() - 1000
    for branch in (2, 8):
        twins.send(tree, units, Pairs(np.array([0]), np.array([branch]), np.array([1 << 50])))


@pytest.mark.parametrize("most", [1, 1 << 20])
def test_a_leaf_that_loses_its_last_unit(most: int, crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a share of one case, which comes to be less than a unit."""
    few_held(monkeypatch, most)
    values = [[1, 0, 0, 0], [0, 0, np.nan, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 1, 0]]
    problem, tree = in_a_chain(values, [5, 2, 1000, 10, 1 << 40])
    twins = Twins(problem, crew)
    twins.place(tree)
    units = units_at_leaves(problem, twins.theirs, tree.n_nodes)
    changes = twins.send(tree, units, Pairs(np.array([1]), np.array([2]), np.array([1 << 50])))
    assert (changes.leaf[0], units[4, 0], changes.units[0, 0]) == (4, 1, -1)


def grown_on_cpu(name: str) -> tuple[Problem, Tree, Int32s]:
    """A tree that the CPU engine has grown, and the order of leaves that it has left behind."""
    problem = pose(TABLES[name](), Options())
    engine, tree = engine_after_growing(problem)
    engine.close()
    assert isinstance(engine._grower, CountingGrower)
    return problem, tree, engine._grower.order


def engine_after_growing(problem: Problem) -> tuple[CpuEngine, Tree]:
    engine = CpuEngine(2)
    grower = Grower(engine, problem)
    for _ in grower:
        pass
    return engine, grower.tree


def leaf_of_case(problem: Problem, tree: Tree) -> Int64s:
    placed, leaves = Placement(problem, tree), np.empty(problem.table.n_cases, np.int64)
    leaves[placed._case] = placed._leaf
    return leaves


@pytest.mark.parametrize("finish_cases", [1 << 13, 0])
@pytest.mark.parametrize("name", ORDERED)
def test_growing_leaves_the_order_of_leaves(name: str, finish_cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_counting, "FINISH_CASES", finish_cases)
    problem, tree, order = grown_on_cpu(name)
    assert np.array_equal(np.sort(order), np.arange(problem.table.n_cases))
    assert (np.diff(leaf_of_case(problem, tree)[order]) >= 0).all()


@pytest.mark.parametrize("name", ORDERED)
def test_an_order_that_fits_spares_the_walk(name: str, crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, tree, order = grown_on_cpu(name)
    monkeypatch.delattr(WholePlacement, "_walked")
    placed = WholePlacement(problem, tree, crew, order)
    np.testing.assert_array_equal(placed.known(tree), Placement(problem, tree).known(tree))


def test_an_order_is_used_only_where_it_fits_the_tree(crew: Crew) -> None:
    problem, tree, order = grown_on_cpu("3 classes")
    known, shuffled = Placement(problem, tree).known(tree), np.random.default_rng(0).permutation(order)
    for given_order in (order, shuffled, np.where(order == 7, -1, order), order[:-1]):
        np.testing.assert_array_equal(WholePlacement(problem, tree, crew, given_order).known(tree), known)


def test_a_tree_that_the_engine_has_not_grown() -> None:
    problem, tree = pose(TABLES["60 classes"](), Options()), reference_model("60 classes").unpruned
    engine, grown = engine_after_growing(pose(TABLES["60 classes"](), Options(min_cases=20)))
    assert grown.n_nodes != tree.n_nodes
    placed = engine.place(tree)
    engine.close()
    np.testing.assert_array_equal(placed.known(tree), Placement(problem, tree).known(tree))


def twofold(kind: Kind) -> Table:
    """Low x or low y, then z, then w tell the classes; x and y differ in the last two cases, which have other w."""
    n = 20
    low = np.repeat([0, 0, 0, 1, 1], n)
    z, w = np.repeat([0, 0, 1, 0, 0], n), np.repeat([0, 1, 0, 0, 1], n)
    columns = [np.append(low, [0, 1]), np.append(low, [1, 0]), np.append(z, [1, 1]), np.append(w, [0, 1])]
    classes = np.append(np.repeat([0, 1, 2, 3, 3], n), [2, 2]).astype(np.int32)
    values, number = (("no", "yes"), np.int32) if kind == "discrete" else ((), np.float32)
    schema = Schema(tuple(Attribute(name, kind, values) for name in "xyzw"), tuple("abcd"))
    return Table(schema, [column.astype(number) for column in columns], classes)


@pytest.mark.parametrize("kind", ["continuous", "discrete"])
def test_a_tree_of_other_tests_with_the_same_numbers_at_its_leaves(kind: Kind) -> None:
    problem = pose(twofold(kind), Options())
    engine, grown = engine_after_growing(problem)
    assert grown.attribute[grown.kind != LEAF].tolist() == [0, 2, 3]
    tree = replace(grown, attribute=np.where(grown.attribute == 0, 1, grown.attribute))
    units = np.rint(grown.class_weights).astype(np.int64)
    ours, theirs = engine.place(tree), Placement(problem, tree)
    engine.close()
    at_leaf = tree.kind == LEAF
    np.testing.assert_array_equal(units[at_leaf], units_at_leaves(problem, theirs, tree.n_nodes)[at_leaf])
    pairs = Pairs(np.array([1]), np.array([2]), np.array([problem.table.n_cases]))
    assert_same_changes(ours.send(tree, units, pairs), theirs.send(tree, units, pairs), units, pairs)


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("kind", ["continuous", "discrete"])
def test_a_tree_whose_weights_are_not_what_its_tests_say(kind: Kind, more: int, crew: Crew) -> None:
    problem = pose(twofold(kind), Options())
    engine, tree = engine_after_growing(problem)
    engine.close()
    assert isinstance(engine._grower, CountingGrower)
    pair = tree.branches(2)
    weight = tree.weight.copy()
    weight[pair] += [1, -1] if more else [-1, 1]
    placed = WholePlacement(problem, replace(tree, weight=weight), crew, engine._grower.order)
    np.testing.assert_array_equal(placed.known(tree), Placement(problem, tree).known(tree))


def test_columns_of_a_matrix_that_is_only_read(crew: Crew) -> None:
    table, tree = TABLES["whole cases"](), reference_model("whole cases").unpruned
    matrix = np.column_stack([table.column(a) for a in range(3)])
    matrix.flags.writeable = False
    problem = pose(replace(table, columns=[*matrix.T, *table.columns[3:]], _ranks={}), Options())
    np.testing.assert_array_equal(WholePlacement(problem, tree, crew).known(tree), Placement(problem, tree).known(tree))


class Loaded(ReferenceEngine):
    """The reference engine with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.load(problem)


@given(larger_samples(), asked(), st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 100]))
def test_any_pairs(sample: Sample, question: Asked, seed: int, threads: int, few: int) -> None:
    """Pruning asks for the largest branch only; here any branch is sent to, raised, or cut."""
    with pytest.MonkeyPatch.context() as patch:
        few_held(patch, few)
        ask_any_pairs(sample, question, np.random.default_rng(seed), Crew(threads), few)


def ask_any_pairs(sample: Sample, question: Asked, chance: np.random.Generator, crew: Crew, part: int) -> None:
    problem = pose(sample.table, question.options)
    grower = Grower(ReferenceEngine(), problem)
    for _ in grower:
        pass
    grown = grower.tree
    tree = replace(grown, kind=grown.kind.copy(), branch=grown.branch.copy())
    twins = Twins(problem, crew, part)
    twins.place(tree).known(tree)
    for _ in range(4):
        pairs = some_pairs(tree, living(tree), chance, int(problem.units.sum()))
        if not len(pairs.top):
            break
        twins.send(tree, units_at_leaves(problem, twins.theirs, tree.n_nodes), pairs)
        half = chance.random(len(pairs.top)) < 0.5
        cut(tree, twins, pairs.top[half])
        raise_some(tree, twins, Pairs(*(x[~half] for x in pairs)))
    crew.dismiss()


def cut(tree: Tree, twins: Twins, nodes: Int64s) -> None:
    twins.cut(nodes)
    tree.kind[nodes] = LEAF


def raise_some(tree: Tree, twins: Twins, pairs: Pairs) -> None:
    if not len(pairs.top):
        return
    ours, theirs = twins.both_raised(tree, pairs)
    entries = np.flatnonzero(np.isin(tree.branch, pairs.top))
    raised_to = dict(zip(pairs.top.tolist(), pairs.branch.tolist(), strict=True))
    tree.branch[entries] = [raised_to[top] for top in tree.branch[entries].tolist()]
    twins.agreed(tree, ours, theirs)


def living(tree: Tree) -> Int64s:
    """Nodes that a case can get to from the first one."""
    found, nodes = [], np.zeros(1, np.int64)
    while len(nodes):
        found.append(nodes)
        nodes = nodes[tree.kind[nodes] != LEAF]
        nodes = tree.branch[ranges(tree.branch_start[nodes], tree.branch_start[nodes + 1])]
    return np.sort(np.concatenate(found))


def some_pairs(tree: Tree, nodes: Int64s, chance: np.random.Generator, total: int) -> Pairs:
    """Living inner nodes, none above another, each with one of its branches."""
    end, tops = tree.end, []
    inner = nodes[1:][tree.kind[nodes[1:]] != LEAF]  # a raise of the root would leave no entry to put the branch in
    for node in chance.permutation(inner).tolist():
        if all(end[node] <= other or end[other] <= node for other in tops) and chance.random() < 0.7:
            tops.append(node)
    tops.sort()
    branches = [chance.choice(tree.branches(top)) for top in tops]
    allowed = chance.integers(0, total + 1, len(tops)) // chance.choice([1, 10, 100], len(tops))
    return Pairs(np.array(tops, np.int64), np.array(branches, np.int64), allowed)


def units_at_leaves(problem: Problem, placed: Any, n_nodes: int) -> Int64s:
    """Class weights of the instances that the reference has at each node."""
    classes = problem.table.classes[placed._case].astype(np.int64)
    return sums(placed._leaf, classes, placed._units, n_nodes, problem.settings.n_classes)
