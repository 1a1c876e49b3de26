"""Drop the conditions that a rule does not need (specification section 14, items 2 and 3).

Rules are treated in batches, all of them one condition further at a time: so the cases are counted on all cores, and
errors are estimated for thousands of rules at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.estimates import extra_errors
from c45gpu.kernels.cover import Cover, Lists, Misses, Words
from c45gpu.kernels.level import Bools, Int64s
from c45gpu.rules.cases import RuleCases
from c45gpu.rules.paths import Paths
from c45gpu.rules.rule import Condition, Rule

Float64s = npt.NDArray[np.float64]

BITMAP_BYTES: Final = 1 << 28  # of conditions of a batch: a few thousand conditions at a million cases
_KINDS: Final = {"=": 1, "<=": 2, ">": 2, "in": 3}  # in the order in which the original sorts them


@dataclass(frozen=True)
class Candidate:
    """A rule that may be chosen, with its conditions by identity (see :mod:`.paths`)."""

    rule: Rule
    identities: tuple[int, ...]


class _Finished(NamedTuple):
    """What is left of a path: which of its places, and what it is worth."""

    path: int
    places: Int64s
    error: float
    covered: int
    wrong: int


def candidates(paths: Paths, cases: RuleCases, cover: Cover, confidence: float) -> list[Candidate]:
    """The generalised rule of each path, in the order of paths; of equal rules the first.

    Parameters
    ----------
    paths : Paths
    cases : RuleCases
    cover : Cover
        Of the same cases.
    confidence : float
        Of the pessimistic errors, as in pruning.

    Returns
    -------
    list of Candidate
        Numbered from 1.
    """
    found: dict[tuple[int, tuple[int, ...]], Candidate] = {}
    for first, stop in _batches(paths.lists, 8 * cover.cases.n_words):
        for done in _Batch(paths, first, stop, cases, cover, confidence).finished():
            path = paths.lists.row[paths.lists.start[done.path] : paths.lists.start[done.path + 1]].tolist()
            identities = tuple(_in_order(path, done.places.tolist(), paths.conditions))
            label = int(paths.labels[done.path])
            if (label, identities) in found:  # made of the same numbers, so its error is the same
                continue
            conditions = tuple(paths.conditions[i] for i in identities)
            covered, wrong = float(cases.cases(done.covered)), float(cases.cases(done.wrong))
            rule = Rule(len(found) + 1, conditions, label, done.error, covered, wrong)
            found[label, identities] = Candidate(rule, identities)
    return list(found.values())


def _batches(lists: Lists, bytes_each: int) -> Iterator[tuple[int, int]]:
    """Runs of paths whose different conditions have bitmaps for which there is room; a run has a path at least."""
    first = 0
    seen: set[int] = set()
    for i in range(lists.size):
        here = lists.row[lists.start[i] : lists.start[i + 1]].tolist()
        if i > first and bytes_each * len(seen.union(here)) > BITMAP_BYTES:
            yield first, i
            first, seen = i, set()
        seen.update(here)
    if lists.size > first:
        yield first, lists.size


class _Batch:
    """Some paths on their way to rules."""

    def __init__(self, paths: Paths, first: int, stop: int, cases: RuleCases, cover: Cover, confidence: float) -> None:
        self.cases, self.cover, self.confidence = cases, cover, confidence
        lists = paths.lists.take(np.arange(first, stop))
        used, row = np.unique(lists.row, return_inverse=True)
        self.bitmaps: Words = cover.bitmaps(paths.arrays.take(used))
        longer = lists.lengths > 0  # a lone leaf has no conditions, and makes no rule
        self.path = np.flatnonzero(longer) + first
        self.lists = Lists(lists.start, row).take(longer)
        self.place = np.arange(len(row)) - np.repeat(lists.start[:-1], lists.lengths)
        self.labels = paths.labels[self.path]

    def finished(self) -> list[_Finished]:
        """The rules that are worth something, in the order of paths."""
        done: list[_Finished] = []
        while self.lists.size:
            misses = self.cover.misses(self.bitmaps, self.lists, self.labels)
            error, worst = self._weigh(misses)
            stays = worst < 0
            default = self.cases.default_error[self.labels]
            for i in np.flatnonzero(stays & (misses.covered > 0) & (error < default)).tolist():
                places = self.place[self.lists.start[i] : self.lists.start[i + 1]]
                numbers = float(error[i]), int(misses.covered[i]), int(misses.wrong[i])
                done.append(_Finished(int(self.path[i]), places, *numbers))
            self._go_on(~stays, worst)
        return sorted(done, key=lambda finished: finished.path)

    def _weigh(self, misses: Misses) -> tuple[Float64s, Int64s]:
        """Each rule's error, and the entry of the condition that it should lose, -1 for none."""
        rule, first = np.repeat(np.arange(self.lists.size), self.lists.lengths), self.lists.start[:-1]
        error, actual = self._rates(misses.covered, misses.wrong, self.labels)
        covered, wrong = misses.covered[rule] + misses.near, misses.wrong[rule] + misses.near_wrong
        error_without, actual_without = self._rates(covered, wrong, self.labels[rule])
        no_worse = (error_without <= error[rule]) | (actual_without <= actual[rule])
        least = np.minimum.reduceat(error_without, first)
        entry = np.where(error_without == least[rule], np.arange(len(rule)), -1)
        last_of_best = np.maximum.reduceat(entry, first)
        return error, np.where(np.logical_or.reduceat(no_worse, first), last_of_best, -1)

    def _rates(self, covered: Int64s, wrong: Int64s, labels: Int64s) -> tuple[Float64s, Float64s]:
        """The pessimistic and the actual error rate; of what covers nothing the default error and 0."""
        some = covered > 0
        n, e = self.cases.cases(np.where(some, covered, self.cases.total)), self.cases.cases(wrong)
        pessimistic = (e + extra_errors(n, e, self.confidence)) / n
        return np.where(some, pessimistic, self.cases.default_error[labels]), np.where(some, e / n, 0.0)

    def _go_on(self, moving: Bools, dropped: Int64s) -> None:
        """Take a condition from each moving rule; those that are done, or have none left, are out."""
        stays = np.ones(len(self.place), np.bool_)
        stays[dropped[moving]] = False
        moving = moving & (self.lists.lengths > 1)
        stays &= np.repeat(moving, self.lists.lengths)
        lengths = self.lists.lengths[moving] - 1
        self.lists = Lists(np.concatenate([[0], np.cumsum(lengths)]), self.lists.row[stays])
        self.place, self.path, self.labels = self.place[stays], self.path[moving], self.labels[moving]


def _in_order(path: list[int], kept: list[int], conditions: tuple[Condition, ...]) -> list[int]:
    """What is kept of a path, in the original's order.

    That is a selection sort of the path where only what is kept is looked for, but dropped conditions, too, change
    places; and by an order that is none: "a lower attribute, or a lower kind, or a lower threshold of the same".
    """
    places, wanted = list(range(len(path))), set(kept)
    for here in range(len(kept)):
        best = -1
        for i in range(here, len(places)):
            if places[i] in wanted and (
                best < 0 or _stands_before(conditions[path[places[i]]], conditions[path[places[best]]])
            ):
                best = i
        places[here], places[best] = places[best], places[here]
    return [path[place] for place in places[: len(kept)]]


def _stands_before(one: Condition, other: Condition) -> bool:
    if one.attribute < other.attribute or _KINDS[one.sign] < _KINDS[other.sign]:
        return True
    if one.threshold is None or other.threshold is None:
        return False
    return one.attribute == other.attribute and one.threshold < other.threshold
