"""Counting under conditions: NumPy and compiled give the same integers, and a plain count gives them too."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.kernels.cover import (
    ABOVE,
    AMONG,
    AT_MOST,
    Conditions,
    Cover,
    Lists,
    ReferenceCover,
    open_cover,
    packed,
    unpacked,
    weighed_cases,
)
from c45gpu.kernels.rule_cover import CompiledCover

N_VALUES = 5


def a_table(chance: random.Random, n_cases: int) -> Table:
    """Two continuous attributes, of both precisions, and a discrete one; some values unknown."""
    numbers = [[chance.choice([math.nan, 0.0, 1.5, 2.0, 7.0]) for _ in range(n_cases)] for _ in range(2)]
    codes = [chance.randrange(-1, N_VALUES) for _ in range(n_cases)]
    attributes = (
        Attribute("x", "continuous"),
        Attribute("y", "continuous"),
        Attribute("z", "discrete", tuple("abcde")),
    )
    columns = [np.array(numbers[0], np.float64), np.array(numbers[1], np.float32), np.array(codes, np.int32)]
    classes = np.array([chance.randrange(3) for _ in range(n_cases)], np.int32)
    return Table(Schema(attributes, ("k", "l", "m")), list(columns), classes)


def some_conditions(chance: random.Random, n: int) -> Conditions:
    attribute, sign, threshold, members = [], [], [], []
    for _ in range(n):
        a = chance.randrange(3)
        attribute.append(a)
        sign.append(AMONG if a == 2 else chance.choice([AT_MOST, ABOVE]))
        threshold.append(math.nan if a == 2 else chance.choice([0.0, 1.5, 2.0]))
        members.append(sorted(chance.sample(range(N_VALUES), chance.randint(1, 3))) if a == 2 else [])
    return Conditions(
        np.array(attribute, np.int32),
        np.array(sign, np.int8),
        np.array(threshold),
        np.cumsum([0, *map(len, members)]),
        np.array([v for m in members for v in m], np.int32),
    )


def satisfied(table: Table, conditions: Conditions, i: int, case: int) -> bool:
    value = table.column(int(conditions.attribute[i]))[case]
    if conditions.sign[i] == AMONG:
        return value in conditions.member[conditions.member_start[i] : conditions.member_start[i + 1]]
    return bool(value <= conditions.threshold[i] if conditions.sign[i] == AT_MOST else value > conditions.threshold[i])


def covers(table: Table, units: np.ndarray) -> list[Cover]:
    cases = weighed_cases(table, units)
    return [ReferenceCover(cases), CompiledCover(cases, 1), CompiledCover(cases, 3)]


@given(seed=st.integers(0, 2**32 - 1), n_cases=st.sampled_from([1, 5, 63, 64, 65, 200]), heavy=st.booleans())
def test_counts(seed: int, n_cases: int, heavy: bool) -> None:
    chance = random.Random(seed)
    table, conditions = a_table(chance, n_cases), some_conditions(chance, 9)
    weights = [chance.choice([1, 2, 5, 2**40 + 3]) if heavy else 1 for _ in range(n_cases)]
    lists = [sorted(chance.sample(range(9), chance.randint(1, 6))) for _ in range(7)]
    rules = Lists(np.cumsum([0, *map(len, lists)]), np.array([row for one in lists for row in one]))
    labels = np.array([chance.randrange(3) for _ in lists])
    fails = [[[r for r in one if not satisfied(table, conditions, r, i)] for i in range(n_cases)] for one in lists]

    def weight(rule: int, failing: list[int], wrong: bool) -> int:
        hit = [i for i, f in enumerate(fails[rule]) if f == failing]
        return sum(weights[i] for i in hit if not wrong or table.classes[i] != labels[rule])

    for cover in covers(table, np.array(weights)):
        bitmaps = cover.bitmaps(conditions)
        found = cover.misses(bitmaps, rules, labels)
        assert found.covered.tolist() == [weight(k, [], False) for k in range(len(lists))]
        assert found.wrong.tolist() == [weight(k, [], True) for k in range(len(lists))]
        assert found.near.tolist() == [weight(k, [row], False) for k, one in enumerate(lists) for row in one]
        assert found.near_wrong.tolist() == [weight(k, [row], True) for k, one in enumerate(lists) for row in one]
        covered = cover.intersections(bitmaps, rules)
        for k in range(len(lists)):
            assert unpacked(covered[k], n_cases).tolist() == [not f for f in fails[k]]
        inside = covered[0] | covered[1]
        hit = [[i for i in range(n_cases) if not f[i] and (not fails[0][i] or not fails[1][i])] for f in fails]
        wanted = [[sum(weights[i] for i in h), sum(weights[i] for i in h if table.classes[i] != 1)] for h in hit]
        assert cover.weigh(covered, inside, 1).tolist() == wanted
        cover.close()


def test_more_words_than_a_stretch() -> None:
    chance = random.Random(5)
    table, conditions = a_table(chance, 70_001), some_conditions(chance, 6)
    rules = Lists(np.array([0, 4, 6]), np.array([0, 1, 2, 3, 4, 5]))
    one, two, three = (
        [*cover.misses(cover.bitmaps(conditions), rules, np.array([0, 2]))]
        for cover in covers(table, np.ones(table.n_cases, np.int64))
    )
    for a, b, c in zip(one, two, three, strict=True):
        assert a.tolist() == b.tolist() == c.tolist()
        assert a.sum() > 0


@pytest.mark.parametrize(("n_cases", "kind"), [(100, ReferenceCover), (20_000, CompiledCover)])
def test_few_cases_load_no_compiled_code(n_cases: int, kind: type[Cover]) -> None:
    table = a_table(random.Random(0), n_cases)
    cover = open_cover(weighed_cases(table, np.ones(n_cases, np.int64)))
    assert type(cover) is kind
    cover.close()


def test_bits_stand_from_the_lowest() -> None:
    truth = np.zeros(70, np.bool_)
    truth[[0, 3, 69]] = True
    assert packed(truth).tolist() == [9, 32]
    assert unpacked(packed(truth), 70).tolist() == truth.tolist()
