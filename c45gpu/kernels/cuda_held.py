"""Tiles of lists that a block holds in its shared memory while it moves them, with where each entry goes.

What says where an entry goes lies by instance, anywhere in the device's memory, so it is looked up once, when the tile
is read; all later steps of the block find it here. The branch stands above the entry, in the same word::

    branch | 0 | new-value bit | class | instance      at `words`, as cuda_counts has entries
           ^HELD_BITS
    new number of the instance                         at `places`, where entries are about to be moved
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int64

from c45gpu.kernels.cuda_counts import id_of, on_device
from c45gpu.kernels.cuda_move import taken_and_place, taken_of

HELD_BITS = 56  # of an entry; its branch stands above them
EVERY = 63  # branch of an unknown value


class Held(NamedTuple):
    """What a block has in shared memory: next places by branch and thread, then these."""

    cells: Any
    words: Any  # the cell of the first entry
    places: Any  # of the first new number
    edges: Any  # of the tally


@on_device
def hold_entries(lists: Any, parts: Any, split: Any, first: Any, stop: Any, mine: Any, room: Any) -> None:
    """Read a tile into shared memory from cell `room` on, above each entry its branch; waits for all threads after."""
    for k in range(cuda.threadIdx.x, stop - first, cuda.blockDim.x):
        word = int64(lists.entries[first + k])
        taken = taken_of(id_of(word, lists.layout), parts)
        mine[room + k] = word | (taken & EVERY) << HELD_BITS
    cuda.syncthreads()


@on_device
def hold_places(
    lists: Any, parts: Any, split: Any, first: Any, stop: Any, mine: Any, room: Any, size: Any, places: Any
) -> None:
    """As :func:`hold_entries`, and behind the tile where each instance went."""
    for k in range(cuda.threadIdx.x, stop - first, cuda.blockDim.x):
        word = int64(lists.entries[first + k])
        taken, place = taken_and_place(id_of(word, lists.layout), parts, split, places)
        mine[room + k] = word | (taken & EVERY) << HELD_BITS
        mine[room + size + k] = place
    cuda.syncthreads()


@on_device
def held_branch(held: Any) -> Any:
    """The branch that stands above an entry."""
    taken = held >> HELD_BITS
    return int64(-1) if taken == EVERY else taken
