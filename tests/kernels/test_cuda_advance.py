"""Levels that the CUDA engine takes by itself: one transfer each, whatever has to be fetched, and the same trees."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any
from unittest import mock

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.dask import below
from c45gpu.dask.below import grown_below
from c45gpu.data.table import Table
from c45gpu.induction.grow import Grower
from c45gpu.induction.grown import grown_by
from c45gpu.induction.later import _first
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.progress import Progress
from c45gpu.induction.train import train
from c45gpu.kernels import cuda_advance
from c45gpu.kernels.cuda import CudaEngine
from c45gpu.kernels.cuda_device import Sizes
from c45gpu.kernels.level import Subtrees
from c45gpu.kernels.level_engine import LevelEngine
from c45gpu.kernels.reference import ReferenceEngine
from tests.kernels.cuda_gate import rarely_unknown, table
from tests.kernels.cuda_here import SMALL, emulated_engine

OPTIONS = Options(min_cases=1)
FINISHING = SMALL._replace(finish_cases=20, histogram_bytes=1 << 20)


def transfers_of(cases: Table, sizes: Sizes, options: Options = OPTIONS) -> list[int]:
    """The transfers of each level after the first, of a tree that is the reference engine's."""
    engine, seen = emulated_engine(sizes, checks=False), list[int]()

    def note(level: Progress) -> None:
        engine.distinct(0), engine.distinct(1)  # fetched once, whenever they are asked for
        seen.append(engine.work.transfers)

    found, expected = train(cases, options, engine, note), train(cases, options, "reference")
    assert found.unpruned.equals(expected.unpruned)
    assert found.pruned.equals(expected.pruned)
    return [b - a for a, b in pairwise(seen)]


@pytest.mark.parametrize("unknown", [0.0, 0.2])
@pytest.mark.parametrize("sizes", [SMALL, FINISHING], ids=["level by level", "small nodes finished"])
def test_a_level_takes_one_transfer(unknown: float, sizes: Sizes) -> None:
    found = transfers_of(table(90, 3, 4, unknown), sizes)
    assert len(found) > 1
    assert set(found) == {1}


def test_a_level_takes_two_where_the_host_has_a_say() -> None:
    assert set(transfers_of(table(60, 3, 4, 0.0), SMALL, Options(min_cases=1, max_features=2))) == {2}


def test_a_level_takes_two_where_unknown_values_meet_many_branches() -> None:
    assert set(transfers_of(table(60, 3, 4, 0.2), SMALL._replace(few=3))) == {2}
    assert set(transfers_of(table(60, 3, 4, 0.0), SMALL._replace(few=3))) == {1}


@pytest.mark.parametrize("unknown", [0.0, 0.2])
def test_a_level_takes_two_where_slots_have_no_room(unknown: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_advance, "SLOT_BYTES", 0)
    assert set(transfers_of(table(60, 3, 4, unknown), SMALL)) == {2}


@pytest.mark.parametrize("unknown", [0.0, 0.2])
def test_slots_that_come_with_another_transfer(unknown: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_advance, "SLOTS_OF_NODE", 1)
    monkeypatch.setattr(cuda_advance, "MORE_BYTES", 100)
    assert set(transfers_of(table(90, 3, 5, unknown), SMALL)) == {1, 2}


@pytest.mark.parametrize(("unknown", "n_bytes"), [(0.0, 10_000), (0.2, 14_000)])
def test_what_small_nodes_there_is_no_memory_for_costs_a_transfer(unknown: float, n_bytes: int) -> None:
    """There is some for a few at a time, and for their records."""
    cases = table(120, 2, 4, unknown)
    assert transfers_of(cases, FINISHING._replace(histogram_bytes=n_bytes, finish_cases=30))[-1] > 1


@pytest.mark.parametrize("batch_bytes", [1, 2000])
def test_nodes_are_chosen_for_in_batches(batch_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_advance, "BATCH_BYTES", batch_bytes)
    assert set(transfers_of(table(90, 3, 4, 0.1), SMALL)) == {1}


