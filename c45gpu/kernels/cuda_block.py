"""Put together what the threads of a block found: the best of their cuts, and sums.

The upper half of the cells that are left is folded onto the lower one, until one is left, which thread 0 has::

    5 threads   a b c d e
    half 3      ad be c
    half 2      adc be      an odd one out waits for the next round
    half 1      adcbe

The order in which they meet does not matter: sums are of integers, and of equal cuts the lowest wins.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int64

from c45gpu.kernels.cuda_counts import MOST_THREADS, on_device


@on_device
def best_of_block(inner: Any, at: Any, low: Any, tries: Any) -> Any:
    """The best cut of all threads, of equals the lowest, and the cuts that all tried; thread 0 gets the answer."""
    inners = cuda.shared.array(MOST_THREADS, int64)
    ats = cuda.shared.array(MOST_THREADS, int64)
    lows = cuda.shared.array(MOST_THREADS, int64)
    sums = cuda.shared.array(MOST_THREADS, int64)
    t, left = cuda.threadIdx.x, cuda.blockDim.x
    inners[t], ats[t], lows[t], sums[t] = inner, at, low, tries
    cuda.syncthreads()
    while left > 1:
        half = (left + 1) // 2
        if t + half < left:
            other = t + half
            sums[t] += sums[other]
            if inners[other] < inners[t] or (inners[other] == inners[t] and ats[other] < ats[t]):
                inners[t], ats[t], lows[t] = inners[other], ats[other], lows[other]
        cuda.syncthreads()
        left = half
    return inners[t], ats[t], lows[t], sums[t]


@on_device
def sums_of_block(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Four sums over all threads; thread 0 gets the answer."""
    cells = cuda.shared.array((4, MOST_THREADS), int64)
    t, left = cuda.threadIdx.x, cuda.blockDim.x
    cells[0, t], cells[1, t], cells[2, t], cells[3, t] = a, b, c, d
    cuda.syncthreads()
    while left > 1:
        half = (left + 1) // 2
        if t + half < left:
            for row in range(4):
                cells[row, t] += cells[row, t + half]
        cuda.syncthreads()
        left = half
    return cells[0, t], cells[1, t], cells[2, t], cells[3, t]
