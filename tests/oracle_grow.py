"""The oracle's cases and growing (specification sections 4 to 6); see oracle.py."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from tests.oracle_numbers import decimal, exceeds, gain_and_info, n_log_n, near, single

EPS = Decimal("0.001")
ROUGHLY = Decimal("1e-6")  # relative: what single precision may not tell apart
NO_AVERAGE = Decimal(10) ** 6

Value = float | int | None
Case = tuple[int, int]  # the number of a row and the units of weight that it has here
Json = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """Training cases.

    An attribute is (name, "continuous" | "discrete" | "ignored", values); in the rows a discrete value is its position
    among `values`, and None is unknown.
    """

    attributes: Sequence[tuple[str, str, Sequence[str]]]
    n_classes: int
    rows: Sequence[Sequence[Value]]
    classes: Sequence[int]
    weights: Sequence[float] | None = None


@dataclass(frozen=True)
class Settings:
    """The options of the learner.

    The last three are not options of the package. Two show what single precision may have decided: `slack` raises the
    least weight of a branch by this part of itself, and with `last_of_ties` the last of tests that are equal to within
    one part in a million wins. With `forgets_least` growing makes the original's mistake: once an attribute whose
    values are to be grouped was unknown in all cases of a node, the least weight of a branch is 1.
    """

    criterion: str = "gain_ratio"
    min_cases: int = 2
    confidence: float = 0.25
    prune: str = "ebp"
    compat: str | None = None
    min_gain_ratio: float = 0.0
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    max_depth: int | None = None
    cut_points: str = "all"
    threshold_cost: bool = True
    group_values: bool = False
    binary_splits: bool = False
    slack: float = 0.0
    last_of_ties: bool = False
    forgets_least: bool = False


@dataclass
class Node:
    """A node while it is grown and pruned; weights in units."""

    label: int
    units: int
    class_units: list[int]
    errors: Any  # units in a tree as grown, cases in a pruned one
    attribute: int = -1
    threshold: float | None = None
    branches: list[Node] = field(default_factory=list)
    subsets: list[list[int]] | None = None  # of a test on groups the values of each branch


@dataclass(frozen=True)
class Candidate:
    """A possible test; gain and split information in bits."""

    attribute: int
    gain: Decimal
    info: Decimal
    threshold: float | None = None
    subsets: list[list[int]] | None = None


def wins(settings: Settings, a: Decimal, b: Decimal) -> bool:
    """Whether a test of worth a is taken instead of one of worth b that stands before it."""
    return exceeds(a, b) if not settings.last_of_ties else a - b > -ROUGHLY * max(abs(a), abs(b))


# ---------------------------------------------------------------- the training cases
class Training:
    """The cases that weigh something, their units, and the columns."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.problem, self.settings, self.has_forgotten = problem, settings, False
        self.used = [a for a, (_, kind, _) in enumerate(problem.attributes) if kind != "ignored"]
        given = problem.weights if problem.weights is not None else [1.0] * len(problem.rows)
        present = [i for i, weight in enumerate(given) if weight > 0]
        self.rows = [as_read(problem, settings, problem.rows[i]) for i in present]
        self.classes = [problem.classes[i] for i in present]
        weights = [Fraction(given[i]) for i in present]
        self.total = Fraction(math.fsum(weights))
        self.one_case = self._units_of_a_case(weights)
        self.cases = [(i, round(weight * self.one_case)) for i, weight in enumerate(weights)]

    def _units_of_a_case(self, weights: list[Fraction]) -> Fraction:
        unknown = any(row[a] is None for row in self.rows for a in self.used)
        if not unknown and all(weight.denominator == 1 for weight in weights):
            return Fraction(1)
        units = Fraction(1)
        while self.total * units < 2**51:
            units *= 2
        while self.total * units >= 2**52:
            units /= 2
        return units

    @cached_property
    def columns(self) -> dict[int, list[Any]]:
        """The sorted known values of every continuous attribute."""
        return {
            a: sorted({row[a] for row in self.rows if row[a] is not None}) for a in self.used if self.is_continuous(a)
        }

    def is_continuous(self, attribute: int) -> bool:
        return self.problem.attributes[attribute][1] == "continuous"

    def is_grouped(self, attribute: int) -> bool:
        """Whether values are to share branches."""
        return (self.settings.group_values or self.settings.binary_splits) and self.n_values(attribute) > 2

    def n_values(self, attribute: int) -> int:
        return 0 if self.is_continuous(attribute) else len(self.problem.attributes[attribute][2])

    def is_many_valued(self, attribute: int) -> bool:
        return 10 * self.n_values(attribute) >= 3 * self.total

    @cached_property
    def all_many_valued(self) -> bool:
        return self.settings.group_values or all(map(self.is_many_valued, self.used))

    def tally(self, cases: list[Case]) -> list[int]:
        """Units of each class."""
        tally = [0] * self.problem.n_classes
        for i, units in cases:
            tally[self.classes[i]] += units
        return tally

    def least(self) -> Fraction:
        """The least weight of two branches of a test, in units."""
        cases = 1 if self.has_forgotten else max(self.settings.min_cases, self.settings.min_samples_leaf)
        return cases * self.one_case * (1 + Fraction(self.settings.slack))

    def is_too_light(self, group: Sequence[int]) -> bool:
        """Whether the cases of a value are too few for a leaf, if that was asked for."""
        asked = self.settings.min_samples_leaf
        return asked > 1 and 0 < sum(group) < asked * self.one_case

    def as_cases(self, units: int) -> float:
        return float(units / self.one_case)


