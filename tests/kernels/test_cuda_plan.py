"""The plan of device memory: what fits, what does not, and that the tree does not depend on it."""

from __future__ import annotations

import pytest

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda13]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install greenlet")

from c45gpu.errors import MemoryPlanError
from c45gpu.induction.train import train
from c45gpu.kernels.cuda import CudaEngine
from c45gpu.kernels.cuda_device import Sizes
from c45gpu.kernels.cuda_plan import Needs, planned
from tests.cuda_emulator import Emulation
from tests.kernels.cuda_gate import table
from tests.kernels.cuda_here import SMALL, EmulatedLauncher

HIGGS = Needs(n_cases=11_000_000, n_classes=2, n_lists=28, word_bytes=4, code_bytes=0, divided=False)
GIGABYTE = 10**9


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
        assert HIGGS.of_cases() + sizes.histogram_bytes + moving <= free
        one_more = HIGGS.of_moving_a_list(sizes.tile)
        assert 1.1 * (HIGGS.of_cases() + moving + one_more) + sizes.histogram_bytes > free


def test_too_little_is_refused() -> None:
    with pytest.raises(MemoryPlanError, match=r"GB of device memory beside the lists and 0\.1 are free"):
        planned(HIGGS, GIGABYTE // 10, Sizes())
    weighted = HIGGS._replace(divided=True)
    assert planned(HIGGS, 6 * 10**8, Sizes()).lists_at_a_time >= 1
    with pytest.raises(MemoryPlanError, match="engine='cpu'"):
        planned(weighted, 6 * 10**8, Sizes())


def test_the_tree_does_not_depend_on_it() -> None:
    cases, launches = table(60, 2, 3, 0.2), []
    expected = train(cases, engine="reference")
    for free in (40_000, 6_500):
        gpu = Emulation(0, checks=False)
        engine = CudaEngine(gpu.xp, EmulatedLauncher(gpu), SMALL, free=lambda free=free: free)
        found = train(cases, engine=engine)
        assert found.unpruned.equals(expected.unpruned)
        assert found.pruned.equals(expected.pruned)
        launches.append(len(gpu.launches))
    assert launches[0] < launches[1]
