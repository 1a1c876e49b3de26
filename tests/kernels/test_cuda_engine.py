"""The CUDA engine under the emulator grows the reference engine's trees, byte for byte."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.data.frames import read_file
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import EngineError
from c45gpu.induction import screen
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.progress import Progress
from c45gpu.induction.train import train
from c45gpu.kernels import cuda, cuda_card, cuda_device
from c45gpu.kernels.cuda_device import Done, Sizes
from c45gpu.kernels.engine import available, open_engine
from c45gpu.kernels.reference import ReferenceEngine
from tests.induction.test_resume import alone, in_two
from tests.kernels.cuda_gate import table
from tests.kernels.cuda_here import SMALL, emulated_engine
from tests.strategies import OF_THE_HOST, Asked, Sample, asked, larger_samples, samples

TILES = (1, 2, 3, 31, 32, 33)


def same_tree(table: Table, options: Options | None = None, sizes: Sizes = SMALL, seed: int = 0, **checks: Any) -> None:
    expected = train(table, options, "reference")
    found = train(table, options, emulated_engine(sizes, seed, **checks))
    assert found.unpruned.equals(expected.unpruned)
    assert found.pruned.equals(expected.pruned)


@st.composite
def sizes(draw: st.DrawFn, tiles: tuple[int, ...] = TILES, threads: tuple[int, ...] = (1, 2, 3, 4, 32)) -> Sizes:
    """Any way to cut the work."""
    return Sizes(
        threads=draw(st.sampled_from(threads)),
        tile=draw(st.sampled_from(tiles)),
        few=draw(st.sampled_from([1, 2, 16])),
        shared_cells=draw(st.sampled_from([1, 20, 500])),
        histogram_bytes=draw(st.sampled_from([1, 1000, 1 << 20])),
        most_ranks=draw(st.sampled_from([1, 3, 256])),
        lists_at_a_time=draw(st.sampled_from([1, 2, 1 << 30])),
    )


@settings(max_examples=30)
@given(sample=samples(), question=asked(), cut=sizes(), seed=st.integers(0, 99))
def test_small_tables(sample: Sample, question: Asked, cut: Sizes, seed: int) -> None:
    same_tree(sample.table, question.options, cut, seed)


@settings(max_examples=10)
@given(sample=larger_samples(), question=asked(), cut=sizes(TILES[3:], (2, 3, 4)), seed=st.integers(0, 99))
def test_larger_tables(sample: Sample, question: Asked, cut: Sizes, seed: int) -> None:
    same_tree(sample.table, question.options, cut, seed, checks=False)


@pytest.mark.parametrize("seed", range(20))
def test_random_tables_with_unknown_values(seed: int) -> None:
    cases, cut = table(20 + seed, 2 + seed % 4, 2 + seed, 0.2), SMALL._replace(tile=TILES[seed % len(TILES)])
    same_tree(cases, Options(min_cases=1 + seed % 2), cut, seed, checks=False)


@pytest.mark.parametrize("options", OF_THE_HOST, ids=str)
def test_what_the_host_does(options: Options) -> None:
    same_tree(table(60, 3, 4, 0.1), options, SMALL, 7, checks=False)


@pytest.mark.parametrize("grouping", ["group_values", "binary_splits"])
@pytest.mark.parametrize("seed", range(6))
def test_random_tables_with_groups_of_values(seed: int, grouping: str) -> None:
    cases, cut = table(30 + seed, 2 + seed % 3, 4 + seed, 0.2 * (seed % 2)), SMALL._replace(tile=TILES[seed])
    same_tree(cases, Options(min_cases=1, **{grouping: True}), cut, seed, checks=seed < 2)


@pytest.mark.parametrize("unknown", [0.0, 0.2])
def test_attributes_ranked_in_many_nodes(unknown: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "SAMPLE", 8)
    same_tree(table(100, 3, 5, unknown), Options(min_cases=1, screen=2), SMALL, 3, checks=False)


def test_a_screened_tree_without_a_test() -> None:
    same_tree(table(12, 2, 3, 0.0), Options(min_cases=6, screen=1, min_gain_ratio=9.0), SMALL)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("most_ranks", [1, 256])
@pytest.mark.parametrize("tile", [1, 3, 32])
def test_the_lowest_of_equal_cuts(threads: int, most_ranks: int, tile: int) -> None:
    """Both cuts tell as much, and stand in different threads or tiles."""
    schema = Schema((Attribute("x", "continuous"),), ("in", "out"))
    cases = Table(schema, [np.repeat([0.0, 1.0, 2.0], 8)], np.repeat([1, 0, 1], 8).astype(np.int32))
    same_tree(cases, Options(prune="none"), SMALL._replace(threads=threads, tile=tile, most_ranks=most_ranks))
    assert train(cases, Options(prune="none"), "reference").unpruned.threshold[0] == 0.0


@pytest.fixture(scope="module")
def penguins(examples: Path) -> Table:
    return read_file(examples / "penguins.csv", target="species")


def test_penguins_in_lists(penguins: Table) -> None:
    same_tree(penguins, sizes=SMALL._replace(tile=33, few=2), checks=False)


def test_sizes_of_a_card(penguins: Table) -> None:
    same_tree(penguins.take(np.arange(0, penguins.n_cases, 5)), sizes=Sizes(most_ranks=30))


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "c45gpu[cuda13]" in (available()["cuda"] or "")
    with pytest.raises(EngineError, match=r"pip install 'c45gpu\[cuda13\]'"):
        open_engine("cuda", 1)
    with pytest.raises(EngineError, match=r"pip install 'c45gpu\[cuda13\]'"):
        cuda.CudaEngine()


def test_the_engine_asks_for_a_device_only_after_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_card, "missing_packages", lambda: None)
    monkeypatch.setattr(cuda_card, "_missing_device", lambda: "finds no NVIDIA GPU: take engine='cpu'")
    with pytest.raises(EngineError, match="finds no NVIDIA GPU"):
        cuda.CudaEngine()
    assert cuda_device.missing_packages is not cuda_card.missing_packages


def fan(width: int, unknown: float) -> Table:
    """Cases whose tree tests the column of codes first, and then the long columns at so many nodes at once."""
    random, n = np.random.default_rng(width), 25 * width
    values, code = random.random((2, n)), np.arange(n) % width
    classes = ((code < width / 2) ^ (values[0] > 0.8) ^ (values[1] > 0.9)).astype(np.int32)
    values[random.random((2, n)) < unknown] = np.nan
    names = tuple(f"v{v}" for v in range(width))
    attributes = (Attribute("x", "continuous"), Attribute("y", "continuous"), Attribute("z", "discrete", names))
    return Table(Schema(attributes, ("no", "yes")), [*values, code.astype(np.int32)], classes)


def work_of_levels(table: Table) -> tuple[int, Done]:
    """The most nodes of a level, and the most launches and transfers between two levels."""
    engine = emulated_engine(Sizes(threads=8, tile=64, most_ranks=8, finish_cases=0), checks=False)
    done, nodes = [], []

    def note(level: Progress) -> None:
        engine.distinct(0), engine.distinct(1)  # fetched once, whenever they are asked for
        done.append(engine.work)
        nodes.append(level.open_nodes)

    train(table, Options(prune="none"), engine, note)
    return max(nodes), Done(
        max(b.launches - a.launches for a, b in pairwise(done)),
        max(b.transfers - a.transfers for a, b in pairwise(done)),
    )


@pytest.mark.parametrize(("unknown", "most"), [(0.0, Done(12, 1)), (0.1, Done(14, 1))])
def test_work_does_not_grow_with_nodes(unknown: float, most: Done) -> None:
    """One transfer: for the tests, and the branches' totals with the lengths of lists if they differ."""
    few_nodes, few = work_of_levels(fan(4, unknown))
    many_nodes, many = work_of_levels(fan(14, unknown))
    assert many_nodes > 2 * few_nodes > 8
    assert few == many == most


@pytest.mark.parametrize("unknown", [0.0, 0.2])
def test_it_goes_on_with_what_the_reference_engine_began(unknown: float) -> None:
    problem, options = pose(table(40, 3, 7, unknown), Options(min_cases=1)), Options(min_cases=1)
    whole = alone(problem, options, ReferenceEngine())
    for levels in (1, 2):
        assert in_two(problem, options, levels, ReferenceEngine(), emulated_engine(SMALL, 0)).equals(whole)


@pytest.mark.parametrize("unknown", [0.0, 0.2])
def test_cases_that_count_less_than_a_unit(unknown: float) -> None:
    """They weigh nothing beside the others, and are left out on every engine."""
    cases = table(30, 2, 3, unknown)
    light = np.arange(cases.n_cases) % 5 == 0
    weighted = Table(cases.schema, cases.columns, cases.classes, np.where(light, 1e-30, 1e6))
    assert pose(weighted, Options()).table.n_cases == (~light).sum()
    same_tree(weighted, Options(prune="none", min_cases=1), checks=False)
