"""The plan of device memory: what fits, what does not, and that the tree does not depend on it."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.data.table import Table
from c45gpu.errors import MemoryPlanError
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.progress import Progress
from c45gpu.induction.prune import pruned
from c45gpu.induction.train import train
from c45gpu.kernels import cuda_loading
from c45gpu.kernels.cpu_plan import PRUNING, instances_of_case
from c45gpu.kernels.cuda import CudaEngine
from c45gpu.kernels.cuda_device import Device, Sizes
from c45gpu.kernels.cuda_plan import Needs, cases_that_fit, lists_that_fit, needs_of, plan, planned, smallest
from c45gpu.kernels.cuda_prune import placement_bytes
from c45gpu.kernels.cuda_sort import build_columns
from tests.cuda_emulator import Emulation
from tests.kernels import seeded
from tests.kernels.cuda_gate import table
from tests.kernels.cuda_here import SMALL, EmulatedLauncher

GIGABYTE = 10**9
HIGGS = Needs(
    n_cases=11_000_000,
    n_classes=2,
    n_lists=28,
    word_bytes=4,
    code_bytes=0,
    divided=False,
    n_attributes=28,
    value_bytes=4,
)


def test_all_lists_at_a_time_where_there_is_room() -> None:
    assert planned(HIGGS, 100 * GIGABYTE, Sizes()).lists_at_a_time >= 28
    assert planned(HIGGS, 100 * GIGABYTE, Sizes()).histogram_bytes == Sizes().histogram_bytes


def test_fewer_lists_where_there_is_less() -> None:
    counts = [planned(HIGGS, tenths * GIGABYTE // 10, Sizes()).lists_at_a_time for tenths in (8, 10, 12, 16)]
    assert counts == sorted(set(counts))
    assert 1 <= counts[0] < counts[-1] < 28


def test_lists_take_what_is_there_and_no_more() -> None:
    for free in range(6 * 10**8, 3 * GIGABYTE, 10**8):
        sizes = planned(HIGGS, free, Sizes())
        moving = sizes.lists_at_a_time * HIGGS.of_moving_a_list(sizes.tile)
        there, turns = HIGGS.of_cases() + HIGGS.of_tiles(sizes), sizes.histogram_bytes + HIGGS.of_records(sizes)
        assert there + turns + moving <= free
        one_more = HIGGS.of_moving_a_list(sizes.tile)
        assert 1.1 * (there + moving + one_more) + turns > free


def test_too_little_is_refused() -> None:
    with pytest.raises(MemoryPlanError, match=r"MB of device memory beside the lists and 100 MB are free"):
        planned(HIGGS, GIGABYTE // 10, Sizes())
    weighted = HIGGS._replace(divided=True)
    assert planned(HIGGS, 6 * 10**8, Sizes()).lists_at_a_time >= 1
    with pytest.raises(MemoryPlanError, match="engine='cpu'"):
        planned(weighted, 6 * 10**8, Sizes())


def test_parts_of_a_plan() -> None:
    parts = {part.name: part.n_bytes for part in plan(HIGGS, Sizes(), 3).parts}
    assert parts["lists"] == 28 * 11_000_000 * 4
    assert parts["classes"] == 2 * 11_000_000
    assert parts["lists that move"] == 3 * HIGGS.of_moving_a_list(Sizes().tile)
    assert parts["tiles of lists"] == HIGGS.of_tiles(Sizes()) == 28 * 9549 * 16
    assert parts["a column and its order"] == 11_000_000 * 32
    assert "codes" not in parts
    assert plan(HIGGS, Sizes(), 100) == plan(HIGGS, Sizes(), 28)


def test_histograms_and_small_nodes_take_turns() -> None:
    parts = {part.name: part.n_bytes for part in plan(HIGGS, Sizes(), 3).parts}
    assert 0 < parts["histograms, small nodes"] <= Sizes().histogram_bytes
    assert "histograms, small nodes" not in {part.name for part in plan(HIGGS, Sizes(finish_cases=0), 3).parts}
    assert HIGGS.of_finishing(Sizes()) > HIGGS._replace(n_cases=500).of_finishing(Sizes()) > 0
    few = HIGGS._replace(n_cases=1000)
    assert few._replace(divided=True).of_finishing(Sizes()) > few.of_finishing(Sizes())  # numbers are wide


def test_pruning_is_planned_where_cases_are_placed() -> None:
    """Codes of one byte become values of four, so a table of codes may need more to be pruned than to grow."""
    assert plan(HIGGS, Sizes(), 28).of_stage(PRUNING) == 2 * HIGGS.n_cases  # the classes
    pruned = HIGGS._replace(placed=True)
    assert pruned.of_pruning() == placement_bytes(HIGGS.n_cases, 28, 4)
    assert plan(pruned, Sizes(), 28).of_stage(PRUNING) == 2 * HIGGS.n_cases + pruned.of_pruning()
    assert pruned._replace(value_bytes=8).of_pruning() == placement_bytes(HIGGS.n_cases, 28, 8)
    divided = pruned._replace(divided=True, unknown=0.05)
    assert divided.of_pruning() == placement_bytes(
        HIGGS.n_cases, 28, 4, True, int(HIGGS.n_cases * instances_of_case(0.05))
    )
    codes = HIGGS._replace(n_lists=0, code_bytes=28, n_codes=56)
    assert smallest(codes._replace(placed=True), Sizes()) > 1.5 * smallest(codes, Sizes())


@pytest.mark.parametrize("options", [Options(), Options(prune="pep")])
def test_needs_say_whether_cases_are_placed(options: Options) -> None:
    needs = needs_of(pose(seeded.with_unknown(seeded.mixed(0, 600), 0.1), options), Sizes())
    assert needs.placed == (options.prune == "ebp")
    assert 0.05 < needs.unknown < 0.15


def test_9_bytes_an_entry_at_most() -> None:
    """Of the goal in bytes that stay, lists on both levels, the instances and the counts of tiles take up these."""
    memory = plan(HIGGS, Sizes(), 28)
    kept = [
        part.n_bytes
        for part in memory.parts
        if part.name in ("lists", "classes", "instances", "tiles of lists", "lists that move")
    ]
    assert sum(kept) < 9 * HIGGS.n_entries


def test_cases_that_fit_are_the_most() -> None:
    for free in (GIGABYTE // 2, GIGABYTE):
        most = cases_that_fit(HIGGS, free, Sizes())
        assert smallest(HIGGS._replace(n_cases=most), Sizes()) <= free
        assert smallest(HIGGS._replace(n_cases=most + 1), Sizes()) > free


def test_lists_at_a_time_before_anything_is_there() -> None:
    fits = [lists_that_fit(HIGGS, tenths * GIGABYTE // 10, Sizes()) for tenths in (19, 22, 25, 40)]
    assert fits == sorted(set(fits))
    assert 1 <= fits[0] < fits[-1] == 28


@pytest.mark.parametrize("wide", [False, True])
def test_needs_are_those_of_the_columns_that_are_built(wide: bool) -> None:
    """On all cases, where the sample is the column itself."""
    cases = seeded.mixed(0, 600, 3, np.float64 if wide else np.float32)
    problem = pose(cases, Options())
    device = Device(Emulation(0).xp, EmulatedLauncher(Emulation(0)), Sizes())
    columns = build_columns(device, problem, device.up(problem.table.classes.astype(np.uint16)))
    found = needs_of(problem, Sizes())
    assert found.n_lists == len(columns.counts) == 2
    assert found.code_bytes == columns.codes.codes.nbytes // 600
    assert found.of_lists() == sum(chunk.entries.nbytes for chunk in columns.chunks)
    assert (found.value_bytes, found.divided, found.near) == (8 if wide else 4, False, False)


def test_what_does_not_fit_is_refused_before_anything_is_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(cuda_loading, "build_columns")
    gpu = Emulation(0)
    engine = CudaEngine(gpu.xp, EmulatedLauncher(gpu), SMALL, free=lambda: 20_000)
    cases = seeded.mixed(0, 600)
    fitting = cases_that_fit(needs_of(pose(cases, Options()), SMALL), 20_000, SMALL)
    with pytest.raises(MemoryPlanError, match=rf"20 kB are free: about {fitting} cases would fit; train on a sample"):
        train(cases, engine=engine)


def test_the_tree_does_not_depend_on_it() -> None:
    cases, launches = table(60, 2, 3, 0.2), []
    expected = train(cases, engine="reference")
    for left in (40_000, 10_000):
        gpu, free = Emulation(0, checks=False), iter([40_000, left])
        engine = CudaEngine(gpu.xp, EmulatedLauncher(gpu), SMALL, free=partial(next, free))
        found = train(cases, engine=engine)
        assert found.unpruned.equals(expected.unpruned)
        assert found.pruned.equals(expected.pruned)
        launches.append(len(gpu.launches))
    assert launches[0] < launches[1]


class OutOfMemoryError(MemoryError):
    """As CuPy's."""


