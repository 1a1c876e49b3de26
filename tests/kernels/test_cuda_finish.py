"""Small nodes that blocks finish get the reference engine's subtrees, byte for byte."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.data.c45files import read_stem
from c45gpu.data.frames import read_file
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.grow import Grower
from c45gpu.induction.options import Criterion, CutPoints, Options
from c45gpu.induction.problem import pose
from c45gpu.induction.progress import Progress
from c45gpu.induction.train import train
from c45gpu.kernels import cuda_finish_divided
from c45gpu.kernels.cuda import CudaEngine
from c45gpu.kernels.cuda_device import Done, Sizes
from c45gpu.kernels.cuda_finish import Growing, finish
from c45gpu.kernels.cuda_finish_divided import finish_divided
from c45gpu.kernels.cuda_finish_plan import SHARED_CELLS, plan
from c45gpu.kernels.level import Candidates
from c45gpu.kernels.reference import ReferenceEngine
from tests.cuda_emulator import Emulation
from tests.kernels import cuda_memory, seeded
from tests.kernels.cuda_gate import rarely_unknown, table
from tests.kernels.cuda_here import SMALL, EmulatedLauncher, emulated_engine
from tests.kernels.seeded import table_of
from tests.kernels.test_cuda_engine import TILES, fan, same_tree
from tests.kernels.test_cuda_measures import TABLES as SCORED
from tests.kernels.test_cuda_measures import assert_same_scores
from tests.strategies import Asked, Sample, asked, larger_samples, samples

GOLDEN = Path(__file__).parents[2].parent / "shared" / "golden" / "sets"
LIMITS = (1, 4, 50, Sizes().finish_cases)
ROOM = 1 << 14  # bytes for a few small nodes together, so that there are several batches


def ungrouped(options: Options) -> Options:
    """The options without groups of values, which the host finds for every node."""
    return replace(options, group_values=False, binary_splits=False)


def complete(table: Table) -> Table:
    """The cases, and their unknown values known."""
    columns: list[Any] = [None] * len(table.schema.attributes)
    for a in table.schema.used:
        column = table.column(a)
        columns[a] = np.where(column < 0, 0, column) if column.dtype.kind == "i" else np.nan_to_num(column)
    return Table(table.schema, columns, table.classes, table.weights)


@st.composite
def cuts(draw: st.DrawFn) -> Sizes:
    """Any way to cut the work, and any limit."""
    return SMALL._replace(
        threads=draw(st.sampled_from([4, 3, 2, 1, 32])),
        tile=draw(st.sampled_from(TILES)),
        most_ranks=draw(st.sampled_from([1, 3, 256])),
        lists_at_a_time=draw(st.sampled_from([1, 2, 1 << 30])),
        histogram_bytes=draw(st.sampled_from([1 << 24, ROOM])),
        finish_cases=draw(st.sampled_from([50, 6, 1024])),
    )


@settings(max_examples=40)
@given(sample=samples(), whole=st.booleans(), question=asked(), cut=cuts(), seed=st.integers(0, 99))
def test_small_tables(sample: Sample, whole: bool, question: Asked, cut: Sizes, seed: int) -> None:
    cases = complete(sample.table) if whole else sample.table
    same_tree(cases, ungrouped(question.options), cut, seed)


@settings(max_examples=10)
@given(sample=larger_samples(), whole=st.booleans(), question=asked(), cut=cuts(), seed=st.integers(0, 99))
def test_larger_tables(sample: Sample, whole: bool, question: Asked, cut: Sizes, seed: int) -> None:
    cases = complete(sample.table) if whole else sample.table
    same_tree(cases, ungrouped(question.options), cut, seed, checks=False)


@pytest.mark.parametrize("limit", LIMITS[1:])
@pytest.mark.parametrize("tile", TILES)
def test_random_tables(tile: int, limit: int) -> None:
    cut = SMALL._replace(tile=tile, finish_cases=limit, histogram_bytes=ROOM)
    same_tree(table(60, 3, 5, 0.0), Options(min_cases=1, criterion="gain"), cut, tile, checks=tile > 30)


class Kept(EmulatedLauncher):
    """Keeps what small nodes were finished with, and how many records those with unknown values got."""

    def __init__(self, gpu: Emulation) -> None:
        super().__init__(gpu)
        self.growing: list[Growing] = []
        self.divided: list[int] = []

    def __call__(self, kernel: Any, blocks: int, threads: int, shared_bytes: int, arguments: tuple[Any, ...]) -> None:
        super().__call__(kernel, blocks, threads, shared_bytes, arguments)
        if kernel is finish:
            self.growing.append(arguments[0])
        if kernel is finish_divided:
            self.divided += np.array(arguments[-1]).tolist()


def grown(cases: Table, options: Options, cut: Sizes, seed: int) -> Kept:
    """Grow the reference engine's tree."""
    launcher = Kept(Emulation(seed, checks=False))
    found = train(cases, options, CudaEngine(launcher.gpu.xp, launcher, cut))
    assert found.unpruned.equals(train(cases, options, "reference").unpruned)
    return launcher