def crowded(sizes: Sizes) -> tuple[CudaEngine, list[list[int]]]:
    """An engine in whose blocks no node with unknown values fits, and the records of those that were tried."""
    seen: list[list[int]] = []
    engine = emulated_engine(sizes, checks=False)
    begin = cuda_advance.Finisher.begin

    def cramped(self: Any, *arguments: Any) -> Any:
        running = begin(self, *arguments)
        if running.may_fail:
            running.rows[::2] = 0  # as the kernel says it
            seen.append(np.array(running.rows).tolist())
        return running

    engine.__dict__["_crowd"] = mock.patch.object(cuda_advance.Finisher, "begin", cramped)
    return engine, seen


def test_nodes_that_do_not_fit_a_block_go_on_with_the_level() -> None:
    cases = table(90, 2, 4, 0.2)
    engine, seen = crowded(FINISHING)
    expected = train(cases, OPTIONS, "reference")
    with engine.__dict__.pop("_crowd"):
        assert train(cases, OPTIONS, engine).unpruned.equals(expected.unpruned)
    assert any(rows[0] == 0 for rows in seen)
    assert any(any(rows) for rows in seen)


def test_cases_with_an_unknown_code_are_told_from_whole_ones() -> None:
    some = rarely_unknown(table(90, 3, 4, 0.0), [(2, 3), (3, 17), (2, 40)])
    for seed in range(3):
        engine = emulated_engine(FINISHING, seed)
        assert train(some, OPTIONS, engine).unpruned.equals(train(some, OPTIONS, "reference").unpruned)


def shrinking(run: Callable[[CudaEngine], Any], fails: tuple[str, ...]) -> None:
    """Run with an engine that is out of memory the first time that each of these kernels starts."""
    engine, left = emulated_engine(FINISHING._replace(histogram_bytes=1 << 30), checks=False), set(fails)
    launch = engine.__dict__["_device"].launch

    def failing(kernel: Any, *arguments: Any, **options: Any) -> None:
        if kernel.__name__ in left:
            left.remove(kernel.__name__)
            raise MemoryError
        launch(kernel, *arguments, **options)

    with mock.patch.object(engine.__dict__["_device"], "launch", failing):
        run(engine)
    assert not left


@pytest.mark.parametrize("unknown", [0.0, 0.2])
def test_a_level_begins_again_when_memory_runs_out(unknown: float) -> None:
    cases = table(90, 2, 4, unknown)
    expected = train(cases, OPTIONS, "reference").unpruned
    kernels = ("mark_codes", "count_entries", "move_entries", "score_codes")

    def same(engine: CudaEngine) -> None:
        assert train(cases, OPTIONS, engine).unpruned.equals(expected)

    shrinking(same, (*kernels, "finish_divided", "share_unknown") if unknown else (*kernels, "finish"))


