"""Tests with many branches, each of which gets every case whose value is unknown: few instances exist at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.kernels import cpu_dividing, cpu_finishing, cpu_prune_divided
from c45gpu.kernels.cpu_finishing import LEVEL, Allowance, DepthFirst
from tests.kernels.seeded import on_cpu, same, three_codes, with_weights

pytestmark = pytest.mark.usefixtures("kernels")

CASES, BRANCHES = 2000, 60


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, int]]]:
    """Nodes of a few cases are finished; of all branches that are finished ahead, the cases and an arena's room."""
    monkeypatch.setattr(cpu_finishing, "FINISH_CASES", 100)
    monkeypatch.setattr(cpu_finishing, "WORKERS_SHARE", 1 << 40)
    monkeypatch.setattr(cpu_finishing, "ARENA", 0)  # so that arenas are as large as they came to be
    finish, seen = cpu_finishing.finish_branches, []

    def finish_and_look(lists: Any, units: Any, node: Any, roots: Any, *others: Any) -> Any:
        (memory, records), stop = finish(lists, units, node, roots, *others)
        seen.append((len(others[-2].branch) + int(roots[2].max()), len(memory.units)))
        return (memory, records), stop

    monkeypatch.setattr(cpu_finishing, "finish_branches", finish_and_look)
    return seen


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("n_values", [20, BRANCHES, 300])
def test_same_tree(rooms: list[tuple[int, int]], n_values: int, threads: int) -> None:
    table, options = three_codes(n_values, CASES), Options(min_cases=1)
    assert same(on_cpu(table, options, threads), train(table, options, "reference"))
    assert len(rooms) > 1


@pytest.mark.parametrize("options", [Options(criterion="gain"), Options(compat="r8"), Options(min_cases=30)], ids=str)
def test_same_tree_of_weighted_cases(rooms: list[tuple[int, int]], options: Options) -> None:
    table = with_weights(three_codes(BRANCHES, CASES), [0.3, 1, 4])
    assert same(on_cpu(table, options), train(table, options, "reference"))
    assert rooms


@pytest.mark.parametrize("level", [0.0, 8.0])
def test_some_branches_are_finished_and_some_are_not(
    rooms: list[tuple[int, int]], level: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, options = three_codes(BRANCHES, CASES), Options(min_cases=1)
    monkeypatch.setattr(cpu_finishing, "LEVEL", level)
    monkeypatch.setattr(cpu_finishing, "AHEAD", 0.0)
    assert same(on_cpu(table, options), train(table, options, "reference"))
    assert rooms


def test_a_level_has_few_instances(rooms: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    """All branches of the root together have 19 instances of a case."""
    paged, levels = cpu_dividing.paged_lists, []

    def make_and_look(n_lists: int, n_entries: int, word: Any) -> Any:
        levels.append(n_entries)
        return paged(n_lists, n_entries, word)

    monkeypatch.setattr(cpu_dividing, "paged_lists", make_and_look)
    tree = on_cpu(three_codes(BRANCHES, CASES), Options(min_cases=1, prune="none")).unpruned
    assert len(tree.branches(0)) == BRANCHES
    assert levels
    assert max(levels) <= LEVEL * CASES


def test_an_arena_has_few_instances(rooms: list[tuple[int, int]]) -> None:
    """Not those of all branches of a node below: when more room is needed, it is doubled."""
    on_cpu(three_codes(BRANCHES, CASES), Options(min_cases=1, prune="none"))
    assert max(room / cases for cases, room in rooms) < 6


@pytest.mark.parametrize("step", ["note_groups", "send_groups"])
def test_few_instances_exist_while_pruning(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_prune_divided, "HELD_AT_LEAST", 0)
    monkeypatch.setattr(cpu_prune_divided, "ARENA", 1)
    table, options, rooms = three_codes(BRANCHES, CASES), Options(min_cases=1, confidence=0.9), []
    send = getattr(cpu_prune_divided, step)

    def send_and_look(*given: Any) -> Any:
        arena, *found = send(*given)
        rooms.append(len(arena[0]))
        return arena, *found

    monkeypatch.setattr(cpu_prune_divided, step, send_and_look)
    assert same(on_cpu(table, options), train(table, options, "reference"))
    assert 2 * CASES <= max(rooms) <= 4 * CASES  # all branches of the root have 19


# ---------------------------------------------------------------- which branches
def depth_first(n_cases: int = 1000, most: int = 100, workers: int = 2) -> DepthFirst:
    """What chooses, without a table."""
    chooser = DepthFirst.__new__(DepthFirst)
    chooser._n_cases, chooser.most, chooser._workers = n_cases, most, workers
    return chooser


def ahead(chooser: DepthFirst, count: list[int], branches: list[tuple[int, int]]) -> list[bool]:
    split, rows = np.array(branches).T
    found: list[bool] = chooser.ahead(np.array(count), split, rows).tolist()
    return found


def test_levels_that_are_small_enough_are_written() -> None:
    assert not any(ahead(depth_first(), [500], [(0, 300), (0, 300), (0, 300), (0, 300), (0, 300)]))
    assert ahead(depth_first(), [500], [(0, 220)] * 8) == [True] * 8
    assert not any(ahead(depth_first(most=0), [500], [(0, 220)] * 8))  # where nodes must not be finished


def test_only_branches_of_nodes_that_have_many_times_the_cases() -> None:
    branches = [(0, 600), (0, 500), (1, 200), (1, 200), (1, 200), (1, 200)]
    assert ahead(depth_first(), [1000, 300], branches) == [False] * 2 + [True] * 4


def test_large_branches_are_written_as_far_as_there_is_room() -> None:
    branches = [(0, 260), (0, 800), (0, 900), (0, 30), (0, 700)]
    assert ahead(depth_first(), [1000], branches) == [False, False, True, True, True]


def test_groups_are_of_one_node_and_a_third_of_what_is_unknown() -> None:
    groups = depth_first().groups(
        np.array([0, 0, 0, 0, 0, 1, 1]), np.array([20, 10, 50, 5, 5, 5, 5]), np.array([90, 60])
    )
    assert groups == [slice(0, 2), slice(2, 3), slice(3, 5), slice(5, 7)]


def test_workers_wait_for_others() -> None:
    allowance, seen = Allowance(10), []
    with allowance.taken(25):  # alone it may be any number
        seen.append(allowance._taken)
    with allowance.taken(4), allowance.taken(6):
        seen.append(allowance._taken)
    with pytest.raises(ValueError, match="broken"), allowance.taken(3):
        raise ValueError("broken")
    assert [*seen, allowance._taken] == [25, 10, 0]
