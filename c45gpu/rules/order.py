"""The order of rules, the default class, and which rules do harm (specification section 14, items 6 to 9)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from c45gpu.kernels.cover import Cover, Words, once_and_more, unpacked
from c45gpu.kernels.level import Bools, Int32s, Int64s
from c45gpu.rules.cases import RuleCases
from c45gpu.rules.rule import Rule


def in_class_order(
    chosen: list[list[Rule]], bitmaps: list[Words], cases: RuleCases, cover: Cover
) -> tuple[list[Rule], Words]:
    """All rules, class by class, and the bitmap of each.

    The class comes first whose rules are wrong least often (of equals the first), then the one that is wrong least
    often about what those do not cover, and so on. Within a class rules of less error come first.

    Parameters
    ----------
    chosen : list of list of Rule
        For each class its rules.
    bitmaps : list of ndarray of uint64
        For each class the cases for which its rules fire.
    cases : RuleCases
    cover : Cover

    Returns
    -------
    rules : list of Rule
    bitmaps : ndarray of uint64, shape (len(rules), n_words)
    """
    rules, ordered = [], [np.empty((0, cover.cases.n_words), np.uint64)]
    unions = [once_and_more(of_class)[0] for of_class in bitmaps]
    left, waiting = np.full(cover.cases.n_words, ~np.uint64(0)), list(range(len(chosen)))
    while waiting:
        wrong = [int(cover.weigh(unions[c][None], left, c)[0, 1]) for c in waiting]
        c = waiting.pop(int(np.argmin(wrong)))
        by_error = sorted(range(len(chosen[c])), key=lambda r: chosen[c][r].error)
        rules += [chosen[c][r] for r in by_error]
        ordered.append(bitmaps[c][by_error])
        left &= ~unions[c]
    return rules, np.concatenate(ordered)


def default_class(uncovered: Int64s, class_units: Int64s) -> int:
    """The class of most uncovered cases; of equals the most frequent one, then the first."""
    most = uncovered == uncovered.max()
    return int(np.argmax(np.where(most, class_units, -1)))


@dataclass(frozen=True)
class Use:
    """What became of cases under an ordered list of rules.

    Parameters
    ----------
    first : ndarray of int32, shape (n_cases,)
        The rule that fires, -1 for none.
    used, wrong : ndarray of int64, shape (R,)
        Weight of the cases for which each rule fires first, and of those that it gets wrong; in units.
    better, worse : ndarray of int64, shape (R,)
        Weight of the cases that only this rule gets right, and of those that only the next rule that fires, or the
        default, would get right.
    confusion : ndarray of int64, shape (C, C)
        Weight by true class (row) and class said (column).
    """

    first: Int32s
    used: Int64s
    wrong: Int64s
    better: Int64s
    worse: Int64s
    confusion: Int64s


class RulesInUse:
    """An ordered list of rules on cases whose classes are known.

    Parameters
    ----------
    labels : ndarray of int64, shape (R,)
        What each rule says.
    default : int
    bitmaps : ndarray of uint64, shape (R, n_words)
        The cases for which each fires.
    classes : ndarray of int32, shape (n_cases,)
    units : ndarray of int64, shape (n_cases,)
    n_classes : int
    """

    def __init__(
        self, labels: Int64s, default: int, bitmaps: Words, classes: Int32s, units: Int64s, n_classes: int
    ) -> None:
        self.said = np.append(labels, default)  # so that rule -1 is the default
        self.bitmaps, self.classes, self.units, self.n_classes = bitmaps, classes, units, n_classes
        self.kept: Bools = np.ones(len(labels), np.bool_)
        self.first, self.second = self._first_two(np.arange(len(classes)))

    def use(self) -> Use:
        """How the rules do now."""
        said, otherwise = self.said[self.first], self.said[self.second]
        right, alternative = said == self.classes, otherwise == self.classes
        confusion = np.zeros((self.n_classes, self.n_classes), np.int64)
        np.add.at(confusion, (self.classes, said), self.units)
        masks = (np.ones_like(right), ~right, right & ~alternative, ~right & alternative)
        used, wrong, better, worse = map(self._by_rule, masks)
        return Use(self.first, used, wrong, better, worse, confusion)

    def drop(self, rule: int) -> None:
        """Leave a rule out from now on."""
        touched = np.flatnonzero((self.first == rule) | (self.second == rule))
        self.kept[rule] = False
        self.first[touched], self.second[touched] = self._first_two(touched)

    def _by_rule(self, mask: Bools) -> Int64s:
        weight = np.zeros(len(self.said), np.int64)
        np.add.at(weight, self.first, np.where(mask, self.units, 0))
        return weight[:-1]

    def _first_two(self, cases: Int64s) -> tuple[Int32s, Int32s]:
        """The first and the second rule that fire for some cases, -1 for none."""
        found = np.full((2, len(cases)), -1, np.int32)
        open_cases = np.arange(len(cases))
        for rule in np.flatnonzero(self.kept).tolist():
            hit = unpacked(self.bitmaps[rule], len(self.classes))[cases[open_cases]]
            here = open_cases[hit]
            found[(found[0, here] >= 0).astype(np.int64), here] = rule
            open_cases = open_cases[found[1, open_cases] < 0]
        return found[0], found[1]