def finished_cases(cases: Table, options: Options, cut: Sizes, seed: int) -> int:
    """Grow the reference engine's tree; returns how many cases were in small whole nodes that a block finished."""
    return sum(int(growing.roots.offset[-1]) for growing in grown(cases, options, cut, seed).growing)


@pytest.mark.parametrize("criterion", ["gain", "gain_ratio"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_whole_nodes_of_a_table_with_unknown_values(n_classes: int, criterion: Criterion) -> None:
    some = rarely_unknown(table(60, n_classes, 4, 0.0), [(0, 3), (0, 17)])
    cut, options = SMALL._replace(tile=3, finish_cases=25, histogram_bytes=1 << 20), Options(prune="none", min_cases=1)
    assert 0 < finished_cases(some, replace(options, criterion=criterion), cut, 0) < 60


def test_which_nodes_are_whole() -> None:
    """Those without an unknown value, be it in a list or in codes, and so without a case in part."""
    chance, kinds = np.random.default_rng(0), set[tuple[bool, bool]]()
    unknown = [(a, case) for a in range(4) for case in chance.choice(90, 2 - a // 2).tolist()]
    problem = pose(rarely_unknown(table(90, 2, 4, 0.0), unknown), Options(min_cases=1, criterion="gain"))
    engine = emulated_engine(SMALL, checks=False)
    missing = np.stack([np.isnan(problem.table.column(a)) | (problem.table.column(a) < 0) for a in range(4)])
    for _ in Grower(engine, problem):
        level, finisher = engine.__dict__["_level"], engine.__dict__["_finisher"]
        nodes = np.arange(len(level.start))
        at = engine.instances(nodes)
        by_node = [slice(*bound) for bound in pairwise(at.start.tolist())]
        facts = [(bool(missing[:2, at.case[x]].any()), bool(missing[2:, at.case[x]].any())) for x in by_node]
        whole = [i for i, fact in enumerate(facts) if not any(fact)]
        assert finisher._whole(level, nodes).tolist() == whole
        assert all((at.units[by_node[i]] == problem.settings.case_units).all() for i in whole)
        kinds.update(facts)
    assert kinds >= {(True, False), (False, True), (False, False)}


@pytest.mark.parametrize("weights", [(1.0,), (0.5,), (3.0,), (0.3, 1.0, 2.5, 7.0), (1e-30, 1e6)])
def test_cases_with_weights(weights: tuple[float, ...]) -> None:
    """Also of their own; those of less than half a unit beside the others are not there."""
    cases = seeded.with_weights(seeded.mixed(4, 60, 3), weights)
    assert cases.weights is not None
    cut, options = SMALL._replace(finish_cases=60, histogram_bytes=1 << 20), Options(prune="none", min_cases=1)
    for most_ranks in (1, 256):
        finished = finished_cases(cases, options, cut._replace(most_ranks=most_ranks), 0)
        assert finished == (cases.weights > 1e-9).sum()


BLOCK = SMALL._replace(finish_cases=99, histogram_bytes=1 << 20, most_ranks=9)
ALL = Options(min_cases=1, criterion="gain", prune="none")


@pytest.mark.parametrize("threads", [4, 32])
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_nodes_with_unknown_values(share: float, threads: int) -> None:
    cases = seeded.with_unknown(seeded.mixed(int(10 * share), 50, 3), share)
    same_tree(cases, ALL, BLOCK._replace(threads=threads), seed=threads)
    same_tree(seeded.with_weights(cases, (0.3, 1.0, 2.5)), Options(min_cases=1), BLOCK._replace(threads=threads))


def test_a_node_whose_cases_find_no_room_is_left_to_the_level() -> None:
    """All branches of its branches are tried again; the other node finds room since places are given back."""
    divided = grown(seeded.with_unknown(seeded.mixed(1, 60, 3), 0.6), ALL, BLOCK, 0).divided
    assert divided[0] == 0 < max(divided)
    assert grown(seeded.with_unknown(seeded.mixed(3, 50, 3), 0.2), ALL, BLOCK, 0).divided[0] > 0


def many_branches(n_values: int, n_light: int) -> Table:
    """Below each value of the first attribute, many values of the second have a case in part."""
    first = np.concatenate([np.repeat(np.arange(n_values), 3), np.full(n_light, -1)])
    second = np.concatenate([np.arange(3 * n_values) % 2, 2 + np.arange(n_light)])
    classes = np.where(first >= 0, first % 2 + 1, np.random.default_rng(663).integers(0, 3, len(first)))
    return table_of([(first, n_values), (second, 2 + n_light)], classes, 3)


def test_a_node_with_too_many_records_is_left_to_the_level() -> None:
    cases = many_branches(6, 6)
    assert train(cases, ALL, "reference").unpruned.n_nodes > 2 * cases.n_cases
    assert grown(cases, ALL, BLOCK, 0).divided[0] == 0


def test_a_subtree_that_is_too_deep_is_left_to_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = seeded.with_unknown(seeded.mixed(2, 40, 2), 0.05)
    assert grown(cases, ALL, BLOCK, 0).divided[0] > 0
    monkeypatch.setattr(cuda_finish_divided, "MOST_DEPTH", 3)
    assert grown(cases, ALL, BLOCK, 0).divided[0] == 0


@pytest.mark.parametrize("divided", [False, True])
@pytest.mark.parametrize(("yes", "chosen"), [(((10, 2), (3, 0)), 1), (((8, 1), (5, 4)), 0)], ids=["above", "below"])
def test_a_gain_just_above_or_below_the_average(yes: tuple[tuple[int, int], ...], chosen: int, divided: bool) -> None:
    """Within a thousandth of a bit, so that a weight that is wrong for all attributes alike makes another test.

    `yes` are the cases of each attribute's second value, and how many of these are of the class of 8 of 20 cases.
    """
    case = np.arange(20)
    columns = [((case < of_class) | (case >= 20 - n + of_class), 2) for n, of_class in yes]
    cases = rarely_unknown(table_of([*columns, (np.zeros(20), 2)], case < 8, 2), [(2, 0)] * divided)
    options = Options(prune="none")
    assert train(cases, options, "reference").unpruned.attribute[0] == chosen
    same_tree(cases, options, BLOCK)


@pytest.mark.parametrize("most_ranks", [1, 256])
@pytest.mark.parametrize("seed", range(5))
def test_tables_with_equal_values(seed: int, most_ranks: int) -> None:
    """Of whose discrete attributes several are tested on a path."""
    cases = seeded.mixed(seed, 70, 2 + seed % 2)
    codes = [(cases.column(a), 12) for a in (3, 4)]
    some = table_of([cases.column(2), *codes, (cases.column(4) // 2, 6)], cases.classes, cases.schema.n_classes)
    cut = SMALL._replace(finish_cases=70, histogram_bytes=1 << 20, most_ranks=most_ranks)
    options = Options(min_cases=1, criterion="gain", min_samples_split=2 if seed % 2 else 12)
    same_tree(some, options, cut, seed, checks=seed < 2)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", ["r8_golf", "r8_labor-neg", "r8_vote", "sk_iris"])
def test_golden_sets(name: str, limit: int) -> None:
    stem = GOLDEN / name
    if not stem.with_suffix(".names").exists():
        pytest.skip("the golden sets are not here")
    cases = read_stem(stem, compat="r8")[0]
    cases = cases if limit == LIMITS[2] else complete(cases)
    cases = cases.take(np.arange(0, cases.n_cases, 1 + cases.n_cases // 200))
    cut = SMALL._replace(tile=32, finish_cases=limit, histogram_bytes=1 << 20, most_ranks=3 + limit % 40)
    same_tree(cases, Options(compat="r8"), cut, checks=len(cases.classes) < 50)


@pytest.mark.parametrize("limit", LIMITS[2:])
def test_penguins_without_unknown_values(examples: Path, limit: int) -> None:
    cases = read_file(examples / "penguins.csv", target="species")
    columns = [cases.column(a) for a in cases.schema.used]
    known = np.all([column >= 0 if column.dtype.kind == "i" else ~np.isnan(column) for column in columns], axis=0)
    cut = Sizes(threads=32, tile=33, most_ranks=30, finish_cases=limit)
    same_tree(cases.take(np.flatnonzero(known)[::2]), None, cut, checks=False)


def test_the_lowest_of_equal_cuts_and_the_first_of_equal_attributes() -> None:
    columns = [np.repeat([0.0, 1.0, 2.0], 8)] * 2
    schema = Schema((Attribute("x", "continuous"), Attribute("y", "continuous")), ("in", "out"))
    cases = Table(schema, columns, np.repeat([1, 0, 1], 8).astype(np.int32))
    options = Options(prune="none")
    for most_ranks in (1, 256):
        same_tree(cases, options, SMALL._replace(finish_cases=24, histogram_bytes=1 << 20, most_ranks=most_ranks))
    expected = train(cases, options, "reference").unpruned
    assert (expected.attribute[0], expected.threshold[0]) == (0, 0.0)


@pytest.mark.parametrize("cuts", ["all", "class_boundaries"])
@pytest.mark.parametrize("criterion", ["gain", "gini", "chi2"])
@pytest.mark.parametrize("most_ranks", [1, 256])
@pytest.mark.parametrize("name", ["whole cases", "many classes"])
def test_scores(name: str, most_ranks: int, criterion: Criterion, cuts: CutPoints) -> None:
    """No test is worth it, so a block ends with the candidates of the root."""
    problem = pose(SCORED[name](), Options(criterion=criterion, cut_points=cuts, min_samples_leaf=3))
    problem = replace(problem, settings=problem.settings._replace(least_worth=1e9))
    launcher = Kept(Emulation(0, checks=False))
    sizes = SMALL._replace(most_ranks=most_ranks, finish_cases=60, histogram_bytes=1 << 20)
    CudaEngine(launcher.gpu.xp, launcher, sizes).load(problem)
    reference = ReferenceEngine()
    reference.load(problem)
    gain, split, tries, possible, cut = (row[: len(problem.used)][None] for row in np.array(launcher.growing[0].room))
    assert_same_scores(Candidates(gain, split, tries, possible != 0, cut), reference.score(0, 1))


def test_values_that_are_too_near_for_a_cut() -> None:
    """In lists that a block looks at, and in columns of codes that are left to the level."""
    random = np.random.default_rng(3)
    long = np.sort(random.random(80).astype(np.float32) * 4e-4)
    classes = np.arange(80) // 27 % 2
    short = ((4 * classes + random.integers(0, 5, 80)) * 6e-6).astype(np.float32)
    cases = table_of([long, short], classes, 2)
    assert not train(cases, Options(min_cases=1), "reference").unpruned.equals(
        train(cases, Options(min_cases=1, compat="r8"), "reference").unpruned
    )
    for columns, finished in (([0], True), ([1], False), ([0, 1], False)):
        some = table_of([cases.column(a) for a in columns], cases.classes, 2)
        options = Options(min_cases=1, compat="r8")
        cut = SMALL._replace(most_ranks=9, finish_cases=80, histogram_bytes=1 << 20)
        same_tree(some, options, cut, checks=False)
        assert (emulated_engine(cut).load(pose(some, options)).finished is not None) == finished


def test_the_limit_is_the_most_cases_of_a_node() -> None:
    cases, found = table(24, 2, 3, 0.0), []
    for limit in (23, 24):
        engine = emulated_engine(SMALL._replace(finish_cases=limit, histogram_bytes=1 << 20))
        frontier = engine.load(pose(cases, Options()))
        found.append((frontier.open.tolist(), frontier.finished is not None))
    assert found == [([True], False), ([False], True)]


def launches_of_finish(histogram_bytes: int) -> int:
    gpu = Emulation(0, checks=False)
    cut = SMALL._replace(finish_cases=20, histogram_bytes=histogram_bytes)
    cases, options = fan(8, 0.0), Options(prune="none", min_cases=1)
    found = train(cases, options, CudaEngine(gpu.xp, EmulatedLauncher(gpu), cut))
    assert found.unpruned.equals(train(cases, options, "reference").unpruned)
    return sum(launch.kernel == finish.__name__ for launch in gpu.launches)


def test_as_many_together_as_there_is_memory_for() -> None:
    assert 0 == launches_of_finish(100) < launches_of_finish(1 << 20) < launches_of_finish(ROOM // 2)


def test_memory_is_as_planned() -> None:
    for size, (peak, planned) in zip(cuda_memory.FINISHED, cuda_memory.measured("finishing"), strict=True):
        assert 0.5 * planned < peak < planned, size


@pytest.mark.parametrize("n_classes", [2, 10, 100])
@pytest.mark.parametrize("n_attributes", [1, 28, 500, 10_000])
@pytest.mark.parametrize("divided", [False, True])
def test_what_is_planned_fits(divided: bool, n_attributes: int, n_classes: int) -> None:
    if divided:  # takes more memory
        n_attributes, n_classes = -(-n_attributes // 2), n_classes // 2
    how = plan(n_attributes, n_classes, 1024, 128, 256 << 20, divided=divided)
    assert how.most_cases == 1024
    assert 32 <= how.threads <= 64
    assert 1 <= how.group <= how.threads
    assert how.shared_cells(n_classes) <= SHARED_CELLS
    assert 8 * SHARED_CELLS <= 48 * 1024
    assert how.case_bytes >= 8 * how.room * n_attributes + 8 * n_classes  # both buffers, twice as many records' weights
    assert how.block_bytes == 48 * how.group * n_attributes  # five sums and the net gain
    assert how.bytes_for(how.together) == how.bytes_for(1 << 40) <= 256 << 20


@pytest.mark.parametrize(
    ("n_attributes", "n_classes", "n_bytes"), [(0, 2, 1 << 28), (28, 200, 1 << 28), (28, 2, 1000), (20_000, 2, 1 << 16)]
)
def test_nothing_is_finished_where_it_does_not_fit(n_attributes: int, n_classes: int, n_bytes: int) -> None:
    for divided in (False, True):
        assert plan(n_attributes, n_classes, 1024, 128, n_bytes, divided=divided).most_cases == 0


def test_a_smaller_node_is_finished_where_a_larger_one_does_not_fit() -> None:
    assert 0 < plan(20_000, 2, 1024, 128, 64 << 20).most_cases < 1024


def levels(width: int, limit: int, unknown: float) -> tuple[list[Progress], list[Done]]:
    """Where a tree stands after each level, and the work until then."""
    engine = emulated_engine(Sizes(threads=8, tile=64, most_ranks=8, finish_cases=limit), checks=False)
    steps: list[Progress] = []
    work: list[Done] = []

    def note(level: Progress) -> None:
        engine.distinct(0), engine.distinct(1)  # fetched once, whenever they are asked for
        steps.append(level)
        work.append(engine.work)

    train(fan(width, unknown), Options(prune="none"), engine, note)
    return steps, work


@pytest.mark.parametrize("unknown", [0.0, 0.02])
def test_work_does_not_grow_with_the_nodes_that_are_finished(unknown: float) -> None:
    """All of them cost a launch for lists, one for codes and one for all subtrees, and no transfer of their own.

    Those with an unknown value cost as much once more, and a level that tests them, as they may not fit a block.
    """
    _, plain = levels(5, 0, unknown)
    few, of_few = levels(5, 40, unknown)
    many, of_many = levels(14, 40, unknown)
    assert [step.open_nodes for step in few] == [5, 0]
    assert [step.open_nodes for step in many] == [14, 0]
    assert of_few == of_many
    assert of_few[0] == plain[0]
    launches = 3 if unknown == 0 else 6 + plain[1].launches - plain[0].launches
    assert of_few[1].transfers - of_few[0].transfers == 1
    assert of_few[1].launches - of_few[0].launches <= launches