class Scarce:
    """An array module in which allocations fail: one by its number, or all of entries or of rows that are too many.

    Rows are of int32; the first exempt ones may have any number.
    """

    MAKERS = frozenset({"arange", "concatenate", "cumsum", "empty", "full", "ones", "zeros"})

    def __init__(self, xp: Any, number: int, most_entries: int) -> None:
        self._xp, self.number, self.most_entries = xp, number, most_entries
        self.most_rows, self.exempt = 1 << 40, 0
        self.allocations = 0

    def __getattr__(self, name: str) -> Any:
        made = getattr(self._xp, name)
        return partial(self._allocated, name, made) if name in self.MAKERS else made

    def _allocated(self, name: str, make: Any, *arguments: Any, **options: Any) -> Any:
        array = make(*arguments, **options)
        self.allocations += array.nbytes > 0
        too_many = array.dtype == np.uint32 and len(array) > self.most_entries
        if name == "empty" and array.dtype == np.int32 and len(array) > self.most_rows:
            self.exempt -= 1
            too_many = self.exempt < 0
        if too_many or (self.allocations == self.number and array.nbytes):
            raise OutOfMemoryError(f"{array.nbytes} bytes")
        return array


def scarce_engine(number: int = 0, most_entries: int = 1 << 40) -> tuple[CudaEngine, Scarce, Any]:
    gpu = Emulation(0, checks=False)
    scarce = Scarce(gpu.xp, number, most_entries)
    sizes = SMALL._replace(histogram_bytes=1 << 22)
    return CudaEngine(scarce, EmulatedLauncher(gpu), sizes), scarce, gpu.xp.get_default_memory_pool()


