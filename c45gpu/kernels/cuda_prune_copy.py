"""Copy ranges of instances, each to a place of its own."""

from __future__ import annotations

from typing import Any

from numba import cuda, int64

from c45gpu.kernels.cuda_counts import tile_range
from c45gpu.kernels.cuda_device import Tiles
from c45gpu.kernels.cuda_prune_tally import Standing


def copy_ranges(tiles: Tiles, target: Any, source: Standing, copy: Standing) -> None:
    """Copy each segment of the source to where its `target` begins; a block for each tile."""
    segment, first, stop = tile_range(int64(cuda.blockIdx.x), tiles)
    ahead = target[segment] - tiles.start[segment]
    for i in range(first + cuda.threadIdx.x, stop, cuda.blockDim.x):
        copy.node[ahead + i] = source.node[i]
        copy.case[ahead + i] = source.case[i]
        copy.units[ahead + i] = source.units[i]
