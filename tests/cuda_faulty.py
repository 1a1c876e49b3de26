"""Kernels with faults, and plain ones, that several tests of the emulator use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda, int32

from tests.cuda_emulator import KernelFault, launch

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


def reads_next_block(values: Any) -> None:
    i = cuda.grid(1)
    values[i] = values[(i + 1) % values.shape[0]]


def reads_at(values: Any, i: int, out: Any) -> None:
    out[0] = values[i]


def writes_at(values: Any, i: int, out: Any) -> None:
    values[i] = 1


def reads_shared(out: Any) -> None:
    tile = cuda.shared.array((2, 4), int32)
    if cuda.threadIdx.x == 0:
        tile[0, 0] = 1
    cuda.syncthreads()
    out[cuda.threadIdx.x] = tile[0, cuda.threadIdx.x]


def copies(source: Any, target: Any) -> None:
    i = cuda.grid(1)
    if i < source.shape[0]:
        target[i] = source[i]
