"""Code lengths by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.rules.cases import RuleCases
from c45gpu.rules.coding import RuleBits, exception_bits, log2_of_factorials
from c45gpu.rules.rule import Condition

SCHEMA = Schema(
    (Attribute("x", "continuous"), Attribute("z", "discrete", ("a", "b", "c")), Attribute("i", "ignored")), ("k", "l")
)


def eight_cases(unit_bits: int = 0) -> RuleCases:
    x = np.array([1.0, 2.0, 3.0, np.nan, 1.0, 2.0, 3.0, 3.0])
    z = np.array([0, 0, 0, 0, 1, 1, -1, -1], np.int32)
    table = Table(SCHEMA, [x, z, None], np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32))
    return RuleCases(table, np.full(8, 1 << unit_bits), unit_bits)


def biased(n: float, e: float, x: float) -> float:
    return -e * math.log2(x / n) - (n - e) * math.log2(1 - x / n)


@pytest.mark.parametrize(
    ("covered", "too_many", "too_few", "inside", "outside"),
    [
        (3, 1, 2, biased(3, 1, 1), biased(5, 2, 1.5)),
        (4, 1, 2, biased(4, 1, 1), biased(4, 2, 1.5)),  # half of all is not most
        (5, 1, 2, biased(5, 1, 1.5), biased(3, 2, 2)),
        (0, 0, 4, 0, biased(8, 4, 2)),
        (8, 4, 0, biased(8, 4, 2), 0),
        (4, 0, 0, 0, 0),
        (4, 4, 4, 0, 0),  # all wrong, as expected
        (1, 1, 4, 0, biased(7, 4, 2.5)),
        (6, 0, 1, biased(6, 0, 0.5), biased(2, 1, 1)),
        (5, 3, 0, biased(5, 3, 1.5), 0),  # none is expected outside, and none is there
        (2, 2, 4, 0, biased(6, 4, 3)),
    ],
)
@pytest.mark.parametrize("unit_bits", [0, 3])
def test_exceptions(covered: int, too_many: int, too_few: int, inside: float, outside: float, unit_bits: int) -> None:
    units = [np.array([n << unit_bits]) for n in (covered, too_many, too_few)]
    bits = exception_bits(eight_cases(unit_bits), *units)
    assert bits.tolist() == pytest.approx([3 + inside + outside])


def test_conditions() -> None:
    bits = RuleBits(eight_cases())
    of_x, of_z = 1 + math.log2(4) / 2, 0.5 * 1 + 0.25 * 2  # three values and unknown; four a, two b, two unknown
    assert bits.of_branch == pytest.approx([of_x, of_z, 0])
    share = of_x / (of_x + of_z)
    of_test = -share * math.log2(share) - (1 - share) * math.log2(1 - share)
    assert bits.of_test == pytest.approx(of_test)
    assert RuleBits(eight_cases(), 4.0).of_test == pytest.approx(of_test / 4)
    one, equal, among = Condition(0, ">", 1.0), Condition(1, "=", None, (0,)), Condition(1, "in", None, (0, 1))
    assert bits.of_rule((one,)) == pytest.approx(of_test + of_x)
    assert bits.of_rule((one, equal)) == pytest.approx(2 * of_test + of_x + of_z + 1 - 1)
    assert bits.of_rule((one, equal, among)) == pytest.approx(
        3 * of_test + of_x + of_z + 3 + math.log2(3) - math.log2(6)
    )


def test_factorials() -> None:
    assert log2_of_factorials(5).tolist() == pytest.approx([0, 0, 1, math.log2(6), math.log2(24), math.log2(120)])
