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

from c45gpu.induction.grow import Grower
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.prune import ErrorBasedPruning
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_descend import DividedPlacement
from c45gpu.kernels.cpu_prune import WholePlacement
from c45gpu.kernels.descend import Placement, sums
from c45gpu.kernels.engine import Changes, Pairs
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.tree import LEAF, Tree, ranges
from tests.kernels.seeded import TABLES, reference_model
from tests.strategies import Asked, Sample, asked, larger_samples

pytestmark = pytest.mark.usefixtures("kernels")

WHOLE = ["whole cases", "3 classes", "60 classes", "strange float64", "whole weights", "fractional weights"]
DIVIDED = ["unknown values", "unknown values and weights", "mostly unknown"]
RAISING = ["whole cases", "3 classes", "60 classes", "whole weights", "fractional weights", *DIVIDED[:2]]


@pytest.fixture(scope="module")
def crew() -> Iterator[Crew]:
    crew = Crew(2)
    yield crew
    crew.dismiss()


def placement(problem: Problem, tree: Tree, crew: Crew) -> WholePlacement | DividedPlacement:
    """As the engine chooses."""
    return (DividedPlacement if problem.table.has_unknown() else WholePlacement)(problem, tree, crew)


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

    def __init__(self, problem: Problem, crew: Crew) -> None:
        self.problem, self.crew, self.raised = problem, crew, 0

    def place(self, tree: Tree) -> Twins:
        self.ours, self.theirs = placement(self.problem, tree, self.crew), Placement(self.problem, tree)
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
            root = int(self._alive.argmax())
            self._known = self._placed.agreed(self._tree, *self._known, root)  # type: ignore[attr-defined]


@pytest.mark.parametrize("confidence", [0.25, 0.02])
@pytest.mark.parametrize("name", [*WHOLE, *DIVIDED])
def test_pruning_step_by_step(name: str, confidence: float, crew: Crew) -> None:
    problem, tree = pose(TABLES[name](), Options()), reference_model(name).unpruned
    twins = Twins(problem, crew)
    pruned = Judge(tree, twins, problem, confidence).run()  # type: ignore[arg-type]
    assert twins.raised or name not in RAISING
    assert pruned.equals(ErrorBasedPruning(tree, Loaded(problem), problem, confidence).run())


class Loaded(ReferenceEngine):
    """The reference engine with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.load(problem)


@given(sample=larger_samples(), question=asked(), seed=st.integers(0, 2**32 - 1))
def test_any_pairs(sample: Sample, question: Asked, seed: int) -> None:
    """Pruning asks for the largest branch only; here any branch is sent to, raised, or cut."""
    chance, crew = np.random.default_rng(seed), Crew(2)
    problem = pose(sample.table, question.options)
    grower = Grower(ReferenceEngine(), problem)
    for _ in grower:
        pass
    grown = grower.tree
    tree = replace(grown, kind=grown.kind.copy(), branch=grown.branch.copy())
    twins = Twins(problem, crew)
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
