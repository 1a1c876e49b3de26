"""Histograms that are found by subtraction are those that counting finds, and cost fewer bytes."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.data.table import Table
from c45gpu.induction.grow import Grower
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.train import train
from c45gpu.kernels import cuda_siblings
from c45gpu.kernels.cuda import CudaEngine
from c45gpu.kernels.cuda_device import Sizes
from c45gpu.kernels.cuda_siblings import Kept, Price, families
from tests.cuda_emulator import Emulation, Launch
from tests.kernels.cuda_here import SMALL, EmulatedLauncher
from tests.kernels.seeded import table_of, with_unknown, with_weights
from tests.kernels.test_cuda_engine import same_tree
from tests.strategies import Asked, Sample, asked, samples

ALWAYS = mock.patch.object(cuda_siblings, "CELL_BYTES", 0)  # cells cost nothing, so whoever can be found is
CODES = SMALL._replace(most_ranks=256, histogram_bytes=1 << 20)


@settings(max_examples=25)
@given(sample=samples(), question=asked(), finish=st.sampled_from([0, 6]), seed=st.integers(0, 99))
def test_small_tables(sample: Sample, question: Asked, finish: int, seed: int) -> None:
    with ALWAYS:
        same_tree(sample.table, question.options, CODES._replace(finish_cases=finish), seed)


def waves(n: int) -> Table:
    """Three columns with few values and two discrete attributes, whose tree is deep and whose branches stay large."""
    random = np.random.default_rng(0)
    few = random.integers(0, 40, (3, n)).astype(np.float32)
    code, other = random.integers(0, 3, (2, n))
    classes = (few[0] > 12) ^ (few[1] > 25) ^ (code == 1) ^ (random.random(n) < 0.1)
    return table_of([*few, (code, 3), (other, 3)], classes.astype(np.int32), 2)


def launches(cases: Table, cut: Sizes, checks: bool = False) -> list[Launch]:
    """Of growing a tree, which is the reference engine's."""
    gpu, options = Emulation(0, checks=checks), Options(prune="none", min_cases=5)
    found = train(cases, options, CudaEngine(gpu.xp, EmulatedLauncher(gpu), cut)).unpruned
    assert found.equals(train(cases, options, "reference").unpruned)
    return gpu.launches


def test_codes_of_which_there_are_none() -> None:
    """A column that is unknown in all cases, and nothing else."""
    column = np.full(20, np.nan, np.float32)
    same_tree(table_of([column], np.arange(20) % 2, 2), Options(min_cases=1), CODES)


@pytest.mark.parametrize("finish", [20, 60])
def test_siblings_that_were_finished(finish: int) -> None:
    """They leave no cases that could be counted, and their parents to nobody."""
    with ALWAYS:
        kernels = [launch.kernel for launch in launches(waves(300), CODES._replace(finish_cases=finish))]
    assert {"take_off", "finish"} <= set(kernels)


@pytest.mark.parametrize("kind", ["whole cases", "unknown values", "weights"])
def test_deep_trees(kind: str) -> None:
    cases = waves(300)
    cases = with_unknown(cases, 0.05) if kind == "unknown values" else cases
    cases = with_weights(cases, [0.5, 1, 3]) if kind == "weights" else cases
    with ALWAYS:
        kernels = [launch.kernel for launch in launches(cases, CODES)]
    assert kernels.count("take_off") > 2
    assert "take_off" not in [launch.kernel for launch in launches(cases, CODES._replace(histogram_bytes=1))]


def bytes_of_counting(share: float) -> tuple[int, int]:
    """Bytes that count the codes of the second level; a share of the cases goes down the low branch."""
    random, n = np.random.default_rng(1), 600
    x = random.random(n) < share
    noise = random.random(n) < 0.2
    cases = table_of([(x.astype(np.int32), 2), (random.integers(0, 2, n), 2)], (x ^ noise).astype(np.int32), 2)
    moved = []
    for free in (True, False):
        gpu = Emulation(0)
        engine = CudaEngine(gpu.xp, EmulatedLauncher(gpu), CODES._replace(threads=8, tile=128))
        with mock.patch.object(cuda_siblings, "CELL_BYTES", 8 if free else 1 << 40):
            grower = Grower(engine, pose(cases, Options(min_cases=1)))
            next(iter(grower))
            before = len(gpu.launches)
            engine.score(0, 2)
        names = ("cases", "codes.codes", "classes", "histogram", "kept")
        moved.append(
            sum(
                traffic.read + traffic.written + 2 * traffic.atomic
                for launch in gpu.launches[before:]
                if launch.kernel in ("count_codes", "take_off")
                for name, traffic in launch.traffic.items()
                if name.endswith(names)
            )
        )
    return moved[0], moved[1]


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_bytes_of_the_second_level(share: float) -> None:
    """Only the smaller branch is counted; cells are a few hundred bytes."""
    with_subtraction, without = bytes_of_counting(share)
    assert with_subtraction < (1.0 - max(share, 1 - share) + 0.1) * without


def test_families() -> None:
    """Of whole ones whose parent was kept the largest node, where counting it costs more."""
    parent = np.array([0, 0, 1, 1, 2, 4, 4, 4, 5, 5])
    siblings = np.array([2, 2, 2, 2, 2, 3, 3, 3, 2, 2])
    count = np.array([300, 500, 900, 20, 800, 10, 10, 700, 5, 5])
    kept = Kept(np.array([0, -1, 1, -1, 2, 3]), None)
    found = families(parent, siblings, count, kept, Price(10, 20))
    assert [field.tolist() for field in found] == [[1, 7], [0, 2], [0, 5], [2, 8]]
