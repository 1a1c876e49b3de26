"""Device functions that several kernels share: packing of entries, H, scans over the threads of a block, histograms.

An entry of a list is one word::

    new-value bit | class | instance
                  ^new_bit ^id_bits

in 32 bits where they suffice, else in 64. The instances of a level are numbered node by node, so an instance names
its node, its case and its units; the new-value bit says "differs from the entry before it in this node".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import cuda, int64
from numba.extending import register_jitable

import c45gpu.kernels.compiled  # noqa: F401  makes the formulas known to numba
from c45gpu.formulas import q_log_q
from c45gpu.kernels.cuda_device import Layout as Layout
from c45gpu.kernels.cuda_device import Tiles

MOST_THREADS = 128  # of a block, for arrays of a fixed size in shared memory
GROUP = 17  # threads whose counts are summed by one: odd, so that their cells lie in different banks
NOTHING = np.int64(1) << 62  # more than any information

F = TypeVar("F", bound=Callable[..., Any])


def on_device(function: F) -> F:
    """A function that kernels may call."""
    return cast(F, register_jitable(function))


class Weights(NamedTuple):
    """What a case counts."""

    units: Any  # int64[instances]; [0] where every case counts 1
    h: Any  # int64: H of every weight up to its length; beyond it is computed
    scale_bits: Any


@on_device
def h_of(q: Any, weights: Any) -> Any:
    """H(q) = q * log2(q)."""
    return weights.h[q] if q < weights.h.shape[0] else q_log_q(q, weights.scale_bits)


@on_device
def units_of(instance: Any, weights: Any) -> Any:
    """Units of an instance."""
    return weights.units[instance] if weights.units.shape[0] > 0 else int64(1)


@on_device
def id_of(word: Any, layout: Any) -> Any:
    """The instance of an entry."""
    return word & ((int64(1) << layout.id_bits) - 1)


@on_device
def class_of(word: Any, layout: Any) -> Any:
    """The class of an entry."""
    return (word >> layout.id_bits) & ((int64(1) << (layout.new_bit - layout.id_bits)) - 1)


@on_device
def is_new(word: Any, layout: Any) -> Any:
    """Whether an entry's value differs from that of the one before it."""
    return (word >> layout.new_bit) & 1 == 1


@on_device
def tile_range(tile: Any, tiles: Tiles) -> Any:
    """The segment of a tile, and its entries first..stop-1."""
    segment = tiles.segment[tile]
    first = tiles.start[segment] + (tile - tiles.first[segment]) * tiles.size
    return segment, first, min(first + tiles.size, tiles.stop[segment])


@on_device
def run_range(first: Any, stop: Any) -> Any:
    """The run of this thread among the entries of its block's tile; of odd length, so runs begin in different banks."""
    threads = cuda.blockDim.x
    length = (stop - first + threads - 1) // threads | 1
    begin = min(first + cuda.threadIdx.x * length, stop)
    return begin, min(begin + length, stop)


@on_device
def sum_groups(counts: Any, rows: Any) -> Any:
    """Sums over groups of threads, behind the counts; waits for all threads before and after. Returns the groups."""
    threads = cuda.blockDim.x
    groups = (threads + GROUP - 1) // GROUP
    cuda.syncthreads()
    for item in range(cuda.threadIdx.x, rows * groups, threads):
        begin = (item % groups) * GROUP
        total = int64(0)
        for k in range(begin, min(begin + GROUP, threads)):
            total += counts[(item // groups) * threads + k]
        counts[rows * threads + item] = total
    cuda.syncthreads()
    return groups


@on_device
def scan_runs(counts: Any, rows: Any) -> None:
    """Replace counts by their sums over the threads before each; waits for all threads before and after.

    ``counts[row * threads + thread]``, in shared memory of :func:`scan_cells`::

        counts   3 1 4 | 1 5 9     groups of threads are summed, the sums scanned, then each group
        sums       8       15      three barriers, however many rows
        before   0 3 4 | 8 9 14
    """
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    groups = sum_groups(counts, rows)
    for row in range(t, rows, threads):
        running = int64(0)
        for cell in range(rows * threads + row * groups, rows * threads + (row + 1) * groups):
            here = counts[cell]
            counts[cell] = running
            running += here
    cuda.syncthreads()
    for item in range(t, rows * groups, threads):
        begin = (item % groups) * GROUP
        running = counts[rows * threads + item]
        for k in range(begin, min(begin + GROUP, threads)):
            cell = (item // groups) * threads + k
            here = counts[cell]
            counts[cell] = running
            running += here
    cuda.syncthreads()


def scan_cells(rows: int, threads: int) -> int:
    """Counters of shared memory that :func:`scan_runs` works on."""
    return rows * (threads + -(-threads // GROUP))


@on_device
def scan_size(rows: Any, threads: Any) -> Any:
    """As :func:`scan_cells`."""
    return rows * (threads + (threads + GROUP - 1) // GROUP)


@on_device
def clear_copies(mine: Any, size: Any, copies: Any) -> None:
    """Empty a block's own copies of a histogram; waits for all threads."""
    for k in range(cuda.threadIdx.x, size * copies, cuda.blockDim.x):
        mine[k] = 0
    cuda.syncthreads()


@on_device
def add_to(histogram: Any, first: Any, size: Any, cell: Any, amount: Any, mine: Any, copies: Any) -> None:
    """Add to a cell of a histogram; to a copy of the block's own if it has some. A lane has its copy to itself."""
    if copies > 0:
        cuda.atomic.add(mine, (cuda.threadIdx.x % copies) * size + cell, amount)
    else:
        cuda.atomic.add(histogram, first + cell, amount)


@on_device
def flush_copies(histogram: Any, first: Any, size: Any, mine: Any, copies: Any) -> None:
    """Add a block's own copies to the histogram; waits for all threads before."""
    cuda.syncthreads()
    if copies > 0:
        for k in range(cuda.threadIdx.x, size, cuda.blockDim.x):
            total = int64(0)
            for copy in range(copies):
                total += mine[copy * size + k]
            if total != 0:
                cuda.atomic.add(histogram, first + k, total)


@on_device
def copies_for(size: Any, cells: Any, instances: Any) -> Any:
    """How many copies of a histogram a block keeps: one a lane, if they fit and emptying them is little work."""
    return min(int64(32), cells // size, 1 + instances // (4 * size)) if 0 < size <= cells else int64(0)
