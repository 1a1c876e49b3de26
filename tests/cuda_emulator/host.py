"""Runs host code that was written for a GPU: ``kernel[grid, block](...)`` is a launch under the emulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from tests.cuda_emulator.launch import Launch, launch, uninitialised


class Emulation:
    """A GPU that is not there.

    Attributes
    ----------
    launches : list of Launch
        What was launched so far.
    synchronisations : int
        How often the host waited: :meth:`synchronize`, ``numba.cuda.synchronize`` and ``xp.asnumpy``.
    xp : ArrayModule
        What stands for CuPy.
    """

    def __init__(self, seed: int, **options: Any) -> None:
        self._seed, self._options = seed, options
        self.launches: list[Launch] = []
        self.synchronisations = 0
        self.xp = ArrayModule(self.synchronize)

    def kernel(self, function: Any) -> Kernel:
        """An object that launches a kernel here: ``emulation.kernel(f)[grid, block, stream, shared_bytes](...)``."""
        return Kernel(self, function)

    def synchronize(self) -> None:
        """Wait for the device; also makes this object fit where a stream is due."""
        self.synchronisations += 1

    def run(self, kernel: Any, configuration: Any, arguments: tuple[Any, ...]) -> None:
        """Launch a kernel."""
        grid, block, *rest = configuration
        shared_bytes = rest[1] if len(rest) > 1 else 0
        seed = self._seed + len(self.launches)
        self.launches.append(
            launch(kernel, grid, block, *arguments, seed=seed, shared_bytes=shared_bytes, **self._options)
        )


class Kernel:
    """A kernel that waits for the shape of its launch."""

    def __init__(self, emulation: Emulation, function: Any) -> None:
        self._emulation, self._function = emulation, function

    def __getitem__(self, configuration: Any) -> Callable[..., None]:
        return lambda *arguments: self._emulation.run(self._function, configuration, arguments)


class MemoryPool:
    """Stands for CuPy's pool of memory.

    Attributes
    ----------
    released : int
        How often it was asked to let go of what is free.
    """

    def __init__(self) -> None:
        self.released = 0

    def free_all_blocks(self) -> None:
        """Let go of what is free."""
        self.released += 1


class ArrayModule:
    """NumPy under CuPy's names: memory from ``empty`` must be written before it is read."""

    empty = staticmethod(uninitialised.empty)

    def __init__(self, synchronize: Callable[[], None]) -> None:
        self._synchronize = synchronize
        self._pool = MemoryPool()

    def get_default_memory_pool(self) -> MemoryPool:
        """The pool that all arrays come from."""
        return self._pool

    def empty_like(self, array: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
        """Memory like that of an array."""
        return uninitialised.empty(array.shape, dtype or array.dtype)

    def asnumpy(self, array: Any) -> np.ndarray[Any, Any]:
        """A copy on the host, which waits for the device."""
        self._synchronize()
        return np.array(array)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


@contextmanager
def emulation(seed: int = 0, **options: Any) -> Iterator[Emulation]:
    """While this lasts, launches of ``@cuda.jit`` kernels run under the emulator.

    Parameters
    ----------
    seed : int
        Of the first launch; each further one has the next.
    **options
        `checks`, `wrap` and `early_exit`, as of :func:`tests.cuda_emulator.launch.launch`.
    """
    from numba import cuda
    from numba.cuda import dispatcher

    gpu = Emulation(seed, **options)

    def configured(kernel: Any, configuration: Any) -> Callable[..., None]:
        return gpu.kernel(kernel)[configuration]

    with (
        mock.patch.object(dispatcher.CUDADispatcher, "__getitem__", configured),
        mock.patch.object(cuda, "synchronize", gpu.synchronize),
    ):
        yield gpu
