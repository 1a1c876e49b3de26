"""Production rules in plain, slow Python, straight from the specification (section 14); see oracle.py.

A rule is a class, an error and conditions; a condition is a tuple of an attribute, an operator and what goes with it:
(3, "<=", 2.5), (3, ">", 2.5), (0, "=", 1) or (0, "in", (0, 2)), where values are positions. Cases are weighed, in
fractions without any rounding; a case of weight 1 is one case.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from tests.oracle import Json, Problem, Settings, Value, extra_errors
from tests.oracle_grow import Training, single

Condition = tuple[int, str, Any]
MOST_TO_ENUMERATE = 10
LARGEST_ERROR = 0.7


@dataclass(frozen=True)
class Rule:
    """If all conditions hold, it is this class."""

    conditions: tuple[Condition, ...]
    label: int
    error: float


class Cases:
    """The training cases that weigh something."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.problem, self.settings = problem, settings
        training = Training(problem, settings)  # weights are whole numbers of units there
        self.rows, self.classes = training.rows, training.classes
        self.weights = [units / training.one_case for _, units in training.cases]
        self.total = sum(self.weights)

    def weight(self, cases: Iterator[int] | Sequence[int]) -> Fraction:
        return sum((self.weights[i] for i in cases), Fraction(0))

    def of_class(self, label: int) -> Fraction:
        return self.weight([i for i, c in enumerate(self.classes) if c == label])

    def default_error(self, label: int) -> float:
        return float(1 - (self.of_class(label) + 1) / (self.total + 2))

    def counts(self, label: int, conditions: Sequence[Condition]) -> tuple[Fraction, Fraction]:
        """The weight that some conditions cover, and the part of it that is not of a class."""
        covered = [i for i, row in enumerate(self.rows) if matches(row, conditions)]
        return self.weight(covered), self.weight([i for i in covered if self.classes[i] != label])


def matches(row: Sequence[Value], conditions: Sequence[Condition]) -> bool:
    """Whether a case satisfies all conditions; an unknown value satisfies none."""
    return all(satisfies(row[attribute], sign, given) for attribute, sign, given in conditions)


def satisfies(value: Value, sign: str, given: Any) -> bool:
    if value is None:
        return False
    if sign == "=":
        return bool(value == given)
    if sign == "in":
        return value in given
    return bool(value <= given) if sign == "<=" else bool(value > given)


# ---------------------------------------------------------------- 1. a path is a rule
def paths(settings: Settings, tree: Json) -> Iterator[tuple[tuple[Condition, ...], int]]:
    """The conditions and the label of each leaf that holds a case or more, in the order of branches."""
    pending: list[tuple[Json, tuple[Condition, ...]]] = [(tree, ())]
    while pending:
        node, conditions = pending.pop()
        if node["type"] == "leaf":
            if node["items"] >= 1:
                yield conditions, node["leaf"]
            continue
        below = zip(node["branches"], tests(settings, node), strict=True)
        pending += reversed([(branch, (*conditions, test)) for branch, test in below])


def tests(settings: Settings, node: Json) -> list[Condition]:
    attribute = node["att"]
    if node["type"] == "threshold":
        cut = single(node["cut"]) if settings.compat == "r8" else node["cut"]
        return [(attribute, "<=", cut), (attribute, ">", cut)]
    if node["type"] == "subset":
        return [(attribute, "in", tuple(v - 1 for v in values)) for values in node["subsets"]]
    return [(attribute, "=", value) for value in range(len(node["branches"]))]


# ---------------------------------------------------------------- 2. conditions are dropped
def generalised(cases: Cases, conditions: tuple[Condition, ...], label: int) -> Rule | None:
    """The rule without what it does not need; None where nothing useful is left."""
    default, left = cases.default_error(label), list(conditions)
    while left:
        whole = rates(cases, label, left, default)
        without = [rates(cases, label, left[:d] + left[d + 1 :], default) for d in range(len(left))]
        if not any(pessimistic <= whole[0] or actual <= whole[1] for pessimistic, actual in without):
            break
        least = min(pessimistic for pessimistic, _ in without)
        del left[max(d for d, (pessimistic, _) in enumerate(without) if pessimistic == least)]
    if not left or cases.counts(label, left)[0] == 0:
        return None
    error = rates(cases, label, left, default)[0]
    return None if error >= default else Rule(tuple(in_order(conditions, left)), label, error)


