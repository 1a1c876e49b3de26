"""The reference engine against Python loops over cases, and in numbers that can be checked by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c45gpu.formulas import q_log_q
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.kernels import reference_score
from c45gpu.kernels.level import Candidates, Children, Frontier, Problem, Splits
from c45gpu.kernels.reference import ReferenceEngine
from tests.strategies import Asked, Column, Sample, asked, larger_samples, sample, samples

Node = dict[int, int]  # the units of each case at a node


# ---------------------------------------------------------------- the same by hand
@dataclass(frozen=True)
class ByHand:
    """A candidate; the values on both sides of its cut, None for a discrete attribute."""

    possible: bool
    tries: int = 0
    gain: int = 0
    split: int = 0
    below: float | None = None
    above: float | None = None


class Hand:
    """Scores and divides the cases of one node, one case after the other."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.settings = problem, problem.settings
        self.columns = [problem.table.column(a).tolist() for a in problem.used]
        self.n_values = [len(problem.table.schema.attributes[a].values) for a in problem.used]

    def root(self) -> Node:
        return dict(enumerate(self.problem.units.tolist()))

    def is_continuous(self, a: int) -> bool:
        return self.problem.table.schema.attributes[self.problem.used[a]].kind == "continuous"

    def tally(self, node: Node) -> list[int]:
        tally = [0] * self.settings.n_classes
        for case, units in node.items():
            tally[self.problem.table.classes[case]] += units
        return tally

    def is_open(self, node: Node) -> bool:
        return sum(map(bool, self.tally(node))) > 1 and sum(node.values()) >= 2 * self.settings.min_units

    def value(self, a: int, case: int) -> Any:
        value = self.columns[a][case]
        return None if math.isnan(value) or (value < 0 and not self.is_continuous(a)) else value

    def by_value(self, a: int, node: Node) -> dict[Any, Node]:
        groups: dict[Any, Node] = {}
        for case, units in node.items():
            groups.setdefault(self.value(a, case), {})[case] = units
        return groups

    def h(self, units: int) -> int:
        return int(q_log_q(units, self.settings.scale_bits))

    def inner(self, tally: Sequence[int]) -> int:
        return self.h(sum(tally)) - sum(map(self.h, tally))

    def candidate(self, a: int, node: Node) -> ByHand:
        groups = self.by_value(a, node)
        unknown = sum(groups.pop(None, {}).values())
        tallies = {value: self.tally(group) for value, group in groups.items()}
        known = [sum(column) for column in zip([0] * self.settings.n_classes, *tallies.values(), strict=True)]
        if self.is_continuous(a):
            return self.best_cut(dict(sorted(tallies.items())), known, unknown)
        ample = [tally for tally in tallies.values() if sum(tally) >= self.settings.min_units]
        return ByHand(len(ample) >= 2, 0, *self.gain_and_split(list(tallies.values()), known, unknown))

    def gain_and_split(self, branches: list[list[int]], known: list[int], unknown: int) -> tuple[int, int]:
        gain = self.inner(known) - sum(map(self.inner, branches))
        split = self.h(sum(known) + unknown) - self.h(unknown) - sum(self.h(sum(b)) for b in branches)
        return gain, split

    def best_cut(self, tallies: dict[float, list[int]], known: list[int], unknown: int) -> ByHand:
        values, low = list(tallies), [0] * self.settings.n_classes
        best, tries = ByHand(False), 0
        for below, above in pairwise(values):
            low = [x + y for x, y in zip(low, tallies[below], strict=True)]
            high = [x - y for x, y in zip(known, low, strict=True)]
            if min(sum(low), sum(high)) < self.least_side(sum(known)) or not below < above - self.settings.gap:
                continue
            tries += sum(known) >= 2 * self.settings.min_units
            gain, split = self.gain_and_split([low, high], known, unknown)
            usable = min(sum(low), sum(high)) >= self.settings.min_units
            if usable and (not best.possible or gain > best.gain):
                best = ByHand(True, 0, gain, split, below, above)
        return replace(best, tries=tries)

    def least_side(self, known: int) -> Fraction:
        tenth = Fraction(known, 10 * self.settings.n_classes)
        if tenth <= self.settings.min_units:
            return Fraction(self.settings.min_units)
        return min(tenth, Fraction(self.settings.cap_units))

    def branches(self, a: int, node: Node, below: float | None) -> list[Node]:
        """The cases of each branch, unknown ones in shares."""
        groups = self.by_value(a, node)
        unknown = groups.pop(None, {})
        branches: list[Node] = [{} for _ in range(2 if below is not None else self.n_values[a])]
        for value, group in groups.items():
            branches[int(value) if below is None else int(value > below)] |= group
        return divided(branches, unknown)


