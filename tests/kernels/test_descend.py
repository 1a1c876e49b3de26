"""Dividing cases among branches, and pruning's way of sending them, against Python loops over cases."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.induction.grow import Grower
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.kernels.descend import divide, sums
from c45gpu.kernels.engine import Pairs, PlacedCases
from c45gpu.kernels.level import Problem
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.tree import LEAF, THRESHOLD, Tree
from tests.golden_trees import inner, leaf, tree_of
from tests.kernels.test_reference import Node, divided
from tests.strategies import Sample, larger_samples, sample, samples


# ---------------------------------------------------------------- dividing
@st.composite
def instances(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int, int]]]:
    """How many branches each node has, and instances: node, branch or -1, units."""
    n_branches = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any))
    testing = [node for node, n in enumerate(n_branches) if n]
    known = st.sampled_from(testing).flatmap(
        lambda node: st.tuples(
            st.just(node), st.integers(-1, n_branches[node] - 1), st.integers(1, 4) | st.integers(1, 1 << 44)
        )
    )
    drawn = draw(st.lists(known, max_size=12))
    held = {node for node, branch, _ in drawn if branch >= 0}
    return n_branches, [instance for instance in drawn if instance[0] in held]


@given(instances())
def test_divide_by_hand(drawn: tuple[list[int], list[tuple[int, int, int]]]) -> None:
    n_branches, rows = drawn
    start = np.cumsum([0, *n_branches])
    expected, known_weights = [], []
    for node, n in enumerate(n_branches):
        branches: list[Node] = [{i: u for i, (m, b, u) in enumerate(rows) if (m, b) == (node, v)} for v in range(n)]
        known_weights += [sum(branch.values()) for branch in branches]
        unknown = {i: u for i, (m, b, u) in enumerate(rows) if (m, b) == (node, -1)}
        for v, branch in enumerate(divided(branches, unknown)):
            expected += [(start[node] + v, i, branch[i]) for i in sorted(branch)]
    node, branch, units = np.array(rows, np.int64).reshape(-1, 3).T
    *divided_rows, known = divide(start, node, branch, units)
    assert list(zip(*(x.tolist() for x in divided_rows), strict=True)) == expected
    assert known.tolist() == known_weights


def test_divide_loses_no_unit_of_the_largest_weights() -> None:
    start, node = np.array([0, 3]), np.zeros(4, np.int64)
    units = np.array([1 << 49, (1 << 49) - 1, 3, (1 << 50) + 1])
    slot, instance, parts, known = divide(start, node, np.array([0, 2, 1, -1]), units)
    assert known.tolist() == [1 << 49, 3, (1 << 49) - 1]
    assert parts[instance == 3].sum() == (1 << 50) + 1
    assert slot.tolist() == [0, 0, 1, 1, 2, 2]


def test_sums_by_row_and_column() -> None:
    row, column = np.array([1, 0, 1, 1]), np.array([0, 2, 0, 1])
    assert sums(row, column, np.array([5, 1 << 51, 6, 7]), 3, 3).tolist() == [[0, 0, 1 << 51], [11, 7, 0], [0, 0, 0]]


# ---------------------------------------------------------------- sending down a tree
class Hand:
    """The training cases at the leaves of a tree, sent and moved one by one."""

    def __init__(self, problem: Problem, tree: Tree) -> None:
        self.problem, self.tree, self.end = problem, tree, tree.end
        self.known: dict[int, int] = {}
        self.at = self.descend(0, dict(enumerate(problem.units.tolist())), self.known)

    def descend(self, node: int, cases: Node, known: dict[int, int]) -> dict[int, Node]:
        """Leaves with their cases; notes how much takes each entry of tree.branch with a known value."""
        if self.tree.kind[node] == LEAF:
            return {node: cases}
        below = self.tree.branches(node).tolist()
        branches: list[Node] = [{} for _ in below]
        unknown = {}
        for case, units in cases.items():
            b = self.taken(node, case)
            (unknown if b is None else branches[b])[case] = units
        first = int(self.tree.branch_start[node])
        known |= {first + b: sum(branch.values()) for b, branch in enumerate(branches)}
        found: dict[int, Node] = {}
        for child, branch in zip(below, divided(branches, unknown), strict=True):
            if branch:
                found |= self.descend(child, branch, known)
        return found

    def taken(self, node: int, case: int) -> int | None:
        value = self.problem.table.column(self.tree.attribute[node])[case]
        if self.tree.kind[node] == THRESHOLD:
            return None if np.isnan(value) else int(value > self.tree.threshold[node])
        return None if value < 0 else int(value)

    def below(self, node: int) -> dict[int, Node]:
        return {at: cases for at, cases in self.at.items() if node <= at < self.end[node]}

    def cases(self, node: int) -> Node:
        total: Counter[int] = Counter()
        for cases in self.below(node).values():
            total.update(cases)
        return total

    def tally(self, cases: Node) -> Any:
        tally = np.zeros(self.problem.settings.n_classes, np.int64)
        for case, units in cases.items():
            tally[self.problem.table.classes[case]] += units
        return tally

    def changes(self, top: int, branch: int) -> dict[int, list[int]]:
        old, new = self.below(branch), self.descend(branch, self.cases(top), {})
        change = {at: self.tally(new.get(at, {})) - self.tally(old.get(at, {})) for at in sorted({*old, *new})}
        return {at: units.tolist() for at, units in change.items() if units.any()}

    def units(self) -> Any:
        """Class weights of all leaves; of no other node."""
        units = np.zeros((self.tree.n_nodes, self.problem.settings.n_classes), np.int64)
        for at, cases in self.at.items():
            units[at] = self.tally(cases)
        return units

    def cut(self, node: int) -> None:
        self.replace(node, {node: self.cases(node)})

    def raise_branch(self, top: int, branch: int) -> None:
        self.replace(top, self.descend(branch, self.cases(top), self.known))

    def replace(self, node: int, leaves: dict[int, Node]) -> None:
        below = self.below(node)
        self.at = {at: cases for at, cases in self.at.items() if at not in below} | leaves


def as_pairs(pairs: Sequence[tuple[int, int]]) -> Pairs:
    """Pairs of a top and a branch, any number of errors allowed."""
    top, branch = np.array(pairs, np.int64).reshape(-1, 2).T
    return Pairs(top, branch, np.full(len(pairs), 1 << 60))


class Both:
    """An engine and the same by hand, pruning at random from the bottom up and comparing every answer."""

    def __init__(self, problem: Problem, engine: ReferenceEngine, tree: Tree, chance: random.Random) -> None:
        self.chance = chance
        self.tree = replace(tree, kind=tree.kind.copy(), branch=tree.branch.copy())
        self.entry = {int(node): e for e, node in enumerate(tree.branch)}
        self.hand = Hand(problem, self.tree)
        self.placed = engine.place(self.tree)
        self.check_known(self.placed.known(self.tree))

    def check_known(self, known: Any) -> None:
        assert {e: known[e] for e in self.hand.known} == self.hand.known

    def prune(self, root: int) -> None:
        """Do something at random at every inner node below a root, the deepest first."""
        for level in reversed(self.levels(root)):
            testing = [node for node in level if self.tree.kind[node] != LEAF]
            if testing:
                self.prune_level([(node, self.chance.choice(self.held_branches(node))) for node in testing])

    def prune_level(self, pairs: list[tuple[int, int]]) -> None:
        self.check_send(pairs)
        actions = [self.chance.choice(["keep", "cut", "raise"]) for _ in pairs]
        self.cut([top for (top, _), action in zip(pairs, actions, strict=True) if action == "cut"])
        raised = [pair for pair, action in zip(pairs, actions, strict=True) if action == "raise"]
        if raised:
            self.raise_branches(raised)
        for _, branch in raised:
            self.prune(branch)

    def levels(self, root: int) -> list[list[int]]:
        levels, nodes = [], [root]
        while nodes:
            levels.append(nodes)
            nodes = [branch for node in nodes if self.tree.kind[node] != LEAF for branch in self.tree.branches(node)]
        return levels

    def held_branches(self, node: int) -> list[int]:
        first = int(self.tree.branch_start[node])
        branches = self.tree.branches(node).tolist()
        return [branch for b, branch in enumerate(branches) if self.hand.known.get(first + b)]

    def check_send(self, pairs: list[tuple[int, int]]) -> None:
        expected = [(p, at, units) for p, pair in enumerate(pairs) for at, units in self.hand.changes(*pair).items()]
        changes = self.placed.send(self.tree, self.hand.units(), as_pairs(pairs))
        assert not changes.hopeless.any()
        assert list(zip(*(x.tolist() for x in changes[1:]), strict=True)) == expected

    def cut(self, nodes: list[int]) -> None:
        self.placed.cut(np.array(nodes, np.int64))
        for node in nodes:
            self.hand.cut(node)
            self.tree.kind[node] = LEAF

    def raise_branches(self, pairs: list[tuple[int, int]]) -> None:
        known = self.placed.raise_branches(self.tree, as_pairs(pairs))
        for top, branch in pairs:
            self.hand.raise_branch(top, branch)
            self.entry[branch] = self.entry.get(top, -1)
            if self.entry[branch] >= 0:
                self.tree.branch[self.entry[branch]] = branch
        self.check_known(known)


def check_pruning(problem: Problem, chance: random.Random) -> None:
    engine = ReferenceEngine()
    grower = Grower(engine, problem)
    for _ in grower:
        pass
    Both(problem, engine, grower.tree, chance).prune(0)


def in_few_units(problem: Problem) -> Problem:
    """The same with units so large that many shares round to nothing."""
    settings = problem.settings._replace(case_units=2, min_units=2, cap_units=50)
    units = np.maximum(1, problem.units * 2 // problem.settings.case_units)
    return replace(problem, units=units, settings=settings)


@given(samples(), st.randoms(use_true_random=False))
def test_small_trees_by_hand(table: Sample, chance: random.Random) -> None:
    check_pruning(pose(table.table, Options(min_cases=1)), chance)


@given(larger_samples(max_cases=60), st.randoms(use_true_random=False))
def test_larger_trees_by_hand(table: Sample, chance: random.Random) -> None:
    check_pruning(pose(table.table, Options(min_cases=1)), chance)


@given(larger_samples(max_cases=60), st.randoms(use_true_random=False))
def test_trees_in_few_units_by_hand(table: Sample, chance: random.Random) -> None:
    check_pruning(in_few_units(pose(table.table, Options(min_cases=1))), chance)


# ---------------------------------------------------------------- in numbers
SIX = [("continuous", 0, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), ("discrete", 2, [0, 1, 1, 0, 1, None])]
BELOW = inner("discrete", 1, leaf(2.0, 0.0), leaf(0.0, 2.0))
ROOT = inner("threshold", 0, leaf(1.0, 1.0), BELOW, cut=2.0)


def placed() -> tuple[PlacedCases, Tree, int, Any]:
    """Six cases at the leaves 1, 3 and 4 of a tree, the tree, the units of a case, what is known of branches."""
    table = sample(SIX, 2, [0, 1, 1, 0, 1, 0], None).table
    problem, engine = pose(table, Options()), ReferenceEngine()
    engine.load(problem)
    tree = tree_of(ROOT, table.schema)
    cases = engine.place(tree)
    return cases, tree, problem.settings.case_units, cases.known(tree)


def units_of(case: int) -> Any:
    """Class weights at the leaves 1, 3 and 4, and of those below 2 at it; the last case is divided 1 : 2 below it."""
    third = int(case * (1 / 3))
    at = {1: [case, case], 2: [2 * case, 2 * case], 3: [case + third, 0], 4: [case - third, 2 * case]}
    return np.array([at.get(node, [0, 0]) for node in range(5)])


def test_placing_tells_the_known_weight_of_each_branch() -> None:
    _, tree, case, known = placed()
    assert tree.branch.tolist() == [1, 2, 3, 4]
    assert known.tolist() == [2 * case, 4 * case, case, 2 * case]


def test_sending_tells_what_would_change() -> None:
    cases, tree, case, known = placed()
    before = known.tolist()
    changes = cases.send(tree, units_of(case), as_pairs([(0, 2)]))
    third, two_fifths = int(case * (1 / 3)), int(case * (2 / 5))  # the last case, 1 : 2 before and 2 : 3 then
    assert (changes.pair.tolist(), changes.leaf.tolist()) == ([0, 0], [3, 4])
    assert changes.units.tolist() == [[case + two_fifths - third, 0], [third - two_fifths, case]]
    assert known.tolist() == before
    again = cases.send(tree, units_of(case), as_pairs([(0, 2)]))
    assert again.units.tolist() == changes.units.tolist()


def test_cases_below_a_cut_are_at_it() -> None:
    cases, tree, case, _ = placed()
    cases.cut(np.array([2]))
    tree.kind[2] = LEAF
    changes = cases.send(tree, units_of(case), as_pairs([(0, 2)]))
    assert (changes.leaf.tolist(), changes.units.tolist()) == ([2], [[case, case]])


def test_raising_does_what_sending_tells() -> None:
    cases, tree, case, _ = placed()
    known = cases.raise_branches(tree, as_pairs([(0, 2)]))
    assert known[[2, 3]].tolist() == [2 * case, 3 * case]
    units, two_fifths = units_of(case), int(case * (2 / 5))
    units[[3, 4]] = [[2 * case + two_fifths, 0], [case - two_fifths, 3 * case]]
    changes = cases.send(tree, units, as_pairs([(2, 4)]))
    assert (changes.leaf.tolist(), changes.units.tolist()) == ([4], [[2 * case + two_fifths, 0]])


def test_what_is_sent_down_two_branches_at_once() -> None:
    table = sample([("continuous", 0, [float(i) for i in range(8)])], 2, [0, 1] * 4, None).table
    problem, engine = pose(table, Options()), ReferenceEngine()
    engine.load(problem)
    left = inner("threshold", 0, leaf(1.0, 1.0), leaf(1.0, 1.0), cut=1.0)
    right = inner("threshold", 0, leaf(1.0, 1.0), leaf(1.0, 1.0), cut=5.0)
    tree = tree_of(inner("threshold", 0, left, right, cut=3.0), table.schema)
    changes = engine.place(tree).send(tree, tree.class_weights.astype(np.int64), as_pairs([(1, 3), (4, 5)]))
    assert (changes.hopeless.tolist(), changes.pair.tolist(), changes.leaf.tolist()) == ([False] * 2, [0, 1], [3, 5])
    assert changes.units.tolist() == [[1, 1], [1, 1]]
