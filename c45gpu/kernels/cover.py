"""How many cases conditions cover: bits for cases, and the same counts in NumPy and compiled.

Glossary: a *bitmap* holds a bit for each case, 64 to a word, the first case in the lowest bit; a *near miss* of a rule
is a case that one of its conditions, and no other, keeps out.

    cases        0 1 2 3 4 5
    condition a  1 1 1 0 0 1      covered by "a and b": 0, 5
    condition b  1 0 0 0 1 1      near misses: 1, 2 by b; 4 by a        3 misses both

A case may weigh any whole number of units: the bits of the weights are bitmaps too, the *planes*, so that a weight is a
sum over planes of 2^plane times a number of bits. Where every case weighs the same there is one plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.kernels.level import Bools, Int32s, Int64s
from c45gpu.model.tree import ranges

Words = npt.NDArray[np.uint64]
Float64s = npt.NDArray[np.float64]

AT_MOST: Final = 0  # value <= threshold
ABOVE: Final = 1  # value > threshold
AMONG: Final = 2  # the code is one of the members

WORD: Final = 64
CASES_AT_A_TIME: Final = 1 << 13  # their bits take a byte each while they are turned round
CROSSOVER_CASES: Final = 20_000  # fewer are done with NumPy before the compiled code is loaded


class Conditions(NamedTuple):
    """Conditions as arrays; the order means nothing.

    Attributes
    ----------
    attribute : ndarray of int32, shape (m,)
        Numbers of the schema.
    sign : ndarray of int8, shape (m,)
        AT_MOST, ABOVE or AMONG.
    threshold : ndarray of float64, shape (m,)
        NaN with AMONG.
    member_start : ndarray of int64, shape (m + 1,)
        The codes of condition i are ``member[member_start[i]:member_start[i + 1]]``.
    member : ndarray of int32
    """

    attribute: Int32s
    sign: npt.NDArray[np.int8]
    threshold: Float64s
    member_start: Int64s
    member: Int32s

    def take(self, which: Int64s) -> Conditions:
        """Some of the conditions."""
        start, stop = self.member_start[which], self.member_start[which + 1]
        return Conditions(
            self.attribute[which],
            self.sign[which],
            self.threshold[which],
            np.concatenate([[0], np.cumsum(stop - start)]),
            self.member[ranges(start, stop)],
        )


class Lists(NamedTuple):
    """Lists of row numbers, one after the other: list i is ``row[start[i]:start[i + 1]]``."""

    start: Int64s
    row: Int64s

    @property
    def size(self) -> int:
        """How many lists there are."""
        return len(self.start) - 1

    @property
    def lengths(self) -> Int64s:
        """The length of each list."""
        return np.diff(self.start)

    def take(self, which: Int64s | Bools) -> Lists:
        """Some of the lists."""
        start, stop = self.start[:-1][which], self.start[1:][which]
        return Lists(np.concatenate([[0], np.cumsum(stop - start)]), self.row[ranges(start, stop)])


class Misses(NamedTuple):
    """What rules cover, and what each would cover in addition without one of its conditions; in units.

    Attributes
    ----------
    covered, wrong : ndarray of int64, shape (rules,)
        The weight that all conditions cover, and the part of it that is not of the rule's class.
    near, near_wrong : ndarray of int64
        The same of the near misses of each condition, in the order of the rules' lists.
    """

    covered: Int64s
    wrong: Int64s
    near: Int64s
    near_wrong: Int64s


@dataclass(frozen=True, eq=False)
class WeighedCases:
    """Cases as conditions see them.

    Parameters
    ----------
    table : Table
        Each case has a class.
    planes : ndarray of uint64, shape (n_planes, n_words)
        Plane p has the bits p of the weights.
    of_class : ndarray of uint64, shape (C, n_words)
        The cases of each class.
    """

    table: Table
    planes: Words
    of_class: Words

    @property
    def n_words(self) -> int:
        """The words of a bitmap."""
        return int(self.planes.shape[1])


def weighed_cases(table: Table, units: Int64s) -> WeighedCases:
    """The cases of a table with weights in units, each above 0."""
    n_planes = int(units.max(initial=1)).bit_length()
    planes = np.stack([packed((units >> p) & 1 == 1) for p in range(n_planes)])
    of_class = np.stack([packed(table.classes == c) for c in range(table.schema.n_classes)])
    return WeighedCases(table, planes, of_class)


def packed(truth: Bools) -> Words:
    """Truth values as a bitmap; what the last word has too many is 0."""
    bits = np.packbits(truth, bitorder="little")
    room = np.zeros(8 * -(-len(truth) // WORD), np.uint8)
    room[: len(bits)] = bits
    return room.view("<u8").astype(np.uint64, copy=False)


def unpacked(bitmap: Words, n_cases: int) -> Bools:
    """The inverse of :func:`packed`."""
    little = bitmap.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(little, count=n_cases, bitorder="little").view(np.bool_)


def holds(table: Table, conditions: Conditions, i: int, cases: Int64s | slice = slice(None)) -> Bools:
    """Which cases satisfy condition i; an unknown value satisfies none."""
    values = table.column(int(conditions.attribute[i]))[cases]
    if conditions.sign[i] == AMONG:
        return np.isin(values, conditions.member[conditions.member_start[i] : conditions.member_start[i + 1]])
    threshold = conditions.threshold[i]
    true: Bools = values <= threshold if conditions.sign[i] == AT_MOST else values > threshold
    return true


class Cover(Protocol):
    """Counts cases under conditions; whoever counts, the numbers are the same."""

    cases: WeighedCases

    def bitmaps(self, conditions: Conditions) -> Words:
        """The bitmap of each condition; shape (m, n_words)."""

    def misses(self, bitmaps: Words, rules: Lists, labels: Int64s) -> Misses:
        """What rules cover, each a list of rows of `bitmaps`, and what they nearly cover."""

    def intersections(self, bitmaps: Words, rules: Lists) -> Words:
        """The bitmap of the cases that each rule covers; shape (rules, n_words)."""

    def weigh(self, bitmaps: Words, inside: Words, label: int) -> Int64s:
        """For each bitmap the weight of its cases inside another, and of those not of a class; shape (m, 2)."""

    def weigh_rules(self, rules_of: Words, cases: Int64s, heavy: Int64s, n_rules: int) -> Int64s:
        """For each rule what those of some cases weigh that it covers; shape (n_rules, k).

        `rules_of` is from :func:`rules_by_case`, and `heavy` has k weights for each of all cases, in rows.
        """

    def close(self) -> None:
        """Let go of the workers."""


class ReferenceCover:
    """See :class:`Cover`; in NumPy.

    Parameters
    ----------
    cases : WeighedCases
    """

    def __init__(self, cases: WeighedCases) -> None:
        self.cases = cases

    def bitmaps(self, conditions: Conditions) -> Words:
        """The bitmap of each condition."""
        bitmaps = np.zeros((len(conditions.sign), self.cases.n_words), np.uint64)
        for i, bitmap in enumerate(bitmaps):
            bitmap[:] = packed(holds(self.cases.table, conditions, i))
        return bitmaps

    def misses(self, bitmaps: Words, rules: Lists, labels: Int64s) -> Misses:
        """What rules cover and nearly cover."""
        out = Misses(*(np.zeros(n, np.int64) for n in (rules.size, rules.size, len(rules.row), len(rules.row))))
        for i in range(rules.size):
            here = slice(rules.start[i], rules.start[i + 1])
            out_of = ~bitmaps[rules.row[here]]
            once, more = once_and_more(out_of)
            label = int(labels[i])
            out.covered[i], out.wrong[i] = self.weigh(~(once | more)[None], self._all, label)[0]
            out.near[here], out.near_wrong[here] = self.weigh(out_of, once & ~more, label).T
        return out

    def intersections(self, bitmaps: Words, rules: Lists) -> Words:
        """The bitmap of each rule."""
        covered = np.empty((rules.size, self.cases.n_words), np.uint64)
        for i in range(rules.size):
            np.bitwise_and.reduce(bitmaps[rules.row[rules.start[i] : rules.start[i + 1]]], axis=0, out=covered[i])
        return covered

    def weigh(self, bitmaps: Words, inside: Words, label: int) -> Int64s:
        """The weight of each bitmap inside another, and the part that is not of a class."""
        weight = np.zeros((len(bitmaps), 2), np.int64)
        for k, part in enumerate((inside, inside & ~self.cases.of_class[label])):
            for p, plane in enumerate(self.cases.planes):
                weight[:, k] += np.bitwise_count(bitmaps & (part & plane)).sum(axis=1, dtype=np.int64) << p
        return weight

    def weigh_rules(self, rules_of: Words, cases: Int64s, heavy: Int64s, n_rules: int) -> Int64s:
        """For each rule the weight of the cases that it covers."""
        weight = np.zeros((n_rules, heavy.shape[1]), np.int64)
        for first in range(0, len(cases), CASES_AT_A_TIME):
            some = cases[first : first + CASES_AT_A_TIME]
            bits = rules_of[some].astype("<u8", copy=False).view(np.uint8)
            weight += np.unpackbits(bits, axis=1, count=n_rules, bitorder="little").T.astype(np.int64) @ heavy[some]
        return weight

    def close(self) -> None:
        """There is nothing to let go of."""

    @property
    def _all(self) -> Words:
        return np.full(self.cases.n_words, ~np.uint64(0))  # beyond the last case no plane has a bit


def once_and_more(bitmaps: Words) -> tuple[Words, Words]:
    """The cases that are in one bitmap or more, and those that are in two or more."""
    once = np.zeros(bitmaps.shape[1], np.uint64)
    more = np.zeros_like(once)
    for bitmap in bitmaps:
        more |= once & bitmap
        once |= bitmap
    return once, more


def rules_by_case(bitmaps: Words, n_cases: int) -> Words:
    """For each case the rules that cover it, as bits: the bitmaps, turned round; shape (n_cases, n_words of rules)."""
    n_words = -(-len(bitmaps) // WORD)
    turned = np.zeros((n_cases, 8 * n_words), np.uint8)
    by_byte = bitmaps.astype("<u8", copy=False).view(np.uint8).reshape(len(bitmaps), -1)
    for first in range(0, n_cases, CASES_AT_A_TIME):
        some = turned[first : first + CASES_AT_A_TIME]
        bits = np.unpackbits(by_byte[:, first // 8 :], axis=1, count=len(some), bitorder="little")
        bytes_ = np.packbits(bits, axis=0, bitorder="little")
        some[:, : len(bytes_)] = bytes_.T
    return turned.view("<u8").astype(np.uint64, copy=False)


def open_cover(cases: WeighedCases) -> Cover:
    """What counts so many cases soonest."""
    if cases.table.n_cases < CROSSOVER_CASES:
        return ReferenceCover(cases)
    from c45gpu.kernels.rule_cover import CompiledCover

    return CompiledCover(cases)