def divided(branches: list[Node], unknown: Node) -> list[Node]:
    """Branches with known cases, and what each gets of the unknown ones."""
    weights = [sum(branch.values()) for branch in branches]
    for case, units in unknown.items():
        given_out = 0
        for b, branch in enumerate(branches):
            upto = math.floor(units * (sum(weights[: b + 1]) / sum(weights)))
            if upto > given_out:
                branch[case] = upto - given_out
                given_out = upto
    return branches


def check_frontier(hand: Hand, nodes: list[Node], frontier: Frontier) -> list[Node]:
    """Compare class weights and flags; returns the open nodes."""
    assert frontier.class_weights.tolist() == [hand.tally(node) for node in nodes]
    assert frontier.open.tolist() == [hand.is_open(node) for node in nodes]
    return [node for node in nodes if hand.is_open(node)]


def check_candidates(hand: Hand, nodes: list[Node], candidates: Candidates) -> list[list[ByHand]]:
    """Compare every candidate; returns those made by hand."""
    expected = [[hand.candidate(a, node) for a in range(len(hand.columns))] for node in nodes]
    for i, row in enumerate(expected):
        for a, by_hand in enumerate(row):
            assert (candidates.possible[i, a], candidates.tries[i, a]) == (by_hand.possible, by_hand.tries)
            if by_hand.possible:
                assert (candidates.gain[i, a], candidates.split[i, a]) == (by_hand.gain, by_hand.split)
    return expected


def check_children(
    hand: Hand, engine: ReferenceEngine, tests: list[tuple[Node, int, ByHand]], children: Children
) -> list[Node]:
    """Compare branches, their numbers and the values beside the cuts; returns the branches with cases."""
    branches = [hand.branches(a, node, test.below) for node, a, test in tests]
    held = [(s, b) for s, nodes in enumerate(branches) for b, node in enumerate(nodes) if node]
    assert list(zip(children.split.tolist(), children.branch.tolist(), strict=True)) == held
    for s, (_, a, test) in enumerate(tests):
        beside = children.below[s], children.above[s]
        if test.below is None:
            assert beside == (-1, -1)
        else:
            assert engine.distinct(a)[list(beside)].tolist() == [test.below, test.above]
    return [branches[s][b] for s, b in held]


def picked(chance: random.Random, nodes: list[Node], expected: list[list[ByHand]]) -> list[tuple[int, int]]:
    """A possible test for most nodes: its node and attribute."""
    possible = [[a for a, by_hand in enumerate(row) if by_hand.possible] for row in expected]
    return [(i, chance.choice(possible[i])) for i in range(len(nodes)) if possible[i] and chance.random() < 0.9]


