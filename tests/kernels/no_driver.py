"""Numba's launches as far as they go without a driver: kernels compile, and what the driver would get is noted."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
from numba import cuda
from numba.cuda import dispatcher
from numba.cuda.codegen import CUDACodeLibrary
from numba.cuda.cudadrv.devicearray import DeviceNDArray


class Array:
    """An array on a device that is not there; of NumPy's it has the shape and the type."""

    def __init__(self, like: np.ndarray[Any, Any], pointer: int = 1 << 20) -> None:
        self.dtype, self.shape = like.dtype, like.shape
        strides = None if like.flags.c_contiguous else like.strides
        facts = {"shape": self.shape, "typestr": self.dtype.str, "strides": strides, "version": 3}
        self.pointer = pointer if like.size else 0
        self.__cuda_array_interface__ = facts | {"data": (self.pointer, False)}


def view_of(facts: dict[str, Any], **_: Any) -> Any:
    """What numba makes of it; `facts` as of the interface."""
    shape, dtype = facts["shape"], np.dtype(facts["typestr"])
    strides = facts["strides"] or tuple(int(x) for x in np.empty(shape, dtype).strides)
    return DeviceNDArray(shape, strides, dtype, gpu_data=memory_at(facts["data"][0]))


def memory_at(pointer: int) -> SimpleNamespace:
    """In the place of memory that numba knows."""
    return SimpleNamespace(device_ctypes_pointer=ctypes.c_size_t(pointer))


def on_device(value: Any, made: dict[int, Array] | None = None) -> Any:
    """An argument with such arrays in the place of NumPy's; the same ones for the same, `made` ones included."""
    made = {} if made is None else made
    if isinstance(value, tuple):
        parts = [on_device(part, made) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return made.setdefault(id(value), Array(value, id(value))) if isinstance(value, np.ndarray) else value


class Started(list[tuple[Any, ...]]):
    """What was started: stream, grid, block, shared memory, and the values that the driver would get."""

    def note(self, stream: Any, config: Any, kernel: Any, *values: Any) -> None:
        """In the place of the driver's launch."""
        plain = [(type(value).__name__, getattr(value, "value", value)) for value in values]
        self.append((stream, config.grid, config.block, config.shmem_size, plain))


@contextmanager
def no_driver(launch: Any) -> Iterator[None]:
    """While this lasts, launches of numba end where the driver's would begin: at `launch`."""
    device = SimpleNamespace(compute_capability=(9, 0))
    function = SimpleNamespace(kernel=None, name="")
    with ExitStack() as stack:
        for target, stands in (
            ("numba.cuda.dispatcher.get_current_device", lambda: device),
            ("numba.cuda.codegen.devices.get_context", lambda: SimpleNamespace(device=device)),
            ("numba.cuda.dispatcher.launch", launch),
            ("numba.cuda.dispatcher.LaunchConfig", SimpleNamespace),
            ("numba.cuda.dispatcher.driver._to_core_stream", lambda stream: ("stream", stream)),
            ("numba.cuda.external_stream", lambda pointer: pointer),
            ("numba.cuda.from_cuda_array_interface", view_of),
            ("numba.cuda.cudadrv.devicearray._driver.MemoryPointer", lambda **_: memory_at(0)),  # of empty arrays
            ("c45gpu.kernels.cuda_starter._compiled", cache(cuda.jit)),  # the cache on disk asks for the device
        ):
            stack.enter_context(mock.patch(target, stands))
        stack.enter_context(mock.patch.object(dispatcher._Kernel, "bind", return_value=None))
        stack.enter_context(mock.patch.object(CUDACodeLibrary, "get_cufunc", return_value=function))
        yield
