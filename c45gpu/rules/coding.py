"""What it costs to say rules and their exceptions, in bits (specification section 14, items 4 and 5).

A set of rules for a class is worth half the bits of the rules, and the bits that say which cases they get wrong. Sums
over attributes and over conditions are exactly rounded (`math.fsum`), and sums over rules go from the first to the
last.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from c45gpu.formulas import log2_of
from c45gpu.kernels.level import Int64s
from c45gpu.rules.cases import RuleCases
from c45gpu.rules.rule import Condition

Float64s = npt.NDArray[np.float64]

RULES_COUNT: Final = 0.5  # the weight of the rules' bits against those of the exceptions
IMPOSSIBLE: Final = 1e6  # bits to say something that was taken to be certain not to happen
CERTAIN: Final = 1e-6  # expecting so few errors, in cases, is expecting none


class RuleBits:
    """The cost of rules on some training cases.

    Parameters
    ----------
    cases : RuleCases
    redundancy : float
        By how much the attributes tell the same; naming one costs so many times less (the original's -r).
    """

    def __init__(self, cases: RuleCases, redundancy: float = 1.0) -> None:
        self.cases = cases
        self.of_branch = [_branch_bits(cases, a) for a in range(len(cases.table.schema.attributes))]
        self.of_test = _entropy(self.of_branch) / redundancy

    def of_rule(self, conditions: tuple[Condition, ...]) -> float:
        """Bits of a rule's conditions, whose order says nothing."""
        n = len(conditions)
        bits = math.fsum(map(self._of_condition, conditions))
        return bits + float(log2_of(n)) - float(log2_of_factorials(n)[n])

    def _of_condition(self, condition: Condition) -> float:
        if condition.sign == "in":
            return self.of_test + len(self.cases.table.schema.attributes[condition.attribute].values)
        return self.of_test + self.of_branch[condition.attribute]


def _branch_bits(cases: RuleCases, attribute: int) -> float:
    """Bits to name a branch of a test of an attribute: one of its cuts, or one of its values."""
    kind = cases.table.schema.attributes[attribute].kind
    if kind == "ignored":
        return 0.0
    if kind == "continuous":
        ranks, distinct = cases.table.ranks(attribute)
        n_distinct = len(distinct) + int(bool((ranks < 0).any()))  # to the original unknown is a value, too
        return 1.0 + float(log2_of(n_distinct)) / 2.0 if n_distinct > 1 else 0.0
    codes = cases.table.column(attribute)
    weights = np.zeros(int(codes.max(initial=0)) + 1, np.int64)
    np.add.at(weights, codes[codes >= 0], cases.units[codes >= 0])
    weights = weights[weights > 0]
    return math.fsum(weights / cases.total * (cases.log2(cases.total) - cases.log2(weights)))


def _entropy(bits: list[float]) -> float:
    """The entropy of a distribution that goes like `bits`."""
    total = math.fsum(bits)
    parts = [b / total for b in bits if b > 0]
    return -math.fsum(part * _log2_of_part(part) for part in parts)


def _log2_of_part(part: float) -> float:
    """log2 of a number above 0 and at most 1."""
    mantissa, exponent = math.frexp(part)
    return float(log2_of(int(math.ldexp(mantissa, 53)))) + (exponent - 53)


def log2_of_factorials(n: int) -> Float64s:
    """log2(0!), log2(1!), ..., log2(n!); added up from 1 on."""
    return np.concatenate([[0.0], np.cumsum(log2_of(np.arange(1, n + 1)))])


def exception_bits(cases: RuleCases, covered: Any, false_positives: Any, false_negatives: Any) -> Float64s:
    """Bits to say which cases rules of a class get wrong.

    Parameters
    ----------
    cases : RuleCases
    covered, false_positives, false_negatives : ndarray of int64
        Weight that the rules cover, that of it which is of another class, and that of the class which they do not
        cover; in units, any shape.

    Returns
    -------
    ndarray of float64
    """
    total = cases.total
    errors = false_positives + false_negatives  # twice what is expected on the smaller side
    mostly = 2 * covered > total
    expected_inside = np.where(mostly, errors, 2 * false_positives)
    expected_outside = np.where(mostly, 2 * false_negatives, errors)
    inside = _biased_bits(cases, covered, false_positives, expected_inside)
    outside = _biased_bits(cases, total - covered, false_negatives, expected_outside)
    bits: Float64s = (inside + outside) + cases.log2(total)
    return bits


def _biased_bits(cases: RuleCases, n: Int64s, e: Int64s, twice_expected: Int64s) -> Float64s:
    """Bits to say which e of n units are wrong, where half of `twice_expected` are expected to be."""
    none = cases.cases(twice_expected) <= 2 * CERTAIN
    all_of_them = ~none & (cases.cases(2 * n - twice_expected) <= 2 * CERTAIN)
    open_ = ~(none | all_of_them)
    x, whole = np.where(open_, twice_expected, 1), np.where(open_, 2 * n, 2)
    log2_of_whole = cases.log2_of_units(whole)
    wrong = cases.cases(e) * (log2_of_whole - cases.log2_of_units(x))
    right = cases.cases(n - e) * (log2_of_whole - cases.log2_of_units(whole - x))
    sure = np.where(np.where(none, e == 0, e == n), 0.0, IMPOSSIBLE)
    return np.where(open_, wrong + right, sure)


def in_halves(bits: Any, n_rules: Any, factorials: Float64s) -> Any:
    """What rules of a class count: half of their bits less those that their order would take."""
    return RULES_COUNT * (bits - factorials[n_rules])


def total_in_order(bits: Float64s) -> float:
    """Bits of several rules, added from the first to the last."""
    return float(np.cumsum(np.concatenate([[0.0], bits]))[-1])