def as_read(problem: Problem, settings: Settings, row: Sequence[Value]) -> list[Value]:
    """A row as the original reads it, if it is asked for: float32, and -999 is unknown."""
    if settings.compat is None:
        return list(row)
    return [
        value if value is None or kind != "continuous" else None if single(value) == -999 else single(value)
        for value, (_, kind, _) in zip(row, problem.attributes, strict=True)
    ]


# ---------------------------------------------------------------- one attribute at one node
def split_by_value(training: Training, cases: list[Case], attribute: int) -> dict[Value, list[int]]:
    """Units of each class for each value that occurs, None included."""
    groups: dict[Value, list[int]] = {}
    for i, units in cases:
        group = groups.setdefault(training.rows[i][attribute], [0] * training.problem.n_classes)
        group[training.classes[i]] += units
    return groups


def discrete_candidate(training: Training, cases: list[Case], attribute: int) -> Candidate | None:
    groups = split_by_value(training, cases, attribute)
    unknown = sum(groups.pop(None, [0]))
    if sum(sum(group) >= training.least() for group in groups.values()) < 2:
        return None
    if any(map(training.is_too_light, groups.values())):
        return None
    gain, info = gain_and_info(training.settings.criterion, list(groups.values()), unknown)
    return Candidate(attribute, gain, info)


def cuts_tried(training: Training, groups: dict[Value, list[int]]) -> Iterator[tuple[Any, Any, list[int]]]:
    """The cuts that the original tries: the values on both sides and the class weights of the low one."""
    values = sorted(value for value in groups if value is not None)
    known = sum(sum(groups[value]) for value in values)
    least = Fraction(known, 10 * training.problem.n_classes)
    if least <= training.least():
        least = training.least()
    elif least > 25 * training.one_case:
        least = 25 * training.one_case
    low = [0] * training.problem.n_classes
    for below, above in pairwise(values):
        low = [a + b for a, b in zip(low, groups[below], strict=True)]
        if sum(low) > known - least:
            return
        distinct = training.settings.compat is None or below < above - 1e-5
        if training.settings.cut_points == "class_boundaries":
            classes = {c for c, units in enumerate(zip(groups[below], groups[above], strict=True)) if any(units)}
            distinct = distinct and len(classes) > 1
        if sum(low) >= least and distinct:
            yield below, above, low


def continuous_candidates(training: Training, cases: list[Case], attribute: int) -> list[Candidate]:
    """Every cut that may be used, in ascending order."""
    groups = split_by_value(training, cases, attribute)
    known = [
        sum(column) for column in zip(*(group for value, group in groups.items() if value is not None), strict=True)
    ]
    if sum(known) < 2 * training.least():
        return []
    tried = list(cuts_tried(training, groups))
    if not tried:
        return []
    weight = sum(map(sum, groups.values()))
    cost = n_log_n(len(tried)) / len(tried) / Decimal(weight) * decimal(training.one_case)
    if not training.settings.threshold_cost or training.settings.criterion in ("gini", "chi2"):
        cost = Decimal(0)
    possible = []
    for below, above, low in tried:
        high = [a - b for a, b in zip(known, low, strict=True)]
        if min(sum(low), sum(high)) >= training.least():
            gain, info = gain_and_info(training.settings.criterion, [low, high], weight - sum(known))
            if exceeds(gain, cost):
                possible.append(Candidate(attribute, gain - cost, info, threshold(training, attribute, below, above)))
    return possible


def threshold(training: Training, attribute: int, below: float, above: float) -> float:
    """The greatest value of the whole column that does not exceed the midpoint nor reach the upper value."""
    column = training.columns[attribute]
    middle = (below + above) / 2 if math.isfinite(below + above) else below / 2 + above / 2
    if training.settings.compat is not None:
        middle = single(middle)
    return float(column[min(bisect_right(column, middle), bisect_left(column, above)) - 1]) + 0.0


# ---------------------------------------------------------------- growing
def grow(training: Training, cases: list[Case], tested: frozenset[int], guide: Json | None, depth: int = 0) -> Node:
    """The tree of some cases; `tested` are the discrete attributes on the path."""
    tally = training.tally(cases)
    best = tally.index(max(tally))
    leaf = Node(best, sum(tally), tally, sum(tally) - tally[best])
    if leaf.errors == 0 or leaf.units < 2 * training.least() or depth == training.settings.max_depth:
        return leaf
    if training.settings.min_samples_split > 2 and leaf.units < training.settings.min_samples_split * training.one_case:
        return leaf
    test = choose(training, cases, tested, guide)
    if test is None:
        return leaf
    a = test.attribute
    n_branches = 2 if training.is_continuous(a) else training.n_values(a)
    empty = [Node(best, 0, tally, 0) for _ in range(n_branches if test.subsets is None else len(test.subsets))]
    node = Node(best, leaf.units, tally, 0, a, test.threshold, empty, test.subsets)
    below = tested if training.is_continuous(a) or training.is_grouped(a) else tested | {a}
    for b, part in enumerate(parts(training, node, cases)):
        if part:
            node.branches[b] = grow(training, part, below, branch_of(guide, b), depth + 1)
    node.errors = sum(branch.errors for branch in node.branches)
    if Fraction(node.errors) >= leaf.errors - training.one_case / 1000:
        node.branches, node.attribute, node.threshold = [], -1, None
    return node