def rates(cases: Cases, label: int, conditions: Sequence[Condition], default: float) -> tuple[float, float]:
    """The pessimistic and the actual error rate."""
    total, wrong = cases.counts(label, conditions)
    if total == 0:
        return default, 0.0
    n, e = float(total), float(wrong)
    return (e + extra_errors(n, e, cases.settings.confidence)) / n, e / n


def in_order(path: Sequence[Condition], kept: Sequence[Condition]) -> list[Condition]:
    """What is kept of a path, by a selection sort of the whole path and by what is no proper order.

    The place that is to be filled may hold a dropped condition: it changes places like any other.
    """
    places: list[Condition] = list(path)
    for here in range(len(kept)):
        first = None
        for i in range(here, len(places)):
            if places[i] in kept and (first is None or stands_before(places[i], places[first])):
                first = i
        assert first is not None
        places[here], places[first] = places[first], places[here]
    return places[: len(kept)]


def stands_before(one: Condition, other: Condition) -> bool:
    kind = {"=": 1, "<=": 2, ">": 2, "in": 3}
    if one[0] < other[0] or kind[one[1]] < kind[other[1]]:
        return True
    return one[0] == other[0] and kind[one[1]] == kind[other[1]] == 2 and one[2] < other[2]


# ---------------------------------------------------------------- 3. candidates
def candidates(cases: Cases, tree: Json) -> list[Rule]:
    """All different rules, in the order of leaves."""
    found: list[Rule] = []
    for conditions, label in paths(cases.settings, tree):
        rule = generalised(cases, conditions, label)
        if rule is not None and not any((r.conditions, r.label) == (rule.conditions, label) for r in found):
            found.append(rule)
    return found


# ---------------------------------------------------------------- 4. code lengths
def log2(x: Fraction | int) -> float:
    return math.log2(x.numerator) - math.log2(x.denominator)


def branch_bits(cases: Cases, attribute: int) -> float:
    _, kind, values = cases.problem.attributes[attribute]
    column = [row[attribute] for row in cases.rows]
    if kind == "ignored":
        return 0.0
    if kind == "continuous":
        n_distinct = len(set(column))  # unknown is one more
        return 1 + log2(n_distinct) / 2 if n_distinct > 1 else 0.0
    weights = [cases.weight([i for i, v in enumerate(column) if v == value]) for value in range(len(values))]
    return sum(float(w / cases.total) * (log2(cases.total) - log2(w)) for w in weights if w)


def rule_bits(cases: Cases, rule: Rule) -> float:
    """What it takes to say the conditions of a rule."""
    of_branch = [branch_bits(cases, a) for a in range(len(cases.problem.attributes))]
    parts = [bits / sum(of_branch) for bits in of_branch if bits > 0]
    of_test = -sum(part * math.log2(part) for part in parts)
    bits = 0.0
    for attribute, sign, _ in rule.conditions:
        bits += of_test + (len(cases.problem.attributes[attribute][2]) if sign == "in" else of_branch[attribute])
    return bits + log2(len(rule.conditions)) - log_factorial(len(rule.conditions))


def log_factorial(n: int) -> float:
    return math.fsum(math.log2(i) for i in range(1, n + 1))


# ---------------------------------------------------------------- 5. the best subset of the rules of a class
def fires(row: Sequence[Value], rule: Rule) -> bool:
    return rule.error <= LARGEST_ERROR and matches(row, rule.conditions)


def description_length(cases: Cases, label: int, rules: Sequence[Rule]) -> float:
    """Half the bits of the rules of a class, and the bits of the cases that they get wrong."""
    of_rules = 0.5 * (sum(rule_bits(cases, rule) for rule in rules) - log_factorial(len(rules)))
    covered = [any(fires(row, rule) for rule in rules) for row in cases.rows]
    return of_rules + exception_bits(cases, label, covered)


def exception_bits(cases: Cases, label: int, covered: Sequence[bool]) -> float:
    right = [c == label for c in cases.classes]
    inside = cases.weight([i for i, c in enumerate(covered) if c])
    too_many = cases.weight([i for i, c in enumerate(covered) if c and not right[i]])
    too_few = cases.weight([i for i, c in enumerate(covered) if not c and right[i]])
    half = (too_many + too_few) / 2
    expected = (half, too_few) if inside > cases.total / 2 else (too_many, half)
    outside = cases.total - inside
    return log2(cases.total) + biased_bits(inside, too_many, expected[0]) + biased_bits(outside, too_few, expected[1])