def check_levels(table: Sample, question: Asked, chance: random.Random, levels: int) -> None:
    problem = pose(table.table, question.options)
    engine, hand = ReferenceEngine(), Hand(problem)
    nodes = check_frontier(hand, [hand.root()], engine.load(problem))
    for _ in range(levels):
        candidates = engine.score(0, len(nodes))
        expected = check_candidates(hand, nodes, candidates)
        pairs = picked(chance, nodes, expected)
        node, attribute = np.array(pairs, np.int64).reshape(-1, 2).T
        children = engine.split(Splits(node, attribute, candidates.cut[node, attribute]))
        tests = [(nodes[i], a, expected[i][a]) for i, a in pairs]
        nodes = check_frontier(hand, check_children(hand, engine, tests, children), children.frontier)


@given(samples(), asked(original=True), st.randoms(use_true_random=False))
def test_small_tables_by_hand(table: Sample, question: Asked, chance: random.Random) -> None:
    check_levels(table, question, chance, levels=5)


@given(larger_samples(max_cases=80), asked(original=True), st.randoms(use_true_random=False))
def test_larger_tables_by_hand(table: Sample, question: Asked, chance: random.Random) -> None:
    check_levels(table, question, chance, levels=4)


@settings(max_examples=50)
@given(larger_samples(), st.randoms(use_true_random=False))
def test_scoring_in_batches_gives_the_same(table: Sample, chance: random.Random) -> None:
    problem = pose(table.table, Options(min_cases=1))
    engine = ReferenceEngine()
    levels, n_open = 0, int(engine.load(problem).open.sum())
    while n_open and levels < 4:
        at_once = engine.score(0, n_open)
        stops = [0, *sorted({*chance.choices(range(1, n_open + 1), k=3), n_open})]
        parts = [engine.score(first, stop) for first, stop in pairwise(stops)]
        for name in (field.name for field in fields(Candidates)):
            joined = np.concatenate([getattr(part, name) for part in parts])
            assert np.where(at_once.possible, joined, 0).tolist() == masked(at_once, name)
        nodes, attributes = np.nonzero(at_once.possible)
        node, first = np.unique(nodes, return_index=True)
        attribute = attributes[first]
        levels += 1
        n_open = int(engine.split(Splits(node, attribute, at_once.cut[node, attribute])).frontier.open.sum())


def masked(candidates: Candidates, field: str) -> list[list[int]]:
    """A field where it means something."""
    return np.where(candidates.possible, getattr(candidates, field), 0).tolist()


# ---------------------------------------------------------------- in numbers
def loaded(
    columns: Sequence[Column], classes: Sequence[int], weights: Sequence[float] | None = None, **options: Any
) -> tuple[ReferenceEngine, Problem, Frontier]:
    """An engine with a problem of two classes, and its root."""
    problem = pose(sample(columns, 2, classes, weights).table, Options(**options))
    engine = ReferenceEngine()
    return engine, problem, engine.load(problem)


def split(engine: ReferenceEngine, attribute: int = 0, nodes: Sequence[int] = (0,)) -> Children:
    """Split open nodes on the best test of an attribute."""
    node = np.array(nodes)
    cut = engine.score(0, max(nodes) + 1).cut[node, attribute]
    return engine.split(Splits(node, np.full(len(node), attribute), cut))


def test_a_discrete_test_in_numbers() -> None:
    engine, problem, root = loaded([("discrete", 3, [0, 0, 2, 2])], [0, 0, 1, 1])
    assert (root.class_weights.tolist(), root.open.tolist()) == ([[2, 2]], [True])
    candidates, one = engine.score(0, 1), 1 << problem.settings.scale_bits
    assert (candidates.gain[0, 0], candidates.split[0, 0]) == (4 * one, 4 * one)  # 8 - 2 - 2
    assert (candidates.tries[0, 0], candidates.possible[0, 0]) == (0, True)
    children = split(engine)
    assert (children.split.tolist(), children.branch.tolist()) == ([0, 0], [0, 2])
    assert children.frontier.class_weights.tolist() == [[2, 0], [0, 2]]
    assert children.frontier.open.tolist() == [False, False]


