"""Whether a difference is a chain: rounding deep in a subtree changed what the subtree is worth.

The original adds weights up and takes information in single precision. Deep in a subtree that decides which of two
equally good tests is made, or whether a branch that an unknown value gave part of a case has the least weight; then
the subtree makes more errors or fewer, and the collapse rule drops what we keep, or keeps what we drop.

To show that, the oracle grows the subtree again with the last of equal tests instead of the first, or with the least
weight of a branch raised or lowered by one part in a million: if it then agrees with the original, rounding decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any, NamedTuple

from tests.golden.files import GoldenFile
from tests.oracle import Json, Problem, Settings
from tests.oracle_grow import Case, Node, Training, as_document, grow, parts, single

VARIATIONS: list[dict[str, Any]] = [{"last_of_ties": True}, {"slack": 1e-6}, {"slack": -1e-6}]


class Place(NamedTuple):
    """Where two trees make different tests: both nodes, the cases there, and the discrete attributes tested above."""

    gold: Json
    ours: Json
    cases: list[Case]
    tested: frozenset[int]


def problem_of(file: GoldenFile, cases: list[Any]) -> Problem:
    """The oracle's problem from cases that compare.py read; there the first value has number 1."""
    kinds = {"ignore": "ignored", "continuous": "continuous"}
    attributes = [(a["name"], kinds.get(a["type"], "discrete"), a.get("values", [])) for a in file.answer["attributes"]]
    less = [int(kind == "discrete") for _, kind, _ in attributes]
    rows = [[None if v is None else v - one for v, one in zip(row, less, strict=True)] for row, _ in cases]
    return Problem(attributes, len(file.answer["classes"]), rows, [c for _, c in cases])


def settings_of(file: GoldenFile) -> Settings:
    """The oracle's settings; thresholds get soft when the tree is there already."""
    return Settings(**{name: value for name, value in file.learner_options().items() if name != "soft_thresholds"})


def count_chains(file: GoldenFile, ours: Json, compare: ModuleType) -> int:
    """How many of the differences between the original's unpruned tree and ours are chains."""
    cases = compare.read_cases(str(file.stem), file.answer)
    problem, settings = problem_of(file, cases), settings_of(file)
    training, count = Training(problem, settings), 0
    for place in differing_places(training, file.answer["unpruned"], ours, compare):
        found: list[Any] = []
        here = [(*cases[i], training.as_cases(units)) for i, units in place.cases]
        compare.walk(place.gold, place.ours, file.answer, here, [], found, True)
        count += compare.verdict(found) == "DIFFERENT" and is_chain(problem, settings, place, compare)
    return count


def differing_places(training: Training, gold: Json, ours: Json, compare: ModuleType) -> Iterator[Place]:
    """The first difference on each path."""
    pending = [Place(gold, ours, training.cases, frozenset())]
    while pending:
        place = pending.pop()
        if not compare.same_test(place.gold, place.ours):
            yield place
        elif place.gold["type"] != "leaf":
            a = place.gold["att"]
            again = training.is_continuous(a) or training.is_grouped(a)
            tested = place.tested if again else place.tested | {a}
            below = parts(training, as_node(place.gold), place.cases)
            branches = zip(place.gold["branches"], place.ours["branches"], below, strict=True)
            pending += [Place(theirs, mine, part, tested) for theirs, mine, part in branches]


def is_chain(problem: Problem, settings: Settings, place: Place, compare: ModuleType) -> bool:
    """Whether the oracle agrees with the original about a node if ties or limits are decided otherwise below it."""
    for variation in VARIATIONS:
        training = Training(problem, replace(settings, **variation))
        other = as_document(training, grow(training, place.cases, place.tested, None), as_grown=True)
        if compare.same_test(place.gold, other) and compare.near(place.gold["errors"], other["errors"]):
            return True
    return False


def as_node(gold: Json) -> Node:
    """A node of the original with its test and as many branches."""
    branches = [Node(0, 0, [], 0) for _ in gold["branches"]]
    subsets = [[v - 1 for v in values] for values in gold["subsets"]] if "subsets" in gold else None
    return Node(0, 0, [], 0, gold["att"], single(gold["cut"]) if "cut" in gold else None, branches, subsets)
