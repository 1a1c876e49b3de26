"""Small right kernels on which the emulator and the compile gate are tried: the steps of the engine in little."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64
from numba.extending import register_jitable

from c45gpu import choose as choosing
from c45gpu import formulas, measures
from c45gpu.choose import Facts, Settings, choose
from c45gpu.formulas import q_log_q

for shared_function in formulas.SHARED + measures.SHARED + choosing.SHARED:
    register_jitable(shared_function)

THREADS = 64
WARPS = THREADS // 32
ALL_LANES = 0xFFFFFFFF
NOTHING = np.int64(1 << 62)


class Best(NamedTuple):
    """Of each block the least value and the first position that has it."""

    value: Any
    position: Any


def block_scan(values: Any, sums: Any) -> None:
    """Running sums within each block."""
    running = cuda.shared.array(THREADS, int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    running[t] = values[i] if i < values.shape[0] else 0
    cuda.syncthreads()
    distance = 1
    while distance < THREADS:
        before = running[t - distance] if t >= distance else int64(0)
        cuda.syncthreads()
        running[t] += before
        cuda.syncthreads()
        distance *= 2
    if i < values.shape[0]:
        sums[i] = running[t]


def block_best(values: Any, best: Best) -> None:
    """The least value of each block; of equals the one that stands first."""
    value = cuda.shared.array(THREADS, int64)
    position = cuda.shared.array(THREADS, int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    value[t] = values[i] if i < values.shape[0] else NOTHING
    position[t] = i
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half and (
            value[t + half] < value[t] or (value[t + half] == value[t] and position[t + half] < position[t])
        ):
            value[t] = value[t + half]
            position[t] = position[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        best.value[cuda.blockIdx.x] = value[0]
        best.position[cuda.blockIdx.x] = position[0]


def histogram(codes: Any, classes: Any, counts: Any) -> None:
    """Adds the cases of each code and class to `counts`, a row for each code; a block counts in shared memory first."""
    mine = cuda.shared.array(0, int32)
    t, size = cuda.threadIdx.x, counts.shape[0] * counts.shape[1]
    for k in range(t, size, cuda.blockDim.x):
        mine[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), codes.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(mine, codes[i] * counts.shape[1] + classes[i], 1)
    cuda.syncthreads()
    for k in range(t, size, cuda.blockDim.x):
        cuda.atomic.add(counts, (k // counts.shape[1], k % counts.shape[1]), mine[k])


def partition_tile(entries: Any, bits: Any, moved: Any) -> None:
    """Moves the entries of one tile whose bit is 0 before the others, each side in its old order."""
    below = cuda.shared.array(WARPS, int32)
    t, lane, warp = cuda.threadIdx.x, cuda.laneid, cuda.threadIdx.x >> 5
    inside = t < entries.shape[0]
    word = entries[t] if inside else entries[0]
    case = int64(word & 0xFFFF)
    low = inside and (bits[case >> 5] >> (case & 31)) & 1 == 0
    lanes = cuda.ballot_sync(ALL_LANES, low)
    rank = int64(cuda.popc(lanes & ((1 << lane) - 1)))
    if lane == 0:
        below[warp] = cuda.popc(lanes)
    cuda.syncthreads()
    total = int64(0)
    for other in range(WARPS):
        if other < warp:
            rank += below[other]
        total += below[other]
    if low:
        moved[rank] = word
    elif inside:
        moved[total + t - rank] = word


def information(weights: Any, scale_bits: int, scaled: Any) -> None:
    """The formula of all engines, for each weight."""
    i = cuda.grid(1)
    if i < weights.shape[0]:
        scaled[i] = q_log_q(weights[i], scale_bits)


def choose_test(weights: Any, candidates: Any, facts: Facts, settings: Settings, net: Any, chosen: Any) -> None:
    """The judgement of all engines: a thread for each node."""
    node = cuda.grid(1)
    if node < weights.shape[0]:
        gain, split, tries, possible = candidates
        mine = (gain[node], split[node], tries[node], possible[node])
        chosen[node] = choose(weights[node], mine, facts, settings, net[node])
