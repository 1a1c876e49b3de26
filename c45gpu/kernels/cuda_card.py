"""The card: whether one can be used, what it is, and how kernels start on it."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from c45gpu.kernels.cuda_device import missing_packages
from c45gpu.kernels.cuda_starter import Starter


def missing() -> str | None:
    """Why no GPU can be used here; None if one can."""
    return missing_packages() or _missing_device()


@cache
def _missing_device() -> str | None:
    import cupy

    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"finds no usable NVIDIA driver ({error}): update the driver, or take engine='cpu'"
    return None if count else "finds no NVIDIA GPU: take engine='cpu'"


def free_memory() -> int:
    """Bytes that are free on the device or in CuPy's pool."""
    import cupy

    return int(cupy.cuda.runtime.memGetInfo()[0]) + int(cupy.get_default_memory_pool().free_bytes())


class Card(NamedTuple):
    """The device that is used.

    Attributes
    ----------
    name, compute_capability : str
    memory, free : int
        Bytes.
    """

    name: str
    compute_capability: str
    memory: int
    free: int


def card() -> Card:
    """The device that is used, where one is usable."""
    import cupy

    device = cupy.cuda.Device()
    facts = cupy.cuda.runtime.getDeviceProperties(device.id)
    capability = f"{facts['major']}.{facts['minor']}"
    return Card(facts["name"].decode(), capability, int(facts["totalGlobalMem"]), free_memory())


class CudaLauncher:
    """Starts kernels on the current device.

    Attributes
    ----------
    xp : module
        CuPy.
    """

    def __init__(self) -> None:
        import cupy

        self.xp: Any = cupy
        self._starter = Starter()

    def __call__(self, kernel: Any, blocks: int, threads: int, shared_bytes: int, arguments: tuple[Any, ...]) -> None:
        """See :class:`c45gpu.kernels.cuda_device.Launcher`."""
        self._starter(kernel, blocks, threads, _current_stream(), shared_bytes, arguments)


def _current_stream() -> int:
    import cupy

    return int(cupy.cuda.get_current_stream().ptr)
