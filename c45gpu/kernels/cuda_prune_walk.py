"""Pruning on the device, cases without an unknown value: each walks from a node down to its leaf, a thread for each.

What is sent are ranges of an order of the cases, each from a node of its own, or every so many-th case of them::

    order     r7 r2 r0 | r5 r1 r3 r4 r9 | r8 ...
    range                ^  ^  ^  ^  ^            a segment; from a root; in steps of 2: r5 r3 r9
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int64

from c45gpu.kernels.cuda_counts import on_device, tile_range
from c45gpu.kernels.cuda_device import Tiles
from c45gpu.kernels.cuda_route import branch_taken
from c45gpu.model.tree import LEAF


class Steps(NamedTuple):
    """A tree as walking cases need it; attributes are numbered as the columns of the values."""

    kind: Any  # int8[n]
    column: Any  # int32[n]
    threshold: Any  # float64[n]
    branch_start: Any  # int64[n + 1]
    branch: Any  # int64[n - 1]; one longer
    value_start: Any  # int64[n + 1]
    value_branch: Any  # int32; one longer


class Ranges(NamedTuple):
    """What each segment is in the order of cases."""

    first: Any  # int64[segments]: where it begins
    root: Any  # int64[segments]: the node that its cases walk from
    step: Any  # every so many-th case is sent


@on_device
def place_of(i: Any, segment: Any, tiles: Tiles, ranges: Ranges) -> Any:
    """Where an item of a segment is in the order."""
    return ranges.first[segment] + (i - tiles.start[segment]) * ranges.step


@on_device
def leaf_below(root: Any, case: Any, values: Any, steps: Any) -> Any:
    """The leaf that a case gets to from a node; all values that are asked for are known."""
    node = int64(root)
    while steps.kind[node] != LEAF:
        node = steps.branch[steps.branch_start[node] + branch_taken(node, case, values, steps)]
    return node


def walk_ranges(tiles: Tiles, ranges: Ranges, order: Any, values: Any, steps: Steps, cases: Any, leaves: Any) -> None:
    """Each item's case and its leaf below the root of its segment; a block for each tile."""
    segment, first, stop = tile_range(int64(cuda.blockIdx.x), tiles)
    root = ranges.root[segment]
    for i in range(first + cuda.threadIdx.x, stop, cuda.blockDim.x):
        case = int64(order[place_of(i, segment, tiles, ranges)])
        cases[i] = case
        leaves[i] = leaf_below(root, case, values, steps)


def put_back(tiles: Tiles, ranges: Ranges, cases: Any, by_leaf: Any, order: Any) -> None:
    """Write the cases into their ranges again, in another order of all items."""
    segment, first, stop = tile_range(int64(cuda.blockIdx.x), tiles)
    for i in range(first + cuda.threadIdx.x, stop, cuda.blockDim.x):
        order[place_of(i, segment, tiles, ranges)] = cases[by_leaf[i]]
