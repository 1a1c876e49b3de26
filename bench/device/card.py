"""The card that is measured, or the emulator of one that tests run the scripts on.

Everything here is fetched when first asked for: importing this touches no driver.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, Protocol

from c45gpu.kernels.cuda_device import Launcher
from c45gpu.kernels.engine import Engine

PACKAGES: Final = ("numba-cuda", "cupy-cuda13x", "cupy-cuda12x", "cupy", "cuda-bindings", "nvidia-nvvm")


class Card(Protocol):
    """What measuring needs of a device; `xp` is CuPy or what stands for it."""

    xp: Any
    launcher: Launcher
    real: bool

    def engine(self) -> Engine:
        """A new engine."""

    def wait(self) -> None:
        """Wait until the device has done all."""

    def seconds(self, function: Callable[[], Any], repeats: int) -> list[float]:
        """Seconds of a call on the device, each repeat, after one that warms up."""

    def peak_bytes(self) -> int:
        """Bytes of device memory that the pool has taken so far."""

    def facts(self) -> dict[str, Any]:
        """What it is, and with which versions it is driven."""


class RealCard:
    """The current device."""

    real = True

    def __init__(self) -> None:
        import cupy

        from c45gpu.kernels.cuda_card import CudaLauncher

        self.xp: Any = cupy
        self.launcher: Launcher = CudaLauncher()

    def engine(self) -> Engine:
        """A new engine."""
        from c45gpu.kernels.cuda import CudaEngine

        return CudaEngine()

    def wait(self) -> None:
        """Wait until the device has done all."""
        self.xp.cuda.Device().synchronize()

    def seconds(self, function: Callable[[], Any], repeats: int) -> list[float]:
        """Between two events, each repeat."""
        from cupyx.profiler import benchmark

        times = benchmark(function, (), n_repeat=repeats, n_warmup=1).gpu_times[0]
        return [float(one) for one in times]

    def peak_bytes(self) -> int:
        """Bytes that CuPy's pool has taken; it gives none back."""
        return int(self.xp.get_default_memory_pool().total_bytes())

    def facts(self) -> dict[str, Any]:
        """Name, memory and versions."""
        runtime = self.xp.cuda.runtime
        about = runtime.getDeviceProperties(self.xp.cuda.Device().id)
        return {
            "name": about["name"].decode(),
            "memory_gb": round(about["totalGlobalMem"] / 1e9, 1),
            "capability": f"{about['major']}.{about['minor']}",
            "multiprocessors": about["multiProcessorCount"],
            "driver": runtime.driverGetVersion(),
            "runtime": runtime.runtimeGetVersion(),
            "packages": {"cupy": self.xp.__version__} | versions(),
        }


class EmulatedCard:
    """NumPy and the emulator of CUDA; its times mean nothing."""

    real = False

    def __init__(self) -> None:
        from tests.cuda_emulator import Emulation
        from tests.kernels.cuda_here import EmulatedLauncher

        gpu = Emulation(0, checks=False)
        self.xp: Any = gpu.xp
        self.launcher: Launcher = EmulatedLauncher(gpu)

    def engine(self) -> Engine:
        """A new engine, cut small so that few cases take every path."""
        from c45gpu.kernels.cuda import CudaEngine
        from tests.kernels.cuda_here import SMALL

        return CudaEngine(self.xp, self.launcher, SMALL._replace(tile=32))

    def wait(self) -> None:
        """Nothing runs on."""

    def seconds(self, function: Callable[[], Any], repeats: int) -> list[float]:
        """By the host's clock."""
        return [timed(function)[0] for _ in range(1 + repeats)][1:]

    def peak_bytes(self) -> int:
        """No device memory is taken."""
        return 0

    def facts(self) -> dict[str, Any]:
        """That it is an emulator."""
        return {"name": "an emulator: no figure below is one of a GPU", "packages": versions()}


def opened(emulate: bool) -> Card:
    """The card, or the emulator.

    Raises
    ------
    EngineError
        When there is no card to be used, with the remedy.
    """
    if emulate:
        return EmulatedCard()
    from c45gpu.errors import EngineError
    from c45gpu.kernels.engine import available

    reason = available()["cuda"]
    if reason is not None:
        raise EngineError(f"engine='cuda' {reason}")
    return RealCard()


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call by the host's clock, and what it returned."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def versions() -> dict[str, str]:
    """Of the packages that drive a card, of those that are there."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
