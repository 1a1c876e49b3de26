"""Digests of tables: the same for any parts, another one for any change."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.digest import digest_of, digest_of_sums, sums_of
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table


def table(n: int = 40) -> Table:
    chance = np.random.default_rng(0)
    numbers = chance.normal(size=n)
    numbers[3] = np.nan
    schema = Schema((Attribute("x", "continuous"), Attribute("c", "discrete", ("a", "b"))), ("k", "l"))
    codes, classes = (chance.integers(0, 2, n).astype(np.int32) for _ in range(2))
    return Table(schema, [numbers, codes], classes, chance.random(n) + 0.5)


@given(st.lists(st.integers(0, 40), max_size=4))
def test_of_any_parts(stops: list[int]) -> None:
    whole, edges = table(), [0, *sorted(stops), 40]
    parts = [(a, whole.take(np.arange(a, b))) for a, b in pairwise(edges)]
    sums = np.sum([sums_of(part, first) for first, part in parts], axis=0, dtype=np.uint64)
    assert digest_of_sums(whole.schema, [np.float64, np.int32], 40, sums) == digest_of(whole)


def test_of_any_change() -> None:
    whole = table()
    number, code, classes = whole.column(0).copy(), whole.column(1).copy(), whole.classes.copy()
    number[7] = np.nextafter(number[7], 9)
    code[7] = -1
    classes[7] = 1 - classes[7]
    swapped = np.arange(40)
    swapped[[4, 5]] = 5, 4
    others = [
        replace(whole, columns=[number, whole.column(1)]),
        replace(whole, columns=[whole.column(0), code]),
        replace(whole, classes=classes),
        replace(whole, weights=None),
        replace(whole, schema=Schema(whole.schema.attributes, ("k", "m"))),
        replace(whole, columns=[whole.column(0).astype(np.float32), whole.column(1)]),
        whole.take(swapped),
        whole.take(np.arange(39)),
    ]
    assert len({digest_of(whole), *map(digest_of, others)}) == 1 + len(others)


def test_ignored_columns_do_not_count() -> None:
    whole, ignored = table(), (replace(table().schema.attributes[0], kind="ignored"), table().schema.attributes[1])
    schema = Schema(ignored, whole.schema.classes)
    without = replace(whole, schema=schema, columns=[None, whole.column(1)])
    assert digest_of(replace(whole, schema=schema)) == digest_of(without) != digest_of(whole)


def test_weights_of_one_are_none() -> None:
    whole = table()
    assert digest_of(replace(whole, weights=np.ones(40))) == digest_of(replace(whole, weights=None))
