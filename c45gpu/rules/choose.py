"""The best subset of the candidate rules of a class, by description length (specification section 14, item 5).

Up to ten candidates all subsets are tried. Beyond that hill climbs do: from a number of starts, rule after rule is
added or taken away, each time the one that gains most. Starts are drawn from a seed, so that a table always gives the
same rules; the original has eleven climbs, and draws their starts from an unseeded source.
"""

from __future__ import annotations

import random
from typing import Final

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.cover import Cover, Words, once_and_more, rules_by_case, unpacked
from c45gpu.kernels.level import Bools, Int64s
from c45gpu.rules.cases import RuleCases
from c45gpu.rules.coding import exception_bits, in_halves, log2_of_factorials, total_in_order

Float64s = npt.NDArray[np.float64]

MOST_TO_ENUMERATE: Final = 10
SEED: Final = 45
LEAST_GAIN: Final = 1e-9  # bits: less is rounding, and a climb that lived on it might never end
START_SHARES: Final = tuple(tenth / 10 for tenth in range(11))  # of the candidates; first none, last all
KICKS: Final = 200  # climbs from the best subset so far with a few candidates changed
KICKED: Final = 5  # candidates changed, on average
LOOKS: Final = 1 << 25  # at candidates, after which no further climb begins


class ClassRules:
    """The candidates of one class, and what subsets of them are worth.

    Parameters
    ----------
    cases : RuleCases
    cover : Cover
        Of the same cases.
    label : int
        The class.
    bits : ndarray of float64, shape (R,)
        The candidates' own bits.
    bitmaps : ndarray of uint64, shape (R, n_words)
        The cases for which each fires.
    """

    def __init__(self, cases: RuleCases, cover: Cover, label: int, bits: Float64s, bitmaps: Words) -> None:
        self.cases, self.cover, self.label = cases, cover, label
        self.bits, self.bitmaps = bits, bitmaps
        self.of_class = int(cases.class_units[label])
        self.factorials = log2_of_factorials(len(bits) + 1)

    def chosen(self) -> Bools:
        """The subset of least description length that is found; shape (R,)."""
        return self._best_of_all() if len(self.bits) <= MOST_TO_ENUMERATE else self._climbed()

    def description_length(self, chosen: Bools) -> float:
        """The bits of a subset and of its exceptions.

        Parameters
        ----------
        chosen : ndarray of bool, shape (R,)
        """
        once, _ = once_and_more(self.bitmaps[chosen])
        weight = self.cover.weigh(once[None], self._everything, self.label)[0]
        return float(self._length(total_in_order(self.bits[chosen]), int(chosen.sum()), weight[0], weight[1]))

    def _length(self, bits: Float64s | float, n_rules: Int64s | int, covered: Int64s, wrong: Int64s) -> Float64s:
        exceptions = exception_bits(self.cases, covered, wrong, self.of_class - (covered - wrong))
        length: Float64s = in_halves(bits, n_rules, self.factorials) + exceptions
        return length

    @property
    def _everything(self) -> Words:
        return np.full(self.bitmaps.shape[1], ~np.uint64(0))

    # ------------------------------------------------------------ all subsets
    def _best_of_all(self) -> Bools:
        """Subsets are numbered in binary, the first candidate in the lowest bit; of equals the first."""
        covered, wrong = self._covered_by_subset()
        bits, n_rules = np.zeros(1), np.zeros(1, np.int64)
        for more in self.bits:
            bits, n_rules = np.concatenate([bits, bits + more]), np.concatenate([n_rules, n_rules + 1])
        best = int(np.argmin(self._length(bits, n_rules, covered, wrong)))
        chosen: Bools = (best >> np.arange(len(self.bits))) & 1 == 1
        return chosen

    def _covered_by_subset(self) -> tuple[Int64s, Int64s]:
        """For each subset the weight that it covers, and the part that is of another class."""
        n_cases, n = len(self.cases.units), len(self.bits)
        hit_by = np.zeros(n_cases, np.int64)  # the set of the candidates that fire
        for r, bitmap in enumerate(self.bitmaps):
            hit_by |= unpacked(bitmap, n_cases).astype(np.int64) << r
        other = self.cases.table.classes != self.label
        missed = np.zeros((2, 1 << n), np.int64)
        np.add.at(missed[0], hit_by, self.cases.units)
        np.add.at(missed[1], hit_by[other], self.cases.units[other])
        for r in range(n):  # sums over all subsets of a set: the cases that no rule outside the set hits
            halves = missed.reshape(2, -1, 2, 1 << r)
            halves[:, :, 1] += halves[:, :, 0]
        missed = missed[:, ::-1]  # a subset misses what only its complement hits
        return self.cases.total - missed[0], int(self.cases.units[other].sum()) - missed[1]

    # ------------------------------------------------------------ hill climbs
    def _climbed(self) -> Bools:
        """The best end of climbs from starts of all sizes, then of climbs from near the best so far."""
        n, chance = len(self.bits), random.Random(SEED)
        rules_of = rules_by_case(self.bitmaps, len(self.cases.units))
        here = Subset(self.cover, self.bitmaps, rules_of, self.cases.units, self.cases.table.classes != self.label)
        best, least, looked_at = np.zeros(n, np.bool_), np.inf, 0
        for attempt in range(len(START_SHARES) + KICKS):
            if looked_at > LOOKS:
                break
            kicked = attempt >= len(START_SHARES)
            share = KICKED / n if kicked else START_SHARES[attempt]
            start = np.array([chance.random() < share for _ in range(n)])
            here.become(best ^ start if kicked else start)
            looked_at += n * self._climb(here)
            length = float(self._length(total_in_order(self.bits[here.chosen]), int(here.chosen.sum()), *here.covered))
            if length < least - LEAST_GAIN:
                best, least = here.chosen.copy(), length
        return best

    def _climb(self, here: Subset) -> int:
        """Go on as long as one more or one less is better; returns the number of steps."""
        steps = 0
        while True:
            steps += 1
            gain = self._gains(here)
            best = int(np.argmax(gain))
            if gain[best] <= LEAST_GAIN:
                return steps
            here.toggle(best)

    def _gains(self, here: Subset) -> Float64s:
        """By how many bits the description gets shorter if a candidate is added, or taken away if it is chosen."""
        chosen = here.chosen
        covered, wrong = (here.covered + np.where(chosen[:, None], -here.alone, here.fresh)).T
        bits, n_rules, sign = total_in_order(self.bits[chosen]), int(chosen.sum()), np.where(chosen, -1, 1)
        before = self._length(bits, n_rules, *here.covered)
        gains: Float64s = before - self._length(bits + sign * self.bits, n_rules + sign, covered, wrong)
        return gains


