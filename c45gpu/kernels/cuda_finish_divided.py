"""Finish small nodes with unknown values: a block grows the whole subtree of each, as far as its room goes.

Records wait by depth, and some of the deepest are worked on at once, from the last one back. The instances of even
depths lie in one buffer and those of odd depths in the other, each of which is a stack::

    buffer 0   |  depth 0  |       depth 2       |            what the records of depth 2 hold
    buffer 1   |     depth 1     | depth 3 ...                is given up once these are divided

So few instances exist at a time; where there are more than places, the node is left to the level.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int64

from c45gpu.choose import Facts, Settings
from c45gpu.kernels.cuda_counts import Weights, on_device, scan_cells, scan_runs, scan_size
from c45gpu.kernels.cuda_finish import Growing, begin_subtree, choose_test
from c45gpu.kernels.cuda_finish_divide import Heirs, divide_record, move_divided, place_cases, score_known
from c45gpu.kernels.cuda_finish_move import OPEN
from c45gpu.kernels.cuda_measures import ByClass

MOST_DEPTH = 64  # of a subtree


def finish_divided(
    growing: Growing, heirs: Heirs, weights: Weights, settings: Settings, facts: Facts, group: int, rows: Any
) -> None:
    """Grow subtrees, `group` records at a time; `rows` gets the number of records of each node, 0 where it is left."""
    mine = cuda.shared.array(0, int64)
    waiting = waiting_cell(settings)
    for node in range(int64(cuda.blockIdx.x), rows.shape[0], int64(cuda.gridDim.x)):
        base = 2 * growing.roots.offset[node]
        begin_subtree(node, base, growing, settings)
        if cuda.threadIdx.x == 0:
            mine[waiting], mine[waiting + 1] = base, base + 1
        cuda.syncthreads()
        written = grow_divided(node, growing, heirs, weights, settings, facts, group, mine)
        if cuda.threadIdx.x == 0:
            rows[node] = written
        cuda.syncthreads()


@on_device
def grow_divided(
    node: Any, growing: Any, heirs: Heirs, weights: Any, settings: Any, facts: Any, group: Any, mine: Any
) -> Any:
    """Grow a subtree; returns the number of its records, 0 where it has no room. Waits for all threads."""
    roots, places = growing.roots, int64(growing.lists.cases.shape[0]) // 2
    base, count, start = 2 * roots.offset[node], roots.offset[node + 1] - roots.offset[node], roots.begin[node]
    room, cell = (
        places // roots.owner.shape[0] * count,
        int64(cuda.blockIdx.x) * group * growing.attributes.column.shape[0],
    )
    stop, depth, here, there = base + 1, int64(0), count + 1, int64(0)  # places used in this buffer and in the other
    while depth >= 0:
        waiting = waiting_cell(settings) + 2 * depth
        first, last = mine[waiting], mine[waiting + 1]
        if first == last:
            depth, here, there = depth - 1, there, here
            continue
        side, side_below = start + (depth & 1) * places, start + (depth + 1 & 1) * places
        first, here = begin_group(max(first, last - group), last, room - there, here, side, growing.records)
        score_group(first, last, growing, weights, settings, cell, mine)
        cuda.syncthreads()
        limits = (base + 2 * count if depth + 1 < MOST_DEPTH else stop, room - there)
        target = (stop, side_below + there)
        more, taken = divide_group(first, last, target, limits, growing, heirs, weights, settings, facts, cell, mine)
        if more < 0:
            return int64(0)
        if cuda.threadIdx.x == 0:
            mine[waiting + 1], mine[waiting + 2], mine[waiting + 3] = first, stop, stop + more
        cuda.syncthreads()
        move_divided(first, last, growing, heirs)
        stop, depth, here, there = stop + more, depth + 1, there + taken, here
        cuda.syncthreads()
    return stop - base


@on_device
def divide_group(
    first: Any,
    last: Any,
    target: Any,
    limits: Any,
    growing: Any,
    heirs: Heirs,
    weights: Any,
    settings: Any,
    facts: Any,
    cell: Any,
    mine: Any,
) -> Any:
    """Choose the tests of the records first..last-1, write the records of their branches and the instances of these.

    Parameters
    ----------
    target : tuple
        The first row and the first place to write to.
    limits : tuple
        The row after the last that may be written, and how many places may be.

    Returns
    -------
    int, int
        Rows and places that were written; -1 rows if these are too many.
    """
    (stop, place), (end, room), r = target, limits, first + cuda.threadIdx.x
    branches, wanted, at = int64(0), int64(0), cell + cuda.threadIdx.x * growing.attributes.column.shape[0]
    if r < last:
        branches = choose_test(r, growing, settings, facts, at)
    before, more = placed(mine, branches)
    if stop + more > end:
        return int64(-1), int64(0)
    if branches > 0:
        low = room_of_thread(mine, 0, settings)
        wanted = divide_record(r, stop + before, branches, growing, heirs, weights, settings, at, low)
    before, taken = placed(mine, wanted)
    if taken > room:
        return int64(-1), int64(0)
    if branches > 0:
        place_cases(r, place + before, growing, heirs, weights)
    return more, taken


@on_device
def waiting_cell(settings: Any) -> Any:
    """The first cell of shared memory that holds, for each depth, the records that wait there."""
    return scan_size(int64(1), cuda.blockDim.x) + 1 + 2 * settings.n_classes * cuda.blockDim.x


@on_device
def room_of_thread(mine: Any, number: Any, settings: Any) -> ByClass:
    """Room for class weights that a thread has to itself."""
    threads = cuda.blockDim.x
    first = scan_size(int64(1), threads) + 1 + number * settings.n_classes * threads
    return ByClass(mine, int64(threads), int64(first + cuda.threadIdx.x))


def shared_cells(n_classes: int, threads: int) -> int:
    """Cells of shared memory that a block needs."""
    return scan_cells(1, threads) + 1 + 2 * n_classes * threads + 2 * (MOST_DEPTH + 1)


@on_device
def begin_group(lowest: Any, last: Any, room: Any, here: Any, side: Any, records: Any) -> Any:
    """The first of the records that are divided next, and the places that are used in their buffer without them.

    They are few enough for their branches to have twice as many instances, or only one.
    """
    first, wanted = last, int64(0)
    while first > lowest:
        wanted += 2 * int64(records.count[first - 1]) if records.attribute[first - 1] == OPEN else int64(0)
        if first < last and wanted > room:
            break
        first -= 1
        if records.attribute[first] == OPEN:
            here = int64(records.first[first]) - side
    return first, here


@on_device
def score_group(first: Any, last: Any, growing: Any, weights: Any, settings: Any, cell: Any, mine: Any) -> None:
    """The candidates of the records first..last-1, from a cell of the room on."""
    n_attributes = growing.attributes.continuous.shape[0]
    low, totals = room_of_thread(mine, 0, settings), room_of_thread(mine, 1, settings)
    for item in range(cuda.threadIdx.x, (last - first) * n_attributes, cuda.blockDim.x):
        r = first + item // n_attributes
        if growing.records.attribute[r] == OPEN:
            score_known(r, item % n_attributes, growing, weights, settings, low, totals, cell + item)


@on_device
def placed(mine: Any, amount: Any) -> Any:
    """What the threads before this one ask for, and all of them together; waits for all threads."""
    t, total = cuda.threadIdx.x, scan_size(int64(1), cuda.blockDim.x)
    mine[t] = amount
    scan_runs(mine, int64(1))
    if t == cuda.blockDim.x - 1:
        mine[total] = mine[t] + amount
    cuda.syncthreads()
    return mine[t], mine[total]
