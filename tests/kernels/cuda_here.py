"""The CUDA engine without a GPU: NumPy for CuPy, the emulator for a card."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.kernels.cuda import CudaEngine
from c45gpu.kernels.cuda_device import Sizes
from tests.cuda_emulator import Emulation

SMALL = Sizes(threads=4, tile=8, few=16, shared_cells=64, histogram_bytes=1 << 14, most_ranks=3, finish_cases=0)


class EmulatedLauncher:
    """Starts kernels under the emulator."""

    def __init__(self, gpu: Emulation) -> None:
        self.gpu = gpu

    def __call__(self, kernel: Any, blocks: int, threads: int, shared_bytes: int, arguments: tuple[Any, ...]) -> None:
        self.gpu.kernel(kernel)[blocks, threads, 0, shared_bytes](*arguments)


def emulated_engine(sizes: Sizes = SMALL, seed: int = 0, **options: Any) -> CudaEngine:
    """An engine under the emulator, with all its checks unless `options` say otherwise."""
    gpu = Emulation(seed, **options)
    return CudaEngine(gpu.xp, EmulatedLauncher(gpu), sizes)