class Subset:
    """Some of the candidates, and what each would cover in addition, or no longer.

    Only the cases that get their first or second rule, or lose it, are looked at when a candidate comes or goes.

    Parameters
    ----------
    cover : Cover
    bitmaps : ndarray of uint64, shape (R, n_words)
        The cases for which each candidate fires.
    rules_of : ndarray of uint64
        The same by case, see :func:`c45gpu.kernels.cover.rules_by_case`.
    units : ndarray of int64, shape (n_cases,)
    other : ndarray of bool, shape (n_cases,)
        Whether a case is of another class.

    Attributes
    ----------
    chosen : ndarray of bool, shape (R,)
    covered : ndarray of int64, shape (2,)
        The weight that the subset covers, and the part of it that is of another class.
    fresh, alone : ndarray of int64, shape (R, 2)
        The same of the cases of each candidate that no chosen one covers, and that exactly one covers.
    """

    def __init__(self, cover: Cover, bitmaps: Words, rules_of: Words, units: Int64s, other: Bools) -> None:
        self._cover, self._bitmaps, self._rules_of = cover, bitmaps, rules_of
        self._heavy = np.stack([units, np.where(other, units, 0)], axis=1)
        self._hits = np.zeros(len(units), np.int32)  # how many chosen candidates cover each case
        self.chosen = np.zeros(len(bitmaps), np.bool_)
        self.covered = np.zeros(2, np.int64)
        self.fresh, self.alone = self._weight(np.arange(len(units))), np.zeros((len(bitmaps), 2), np.int64)

    def become(self, chosen: Bools) -> None:
        """Be another subset."""
        for rule in np.flatnonzero(chosen ^ self.chosen).tolist():
            self.toggle(rule)

    def toggle(self, rule: int) -> None:
        """Add a candidate, or take it away."""
        cases = np.flatnonzero(unpacked(self._bitmaps[rule], len(self._hits)))
        leaves = bool(self.chosen[rule])
        hits = self._hits[cases] - leaves  # by the others
        first, second = self._weight(cases[hits == 0]), self._weight(cases[hits == 1])
        step = -1 if leaves else 1
        self.fresh -= step * first
        self.alone += step * (first - second)
        self.covered += step * first[rule]
        self._hits[cases] += step
        self.chosen[rule] = not leaves

    def _weight(self, cases: Int64s) -> Int64s:
        return self._cover.weigh_rules(self._rules_of, cases, self._heavy, len(self._bitmaps))
