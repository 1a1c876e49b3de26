"""The emulator computes as a GPU does, and says where a number does not fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numba import cuda, int32, int64, njit, uint32
from numba.cuda import libdevice

pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu import formulas
from tests.cuda_emulator import (
    BadLaunch,
    DivisionByZero,
    Endless,
    KernelFault,
    OutOfBounds,
    Overflow,
    Place,
    Race,
    launch,
)
from tests.cuda_emulator.device import DEVICE
from tests.cuda_emulator.libdevice import Libdevice
from tests.cuda_emulator.words import converter
from tests.cuda_faulty import ALL, copies, fault_of, reads_next_block, writes_at, zeros

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


# ---- what a kernel may call


TABLE = np.array([3, 1, 4])


def twice(a: Any) -> Any:
    return a * 2


jitted = njit(twice)
of_device = cuda.jit(device=True)(twice)


def recursive(a: Any) -> Any:
    return a + recursive(a - 1) if a > 0 else a


def calls(values: Any, out: Any) -> None:
    i = cuda.threadIdx.x
    out[0] = jitted(values[i]) + of_device(values[i]) + twice(values[i])
    out[1] = recursive(values[i])
    out[2] = formulas.exponent(values[i]) + formulas.RECIPROCAL[values[i]]
    out[3] = np.int64(math.floor(2.5)) + np.uint8(TABLE[i])


def closed(step: int) -> Any:
    def kernel(values: Any, out: Any) -> None:
        out[0] = twice(values[0]) + step

    return kernel


def writes_table(i: int) -> None:
    TABLE[i] = 0


def test_functions_tables_and_modules() -> None:
    out = zeros(4)
    launch(calls, 1, 1, np.array([10]), out)
    assert out.tolist() == [60, 55, 3 + formulas.RECIPROCAL[10], 5]
    launch(closed(7), 1, 1, np.array([10]), out)
    assert out[0] == 27
    fault = fault_of(OutOfBounds, calls, 1, 1, np.array([256]), out)
    assert (fault.array, fault.index) == ("RECIPROCAL", (256,))
    fault = fault_of(KernelFault, writes_table, 1, 1, 1)
    assert (fault.array, fault.index) == ("TABLE", (1,))
    assert TABLE[1] == 1


TILE = 3


def tile_size() -> Any:
    return TILE


def fills_tile(out: Any) -> None:
    tile = cuda.shared.array(TILE, int64)
    tile[tile_size() - 1] = 1
    out[0] = tile[TILE - 1] + tile.shape[0]


@pytest.mark.parametrize("size", [1, 2, 31])
def test_constants_may_change(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    out = zeros(1)
    launch(fills_tile, 1, 1, out)
    assert out[0] == 4
    monkeypatch.setattr("tests.test_cuda_numbers.TILE", size)
    launch(fills_tile, 1, 1, out)
    assert out[0] == 1 + size


# ---- the less common operations


def atomics(values: Any, results: Any) -> None:
    i = cuda.grid(1)
    v = values[i]
    cuda.atomic.add(results, 0, v)
    cuda.atomic.sub(results, 1, v)
    cuda.atomic.max(results, 2, v)
    cuda.atomic.min(results, 3, v)
    cuda.atomic.and_(results, 4, v)
    cuda.atomic.or_(results, 5, v)
    cuda.atomic.xor(results, 6, v)
    cuda.atomic.exch(results, 7, v)
    if cuda.atomic.cas(results, 8, 0, v) == 0:
        cuda.atomic.add(results, 9, 1)
    if i == 0:
        cuda.atomic.compare_and_swap(results[10:11], 0, 5)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_atomics(dtype: Any) -> None:
    values = np.random.default_rng(5).integers(1, 1000, 90).astype(dtype)
    results = np.array([0, values.sum(), 0, 1000, -1 & 1023, 0, 0, 0, 0, 0, 0], dtype)
    launch(atomics, 3, 30, values, results, seed=4)
    and_, or_, xor = (operation.reduce(values) for operation in (np.bitwise_and, np.bitwise_or, np.bitwise_xor))
    assert results[:7].tolist() == [values.sum(), 0, values.max(), values.min(), and_, or_, xor]
    assert results[7] in values
    assert results[8] in values
    assert results[9:].tolist() == [1, 5]
    assert results[7] != results[8]  # the last one and the first one


def adds_to(array: Any) -> None:
    cuda.atomic.add(array, 0, 1)


def test_atomics_that_no_card_has() -> None:
    with pytest.raises(TypeError, match="no atomic operations on uint8"):
        launch(adds_to, 1, 1, zeros(1, np.uint8))
    with pytest.raises(TypeError, match="no such atomic operation on float64"):
        launch(atomics, 1, 1, zeros(1, np.float64), zeros(11, np.float64))


def oddments(a: Any, words: Any, out: Any, reals: Any) -> None:
    lane = cuda.laneid
    out[lane, 0] = cuda.brev(np.uint32(1 + lane))
    out[lane, 1] = cuda.selp(lane > 3, 7, 8)
    out[lane, 2] = (cuda.activemask() >> lane) & 1
    out[lane, 3] = cuda.lanemask_lt()
    out[lane, 4] = cuda.match_all_sync(ALL, a[0])[0]
    out[lane, 5] = 1 if cuda.match_all_sync(ALL, a[lane])[1] else 0
    out[lane, 6] = 1 if cuda.eq_sync(ALL, 1) else 0
    out[lane, 7] = libdevice.mul64hi(a[lane], a[lane])
    out[lane, 8] = libdevice.umul64hi(words[lane], words[lane])
    out[lane, 9] = libdevice.double2ll_rd(libdevice.floor(-2.5))
    reals[lane, 0] = cuda.fma(reals[lane, 4], reals[lane, 4], -1.0)
    reals[lane, 1] = libdevice.dmul_rn(reals[lane, 4], reals[lane, 4])
    reals[lane, 2] = libdevice.dadd_rn(libdevice.ll2double_rn(lane), libdevice.ddiv_rn(1, 4))
    reals[lane, 3] = libdevice.dsqrt_rn(libdevice.fma_rn(3.0, 3.0, 0.0))
    cuda.nanosleep(1)


def test_oddments() -> None:
    out, reals, x = np.zeros((32, 10), np.int64), np.zeros((32, 5)), 1.0 + 2.0**-30
    reals[:, 4] = x
    a = np.full(32, 1 << 40)
    a[7] += 1
    launch(oddments, 1, 32, a, a.astype(np.uint64), out, reals)
    assert out[:2, 0].tolist() == [1 << 31, 1 << 30]
    assert out[:, 1].tolist() == [8] * 4 + [7] * 28
    assert (out[:, 2] == 1).all()
    assert out[:, 3].tolist() == [(1 << lane) - 1 for lane in range(32)]
    assert (out[:, 4:] == [-1, 0, 1, 1 << 16, 1 << 16, -3]).all()
    assert (reals[:, :2] == [2.0**-29 + 2.0**-60, x * x]).all()
    assert reals[:, 2].tolist() == [lane + 0.25 for lane in range(32)]
    assert (reals[:, 3] == 3.0).all()


def test_names_are_those_of_numba() -> None:
    for mine, numbas in ((DEVICE, cuda), (DEVICE.atomic, cuda.atomic), (Libdevice, libdevice)):
        public = [name for name in dir(mine) if not name.startswith(("_", "begin_")) and name not in OWN]
        assert len(public) > 5
        for name in public:
            assert hasattr(numbas, name), name


OWN = ("enter", "patience", "thread")
