"""Class weights of the tiles of the next level, added up while entries are moved, so scoring reads lists only once.

What a block moves to a branch goes to neighbouring places, fewer than a tile has, so to two tiles at most::

    branch       |       tile 4       |       tile 5       |
    this block            . . . . . . . . .
                          early        ^edge  late
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int64

from c45gpu.kernels.cuda_counts import on_device
from c45gpu.kernels.cuda_move import cell_of

TALLY_CELLS = 256  # of shared memory for copies of a block's class weights, where they are few


class Tally(NamedTuple):
    """Class weights of the tiles of the next level, added up while entries go there."""

    counts: Any  # int64[classes * tiles], 0 before: ``counts[c * tiles + tile]``; [0] if nobody wants them
    start: Any  # int64[lists * slots]: the first entry of each
    first: Any  # int64[lists * slots]: the first tile of each
    n_classes: Any
    size: Any  # entries of a tile
    copies: Any  # that a block has of its own


def tally_copies(branches: int, n_classes: int) -> int:
    """How many copies a block keeps: a lane has its own, if there is room."""
    return min(32, max(1, TALLY_CELLS // (2 * branches * n_classes)))


def tally_cells(branches: int, n_classes: int) -> int:
    """Counters of shared memory for a tally, its edges among them."""
    return branches + 2 * branches * n_classes * tally_copies(branches, n_classes)


@on_device
def begin_tally(
    mine: Any, edges: Any, branches: Any, tile: Any, segment: Any, before: Any, parts: Any, tiles: Any, tally: Tally
) -> None:
    """Make room to add up class weights, and find where each branch passes to its second tile of the next level."""
    if tally.counts.shape[0] == 0:
        return
    for b in range(cuda.threadIdx.x, branches, cuda.blockDim.x):
        start = tally.start[parts.row[segment] + b]
        here = before[cell_of(tile, segment, b, parts, tiles)] - start
        mine[edges + b] = start + (here // tally.size + 1) * tally.size
    for k in range(cuda.threadIdx.x, 2 * branches * tally.n_classes * tally.copies, cuda.blockDim.x):
        mine[edges + branches + k] = 0


@on_device
def tell(mine: Any, edges: Any, branches: Any, b: Any, to: Any, c: Any, units: Any, tally: Tally) -> None:
    """Add an entry to the class weights of the tile that it went to."""
    late = int64(1) if to >= mine[edges + b] else int64(0)
    cell = ((2 * b + late) * tally.n_classes + c) * tally.copies + cuda.threadIdx.x % tally.copies
    cuda.atomic.add(mine, edges + branches + cell, units)


@on_device
def end_tally(mine: Any, edges: Any, branches: Any, row: Any, tally: Tally) -> None:
    """Add a block's class weights to those of the tiles; waits for all threads before."""
    cuda.syncthreads()
    if tally.counts.shape[0] == 0:
        return
    n_tiles = tally.counts.shape[0] // tally.n_classes
    for k in range(cuda.threadIdx.x, 2 * branches * tally.n_classes, cuda.blockDim.x):
        total = int64(0)
        for copy in range(tally.copies):
            total += mine[edges + branches + k * tally.copies + copy]
        if total > 0:
            b, c = k // tally.n_classes // 2, k % tally.n_classes
            late = k // tally.n_classes % 2
            tile = tally.first[row + b] + (mine[edges + b] - tally.start[row + b]) // tally.size - 1 + late
            cuda.atomic.add(tally.counts, c * n_tiles + tile, total)


@on_device
def tell_all(slot: Any, to: Any, c: Any, units: Any, tally: Tally) -> None:
    """As :func:`tell`, where no block adds up for itself."""
    tile = tally.first[slot] + (to - tally.start[slot]) // tally.size
    cuda.atomic.add(tally.counts, c * (tally.counts.shape[0] // tally.n_classes) + tile, units)
