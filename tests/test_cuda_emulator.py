"""The emulator finds each kind of fault, and lets right kernels be, whatever the order of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda, int32, int64, njit, uint32

pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install greenlet")

from c45gpu.choose import Facts, Settings, choose
from c45gpu.formulas import information_of, q_log_q, scale_bits_for
from tests import cuda_samples
from tests.cuda_emulator import (
    BadLaunch,
    DivergentBarrier,
    DivisionByZero,
    Endless,
    KernelFault,
    MissingLane,
    OutOfBounds,
    Overflow,
    Place,
    Race,
    Shifted,
    Unwritten,
    emulation,
    empty,
    launch,
)
from tests.cuda_emulator.words import converter

SEEDS = range(50)
ALL = 0xFFFFFFFF


def zeros(n: int = 64, dtype: Any = np.int64) -> np.ndarray[Any, Any]:
    return np.zeros(n, dtype)


def fault_of(expected: type[KernelFault], kernel: Any, grid: Any, block: Any, *arguments: Any, **options: Any) -> Any:
    """The fault that a launch ends with."""
    with pytest.raises(expected) as caught:
        launch(kernel, grid, block, *arguments, **options)
    fault = caught.value
    assert fault.kernel == kernel.__name__
    assert kernel.__name__ in str(fault)
    return fault


# ---- races


def reads_before_barrier(values: Any, out: Any) -> None:
    tile = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    tile[t] = values[t]
    out[t] = tile[63 - t]


def overwrites_before_barrier(values: Any, out: Any) -> None:
    tile = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    tile[t] = values[t]
    cuda.syncthreads()
    other = tile[(t + 1) % 64]
    tile[t] = other  # a barrier is missing before this line
    cuda.syncthreads()
    out[t] = tile[t]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kernel", [reads_before_barrier, overwrites_before_barrier])
def test_missing_barrier(kernel: Any, seed: int) -> None:
    fault = fault_of(Race, kernel, 1, 64, zeros(), zeros(), seed=seed)
    assert fault.array == "tile"
    (index,) = fault.index
    distance = 63 - index if kernel is reads_before_barrier else (index - 1) % 64
    assert {place.thread for place in fault.places} == {index, distance}
    assert any("writes at test_cuda_emulator.py:" in line for line in fault.lines)


def all_write(out: Any) -> None:
    out[3] = 7


def test_the_same_value_is_a_race_too() -> None:
    fault = fault_of(Race, all_write, 1, 64, zeros())
    assert (fault.array, fault.index) == ("out", (3,))


def reads_next_block(values: Any) -> None:
    i = cuda.grid(1)
    values[i] = values[(i + 1) % values.shape[0]]


def test_race_between_blocks() -> None:
    fault = fault_of(Race, reads_next_block, 4, 1, zeros(4))
    first, second = fault.places
    assert first.block != second.block
    assert fault.array == "values"


def counts_and_looks(counter: Any, out: Any) -> None:
    cuda.atomic.add(counter, 0, 1)
    if cuda.grid(1) == 0:
        out[0] = counter[0]


@pytest.mark.parametrize(("grid", "block"), [(1, 2), (2, 1)])
def test_an_atomic_and_a_plain_read_race(grid: int, block: int) -> None:
    fault = fault_of(Race, counts_and_looks, grid, block, zeros(1), zeros(1))
    assert (fault.array, fault.index) == ("counter", (0,))
    assert {place.block * block + place.thread for place in fault.places} == {0, 1}


def neighbours(values: Any, out: Any, how: int) -> None:
    tile = cuda.shared.array(32, int64)
    t = cuda.threadIdx.x
    tile[t] = values[t]
    if how == 1:
        cuda.shfl_sync(ALL, int64(t), 0)
    if how == 2:
        cuda.threadfence_block()
    if how == 3:
        cuda.syncwarp()
    out[t] = tile[t ^ 1]


@pytest.mark.parametrize("how", [0, 1, 2])
def test_only_syncwarp_orders_a_warp(how: int) -> None:
    fault = fault_of(Race, neighbours, 1, 32, zeros(), zeros(), how)
    assert fault.array == "tile"
    assert fault.places[0].thread ^ 1 == fault.places[1].thread
    launch(neighbours, 1, 32, zeros(), zeros(), 3)


def syncwarp_of_one_half(values: Any, out: Any) -> None:
    tile = cuda.shared.array(32, int64)
    t = cuda.threadIdx.x
    tile[t] = values[t]
    cuda.syncwarp(0x0000FFFF if t < 16 else 0xFFFF0000)
    out[t] = tile[t ^ 16]


def test_syncwarp_orders_the_lanes_of_its_mask_only() -> None:
    fault_of(Race, syncwarp_of_one_half, 1, 32, zeros(), zeros())


# ---- bounds


def reads_at(values: Any, i: int, out: Any) -> None:
    out[0] = values[i]


def writes_at(values: Any, i: int, out: Any) -> None:
    values[i] = 1


def adds_at(values: Any, i: int, out: Any) -> None:
    cuda.atomic.add(values, i, 1)


@pytest.mark.parametrize("kernel", [reads_at, writes_at, adds_at])
@pytest.mark.parametrize("i", [-1, 5, 1 << 40])
def test_out_of_bounds(kernel: Any, i: int) -> None:
    fault = fault_of(OutOfBounds, kernel, 1, 1, zeros(5), i, zeros(1))
    assert (fault.array, fault.index, fault.places) == ("values", (i,), (Place(0, 0),))


def reads_cell(table: Any, i: int, j: int, out: Any) -> None:
    out[0] = table[i, j]


@pytest.mark.parametrize("cell", [(0, 3), (2, 0), (-1, 0), (0, -1)])
def test_out_of_bounds_in_two_dimensions(cell: tuple[int, int]) -> None:
    fault = fault_of(OutOfBounds, reads_cell, 1, 1, np.zeros((2, 3)), *cell, zeros(1, np.float64))
    assert (fault.array, fault.index) == ("table", cell)


def reads_slice(values: Any, start: int, stop: int, i: int, out: Any) -> None:
    out[0] = values[start:stop][i]


def test_slices_stay_inside() -> None:
    out = zeros(1)
    launch(reads_slice, 1, 1, np.arange(10), 2, 5, 2, out)
    assert out[0] == 4
    fault_of(OutOfBounds, reads_slice, 1, 1, np.arange(10), 2, 5, 3, out)
    fault_of(OutOfBounds, reads_slice, 1, 1, np.arange(10), 2, 11, 0, out)
    fault_of(OutOfBounds, reads_slice, 1, 1, np.arange(10), -2, 10, 0, out)


# ---- memory that nobody wrote


def reads_shared(out: Any) -> None:
    tile = cuda.shared.array((2, 4), int32)
    if cuda.threadIdx.x == 0:
        tile[0, 0] = 1
    cuda.syncthreads()
    out[cuda.threadIdx.x] = tile[0, cuda.threadIdx.x]


def test_unwritten_shared_memory() -> None:
    fault = fault_of(Unwritten, reads_shared, 1, 2, zeros(2))
    assert (fault.array, fault.index, fault.places) == ("tile", (0, 1), (Place(0, 1),))
    assert fault.lines[0].startswith("test_cuda_emulator.py:")


def reads_local(out: Any) -> None:
    mine = cuda.local.array(4, int64)
    mine[0] = 1
    out[0] = mine[1]


def test_unwritten_local_memory() -> None:
    fault = fault_of(Unwritten, reads_local, 1, 1, zeros(1))
    assert (fault.array, fault.index) == ("mine", (1,))


def copies(source: Any, target: Any) -> None:
    i = cuda.grid(1)
    if i < source.shape[0]:
        target[i] = source[i]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.int64, np.float64])
def test_unwritten_global_memory(dtype: Any) -> None:
    middle = empty(5, dtype)
    fault = fault_of(Unwritten, copies, 1, 5, middle, zeros(5, dtype))
    assert fault.array == "source"
    launch(copies, 1, 4, np.arange(5).astype(dtype), middle)
    fault = fault_of(Unwritten, copies, 1, 5, middle, zeros(5, dtype))
    assert fault.index == (4,)
    middle[4] = 9  # the host may write it as well
    out = zeros(5, dtype)
    launch(copies, 1, 5, middle, out)
    assert out.tolist() == [0, 1, 2, 3, 9]


# ---- barriers and lanes


def some_reach(limit: int) -> None:
    if cuda.threadIdx.x < limit:
        cuda.syncthreads()


def two_barriers() -> None:
    if cuda.threadIdx.x < 3:
        cuda.syncthreads()
    else:
        cuda.syncthreads()


def leaves_early(out: Any) -> None:
    t = cuda.threadIdx.x
    if t >= 40:
        return
    cuda.syncthreads()
    out[t] = 1


def test_divergent_barrier() -> None:
    fault = fault_of(DivergentBarrier, some_reach, 1, 64, 60)
    assert fault.places == tuple(Place(0, thread) for thread in range(60, 64))
    fault = fault_of(DivergentBarrier, two_barriers, 1, 64)
    assert [place.thread for place in fault.places] == [0, 1, 2]
    launch(some_reach, 1, 64, 64)


def test_early_exit_must_be_allowed() -> None:
    fault_of(DivergentBarrier, leaves_early, 1, 64, zeros())
    out = zeros()
    launch(leaves_early, 1, 64, out, early_exit=True)
    assert out.sum() == 40


def shuffles(mask: int, lanes: int, source: int, out: Any) -> None:
    t = cuda.threadIdx.x
    if t < lanes:
        out[t] = cuda.shfl_sync(mask, int64(t), source)


def test_missing_lane() -> None:
    fault = fault_of(MissingLane, shuffles, 1, 64, ALL, 31, 0, zeros())
    assert fault.places == (Place(0, 31),)
    fault = fault_of(MissingLane, shuffles, 1, 32, 0xFF, 32, 0, zeros())
    assert fault.places[0].thread >= 8  # a lane that the mask leaves out
    fault_of(MissingLane, shuffles, 1, 32, 0xFF, 8, 8, zeros())  # reads from a lane that the mask leaves out
    fault_of(MissingLane, shuffles, 1, 40, ALL, 40, 9, zeros())  # the second warp has 8 lanes
    out = zeros()
    launch(shuffles, 1, 64, ALL, 64, 5, out)
    assert out.tolist() == [5] * 32 + [37] * 32


def lane_waits_at_barrier(out: Any) -> None:
    if cuda.threadIdx.x == 0:
        cuda.syncthreads()
    cuda.syncwarp()
    cuda.syncthreads()


def test_lane_waits_elsewhere() -> None:
    fault = fault_of(MissingLane, lane_waits_at_barrier, 1, 32, zeros())
    assert "wait at" in str(fault)


def mixed_operations() -> None:
    if cuda.threadIdx.x < 16:
        cuda.syncwarp()
    else:
        cuda.ballot_sync(ALL, True)


def test_lanes_of_one_mask_do_the_same() -> None:
    fault_of(MissingLane, mixed_operations, 1, 32)


# ---- numbers


def stores_offset(first: int, out: Any) -> None:
    out[cuda.threadIdx.x] = first + cuda.threadIdx.x


def casts_offset(values: Any, first: int, out: Any) -> None:
    out[0] = values[int32(first * 4)]


def multiplies(factors: Any, out: Any) -> None:
    out[0] = factors[0] * factors[1]


def adds(counter: Any) -> None:
    cuda.atomic.add(counter, 0, 1)


def test_int32_overflow() -> None:
    first = (1 << 31) - 1
    fault = fault_of(Overflow, stores_offset, 1, 2, first, zeros(2, np.int32))
    assert (fault.array, fault.index, fault.places) == ("out", (1,), (Place(0, 1),))
    launch(stores_offset, 1, 2, first, zeros(2))
    fault = fault_of(Overflow, casts_offset, 1, 1, zeros(), 1 << 29, zeros(1))
    assert "2147483648 does not fit int32" in str(fault)
    fault = fault_of(Overflow, adds, 1, 1, np.array([first], np.int32))
    assert fault.array == "counter"


def test_int64_overflow_and_wrapping() -> None:
    factors, out = np.array([1 << 62, 6]), zeros(1)
    fault = fault_of(Overflow, multiplies, 1, 1, factors, out)
    assert "overflow" in str(fault)
    launch(multiplies, 1, 1, factors, out, wrap=True)
    assert out[0] == -(1 << 63)
    narrow = zeros(2, np.int32)
    launch(stores_offset, 1, 2, (1 << 31) - 1, narrow, wrap=True)
    assert narrow.tolist() == [(1 << 31) - 1, -(1 << 31)]


def int32_factors(factors: Any, out: Any) -> None:
    out[0] = (factors[0] * factors[1]) >> 8


def test_products_of_int32_have_64_bits() -> None:
    factors, out = np.array([1 << 20, 1 << 20], np.int32), zeros(1)
    launch(int32_factors, 1, 1, factors, out)
    assert out[0] == 1 << 32


def divides(numbers: Any, out: Any) -> None:
    out[0] = numbers[0] // numbers[1]


def test_division_by_zero() -> None:
    fault_of(DivisionByZero, divides, 1, 1, np.array([1, 0]), zeros(1))


def operations(a: Any, b: Any) -> Any:
    shift = a & 7
    return a + b, a & b, a | b, a ^ b, a << (b & 7), a >> (b & 7), b << shift, a < b, a == b, a >= b


compiled_operations = njit(operations)
INTEGERS = {
    "int32": (-5, 70000),
    "int64": (-(1 << 40), 3),
    "uint8": (0, 255),
    "uint32": (1, 0xFFFFFFFF),
    "uint64": (9, 1 << 40),
}
PAIRS = [
    ("int32", "int64"),
    ("int32", "uint32"),
    ("uint32", "int64"),
    ("uint8", "uint32"),
    ("uint64", "int64"),
    ("uint64", "uint32"),
]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_integers_are_those_of_numba(pair: tuple[str, str]) -> None:
    types = [np.dtype(name) for name in pair]
    for a in INTEGERS[pair[0]]:
        for b in INTEGERS[pair[1]]:
            expected = compiled_operations(types[0].type(a), types[1].type(b))
            assert operations(converter(types[0])(a), converter(types[1])(b)) == expected


def counts_bits(words: Any, out: Any) -> None:
    i = cuda.threadIdx.x
    out[i, 0] = cuda.popc(words[i])
    out[i, 1] = cuda.clz(words[i])
    out[i, 2] = cuda.ffs(words[i])
    out[i, 3] = cuda.clz(uint32(words[i] >> 1))


def test_bit_counts() -> None:
    out = np.zeros((3, 4), np.int64)
    launch(counts_bits, 1, 3, np.array([0, 6, 0xFFFFFFFF], np.uint32), out)
    assert out.tolist() == [[0, 32, 0, 32], [2, 29, 2, 30], [32, 0, 1, 1]]
    out[:] = 0
    launch(counts_bits, 1, 3, np.array([0, 6, 0xFFFFFFFF], np.uint64), out)
    assert out.tolist() == [[0, 64, 0, 32], [2, 61, 2, 30], [32, 32, 1, 1]]
    fault = fault_of(KernelFault, counts_bits, 1, 3, np.array([0, 6, 5], np.int32), out)
    assert "cast it to np.uint32" in str(fault)


# ---- other faults


def waits_for_flag(flag: Any) -> None:
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass


def test_endless_wait() -> None:
    fault = fault_of(Endless, waits_for_flag, 1, 1, zeros(1))
    assert fault.array == "flag"


def two_types(out: Any) -> None:
    words, numbers = cuda.shared.array(0, uint32), cuda.shared.array(0, int64)
    t = cuda.threadIdx.x
    words[t] = t
    numbers[8 + t] = t
    cuda.syncthreads()
    out[t] = words[t] + numbers[8 + t]


def test_dynamic_shared_memory_of_two_types() -> None:
    out = zeros(16)
    launch(two_types, 1, 16, out, shared_bytes=192)
    assert out.tolist() == [2 * t for t in range(16)]
    with pytest.raises(KernelFault, match="is used as"):
        launch(two_types, 1, 17, zeros(17), shared_bytes=200)
    fault_of(OutOfBounds, two_types, 1, 16, out, shared_bytes=128)


def test_read_only_arrays() -> None:
    values = zeros(4)
    values.flags.writeable = False
    fault = fault_of(KernelFault, writes_at, 1, 1, values, 2, zeros(1))
    assert (fault.array, fault.index) == ("values", (2,))


def too_much_shared(out: Any) -> None:
    cuda.shared.array(7000, int64)


def test_launches_that_no_card_accepts() -> None:
    fault_of(BadLaunch, copies, 1, 1025, zeros(), zeros())
    fault_of(BadLaunch, copies, 0, 32, zeros(), zeros())
    fault_of(BadLaunch, too_much_shared, 1, 1, zeros())
    values = zeros(4)
    fault_of(BadLaunch, copies, 1, 4, values, values[:2].view(np.int32))


def test_a_fault_leaves_the_arrays_alone() -> None:
    values = np.arange(4)
    fault_of(Race, reads_next_block, 4, 1, values)
    assert values.tolist() == [0, 1, 2, 3]
    launch(copies, 1, 4, values, zeros(4))  # and the threads of the next launch are fresh


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
