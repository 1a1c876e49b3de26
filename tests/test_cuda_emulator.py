"""The emulator runs right kernels to the right end, whatever the order of blocks and threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda, int32

pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.choose import Facts, Settings, choose
from c45gpu.formulas import information_of, q_log_q, scale_bits_for
from tests import cuda_samples
from tests.cuda_emulator import OutOfBounds, Race, Shifted, Unwritten, empty, emulation, launch
from tests.cuda_faulty import ALL, copies, fault_of, reads_at, reads_next_block, reads_shared, zeros

SEEDS = range(50)


# ---- right kernels


@pytest.mark.parametrize("seed", SEEDS)
def test_block_scan(seed: int) -> None:
    values = np.random.default_rng(seed).integers(-9, 9, 100)
    sums = empty(100, np.int64)
    launch(cuda_samples.block_scan, 2, 64, values, sums, seed=seed)
    assert sums.tolist() == [*np.cumsum(values[:64]).tolist(), *np.cumsum(values[64:]).tolist()]


@pytest.mark.parametrize("seed", SEEDS)
def test_block_best_takes_the_first_of_equals(seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 6, 150)
    best = cuda_samples.Best(empty(3, np.int64), empty(3, np.int64))
    launch(cuda_samples.block_best, 3, 64, values, best, seed=seed)
    parts = [values[i : i + 64] for i in (0, 64, 128)]
    assert best.value.tolist() == [part.min() for part in parts]
    assert best.position.tolist() == [64 * k + int(np.argmin(part)) for k, part in enumerate(parts)]


@pytest.mark.parametrize("seed", SEEDS)
def test_histogram(seed: int) -> None:
    random = np.random.default_rng(seed)
    codes, classes = random.integers(0, 5, 200, np.uint8), random.integers(0, 3, 200, np.uint8)
    counts = np.zeros((5, 3), np.int64)
    launch(cuda_samples.histogram, 2, 32, codes, classes, counts, seed=seed, shared_bytes=60)
    expected = np.zeros((5, 3), np.int64)
    np.add.at(expected, (codes, classes), 1)
    assert counts.tolist() == expected.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_partition_is_stable(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 65))
    cases = random.permutation(64)[:n].astype(np.uint32)
    entries = cases | random.integers(0, 1 << 15, n, np.uint32) << np.uint32(16) | np.uint32(1 << 31)
    bits = random.integers(0, 1 << 32, 2, np.uint32)
    moved = empty(n, np.uint32)
    launch(cuda_samples.partition_tile, 1, 64, entries, bits, moved, seed=seed)
    high = (bits[cases >> 5] >> (cases & 31)) & 1 == 1
    assert moved.tolist() == [*entries[~high].tolist(), *entries[high].tolist()]


@given(st.lists(st.integers(0, (1 << 40) - 1), min_size=1, max_size=40))
def test_formula_of_all_engines(weights: list[int]) -> None:
    array, scale_bits = np.array(weights), scale_bits_for(max(weights))
    scaled = empty(len(weights), np.int64)
    launch(cuda_samples.information, 1, 64, array, scale_bits, scaled)
    assert scaled.tolist() == q_log_q(array, scale_bits).tolist()
    assert scaled.tolist() == [q_log_q(weight, scale_bits) for weight in weights]


@pytest.mark.parametrize("ratio", [False, True])
def test_judgement_of_all_engines(ratio: bool) -> None:
    random = np.random.default_rng(7)
    nodes, attributes = 9, 4
    settings = Settings(ratio, 2, 2, 25, 1, 40, 2.0**40, 0.0)
    facts = Facts(np.full(attributes, 9), np.array([True, False, True, True]))
    weights = random.integers(20, 90, nodes)
    gain, split = random.integers(0, 1 << 46, (2, nodes, attributes))
    tries, possible = random.integers(0, 9, (nodes, attributes)), random.random((nodes, attributes)) < 0.8
    chosen = empty(nodes, np.int64)
    net = empty((nodes, attributes), np.float64)
    launch(cuda_samples.choose_test, 1, 32, weights, (gain, split, tries, possible), facts, settings, net, chosen)
    expected = [
        choose(weights[i], (gain[i], split[i], tries[i], possible[i]), facts, settings, [0.0] * attributes)
        for i in range(nodes)
    ]
    assert chosen.tolist() == expected
    assert len(set(expected)) > 2
    assert information_of(1 << 40, 1, settings.scale) == 1.0


# ---- launches


def test_traffic() -> None:
    values, sums = np.arange(100, dtype=np.int32), zeros(100)
    done = launch(cuda_samples.block_scan, 2, 64, values, sums)
    assert done.traffic["values"] == (400, 0, 0)
    assert done.traffic["sums"] == (0, 800, 0)
    assert done.bytes == 1200
    assert done.shared["running"].written == 2 * 64 * 7 * 8
    counts = np.zeros((5, 3), np.int32)
    done = launch(cuda_samples.histogram, 1, 32, zeros(9, np.uint8), zeros(9, np.uint8), counts, shared_bytes=60)
    assert done.traffic["counts"] == (0, 0, 60)
    assert done.shared["dynamic shared memory"] == (60, 60, 36)


def test_parts_of_one_array_are_counted_apart() -> None:
    pool = np.arange(10)
    done = launch(copies, 1, 4, pool[:4], pool[6:])
    assert pool.tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3]
    assert done.traffic == {"source": (32, 0, 0), "target": (0, 32, 0)}


def shifts_column(table: Any) -> None:
    t = cuda.threadIdx.x
    row = table[t]
    table[(t + 1) % 3, 1] = row[1:][0]


@pytest.mark.parametrize("order", ["C", "F"])
def test_strided_and_two_dimensional_arguments(order: Any) -> None:
    table = np.arange(12).reshape(3, 4).copy(order)
    launch(copies, 1, 3, table[:, 1], table[:, 3])
    assert table.tolist() == [[0, 1, 2, 1], [4, 5, 6, 5], [8, 9, 10, 9]]
    fault = fault_of(Race, shifts_column, 1, 3, table)
    assert fault.array == "table"
    assert fault.index[1] == 1
    assert {place.thread for place in fault.places} == {fault.index[0], (fault.index[0] + 2) % 3}


def twelve(values: Any, i: int, out: Any) -> None:
    end = values.shape[0]
    out[0] = values[i]
    out[1] = end


def test_the_end_of_a_huge_array() -> None:
    first, out = (1 << 32) - 2, zeros(2)
    launch(twelve, 1, 1, Shifted(np.arange(5), first), first + 3, out)
    assert out.tolist() == [3, first + 5]
    fault = fault_of(OutOfBounds, twelve, 1, 1, Shifted(np.arange(5), first), first - 1, out)
    assert fault.index == (first - 1,)


def test_without_checks_races_pass() -> None:
    launch(reads_next_block, 4, 1, zeros(4), checks=False)
    fault_of(OutOfBounds, reads_at, 1, 1, zeros(5), 9, zeros(1), checks=False)
    fault_of(Unwritten, reads_shared, 1, 2, zeros(2), checks=False)


def positions(out: Any) -> None:
    i, j, k = cuda.grid(3)
    out[k, j, i] = i + 10 * j + 100 * k + 1000 * cuda.laneid


def test_three_dimensions() -> None:
    out = empty((4, 3, 4), np.int64)
    done = launch(positions, (2, 1, 4), (2, 3), out)
    assert done.grid == (2, 1, 4)
    k, j, i = np.indices(out.shape)
    assert (out == i + 10 * j + 100 * k + 1000 * (i % 2 + 2 * j)).all()


def arrivals(order: Any, next_place: Any) -> None:
    order[cuda.atomic.add(next_place, 0, 1)] = cuda.grid(1)


def test_order_depends_on_the_seed_only() -> None:
    orders = []
    for seed in (1, 1, 2):
        order = empty(128, np.int64)
        launch(arrivals, 2, 64, order, zeros(1), seed=seed)
        assert sorted(order.tolist()) == list(range(128))
        orders.append(order.tolist())
    assert orders[0] == orders[1] != orders[2]


def counting(flags: Any, out: Any) -> None:
    t = cuda.threadIdx.x
    flag = int32(flags[t])
    out[t, 0] = cuda.syncthreads_count(flag)
    out[t, 1] = cuda.syncthreads_and(flag)
    out[t, 2] = cuda.syncthreads_or(flag)
    out[t, 3] = cuda.match_any_sync(ALL, flag)
    out[t, 4] = 1 if cuda.any_sync(ALL, flag) else 0
    out[t, 5] = 1 if cuda.all_sync(ALL, flag) else 0
    out[t, 6] = cuda.shfl_up_sync(ALL, flag, 1)
    out[t, 7] = cuda.shfl_down_sync(ALL, flag, 1)
    out[t, 8] = cuda.shfl_xor_sync(ALL, flag, 16)


@pytest.mark.parametrize("seed", range(5))
def test_operations_of_blocks_and_warps(seed: int) -> None:
    flags = np.random.default_rng(seed).integers(0, 2, 64)
    flags[32:] = 1
    out = empty((64, 9), np.int64)
    launch(counting, 1, 64, flags, out, seed=seed)
    assert (out[:, :3] == [flags.sum(), flags.all(), flags.any()]).all()
    for lanes in (slice(0, 32), slice(32, 64)):
        mine = flags[lanes]
        masks = [sum(1 << lane for lane in range(32) if mine[lane] == value) for value in (0, 1)]
        signed = np.array(masks, np.uint32).view(np.int32)
        assert out[lanes, 3].tolist() == [signed[flag] for flag in mine]
        assert (out[lanes, 4:6] == [mine.any(), mine.all()]).all()
        assert out[lanes, 6].tolist() == [mine[0], *mine[:-1]]
        assert out[lanes, 7].tolist() == [*mine[1:], mine[-1]]
        assert out[lanes, 8].tolist() == np.roll(mine, 16).tolist()


# ---- host code


scan = cuda.jit(cuda_samples.block_scan)


def scanned(values: Any, xp: Any, stream: Any) -> Any:
    """Host code as it would be with a GPU."""
    sums = xp.empty(len(values), xp.int64)
    scan[(len(values) + 63) // 64, 64, stream, 0](values, sums)
    cuda.synchronize()
    return xp.asnumpy(sums)


def test_host_code_runs_unchanged() -> None:
    with emulation(seed=3) as gpu:
        sums = scanned(np.ones(70, np.int64), gpu.xp, gpu)
        scanned(np.ones(10, np.int64), gpu.xp, gpu)
    assert sums.tolist() == [*range(1, 65), *range(1, 7)]
    assert [(done.kernel, done.grid[0]) for done in gpu.launches] == [("block_scan", 2), ("block_scan", 1)]
    assert gpu.synchronisations == 4


def test_a_kernel_by_itself() -> None:
    with emulation() as gpu:
        out = gpu.xp.empty(4, np.int64)
        gpu.kernel(copies)[1, 4](np.arange(4), out)
    assert out.tolist() == [0, 1, 2, 3]