def test_unknown_values_count_in_the_split_information_only() -> None:
    values = [0, 0, 1, 1, None, None, None, None]
    engine, problem, _ = loaded([("discrete", 2, values)], [0, 0, 1, 1, 0, 0, 1, 1])
    one = problem.settings.case_units << problem.settings.scale_bits
    candidates = engine.score(0, 1)
    assert (candidates.gain[0, 0], candidates.split[0, 0]) == (4 * one, 12 * one)  # 24 - 8 - 2 - 2


def test_two_branches_must_have_the_least_weight() -> None:
    def possible(weights: list[float]) -> bool:
        column: Column = ("discrete", 4, [0, 1, 2, 2])
        return bool(loaded([column], [0, 1, 0, 1], weights, min_cases=3)[0].score(0, 1).possible[0, 0])

    assert possible([3, 3, 1, 1])
    assert possible([3, 1, 1, 2])
    assert not possible([3, 2, 1, 1])
    assert not possible([5, 2, 1, 1])


def test_a_continuous_test_takes_the_lowest_of_equal_cuts() -> None:
    engine, _, _ = loaded([("continuous", 0, [1, 2, 3, 4, 5, 6])], [0, 1, 1, 1, 1, 0], min_cases=1)
    candidates = engine.score(0, 1)
    assert candidates.tries[0, 0] == 5
    children = split(engine)
    assert (children.below.tolist(), children.above.tolist()) == ([0], [1])
    assert children.frontier.class_weights.tolist() == [[1, 0], [1, 4]]


def test_cuts_are_tried_from_25_cases_on_but_used_from_the_least_weight_on() -> None:
    classes = [1] * 5 + [0] * 195
    values: Column = ("continuous", 0, list(range(200)))
    engine, _, _ = loaded([values], classes, [5.0] * 200, min_cases=30)
    assert engine.score(0, 1).tries[0, 0] == 191  # 25, 30, ... 975 of 1000 cases below
    children = split(engine)
    assert children.frontier.class_weights.tolist() == [[5, 25], [970, 0]]


