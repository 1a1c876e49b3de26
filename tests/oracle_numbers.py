"""The oracle's numbers: information, Gini impurity and chi-square of the branches of a test; see oracle.py."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from decimal import Decimal, DefaultContext, setcontext
from fractions import Fraction
from functools import lru_cache

DefaultContext.prec = 50  # of threads to come
setcontext(DefaultContext)

SAME = Decimal("1e-30")  # relative: two numbers so near are equal, and what is left is the rounding of 50 digits
NEAR = Decimal("1e-9")  # a guide may choose between tests so nearly equal


@lru_cache(maxsize=1_000_000)
def n_log_n(n: int) -> Decimal:
    """n * log2(n), 0 at 0."""
    return n * Decimal(n).ln() / Decimal(2).ln() if n > 1 else Decimal(0)


def information(units: Sequence[int]) -> Decimal:
    """Total information of a division: T log2 T less the same of its parts."""
    return n_log_n(sum(units)) - sum(map(n_log_n, units), Decimal(0))


def exceeds(a: Decimal, b: Decimal) -> bool:
    """Whether a is greater than b, and not only by rounding."""
    return a - b > SAME * max(abs(a), abs(b))


def near(a: Decimal, b: Decimal) -> bool:
    """Whether a machine with 53 bits might take a and b for each other."""
    return abs(a - b) <= NEAR * max(abs(a), abs(b)) + NEAR / 1000


def single(value: float) -> float:
    """The nearest float32."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def gain_and_info(criterion: str, branches: list[list[int]], unknown: int) -> tuple[Decimal, Decimal]:
    """What a test gains, in bits for each case (known or not) or by another measure, and its split information."""
    weight = unknown + sum(map(sum, branches))
    split = information([unknown, *map(sum, branches)]) / weight
    totals = [sum(column) for column in zip(*branches, strict=True)]
    if criterion == "gini":
        return decimal((impurity(totals) - sum(map(impurity, branches))) / weight), split
    if criterion == "chi2":
        return decimal(chi_square(branches, totals) / weight), split
    base = information(totals)
    gain = base - sum(map(information, branches), Decimal(0))
    if abs(gain) <= SAME * (base + weight):
        gain = Decimal(0)
    return gain / weight, split


def impurity(group: Sequence[int]) -> Fraction:
    """Gini impurity times the weight."""
    n = sum(group)
    return n * (1 - sum((Fraction(q, n) ** 2 for q in group), Fraction(0))) if n else Fraction(0)


def chi_square(branches: list[list[int]], totals: list[int]) -> Fraction:
    """Sum of (seen - expected)^2 / expected over branches and classes that hold something."""
    statistic, known = Fraction(0), sum(totals)
    for branch in branches:
        for seen, total in zip(branch, totals, strict=True):
            expected = Fraction(sum(branch) * total, known) if known else Fraction(0)
            statistic += (seen - expected) ** 2 / expected if expected else 0
    return statistic


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)