def branch_of(guide: Json | None, branch: int) -> Json | None:
    branches = [] if guide is None else guide.get("branches", [])
    return branches[branch] if branch < len(branches) else None


def parts(training: Training, node: Node, cases: list[Case]) -> list[list[Case]]:
    """The cases of each branch; unknown ones go to every branch that has known ones."""
    return [part for part, _ in shares(training, node, cases)]


def shares(training: Training, node: Node, cases: list[Case]) -> list[tuple[list[Case], int]]:
    """The cases of each branch, and how much of their weight is known to belong there."""
    known: list[list[Case]] = [[] for _ in node.branches]
    unknown = []
    for i, units in cases:
        value = training.rows[i][node.attribute]
        if value is None:
            unknown.append((i, units))
        else:
            known[branch_of_value(node, value)].append((i, units))
    weights = [sum(units for _, units in part) for part in known]
    result, before, total = [], 0.0, 0
    for part, weight in zip(known, weights, strict=True):
        total += weight
        share = []
        if weight:
            fraction = total / sum(weights)
            share = [(i, math.floor(units * fraction) - math.floor(units * before)) for i, units in unknown]
            before = fraction
        result.append((part + [(i, units) for i, units in share if units], weight))
    return result


def branch_of_value(node: Node, value: Any) -> int:
    if node.subsets is not None:
        return next(b for b, values in enumerate(node.subsets) if value in values)
    return int(value) if node.threshold is None else int(value > node.threshold)


def choose(training: Training, cases: list[Case], tested: frozenset[int], guide: Json | None) -> Candidate | None:
    """The test of a node, or None if there is none worth making.

    With a guide, a test that the guide has here is taken if it is as good as the best but for the rounding of 53 bits.
    """
    candidates = [c for a in training.used if (c := candidate(training, cases, tested, a, guide)) is not None]
    counted = [c.gain for c in candidates if training.all_many_valued or not training.is_many_valued(c.attribute)]
    average = sum(counted, Decimal(0)) / len(counted) if counted else NO_AVERAGE
    best, best_worth, guided = None, -EPS, None
    for c in candidates:
        value = worth(training.settings, c, average)
        if training.settings.min_gain_ratio > 0 and value < Decimal(training.settings.min_gain_ratio):
            continue
        if value > -EPS and wins(training.settings, value, best_worth):
            best, best_worth = c, value
        if guide is not None and guide.get("att") == c.attribute:
            guided = c, value
    if best is not None and guided is not None and near(guided[1], best_worth):
        return guided[0]
    return best


def candidate(
    training: Training, cases: list[Case], tested: frozenset[int], attribute: int, guide: Json | None
) -> Candidate | None:
    """The best test of one attribute."""
    if training.is_grouped(attribute):
        from tests.oracle_groups import grouped_candidate  # it is written in terms of this module

        return grouped_candidate(training, cases, attribute, guide)
    if not training.is_continuous(attribute):
        return None if attribute in tested else discrete_candidate(training, cases, attribute)
    best = None
    cuts = continuous_candidates(training, cases, attribute)
    for c in cuts:
        if best is None or wins(training.settings, c.gain, best.gain):
            best = c
    if best is not None and guide is not None and guide.get("att") == attribute:
        return next((c for c in cuts if c.threshold == guide["cut"] and near(c.gain, best.gain)), best)
    return best


def worth(settings: Settings, c: Candidate, average: Decimal) -> Decimal:
    if settings.criterion != "gain_ratio":
        return c.gain if c.info > 0 else -EPS
    return c.gain / c.info if c.gain >= average - EPS and c.info > EPS else -EPS


def as_document(training: Training, node: Node, as_grown: bool) -> Json:
    """A node and what is below it in the format of the golden files."""
    document: Json = {
        "type": "leaf" if not node.branches else "discrete" if node.threshold is None else "threshold",
        "leaf": node.label,
        "items": training.as_cases(node.units),
        "errors": training.as_cases(node.errors) if as_grown else node.errors,
        "dist": [training.as_cases(units) for units in node.class_units],
    }
    if node.branches:
        document["att"] = node.attribute
        document["branches"] = [as_document(training, branch, as_grown) for branch in node.branches]
        if node.threshold is not None:
            document["cut"] = node.threshold
        if node.subsets is not None:
            document |= {"type": "subset", "subsets": [[v + 1 for v in values] for values in node.subsets]}
    return document