def biased_bits(n: Fraction, e: Fraction, x: Fraction) -> float:
    """Bits to say which e of n cases are wrong where x are expected to be."""
    if x <= 1e-6:
        return 0.0 if e == 0 else 1e6
    if x >= n - Fraction(1, 10**6):
        return 0.0 if e == n else 1e6
    return -float(e) * log2(x / n) - float(n - e) * log2(1 - x / n)


def chosen_rules(cases: Cases, label: int, rules: Sequence[Rule]) -> list[Rule]:
    """Of at most ten rules of a class those with the least description length; of equals the first."""
    best, least = [], math.inf
    for mask in product((False, True), repeat=len(rules)):
        some = [rule for rule, inside in zip(rules, mask[::-1], strict=True) if inside]  # the first changes fastest
        length = description_length(cases, label, some)
        if length < least - 1e-9 * max(1.0, abs(length)):
            best, least = some, length
    return best


# ---------------------------------------------------------------- 6. and 7. order and default
def in_class_order(cases: Cases, chosen: dict[int, list[Rule]]) -> list[Rule]:
    """The rules of the class that is wrong least often about what no class before it covers, and so on."""
    ordered: list[Rule] = []
    open_cases, waiting = set(range(len(cases.rows))), sorted(chosen)
    while waiting:
        wrong = []
        for label in waiting:
            hit = covered_by(cases, chosen[label]) & open_cases
            wrong.append(cases.weight([i for i in hit if cases.classes[i] != label]))
        label = waiting.pop(wrong.index(min(wrong)))
        ordered += sorted(chosen[label], key=lambda rule: rule.error)
        open_cases -= covered_by(cases, chosen[label])
    return ordered


def covered_by(cases: Cases, rules: Sequence[Rule]) -> set[int]:
    return {i for i, row in enumerate(cases.rows) if any(fires(row, rule) for rule in rules)}


def default_class(cases: Cases, rules: Sequence[Rule]) -> int:
    left = set(range(len(cases.rows))) - covered_by(cases, rules)
    return max(
        range(cases.problem.n_classes),
        key=lambda c: (cases.weight([i for i in left if cases.classes[i] == c]), cases.of_class(c), -c),
    )


# ---------------------------------------------------------------- 8. and 9. use, and what use shows
def first_two(row: Sequence[Value], rules: Sequence[Rule], default: int) -> tuple[int | None, int, int]:
    """The first rule that fires (None for none), the class it says, and what would be said without it."""
    hits = [r for r, rule in enumerate(rules) if fires(row, rule)]
    said = [rules[r].label for r in hits[:2]] + [default, default]
    return (hits[0] if hits else None), said[0], said[1]


def without_harm(cases: Cases, rules: Sequence[Rule], default: int) -> list[Rule]:
    """The rules that are left when each does more good than harm."""
    kept = list(rules)
    while True:
        gain = [Fraction(0)] * len(kept)
        for i, row in enumerate(cases.rows):
            r, said, otherwise = first_two(row, kept, default)
            if r is not None:
                gain[r] += cases.weights[i] * ((said == cases.classes[i]) - (otherwise == cases.classes[i]))
        harmful = [r for r, g in enumerate(gain) if g < 0]
        if not harmful:
            return kept
        del kept[harmful[0]]


def rules_of(
    problem: Problem, settings: Settings, tree: Json, searched: dict[int, list[Rule]] | None = None
) -> tuple[list[Rule], list[Rule], int]:
    """The candidates of an unpruned tree, the final rules, and the default class.

    `searched` has the chosen rules of the classes that have too many candidates to try all subsets.
    """
    cases = Cases(problem, settings)
    found = candidates(cases, tree)
    chosen = dict(searched or {})
    for label in range(problem.n_classes):
        if label not in chosen:
            chosen[label] = chosen_rules(cases, label, [rule for rule in found if rule.label == label])
    ordered = in_class_order(cases, chosen)
    default = default_class(cases, ordered)
    return found, without_harm(cases, ordered, default), default
