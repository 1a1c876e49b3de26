"""The order of classes and rules, the default class, and dropping, by hand."""

from __future__ import annotations

import numpy as np

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.kernels.cover import ReferenceCover, packed, weighed_cases
from c45gpu.rules.cases import RuleCases
from c45gpu.rules.order import RulesInUse, default_class, in_class_order
from c45gpu.rules.rule import Condition, Rule

CLASSES = np.array([0, 0, 0, 0, 1, 2, 1, 1, 1, 2], np.int32)
SCHEMA = Schema((Attribute("x", "continuous"),), ("k", "l", "m"))


def bits_of(*groups: list[int]) -> np.ndarray:
    return np.stack([packed(np.isin(np.arange(len(CLASSES)), group)) for group in groups])


def a_rule(number: int, label: int, error: float) -> Rule:
    return Rule(number, (Condition(0, ">", float(number)),), label, error, 1, 0)


def in_use(labels: list[int], default: int, *groups: list[int]) -> RulesInUse:
    units = np.ones(len(CLASSES), np.int64)
    return RulesInUse(np.array(labels, np.int64), default, bits_of(*groups), CLASSES, units, 3)


def test_classes_by_what_they_get_wrong_among_what_is_left() -> None:
    table = Table(SCHEMA, [np.arange(10.0)], CLASSES)
    cases = RuleCases(table, np.ones(10, np.int64), 0)
    chosen = [[a_rule(1, 0, 0.3)], [a_rule(2, 1, 0.2), a_rule(3, 1, 0.1), a_rule(4, 1, 0.2)], [a_rule(5, 2, 0.05)]]
    # class 1 is wrong about 0, 1 and 2, which class 0 has covered; class 2 is wrong about 6
    bitmaps = [bits_of([0, 1, 2, 3]), bits_of([0, 1], [2, 4], [7]), bits_of([5, 6])]
    rules, ordered = in_class_order(chosen, bitmaps, cases, ReferenceCover(weighed_cases(table, cases.units)))
    assert [rule.number for rule in rules] == [1, 3, 2, 4, 5]
    assert ordered.tolist() == bits_of([0, 1, 2, 3], [2, 4], [0, 1], [7], [5, 6]).tolist()


def test_default_class() -> None:
    assert default_class(np.array([1, 3, 2]), np.array([9, 3, 2])) == 1
    assert default_class(np.array([1, 3, 3]), np.array([9, 3, 4])) == 2  # of equals the more frequent
    assert default_class(np.array([2, 2, 2]), np.array([3, 3, 3])) == 0


def test_better_and_worse_by_hand() -> None:
    # rule 0 says k of 0-4 (wrong: 4), rule 1 says l of 3-6 (wrong: 3, 5), otherwise m
    use = in_use([0, 1], 2, [0, 1, 2, 3, 4], [3, 4, 5, 6]).use()
    assert use.first.tolist() == [0, 0, 0, 0, 0, 1, 1, -1, -1, -1]
    assert (use.used.tolist(), use.wrong.tolist()) == ([5, 2], [1, 1])
    assert (use.better.tolist(), use.worse.tolist()) == ([4, 1], [1, 1])  # m would be right about 5
    assert use.confusion.tolist() == [[4, 0, 0], [1, 1, 2], [0, 1, 1]]


def test_a_dropped_rule_is_as_if_it_had_never_been() -> None:
    groups = [[0, 1, 2, 3, 4], [3, 4, 5, 6], [2, 3, 9], [1, 6, 8]]
    some = in_use([0, 1, 2, 1], 2, *groups)
    some.drop(1)
    some.drop(0)
    left = in_use([2, 1], 2, *groups[2:])
    as_left = np.array([-1, -1, 0, 1, -1])[some.first]  # rules 2 and 3 are 0 and 1 there
    assert as_left.tolist() == left.first.tolist()
    assert np.array([-1, -1, 0, 1, -1])[some.second].tolist() == left.second.tolist()
    assert some.use().confusion.tolist() == left.use().confusion.tolist()
    assert some.use().better.tolist()[2:] == left.use().better.tolist()
