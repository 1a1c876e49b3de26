"""Groups of discrete values, each rule by itself on class weights that can be checked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.choose import Settings
from c45gpu.formulas import scale_bits_for, zero_bound
from c45gpu.grouping import GROUPS, ONE_VALUE, group_nodes, merge_pure_groups, start_groups
from c45gpu.induction.groups import room_for
from c45gpu.kernels.cpu_groups import group_nodes_compiled
from c45gpu.measures import CHI2, ENTROPY, GINI
from c45gpu.partition import Room, look_at

Rows = list[list[int]]


def settings_for(total: int, classes: int = 2, **given: Any) -> Settings:
    unit, bits = given.pop("case_units", 1), scale_bits_for(total)
    plain = Settings(True, classes, given.pop("min_cases", 2) * unit, 25 * unit, unit, bits, 2.0**bits, 0.0)
    return plain._replace(**given)


def found(tables: list[Rows], settings: Settings, way: int, weights: list[int], compiled: bool = False) -> Any:
    """Gain, split, whether it is possible, and the branches, of each table."""
    n_values, n_classes = len(tables[0]), len(tables[0][0])
    room, bound = room_for(n_classes, n_values), zero_bound(n_classes, n_values)
    out = (*np.zeros((2, len(tables)), np.int64), np.zeros(len(tables), np.bool_))
    branches = np.full((len(tables), n_values), 99, np.int32)
    if compiled:
        group_nodes_compiled(np.array(tables), np.array(weights), bound, way, settings, room, (*out, branches))
    else:
        room = Room(*(x.tolist() for x in room))
        group_nodes(tables, weights, bound, way, settings, room, (*out, branches))
    return [x.tolist() for x in (*out, branches)]


def branches_of(rows: Rows, way: int = GROUPS, unknown: int = 0, **given: Any) -> list[int] | None:
    """The branch of each value, None if there is no test."""
    weight = sum(map(sum, rows)) + unknown
    _, _, (possible,), (branches,) = found([rows], settings_for(weight, len(rows[0]), **given), way, [weight])
    return branches if possible else None


def test_values_of_one_class_share_a_branch() -> None:
    assert branches_of([[4, 0], [0, 3], [5, 0], [0, 6]]) == [0, 1, 0, 1]


def test_a_value_moves_into_the_place_of_one_that_was_merged() -> None:
    # a and b are of one class, so d, the last, takes the second place; three classes are worth three branches
    assert branches_of([[4, 0, 0], [4, 0, 0], [0, 5, 0], [0, 0, 9]]) == [0, 0, 2, 1]


def test_absent_values_get_a_branch_behind_the_groups() -> None:
    assert branches_of([[0, 0], [4, 0], [0, 0], [0, 4]]) == [2, 0, 2, 1]


def test_half_a_case_is_as_good_as_none_and_more_is_not() -> None:
    table = [[40, 0], [0, 5], [0, 40], [40, 0]]
    assert branches_of(table, case_units=10) == [0, 2, 1, 0]
    assert branches_of([*table[:1], [0, 6], *table[2:]], case_units=10) == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("rows", "merged"),
    [
        ([[40, 0], [31, 1], [0, 40]], [0, 0, 1]),  # a tenth of a case of another class does not count
        ([[31, 1], [40, 0], [0, 40]], [0, 0, 1]),
        ([[40, 0], [30, 2], [0, 40]], [0, 1, 2]),
        ([[0, 40], [1, 31], [40, 0]], [0, 0, 1]),
        ([[1, 31], [0, 40], [40, 0]], [0, 1, 2]),  # but for the first class that has a tenth the others do
        ([[40, 0], [0, 40], [40, 0], [0, 40], [20, 20]], [0, 1, 0, 1, 2]),
    ],
)
def test_groups_of_one_class_are_merged(rows: Rows, merged: list[int]) -> None:
    settings, room = settings_for(sum(map(sum, rows)), case_units=10), room_for(2, len(rows))
    branches = np.zeros(len(rows), np.int64)
    look_at(rows, sum(map(sum, rows)), 0, room, settings)
    n = start_groups(rows, room, branches, settings)
    assert n == len(rows)
    assert merge_pure_groups(n, room, branches, settings) == max(merged) + 1
    assert branches.tolist() == merged


def test_by_the_ratio_merging_ends_where_it_is_worth_no_more() -> None:
    table = [[9, 0, 0], [0, 9, 0], [0, 0, 9]]
    assert branches_of(table) == [0, 1, 2]
    assert branches_of(table, ratio=False) == [0, 1, 1]  # by the gain there are two groups in the end


def test_of_equals_the_last_pair_is_merged() -> None:
    # both pairs of neighbours make tests that mirror each other
    assert branches_of([[6, 2], [4, 4], [2, 6]], ratio=False) == [0, 1, 1]
    assert branches_of([[2, 6], [4, 4], [6, 2]], ratio=False) == [0, 1, 1]


def test_two_branches_must_have_the_least_weight() -> None:
    table = [[3, 0], [0, 1], [0, 1]]
    assert branches_of(table) == [0, 1, 1]
    assert branches_of(table, min_cases=3) is None


def test_while_groups_are_small_the_heaviest_one_is_left_alone() -> None:
    # only one group has 5 cases: pairs without it are merged, though b would go better with a
    assert branches_of([[10, 0], [4, 1], [1, 3]], min_cases=5) == [0, 1, 1]


def test_branches_too_light_for_leaves_are_not_possible() -> None:
    table = [[40, 0], [0, 40], [0, 4]]
    assert branches_of(table, case_units=10) == [0, 1, 2]
    assert branches_of(table, case_units=10, leaf_units=20) is None  # not even the branch of what hardly occurs


def test_a_test_that_tells_nothing_is_none() -> None:
    assert branches_of([[2, 2], [3, 3], [4, 4]]) is None


def test_the_branch_of_a_value_against_all_others() -> None:
    assert branches_of([[3, 3], [0, 6], [4, 2], [0, 0]], ONE_VALUE) == [1, 0, 1, 1]
    assert branches_of([[6, 0], [3, 3], [0, 6]], ONE_VALUE) == [0, 1, 1]  # of equals the first
    assert branches_of([[5, 0], [0, 1], [0, 0]], ONE_VALUE) is None


@pytest.mark.parametrize("way", [GROUPS, ONE_VALUE])
def test_split_information_is_that_of_the_branches_and_of_unknown_values(way: int) -> None:
    rows, unknown = [[8, 0], [0, 16], [0, 0]], 8
    settings = settings_for(32)
    (gain,), (split,), _, _ = found([rows], settings, way, [32])
    assert split == round((32 * 5 - 8 * 3 - 8 * 3 - 16 * 4) * settings.scale)
    assert gain / settings.scale == pytest.approx(24 * np.log2(24) - 8 * 3 - 16 * 4)
    assert sum(map(sum, rows)) + unknown == 32


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Rows], Settings, int, list[int]]:
    n_values, n_classes = draw(st.integers(3, 9)), draw(st.integers(2, 4))
    unit = draw(st.sampled_from([1, 10, 64]))
    weight = st.sampled_from([0, 0, 1, unit // 2, unit, 2 * unit, 5 * unit, 7 * unit + 1])
    row = st.lists(weight, min_size=n_classes, max_size=n_classes)
    tables = draw(st.lists(st.lists(row, min_size=n_values, max_size=n_values), min_size=1, max_size=3))
    weights = [max(2, sum(map(sum, table))) + draw(weight) for table in tables]
    given = {
        "ratio": draw(st.booleans()),
        "min_cases": draw(st.sampled_from([1, 2, 5])),
        "leaf_units": draw(st.sampled_from([0, 2 * unit])),
        "case_units": unit,
    }
    if not given["ratio"]:
        given["measure"] = draw(st.sampled_from([ENTROPY, GINI, CHI2]))
    return tables, settings_for(max(weights), n_classes, **given), draw(st.sampled_from([GROUPS, ONE_VALUE])), weights


@given(problems())
def test_compiled_code_says_the_same(problem: tuple[list[Rows], Settings, int, list[int]]) -> None:
    assert found(*problem, compiled=True) == found(*problem)
