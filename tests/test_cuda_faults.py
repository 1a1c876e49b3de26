"""The emulator finds each kind of fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda, int64

pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from tests.cuda_emulator import (
    DivergentBarrier,
    MissingLane,
    OutOfBounds,
    Place,
    Race,
    Unwritten,
    empty,
    launch,
)
from tests.cuda_faulty import ALL, copies, fault_of, reads_at, reads_next_block, reads_shared, writes_at, zeros

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
    assert any("writes at test_cuda_faults.py:" in line for line in fault.lines)


def all_write(out: Any) -> None:
    out[3] = 7


def test_the_same_value_is_a_race_too() -> None:
    fault = fault_of(Race, all_write, 1, 64, zeros())
    assert (fault.array, fault.index) == ("out", (3,))


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


def test_unwritten_shared_memory() -> None:
    fault = fault_of(Unwritten, reads_shared, 1, 2, zeros(2))
    assert (fault.array, fault.index, fault.places) == ("tile", (0, 1), (Place(0, 1),))
    assert fault.lines[0].startswith("cuda_faulty.py:")


def reads_local(out: Any) -> None:
    mine = cuda.local.array(4, int64)
    mine[0] = 1
    out[0] = mine[1]


def test_unwritten_local_memory() -> None:
    fault = fault_of(Unwritten, reads_local, 1, 1, zeros(1))
    assert (fault.array, fault.index) == ("mine", (1,))


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
