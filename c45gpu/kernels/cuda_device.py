"""What the CUDA engine needs of a device: arrays, launches, and how the work is cut into blocks.

A *segment* is a range of entries that belong together: a list at a node, or the instances of a node. Segments are cut
into *tiles*, a block of threads for each, and a tile into *runs*, one for each thread::

    segments   |        segment 0        |  segment 1  |
    tiles      |   tile 0   |   tile 1   |   tile 2    |      size entries, the last of a segment fewer
    runs       | t0 t1 t2 t3| t0 t1 t2 t3| t0 t1 t2 t3 |

So the number of launches depends neither on the number of nodes nor on that of attributes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from c45gpu.errors import MemoryPlanError

Int64s = npt.NDArray[np.int64]
T = TypeVar("T")

TABLE_UNITS = 1 << 24  # up to this total weight H is looked up: a table of 128 MB at most
LEAST_HISTOGRAM_BYTES = 1 << 20  # less than this is not worth another try, once memory ran out


def missing_packages() -> str | None:
    """What must be installed for a GPU to be used; None if nothing."""
    if all(importlib.util.find_spec(module) is not None for module in ("cupy", "numba_cuda")):
        return None
    return "needs CuPy and numba-cuda: pip install 'c45gpu[cuda13]', or 'c45gpu[cuda12]' for a driver of CUDA 12"


class Sizes(NamedTuple):
    """How work is cut; no result depends on it.

    Attributes
    ----------
    threads : int
        Threads of a block, :data:`c45gpu.kernels.cuda_counts.MOST_THREADS` at most.
    tile : int
        Entries of a list that a block works on.
    few : int
        Up to so many classes (or branches) a thread counts for itself in shared memory.
    shared_cells : int
        Counters (int64) in the shared memory of a block that makes a histogram.
    histogram_bytes : int
        Memory for the histograms of the nodes that are scored together.
    most_ranks : int
        A continuous column with more different values than this gets a list.
    lists_at_a_time : int
        So many lists are moved together; memory is needed for that many twice.
    finish_cases : int
        A node of so many cases is finished by one block, if nothing speaks against it; 0 for none.
    """

    threads: int = 128
    tile: int = 1152  # nine for each thread
    few: int = 16
    shared_cells: int = 2048
    histogram_bytes: int = 256 << 20
    most_ranks: int = 256
    lists_at_a_time: int = 1 << 30
    finish_cases: int = 1024


class Layout(NamedTuple):
    """Where the parts of an entry are; see :mod:`c45gpu.kernels.cuda_counts`."""

    id_bits: Any
    new_bit: Any

    @classmethod
    def holding(cls, instances: int, n_classes: int, least_bits: int = 32) -> Layout:
        """The narrowest layout for so many instances."""
        class_bits = max(1, (n_classes - 1).bit_length())
        if least_bits == 32 and instances <= 1 << (31 - class_bits):
            return cls(31 - class_bits, 31)
        return cls(55 - class_bits, 55)  # what is above it a block may use

    @property
    def bits(self) -> int:
        """Bits of a word."""
        return 32 if self.new_bit == 31 else 64


class Launcher(Protocol):
    """Starts a kernel: a Python function written for numba.cuda."""

    def __call__(self, kernel: Any, blocks: int, threads: int, shared_bytes: int, arguments: tuple[Any, ...]) -> None:
        """Start it with so many blocks of so many threads and so much dynamic shared memory."""


class Done(NamedTuple):
    """Launches, and transfers to the host, so far."""

    launches: int = 0
    transfers: int = 0


class Device:
    """Arrays and launches, counted.

    Parameters
    ----------
    xp : module
        CuPy, or what stands for it.
    launcher : Launcher
    sizes : Sizes

    Attributes
    ----------
    done : Done
    """

    def __init__(self, xp: Any, launcher: Launcher, sizes: Sizes) -> None:
        self.xp, self.sizes, self._launcher = xp, sizes, launcher
        self.done = Done()

    def launch(
        self, kernel: Any, blocks: int, *arguments: Any, shared_cells: int = 0, threads: int | None = None
    ) -> None:
        """Start a kernel, unless there is nothing to do; shared memory in counters of 8 bytes."""
        if blocks:
            self.done = self.done._replace(launches=self.done.launches + 1)
            self._launcher(kernel, blocks, threads or self.sizes.threads, 8 * shared_cells, arguments)

    def over(self, kernel: Any, items: int, *arguments: Any) -> None:
        """Start a kernel with a thread for each of some items."""
        self.launch(kernel, -(-items // self.sizes.threads), *arguments)

    def up(self, array: npt.NDArray[Any]) -> Any:
        """An array of the host on the device."""
        return self.xp.asarray(np.ascontiguousarray(array))

    def down(self, array: Any) -> npt.NDArray[Any]:
        """An array of the device on the host; waits for it."""
        self.done = self.done._replace(transfers=self.done.transfers + 1)
        result: npt.NDArray[Any] = self.xp.asnumpy(array)
        return result

    def down_all(self, arrays: Sequence[Any]) -> list[npt.NDArray[Any]]:
        """Some arrays of one dimension, in one transfer."""
        sizes = np.array([array.nbytes for array in arrays])
        parts = [array.view(np.uint8) for array in arrays if len(array)]
        found = self.down(self.xp.concatenate(parts)) if parts else np.zeros(0, np.uint8)
        split = np.split(found, np.cumsum(sizes)[:-1])
        return [part.copy().view(array.dtype) for part, array in zip(split, arrays, strict=True)]

    def persist(self, step: Callable[[], T], shrink: Callable[[], None]) -> T:
        """Run a step of the work, and again in smaller chunks as long as the device runs out of memory.

        Parameters
        ----------
        step : callable
            May run more than once.
        shrink : callable
            Makes the chunks smaller.

        Raises
        ------
        MemoryPlanError
            By `shrink`, when they are as small as can be.
        """
        while True:
            try:
                return step()
            except MemoryPlanError:
                raise
            except MemoryError:  # CuPy's OutOfMemoryError is one; the arrays of the step hang on it until it is gone
                pass
            self.xp.get_default_memory_pool().free_all_blocks()
            shrink()

    def shrink(self, n_lists: int) -> None:
        """Halve the chunks.

        Parameters
        ----------
        n_lists : int
            Lists that are moved at a time now, at most.

        Raises
        ------
        MemoryPlanError
            When they are as small as can be.
        """
        lists, histogram_bytes = min(self.sizes.lists_at_a_time, n_lists), self.sizes.histogram_bytes
        if lists <= 1 and histogram_bytes <= LEAST_HISTOGRAM_BYTES:
            raise MemoryPlanError(
                "the device ran out of memory, though its lists were moved one at a time: take fewer cases or "
                "attributes, free device memory that other programs hold, or take engine='cpu'"
            )
        self.sizes = self.sizes._replace(
            lists_at_a_time=max(1, lists // 2), histogram_bytes=max(1, histogram_bytes // 2)
        )

    def before(self, counts: Any) -> Any:
        """What stands before each of some counts, and last their sum: one longer."""
        running = self.xp.zeros(len(counts) + 1, np.int64)
        running[1:] = self.xp.cumsum(counts)
        return running


class Tiles(NamedTuple):
    """Segments cut into tiles, as kernels see them."""

    segment: Any  # int64[tiles]: of each tile
    start: Any  # int64[segments]
    stop: Any  # int64[segments]
    first: Any  # int64[segments + 1]: the first tile of each segment
    size: Any  # entries of a tile


class Work(NamedTuple):
    """Tiles, and how many there are of each segment, on the host."""

    tiles: Tiles
    counts: Int64s
    n_tiles: int


def work_for(device: Device, start: Int64s, stop: Int64s, size: int) -> Work:
    """Cut segments into tiles of a size."""
    counts = -(-(stop - start) // size)
    first = np.concatenate([[0], np.cumsum(counts)])
    n_tiles, n = int(first[-1]), len(start)
    packed = device.up(np.concatenate([start, stop, first]))
    bounds = packed[2 * n :]
    segment = device.xp.searchsorted(bounds[1:], device.xp.arange(n_tiles), side="right")
    return Work(Tiles(segment, packed[:n], packed[n : 2 * n], bounds, size), counts, n_tiles)