def test_a_side_holds_a_tenth_of_the_cases_of_each_class_at_least() -> None:
    def tries(n: int) -> int:
        values: Column = ("continuous", 0, list(range(n)))
        return int(loaded([values], [0, 1] * (n // 2))[0].score(0, 1).tries[0, 0])

    assert [tries(40), tries(42), tries(60), tries(62)] == [37, 37, 55, 55]  # 2, 2.1, 3 and 3.1 on each side


def test_release_8_makes_no_cut_between_close_values() -> None:
    close, apart = [0.5, 0.500004, 0.500009, 0.500013], [0.5, 0.500004, 0.50002, 0.6]
    columns: list[Column] = [("continuous", 0, close), ("continuous", 0, apart)]
    tries = [
        loaded(columns, [0, 1, 0, 1], min_cases=1, compat=compat)[0].score(0, 1).tries.tolist()
        for compat in (None, "r8")
    ]
    assert tries == [[[3, 3]], [[0, 2]]]
    candidates = loaded(columns, [0, 1, 0, 1], min_cases=1, compat="r8")[0].score(0, 1)
    assert candidates.possible.tolist() == [[False, True]]


def test_shares_of_an_unknown_case_are_in_proportion() -> None:
    values = [0, 0, 0, 2, 2, 2, 2, 2, 2, None]
    engine, problem, _ = loaded([("discrete", 3, values)], [0, 1, 0, 1, 1, 1, 1, 1, 0, 0])
    unit = problem.settings.case_units
    children = split(engine)
    assert children.branch.tolist() == [0, 2]
    third = math.floor(unit * (3 / 9))
    assert children.frontier.class_weights.tolist() == [[2 * unit + third, unit], [unit + unit - third, 5 * unit]]


def test_a_share_of_no_unit_is_dropped() -> None:
    table = sample([("discrete", 2, [0, 0, 1, 1, None]), ("discrete", 2, [0, 1, 0, 1, 1])], 2, [0, 0, 1, 1, 0], None)
    problem = pose(table.table, Options(min_cases=1))
    settings = problem.settings._replace(case_units=1, min_units=1, cap_units=25)
    engine = ReferenceEngine()
    engine.load(replace(problem, units=np.ones(5, np.int64), settings=settings))
    children = split(engine)
    assert children.frontier.class_weights.tolist() == [[2, 0], [1, 2]]
    assert children.frontier.open.tolist() == [False, True]
    children = split(engine, attribute=1)
    assert children.frontier.class_weights.tolist() == [[0, 1], [1, 1]]


def test_closed_nodes_are_not_numbered() -> None:
    columns: list[Column] = [("discrete", 4, [0, 0, 1, 1, 2, 2, 2, 3]), ("continuous", 0, [1, 2, 3, 4, 5, 6, 7, 8])]
    engine, _, _ = loaded(columns, [0, 0, 0, 1, 0, 1, 1, 1], min_cases=1)
    children = split(engine)
    assert children.frontier.open.tolist() == [False, True, True, False]
    assert engine.score(0, 2).possible.tolist() == [[False, True], [False, True]]
    children = split(engine, attribute=1, nodes=[1])
    assert (children.below.tolist(), children.above.tolist()) == ([4], [5])
    assert children.frontier.class_weights.tolist() == [[1, 0], [0, 2]]


def test_ignored_attributes_are_not_numbered() -> None:
    columns: list[Column] = [("ignored", 0, [9.0] * 4), ("discrete", 2, [0, 0, 1, 1])]
    engine, problem, _ = loaded(columns, [0, 0, 1, 1])
    assert problem.used == (1,)
    assert engine.score(0, 1).gain.shape == (1, 1)
    assert split(engine).frontier.class_weights.tolist() == [[2, 0], [0, 2]]


def test_without_attributes_there_is_no_candidate() -> None:
    engine, _, root = loaded([("ignored", 0, [1.0] * 4)], [0, 0, 1, 1])
    assert root.open.tolist() == [True]
    assert engine.score(0, 1).gain.shape == (1, 0)


def test_nothing_split_leaves_nothing() -> None:
    engine, _, _ = loaded([("discrete", 2, [0, 0, 1, 1])], [0, 1, 0, 1])
    none = np.zeros(0, np.int64)
    children = engine.split(Splits(none, none, none))
    assert (len(children.split), children.frontier.class_weights.shape) == (0, (0, 2))


def test_distinct_values_are_those_of_the_whole_column_in_its_precision() -> None:
    engine, problem, _ = loaded([("continuous", 0, [2.0, -0.0, None, 0.0, 0.1])], [0, 1, 0, 1, 1], compat="r8")
    assert engine.distinct(0).dtype == problem.table.column(0).dtype == np.float32
    assert engine.distinct(0).tolist() == [0.0, float(np.float32(0.1)), 2.0]


def test_information_is_the_same_with_and_without_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    columns: list[Column] = [("continuous", 0, [1, 2, 3, 4, 5, 6]), ("discrete", 2, [0, 1, 0, 1, 1, 1])]
    with_table = loaded(columns, [0, 1, 0, 1, 1, 0], [1, 2, 3, 1, 7, 1])[0].score(0, 1)
    monkeypatch.setattr(reference_score, "TABLE_UNITS", 0)
    without = loaded(columns, [0, 1, 0, 1, 1, 0], [1, 2, 3, 1, 7, 1])[0].score(0, 1)
    assert with_table.possible.tolist() == [[True, True]]
    for field in fields(Candidates):
        assert masked(with_table, field.name) == masked(without, field.name)


def test_a_closed_engine_holds_nothing() -> None:
    engine, _, _ = loaded([("discrete", 2, [0, 0, 1, 1])], [0, 1, 0, 1])
    engine.close()
    assert vars(engine) == {}