@pytest.mark.parametrize("unknown", [0.0, 0.2])
@pytest.mark.parametrize("finish", [0, 20])
def test_a_host_that_asks_for_candidates_gets_the_same(
    unknown: float, finish: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small nodes are finished at once then; so they are where the engine takes levels by itself, on a cluster."""
    problem, sizes = pose(table(60, 3, 4, unknown), OPTIONS), FINISHING._replace(finish_cases=finish)
    expected = leaves_of(grown_below(ReferenceEngine(), problem, np.array([60])))
    assert leaves_of(grown_below(emulated_engine(sizes), problem, np.array([60]))) == expected
    monkeypatch.setattr(below, "LevelEngine", Nobody)
    assert leaves_of(grown_below(emulated_engine(sizes), problem, np.array([60]))) == expected


class Nobody:
    """No engine is one."""


def leaves_of(grown: Any) -> list[tuple[Any, ...]]:
    """The leaves with their paths, in order."""
    paths: dict[int, tuple[Any, ...]] = {}
    rows = zip(grown.parent, grown.branch, grown.attribute, grown.low, grown.high, strict=True)
    for row, (parent, branch, attribute, low, high) in enumerate(rows):
        test = (int(attribute), float(np.nan_to_num(low)), float(np.nan_to_num(high)))
        paths[row] = (*paths.get(int(parent), ()), int(branch), *test)
    return sorted((*paths[row], *map(int, grown.class_weights[row])) for row in range(len(grown.parent)))


def test_subtrees_of_a_level_that_was_interrupted_are_left_out() -> None:
    def rows(*numbers: int) -> Any:
        return np.array(numbers, np.int64)

    parent = rows(-1, 0, 0, -3, 3, 3, -2, 6, 6)
    subtrees = Subtrees(parent, *(10 * k + np.arange(9) for k in range(1, 5)), np.arange(9)[:, None])
    kept = _first(subtrees, 2)
    assert kept.parent.tolist() == [-1, 0, 0, -2, 3, 3]
    assert kept.class_weights[:, 0].tolist() == [0, 1, 2, 6, 7, 8]
    assert kept.above.tolist() == [40, 41, 42, 46, 47, 48]
    assert _first(subtrees, 3) is subtrees


@pytest.mark.parametrize("unknown", [0.0, 0.2])
def test_the_tree_is_whole_whenever_it_is_asked_for(unknown: float) -> None:
    problem = pose(table(90, 2, 4, unknown), OPTIONS)
    engine, reference = emulated_engine(FINISHING, checks=False), Grower(ReferenceEngine(), problem)
    assert isinstance(engine, LevelEngine)
    grower, cuts = Grower(engine, problem), list[int]()
    for _ in grower:
        nodes = grower.growing.nodes
        is_cut = np.isin(nodes["attribute"], [0, 1])
        cuts.append(int(is_cut.sum()))
        assert np.isfinite(nodes["threshold"][is_cut]).all()
        assert grower.n_nodes == grower.growing.n_nodes
    assert 0 <= cuts[0] < cuts[-1]  # some are in subtrees that were finished
    for _ in reference:
        continue
    assert grower.tree.equals(reference.tree)


def test_a_run_is_kept_when_it_is_interrupted_after_a_checkpoint() -> None:
    """What was told for the checkpoint is not taken for a level that is half done."""
    problem, checkpoint, kept = pose(table(90, 2, 4, 0.0), OPTIONS), mock.Mock(), list[int]()
    checkpoint.offer.side_effect = lambda grower: grower.kept()
    checkpoint.keep.side_effect = lambda grower: kept.append(grower.n_nodes)
    levels: list[int] = []

    def stop(step: Progress) -> None:
        levels.append(step.nodes)
        if len(levels) == 2:
            raise KeyboardInterrupt

    engine = emulated_engine(FINISHING, checks=False)
    with pytest.raises(KeyboardInterrupt):
        grown_by(lambda: Grower(engine, problem), mock.Mock(grown=stop), checkpoint)
    assert len(kept) == 1
    assert kept[0] > levels[1]  # subtrees of small nodes came with the checkpoint


def test_an_interrupted_run_keeps_what_is_known() -> None:
    """The engine has done a level that the tree has not got; the checkpoint goes on without it."""
    problem = pose(table(90, 2, 4, 0.0), OPTIONS)
    engine = emulated_engine(FINISHING, checks=False)
    grower = Grower(engine, problem)
    steps = iter(grower)
    next(steps)
    engine.grow_level()  # and nobody noted what it did
    kept = grower.kept()
    reference = Grower(ReferenceEngine(), problem)
    next(iter(reference))
    expected = reference.kept()
    assert kept.arrays.keys() == expected.arrays.keys()
    for name, array in expected.arrays.items():
        assert np.array_equal(kept.arrays[name], array, equal_nan=array.dtype.kind == "f"), name
