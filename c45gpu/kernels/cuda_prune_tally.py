"""Class weights of instances by their leaves, for the leaves that have any; rows in the order of leaves.

A thread adds up neighbours of one leaf and class by itself: cases that were at one leaf often meet again at another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64

from c45gpu.kernels.cuda_counts import on_device, run_range
from c45gpu.kernels.cuda_device import Device
from c45gpu.kernels.level import Int64s


class Standing(NamedTuple):
    """Instances at nodes."""

    node: Any  # int32
    case: Any  # int32
    units: Any  # int64; [0] where every instance counts 1


@on_device
def add_run(sums: Any, cell: Any, amount: Any) -> None:
    """Add what a thread has added up."""
    if amount != 0:
        cuda.atomic.add(sums, cell, amount)


def tally_leaves(arrived: Standing, classes: Any, row_of: Any, width: Any, tile: Any, sums: Any) -> None:
    """Add each instance's units to ``sums[row_of[leaf] * width + class]``; a block for `tile` instances."""
    first = int64(cuda.blockIdx.x) * tile
    begin, end = run_range(first, min(first + tile, arrived.node.shape[0]))
    cell, running = int64(0), int64(0)
    for i in range(begin, end):
        here = row_of[arrived.node[i]] * width + int64(classes[arrived.case[i]])
        if here != cell:
            add_run(sums, cell, running)
            cell, running = here, int64(0)
        running += arrived.units[i] if arrived.units.shape[0] > 0 else int64(1)
    add_run(sums, cell, running)


def tallied(device: Device, arrived: Standing, classes: Any, n_nodes: int, n_classes: int) -> tuple[Int64s, Int64s]:
    """Leaves that have instances, ascending, and their class weights; two transfers.

    Returns
    -------
    leaf : ndarray of int64, shape (r,)
    units : ndarray of int64, shape (r, n_classes)
    """
    xp, n, size = device.xp, len(arrived.node), device.sizes.tile
    if n == 0:
        return np.zeros(0, np.int64), np.zeros((0, n_classes), np.int64)
    touched = xp.zeros(n_nodes, np.int64)
    touched[arrived.node] = 1
    row_of = xp.cumsum(touched) - 1
    n_rows = int(device.down(row_of[-1:])[0]) + 1
    width = n_classes + 1  # the last column holds the leaf
    sums = xp.zeros(n_rows * width, np.int64)
    sums[row_of[arrived.node] * width + n_classes] = arrived.node
    device.launch(tally_leaves, -(-n // size), arrived, classes, row_of, width, size, sums)
    found = device.down(sums).reshape(n_rows, width)
    return found[:, -1], found[:, :-1]
