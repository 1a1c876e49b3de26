"""Counting the cases that rules cover on all cores; see :mod:`.cover` for what is counted.

A kernel goes through a rule's bitmaps a stretch at a time, so that the stretch stays in a core's first cache while all
conditions are looked at. Loops over words are written so that a compiler does several words at once.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np

from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cover import AMONG, AT_MOST, WORD, Conditions, Lists, Misses, WeighedCases, Words
from c45gpu.kernels.cpu_crew import LEAST_TASK, TASKS_PER_WORKER, Crew
from c45gpu.kernels.level import Int64s

STRETCH: Final = 256  # words; four temporaries of it take 8 KB

FIVES: Final = np.uint64(0x5555555555555555)
THREES: Final = np.uint64(0x3333333333333333)
NIBBLES: Final = np.uint64(0x0F0F0F0F0F0F0F0F)
BYTES: Final = np.uint64(0x0101010101010101)
NOTHING: Final = np.uint64(0)
EVERYTHING: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
ONE: Final = np.uint64(1)
TWO: Final = np.uint64(2)
FOUR: Final = np.uint64(4)
TOP_BYTE: Final = np.uint64(56)


@compiled
def count_bits(word: Any) -> Any:
    """The bits of a word; compilers know this way of counting and have an instruction for it."""
    word = word - ((word >> ONE) & FIVES)
    word = (word & THREES) + ((word >> TWO) & THREES)
    word = (word + (word >> FOUR)) & NIBBLES
    return np.int64((word * BYTES) >> TOP_BYTE)


@compiled
def fill_of_values(values: Any, threshold: Any, above: Any, bitmap: Any) -> None:
    """The bitmap of a condition on a continuous attribute."""
    for w in range(len(bitmap)):
        first = w * WORD
        word = NOTHING
        for i in range(min(WORD, len(values) - first)):
            value = values[first + i]
            true = value > threshold if above else value <= threshold
            word |= np.uint64(true) << np.uint64(i)
        bitmap[w] = word


@compiled
def fill_of_codes(codes: Any, member: Any, bitmap: Any) -> None:
    """The bitmap of a condition on a discrete attribute; `member` tells for each code whether it satisfies."""
    for w in range(len(bitmap)):
        first = w * WORD
        word = NOTHING
        for i in range(min(WORD, len(codes) - first)):
            code = codes[first + i]
            true = code >= 0 and code < len(member) and member[code]
            word |= np.uint64(true) << np.uint64(i)
        bitmap[w] = word


@compiled
def weight_of(words: Any, inside: Any, of_class: Any, first: Any, planes: Any, out: Any) -> None:
    """Add the weight of a stretch of words inside another, and the part that is not of a class, to `out`."""
    for p in range(len(planes)):
        plane = planes[p]
        total, right = np.int64(0), np.int64(0)
        for j in range(len(words)):
            word = words[j] & inside[j] & plane[first + j]
            total += count_bits(word)
            right += count_bits(word & of_class[first + j])
        out[0] += total << p
        out[1] += (total - right) << p


@compiled
def misses_of_rule(bitmaps: Any, rows: Any, of_class: Any, planes: Any, out: Any, near: Any) -> None:
    """What one rule covers, to `out`, and its near misses by condition, to `near`; both are (weight, wrong)."""
    n_words = bitmaps.shape[1]
    once, more, lacks = np.empty(STRETCH, np.uint64), np.empty(STRETCH, np.uint64), np.empty(STRETCH, np.uint64)
    for first in range(0, n_words, STRETCH):
        n = min(STRETCH, n_words - first)
        for j in range(n):
            once[j], more[j] = NOTHING, NOTHING
        for k in range(len(rows)):
            bitmap = bitmaps[rows[k]]
            for j in range(n):
                word = ~bitmap[first + j]
                more[j] |= once[j] & word
                once[j] |= word
        any_near = NOTHING
        for j in range(n):
            more[j] = once[j] & ~more[j]  # from here on what is missed exactly once
            any_near |= more[j]
            once[j], lacks[j] = ~once[j], EVERYTHING
        weight_of(once[:n], lacks[:n], of_class, first, planes, out)
        for k in range(len(rows) if any_near != NOTHING else 0):
            bitmap = bitmaps[rows[k]]
            for j in range(n):
                lacks[j] = ~bitmap[first + j]
            weight_of(more[:n], lacks[:n], of_class, first, planes, near[k])


@compiled
def misses_of_rules(
    bitmaps: Any, start: Any, rows: Any, labels: Any, of_class: Any, planes: Any, out: Any, near: Any
) -> None:
    """The same for several rules; `near` has a row for each entry of `rows`."""
    for i in range(len(labels)):
        a, b = start[i], start[i + 1]
        misses_of_rule(bitmaps, rows[a:b], of_class[labels[i]], planes, out[i], near[a:b])


@compiled
def intersect(bitmaps: Any, rows: Any, out: Any) -> None:
    """The cases that are in all of some bitmaps, which are one or more."""
    out[:] = bitmaps[rows[0]]
    for k in range(1, len(rows)):
        bitmap = bitmaps[rows[k]]
        for j in range(len(out)):
            out[j] &= bitmap[j]


@compiled
def weigh_bitmaps(bitmaps: Any, inside: Any, of_class: Any, planes: Any, out: Any) -> None:
    """The weight of each bitmap inside another, and the part that is not of a class."""
    for i in range(len(bitmaps)):
        weight_of(bitmaps[i], inside, of_class, 0, planes, out[i])


@compiled
def add_rules(rules_of: Any, cases: Any, heavy: Any, out: Any) -> None:
    """Add the weights of some cases to all rules that cover them."""
    for i in range(len(cases)):
        case = cases[i]
        for w in range(rules_of.shape[1]):
            word = rules_of[case, w]
            while word != NOTHING:
                lowest = word & (~word + ONE)
                rule = w * WORD + count_bits(lowest - ONE)
                for k in range(heavy.shape[1]):
                    out[rule, k] += heavy[case, k]
                word ^= lowest


class CompiledCover:
    """See :class:`c45gpu.kernels.cover.Cover`; compiled, on all cores.

    Parameters
    ----------
    cases : WeighedCases
    threads : int, optional
        How many workers; all cores that the process may use if absent. No result depends on it.
    """

    def __init__(self, cases: WeighedCases, threads: int | None = None) -> None:
        self.cases = cases
        self._crew = Crew(threads)

    def bitmaps(self, conditions: Conditions) -> Words:
        """The bitmap of each condition."""
        bitmaps = np.empty((len(conditions.sign), self.cases.n_words), np.uint64)

        def job(a: int, b: int) -> None:
            for i in range(a, b):
                self._fill(conditions, i, bitmaps[i])

        self._each(job, len(bitmaps))
        return bitmaps

    def _fill(self, conditions: Conditions, i: int, bitmap: Words) -> None:
        attribute = int(conditions.attribute[i])
        column = self.cases.table.column(attribute)
        if conditions.sign[i] == AMONG:
            member = np.zeros(len(self.cases.table.schema.attributes[attribute].values), np.bool_)
            member[conditions.member[conditions.member_start[i] : conditions.member_start[i + 1]]] = True
            fill_of_codes(column, member, bitmap)
        else:
            fill_of_values(column, conditions.threshold[i], conditions.sign[i] != AT_MOST, bitmap)

    def misses(self, bitmaps: Words, rules: Lists, labels: Int64s) -> Misses:
        """What rules cover and nearly cover."""
        out, near = np.zeros((rules.size, 2), np.int64), np.zeros((len(rules.row), 2), np.int64)
        of_class, planes = self.cases.of_class, self.cases.planes

        def job(a: int, b: int) -> None:
            some = slice(a, b)
            misses_of_rules(bitmaps, rules.start[a : b + 1], rules.row, labels[some], of_class, planes, out[some], near)

        self._each(job, rules.size)
        return Misses(out[:, 0], out[:, 1], near[:, 0], near[:, 1])

    def intersections(self, bitmaps: Words, rules: Lists) -> Words:
        """The bitmap of each rule."""
        covered = np.empty((rules.size, self.cases.n_words), np.uint64)

        def job(a: int, b: int) -> None:
            for i in range(a, b):
                intersect(bitmaps, rules.row[rules.start[i] : rules.start[i + 1]], covered[i])

        self._each(job, rules.size)
        return covered

    def weigh(self, bitmaps: Words, inside: Words, label: int) -> Int64s:
        """The weight of each bitmap inside another, and the part that is not of a class."""
        weight = np.zeros((len(bitmaps), 2), np.int64)
        of_class, planes = self.cases.of_class[label], self.cases.planes

        def job(a: int, b: int) -> None:
            weigh_bitmaps(bitmaps[a:b], inside, of_class, planes, weight[a:b])

        self._each(job, len(bitmaps))
        return weight

    def weigh_rules(self, rules_of: Words, cases: Int64s, heavy: Int64s, n_rules: int) -> Int64s:
        """For each rule the weight of the cases that it covers."""
        if len(cases) < LEAST_TASK:
            weight = np.zeros((n_rules, heavy.shape[1]), np.int64)
            add_rules(rules_of, cases, heavy, weight)
            return weight
        parts = np.zeros((self._crew.size, n_rules, heavy.shape[1]), np.int64)
        some = np.array_split(cases, self._crew.size)
        self._crew.run(add_rules, [(rules_of, part, heavy, out) for part, out in zip(some, parts, strict=True)])
        total: Int64s = parts.sum(axis=0)
        return total

    def close(self) -> None:
        """End the workers."""
        self._crew.dismiss()

    def _each(self, job: Any, n: int) -> None:
        """Do a job for runs of the numbers 0..n-1."""
        edges = np.unique(np.linspace(0, n, TASKS_PER_WORKER * self._crew.size + 1).astype(np.int64)).tolist()
        if n:
            self._crew.run(job, list(pairwise(edges)))
