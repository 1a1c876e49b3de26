"""The compile gate: sample kernels pass it on every card, and what it must find it finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import boolean, cuda, float32, float64, int32, int64, typeof, types, uint8, uint32, uint64, void

from tests import cuda_compile, cuda_samples
from tests.cuda_compile import CAPABILITIES, CompileError, Report, compile_kernel, missing, table

pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")

HERE = (9, 0)
Int64s, Float64s = int64[::1], float64[::1]
SETTINGS = typeof(cuda_samples.Settings(True, 2, 2, 25, 1, 40, 2.0**40, 0.0))
FACTS = types.NamedTuple((Int64s, boolean[::1]), cuda_samples.Facts)
BEST = types.NamedTuple((Int64s, Int64s), cuda_samples.Best)
TABLE = int64[:, ::1]

SAMPLES = {
    cuda_samples.block_scan: [void(Int64s, Int64s), void(int32[::1], Int64s)],
    cuda_samples.block_best: [void(Int64s, BEST)],
    cuda_samples.histogram: [void(uint8[::1], uint8[::1], TABLE)],
    cuda_samples.partition_tile: [
        void(uint32[::1], uint32[::1], uint32[::1]),
        void(uint64[::1], uint32[::1], uint64[::1]),
    ],
    cuda_samples.information: [void(Int64s, int64, Int64s)],
    cuda_samples.choose_test: [
        void(Int64s, types.Tuple((TABLE, TABLE, TABLE, boolean[:, ::1])), FACTS, SETTINGS, float64[:, ::1], Int64s)
    ],
}
CASES = [(kernel, signature) for kernel, signatures in SAMPLES.items() for signature in signatures]


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda capability: f"sm_{capability[0]}{capability[1]}")
@pytest.mark.parametrize(("kernel", "signature"), CASES)
def test_samples_pass(kernel: Any, signature: Any, capability: tuple[int, int]) -> None:
    report = compile_kernel(kernel, signature, capability)
    print(table([report]))
    assert report.spills == 0
    assert report.stack == 0
    assert report.fits(cuda_samples.THREADS)
    assert (report.fused, report.fusible, report.gaps) == (0, 0, ())
    assert f".target sm_{capability[0]}{capability[1]}" in report.ptx


def test_figures() -> None:
    report = compile_kernel(cuda_samples.block_best, void(Int64s, BEST), HERE)
    assert report.shared == 2 * 8 * cuda_samples.THREADS
    assert 8 <= report.registers <= 64
    assert report.constants == 0
    tables = 8 * (256 + 256 + 513)
    assert compile_kernel(cuda_samples.information, void(Int64s, int64, Int64s), HERE).constants == tables
    assert table([report]).splitlines()[1].split()[:4] == ["block_best", "9.0", str(report.registers), "1024"]


def test_what_fits() -> None:
    report = Report("k", (8, 0), "", 64, 1024, 0, 0, 0, 0, 0, ())
    assert report.fits(1024)
    assert report.fits(1024, 162 * 1024)
    assert not report.fits(32, 163 * 1024)
    wide = Report("k", (8, 0), "", 65, 0, 0, 0, 0, 0, 0, ())
    assert wide.fits(896)
    assert not wide.fits(897)


def fuses(a: Any, out: Any) -> None:
    i = cuda.grid(1)
    out[i] = a[i] * a[i + 1] + a[i + 2]


def fuses_perhaps(a: Any, out: Any) -> None:
    i = cuda.grid(1)
    product = a[i] * a[i + 1]
    if a[i] > 0.0:
        out[i] = product + a[i + 2]
    else:
        out[i + 1] = 3.0 - product


def multiplies_only(a: Any, out: Any) -> None:
    i = cuda.grid(1)
    out[i] = a[i] * a[i + 1]
    out[i + 1] = a[i + 2] + a[i + 3]


def test_fused_operations_are_counted() -> None:
    signature = void(Float64s, Float64s)
    assert compile_kernel(fuses, signature, HERE).fused == 1
    report = compile_kernel(fuses_perhaps, signature, HERE)
    assert report.fused + report.fusible == 2
    report = compile_kernel(multiplies_only, signature, HERE)
    assert report.fused + report.fusible == 0


def keeps_much(a: Any, out: Any) -> None:
    i = cuda.grid(1)
    a0, a1, a2, a3, a4, a5, a6, a7 = a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5], a[i + 6], a[i + 7]
    i += 8
    b0, b1, b2, b3, b4, b5, b6, b7 = a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5], a[i + 6], a[i + 7]
    cuda.syncthreads()
    x = out[0]  # not known before, so all of them must be kept till here
    low = (a0 ^ x) * (b0 ^ x) + (a1 ^ x) * (b1 ^ x) + (a2 ^ x) * (b2 ^ x) + (a3 ^ x) * (b3 ^ x)
    out[i] = low + (a4 ^ x) * (b4 ^ x) + (a5 ^ x) * (b5 ^ x) + (a6 ^ x) * (b6 ^ x) + (a7 ^ x) * (b7 ^ x)


def indexes_local(a: Any, out: Any) -> None:
    mine = cuda.local.array(16, int64)
    for i in range(16):
        mine[i] = a[i]
    out[0] = mine[a[16] & 15]


def asks_for_too_much(out: Any) -> None:
    tile = cuda.shared.array(7000, int64)
    tile[cuda.threadIdx.x] = out[0]
    cuda.syncthreads()
    out[0] = tile[out[1]]


def test_spills_stack_and_shared_memory_are_counted() -> None:
    signature = void(Int64s, Int64s)
    assert compile_kernel(keeps_much, signature, HERE).spills == 0
    assert compile_kernel(keeps_much, signature, HERE, max_registers=24).spills > 0
    assert compile_kernel(indexes_local, signature, HERE).stack == 128
    with pytest.raises(CompileError, match="shared"):
        compile_kernel(asks_for_too_much, void(Int64s), HERE)


# ---- where the emulator differs


def adds_bools(a: Any, out: Any) -> None:
    out[0] = (a[0] > 1) + (a[1] > 1)


def inverts_bool(a: Any, out: Any) -> None:
    if ~(a[0] > 1):
        out[0] = 1


def adds_float32(a: Any, out: Any) -> None:
    out[0] = a[0] + a[1]


def mixes_in_a_variable(a: Any, out: Any) -> None:
    best = 0
    if a[0] > 3:
        best = a[0]
    out[0] = best


def mixes_in_min(a: Any, out: Any) -> None:
    out[0] = min(a[0], out[0])


@pytest.mark.parametrize(
    ("kernel", "kind", "gap"),
    [
        (adds_bools, int64, "two bools"),
        (inverts_bool, int64, "~ of a bool"),
        (adds_float32, float32, "float32 arithmetic"),
        (mixes_in_a_variable, float64, "becomes float64"),
        (mixes_in_a_variable, uint64, "becomes float64"),
        (mixes_in_min, uint64, "becomes float64"),
    ],
)
def test_gaps_of_the_emulator_are_found(kernel: Any, kind: Any, gap: str) -> None:
    gaps = compile_kernel(kernel, void(kind[::1], Int64s), HERE).gaps
    assert gaps
    for found in gaps:
        assert gap in found
        assert found.startswith("test_cuda_compile.py:")
        assert kernel.__name__ in found


@pytest.mark.parametrize("kernel", [adds_float32, mixes_in_a_variable, mixes_in_min])
def test_what_is_no_gap(kernel: Any) -> None:
    assert compile_kernel(kernel, void(Int64s, Int64s), HERE).gaps == ()


def helper(a: Any) -> Any:
    return (a > 1) + (a > 2)


jitted_helper = cuda.jit(device=True)(helper)


def calls_helper(a: Any, out: Any) -> None:
    out[0] = jitted_helper(a[0])


def test_gaps_of_called_functions_are_found() -> None:
    (found,) = compile_kernel(calls_helper, void(Int64s, Int64s), HERE).gaps
    assert "helper" in found


def test_reasons_to_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_compile, "assembler", lambda: None)
    assert "needs ptxas" in (missing() or "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "numba-cuda" in (missing() or "")


def test_numba_refuses_what_the_emulator_refuses() -> None:
    """The emulator is as strict as Numba about the types of some arguments."""
    pytest.importorskip("greenlet")
    from tests.cuda_emulator import launch

    for kernel, array in [(counts_a_bool, np.zeros(1, np.int64)), (shuffles_unsigned, np.zeros(1, np.uint32))]:
        kind = int64 if array.dtype == np.int64 else uint32
        with pytest.raises(Exception, match=r"predicate|No implementation|Invalid use|shfl"):
            compile_kernel(kernel, void(kind[::1]), HERE)
        with pytest.raises(TypeError):
            launch(kernel, 1, 1, array)


def counts_a_bool(a: Any) -> None:
    a[0] = cuda.syncthreads_count(a[0] > 1)


def shuffles_unsigned(a: Any) -> None:
    a[0] = cuda.shfl_sync(1, a[0], 0)