@pytest.fixture(scope="module")
def long_columns() -> Table:
    """Five lists and two columns of codes, with unknown values."""
    random, n = np.random.default_rng(1), 70
    columns = [random.random(n).astype(np.float32) for _ in range(5)] + [random.integers(0, 3, n) for _ in range(2)]
    classes = (columns[0] + columns[3] > 1) ^ (columns[5] == 1) ^ (random.random(n) < 0.1)
    columns[2][::9] = np.nan
    return seeded.table_of([*columns[:5], *((codes, 3) for codes in columns[5:])], classes.astype(np.int32), 2)


def test_one_allocation_that_fails(long_columns: Table) -> None:
    """Wherever it is, the step is run again in smaller chunks, and the tree is the same."""
    options = Options(prune="none")
    expected = train(long_columns, options, "reference").unpruned
    engine, whole, pool = scarce_engine()
    assert train(long_columns, options, engine).unpruned.equals(expected)
    assert pool.released == 0
    for number in range(1, whole.allocations, 11):
        engine, scarce, pool = scarce_engine(number)
        assert train(long_columns, options, engine).unpruned.equals(expected), number
        assert pool.released == 1, number
        assert scarce.allocations > whole.allocations


def test_chunks_are_small_where_lists_are_long(long_columns: Table) -> None:
    engine, _, pool = scarce_engine(most_entries=3 * 70)
    expected = train(long_columns, Options(prune="none"), "reference").unpruned
    assert train(long_columns, Options(prune="none"), engine).unpruned.equals(expected)
    assert pool.released == 1


def test_chunks_are_halved_while_a_tree_grows(long_columns: Table) -> None:
    """After the first level, lists of 70 entries are too much three at a time."""
    engine, scarce, pool = scarce_engine()
    levels = []

    def less(level: Progress) -> None:
        levels.append(level.depth)
        scarce.most_entries = 60

    expected = train(long_columns, Options(prune="none"), "reference").unpruned
    assert train(long_columns, Options(prune="none"), engine, less).unpruned.equals(expected)
    assert len(levels) > 2
    assert pool.released > 1


def test_memory_that_runs_out_in_the_smallest_chunks_is_said(long_columns: Table) -> None:
    engine, _, pool = scarce_engine(most_entries=30)
    with pytest.raises(MemoryPlanError, match="moved one at a time: take fewer cases or attributes"):
        train(long_columns, engine=engine)
    assert pool.released > 2


@pytest.fixture(scope="module")
def raised() -> Table:
    """Cases whose tree is raised and cut at several depths."""
    return seeded.mixed(4, 150)


@pytest.mark.parametrize("unknown", [0.0, 0.1])
def test_one_allocation_that_fails_while_pruning(unknown: float) -> None:
    """Wherever it is, the step is run again, and the pruned tree is the same; memory for instances comes in threes."""
    cases = seeded.with_unknown(seeded.mixed(4, 50), unknown)
    options = Options(min_cases=1)
    problem, expected = pose(cases, options), train(cases, options, "reference")
    assert not expected.pruned.equals(expected.unpruned)
    counts = []
    for number in itertools.chain([0], range(1, 1 << 30, 3)):
        engine, scarce, pool = scarce_engine()
        engine.load(problem)
        scarce.allocations, scarce.number = 0, number
        assert pruned(expected.unpruned, engine, problem, options).equals(expected.pruned), number
        counts.append(scarce.allocations)
        assert pool.released == (0 < number <= counts[0]), number
        if number > counts[0]:
            break
    assert len(counts) > 5


def test_pairs_are_tried_in_chunks_that_fit() -> None:
    """The pairs of one question are too many, though each of them fits."""
    options, cases = Options(min_cases=1), seeded.mixed(6, 300)
    problem, expected = pose(cases, options), train(cases, options, "reference")
    engine, scarce, pool = scarce_engine()
    engine.load(problem)
    scarce.most_rows, scarce.exempt = 114, 2  # the cases and the leaves, where all are sent from the root
    assert pruned(expected.unpruned, engine, problem, options).equals(expected.pruned)
    assert pool.released == 1


def test_memory_that_runs_out_while_pruning_is_said(raised: Table) -> None:
    options = Options(min_cases=1)
    problem = pose(raised, options)
    engine, scarce, pool = scarce_engine()
    engine.load(problem)
    scarce.most_rows = 75
    with pytest.raises(MemoryPlanError, match="while pruning, though branches were tried one at a time"):
        pruned(train(raised, options, "reference").unpruned, engine, problem, options)
    assert pool.released == 2
