"""Subtrees that are pruned whole by compiled code, against the host's pruning."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from c45gpu.estimates import extra_errors
from c45gpu.induction.grow import Grower
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.prune import ErrorBasedPruning
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_prune import WholePlacement
from c45gpu.kernels.cpu_settle import extra_errors_of, rules_of
from c45gpu.kernels.engine import Judging, PlacedCases, Settling
from c45gpu.kernels.level import Bools, Int64s, Problem
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.tree import Tree
from tests.golden_trees import inner, leaf, tree_of
from tests.kernels.seeded import TABLES, reference_model
from tests.strategies import Column, Sample, larger_samples, sample
from tests.test_estimates import confidences, leaves

Counts = tuple[int, int]

pytestmark = pytest.mark.usefixtures("kernels")

WHOLE = ["whole cases", "3 classes", "60 classes", "strange float64", "whole weights", "fractional weights"]


@pytest.fixture(scope="module")
def crew() -> Iterator[Crew]:
    crew = Crew(2)
    yield crew
    crew.dismiss()


class UpTo(WholePlacement):
    """Prunes subtrees of up to `most` nodes whole, and counts how many."""

    most, settled, greatest = 0, 0, 0

    def is_little(self, nodes: Int64s) -> Bools:
        little: Bools = self._standing.end[nodes] - nodes <= self.most
        return little

    def settle(self, roots: Int64s, judging: Judging) -> Int64s:
        self.settled += len(roots)
        self.greatest = max(self.greatest, int((self._standing.end[roots] - roots).max()))
        now = super().settle(roots, judging)
        assert (self._standing.held(now) == self._standing.held(roots)).all()
        return now


class SettlingEngine(ReferenceEngine):
    """Prunes subtrees of up to `most` nodes with compiled code."""

    def __init__(self, problem: Problem, crew: Crew, most: int) -> None:
        super().__init__()
        self.load(problem)
        self._crew, self._most = crew, most

    def place(self, tree: Tree) -> PlacedCases:
        self.placed = UpTo(self._problem, tree, self._crew)
        self.placed.most = self._most
        return self.placed


def by_host(tree: Tree, problem: Problem, confidence: float, raising: bool = True) -> Tree:
    engine = ReferenceEngine()
    engine.load(problem)
    return ErrorBasedPruning(tree, engine, problem, confidence, raising).run()


@pytest.mark.parametrize("raising", [True, False])
@pytest.mark.parametrize("most", [0, 1, 3, 15, 10**9])
@pytest.mark.parametrize("name", WHOLE)
def test_subtrees_of_any_size(name: str, most: int, raising: bool, crew: Crew) -> None:
    problem, tree = pose(TABLES[name](), Options()), reference_model(name).unpruned
    engine = SettlingEngine(problem, crew, most)
    for confidence in (0.25, 0.02):
        pruned = ErrorBasedPruning(tree, engine, problem, confidence, raising).run()
        assert pruned.equals(by_host(tree, problem, confidence, raising))
        assert engine.placed.greatest <= most
        assert engine.placed.settled == 1 or most < 10**9
        assert engine.placed.settled > 2 or not 0 < most <= 15


@given(
    sample=larger_samples(),
    most=st.sampled_from([0, 1, 3, 5, 9, 1000]),
    confidence=st.sampled_from([1e-9, 0.05, 0.25, 0.6, 1.0]),
    min_cases=st.sampled_from([1, 2]),
)
def test_any_table_without_unknown_values(sample: Sample, most: int, confidence: float, min_cases: int) -> None:
    table = sample.table
    columns = [table.column(a) for a in range(len(table.schema.attributes))]
    known = [column >= 0 if column.dtype.kind == "i" else column == column for column in columns]
    problem = pose(table.take(np.flatnonzero(np.all(known, axis=0))), Options(min_cases=min_cases))
    grower = Grower(ReferenceEngine(), problem)
    for _ in grower:
        pass
    crew = Crew(2)
    engine = SettlingEngine(problem, crew, most)
    pruned = ErrorBasedPruning(grower.tree, engine, problem, confidence).run()
    crew.dismiss()
    assert pruned.equals(by_host(grower.tree, problem, confidence))


@pytest.mark.parametrize(
    ("low", "high", "other", "confidence"),
    [((4, 3), (2, 7), (30, 0), 0.3021757888999708), ((3, 4), (8, 0), (0, 30), 0.21241309279438428)],
)
@pytest.mark.parametrize("is_root", [True, False])
def test_a_branch_that_is_a_leaf_takes_the_place_of_its_top(
    low: Counts, high: Counts, other: Counts, confidence: float, is_root: bool, crew: Crew
) -> None:
    """It is as good as the top as a leaf, but for rounding; so that must tell who is a tenth of an error worse."""
    cells = [(0, 0, low), (0, 1, high), (1, 0, (0, 0) if is_root else other)]
    rows = [(a, b, c) for a, b, counts in cells for c in (0, 1) for _ in range(counts[c])]
    columns: list[Column] = [("discrete", 2, column) for column in list(zip(*rows, strict=True))[:2]]
    problem = pose(sample(columns, 2, [c for _, _, c in rows], None).table, Options())
    below = inner("discrete", 1, leaf(*map(float, low)), leaf(*map(float, high)))
    root = below if is_root else inner("discrete", 0, below, leaf(*map(float, other)))
    tree = tree_of(root, problem.table.schema)
    expected = by_host(tree, problem, confidence)
    assert expected.n_nodes == tree.n_nodes - 2
    assert by_host(tree, problem, confidence, raising=False).n_nodes == tree.n_nodes  # so no top becomes a leaf
    assert ErrorBasedPruning(tree, SettlingEngine(problem, crew, 3), problem, confidence).run().equals(expected)


def test_the_cpu_engine_settles(crew: Crew) -> None:
    problem, tree = pose(TABLES["whole cases"](), Options()), reference_model("whole cases").unpruned
    placed = WholePlacement(problem, tree, crew)
    assert isinstance(placed, Settling)
    assert placed.is_little(np.arange(1, tree.n_nodes)).any()


def rules(confidence: float, case_units: int = 1) -> Judging:
    tree = reference_model("whole cases").unpruned
    none = np.zeros(0)
    return Judging(tree, none.astype(np.int64), none, none.astype(np.int64), confidence, 0.5, case_units, True)


@given(leaves(), confidences)
@example((100.0, 0.9999), 0.25)
@example((100.0, 1e-6), 0.25)
@example((8.0, 7.5), 0.25)
@example((100.0, 1.0), 5e-324)
def test_extra_errors_are_the_hosts_bit_for_bit(leaf: tuple[float, float], confidence: float) -> None:
    cases, errors = leaf
    (expected,) = extra_errors(np.array([cases]), np.array([errors]), confidence)
    assert extra_errors_of(cases, errors, rules_of(rules(confidence))) == expected
