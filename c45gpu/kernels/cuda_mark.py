"""Find the branch of every instance of the nodes that are split, and what each branch gets.

A *slot* is one branch of one split; the slots of split s are ``slot_start[s] .. slot_start[s + 1] - 1``::

    branch   0 1 1 ? 0 . .      of each instance; ? UNKNOWN: into every branch with a share; . DROPPED: not split
    totals   slot 0: class weights and instances | slot 1: ...
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64
from numba.cuda import libdevice

from c45gpu.kernels.cuda_codes import CUT_BITS, Codes, Instances
from c45gpu.kernels.cuda_counts import (
    Weights,
    add_to,
    clear_copies,
    copies_for,
    flush_copies,
    id_of,
    on_device,
    tile_range,
    units_of,
)
from c45gpu.kernels.cuda_device import Tiles
from c45gpu.kernels.cuda_score import Lists

UNKNOWN = -1
DROPPED = -2


class Tests(NamedTuple):
    """The splits of a level; one without a slot is none, and its cases are dropped."""

    slot_start: Any  # int64[splits + 1]
    column: Any  # int64[splits]: the column of codes, -1 for a list
    cut: Any  # int64[splits]: as in level.Candidates
    list_of: Any  # int64[splits]: the list, -1 for codes
    first: Any  # int64[splits]: the first entry of the list at the node, within its chunk
    stop: Any  # int64[splits]: the one after the last
    group_start: Any  # int64[splits + 1]: as in level.Splits
    group_branch: Any  # int32; [0] if no values are grouped


class Totals(NamedTuple):
    """What the slots hold."""

    cells: Any  # int64[slots * width]: class weights of each slot, then its number of instances
    width: Any  # classes + 1


class Sides(NamedTuple):
    """The cases on both sides of each cut of a list."""

    below: Any  # int64[splits]
    above: Any  # int64[splits]


class Shares(NamedTuple):
    """How an unknown value divides a case."""

    upto: Any  # float64[slots]: known weight of the branches up to and with each over that of all; [0] if none can be
    slot_start: Any  # int64[splits + 1]


def mark_codes(instances: Instances, codes: Codes, tests: Tests, tiles: Tiles, branch: Any) -> None:
    """The branch of each instance by its code; UNKNOWN where a list is tested, which is marked afterwards."""
    split, first, stop = tile_range(int64(cuda.blockIdx.x), tiles)
    if tests.slot_start[split] == tests.slot_start[split + 1]:
        return
    column, below = tests.column[split], tests.cut[split] & ((int64(1) << CUT_BITS) - 1)
    for i in range(first + cuda.threadIdx.x, stop, cuda.blockDim.x):
        taken = int64(UNKNOWN)
        if column >= 0:
            code = int64(codes.codes[column, instances.cases[i]])
            if code != codes.unknown:
                taken = code
                if tests.group_start[split] < tests.group_start[split + 1]:
                    taken = int64(tests.group_branch[tests.group_start[split] + code])
                if codes.continuous[column]:
                    taken = int64(1) if code > below else int64(0)
        branch[i] = taken


def mark_lists(lists: Lists, chunk: Any, tests: Tests, tiles: Tiles, sides: Sides, branch: Any) -> None:
    """The branch of each instance by its place in the list that is tested; `chunk` has the lists chunk[0]..chunk[1]-1.

    The tiles are those of instances; of a node's list, which is no longer, a block takes as many entries.
    """
    split, first, _ = tile_range(int64(cuda.blockIdx.x), tiles)
    if tests.list_of[split] < chunk[0] or tests.list_of[split] >= chunk[1]:
        return
    at = tests.first[split] + tests.cut[split]
    first += tests.first[split] - tiles.start[split]
    for i in range(first + cuda.threadIdx.x, min(first + tiles.size, tests.stop[split]), cuda.blockDim.x):
        instance = id_of(int64(lists.entries[i]), lists.layout)
        branch[instance] = 1 if i >= at else 0
        if i == at - 1:
            sides.below[split] = lists.cases[instance]
        if i == at:
            sides.above[split] = lists.cases[instance]


def count_branches(
    instances: Instances, weights: Weights, tests: Tests, tiles: Tiles, branch: Any, cells: int, totals: Totals
) -> None:
    """Class weights and number of the instances with a known value at each slot."""
    mine = cuda.shared.array(0, int64)
    split, first, stop = tile_range(int64(cuda.blockIdx.x), tiles)
    slot, slots, width = tests.slot_start[split], tests.slot_start[split + 1] - tests.slot_start[split], totals.width
    if slots == 0:
        return
    start, size = slot * width, slots * width
    copies = copies_for(size, cells, stop - first)
    clear_copies(mine, size, copies)
    for i in range(first + cuda.threadIdx.x, stop, cuda.blockDim.x):
        taken = int64(branch[i])
        if taken >= 0:
            cell = taken * width + int64(instances.classes[instances.cases[i]])
            add_to(totals.cells, start, size, cell, units_of(i, weights), mine, copies)
            add_to(totals.cells, start, size, taken * width + width - 1, int64(1), mine, copies)
    flush_copies(totals.cells, start, size, mine, copies)


def find_fractions(totals: Totals, slot_start: Any, upto: Any) -> None:
    """The part of the known weight up to and with each branch; a thread for each split."""
    split = cuda.grid(1)
    if split >= slot_start.shape[0] - 1:
        return
    known, width = int64(0), totals.width
    for cell in range(slot_start[split] * width, slot_start[split + 1] * width):
        known += totals.cells[cell] if (cell + 1) % width > 0 else int64(0)
    running = int64(0)
    for slot in range(slot_start[split], slot_start[split + 1]):
        for c in range(width - 1):
            running += totals.cells[slot * width + c]
        upto[slot] = fraction_of(running, known)


@on_device
def fraction_of(running: Any, known: Any) -> Any:
    """The part of the known weight that some branches have."""
    return np.float64(running) / np.float64(known)


@on_device
def units_upto(units: Any, fraction: Any) -> Any:
    """:func:`c45gpu.formulas.units_before` with a product that no compiler fuses with the sums inside ``//``."""
    return int64(libdevice.dmul_rn(np.float64(units), fraction))


@on_device
def share_of(units: Any, slot: Any, first: Any, upto: Any) -> Any:
    """The share of a slot in the units of an instance with an unknown value; `first` is the split's first slot."""
    before = units_upto(units, upto[slot - 1]) if slot > first else int64(0)
    return units_upto(units, upto[slot]) - before


def share_unknown(
    instances: Instances, weights: Weights, shares: Shares, tiles: Tiles, branch: Any, room: Any, totals: Totals
) -> None:
    """Add the shares of the unknown instances to the totals; `room` gets the number of branches for each of them."""
    split, first, stop = tile_range(int64(cuda.blockIdx.x), tiles)
    begin, end, width = shares.slot_start[split], shares.slot_start[split + 1], totals.width
    for i in range(first + cuda.threadIdx.x, stop, cuda.blockDim.x):
        if branch[i] == UNKNOWN:
            room[i] = end - begin
            units, c = weights.units[i], int64(instances.classes[instances.cases[i]])
            for slot in range(begin, end):
                share = share_of(units, slot, begin, shares.upto)
                if share > 0:
                    cuda.atomic.add(totals.cells, slot * width + c, share)
                    cuda.atomic.add(totals.cells, slot * width + width - 1, int64(1))


def find_flawed(cases: Any, unknown: Any, tests: Tests, tiles: Tiles, branch: Any, flawed: Any) -> None:
    """Which slots have a case with an unknown code; a block for each tile.

    A case whose own branch is unknown counts at all of its split's, whether it has a share there or not.
    """
    split, first, stop = tile_range(int64(cuda.blockIdx.x), tiles)
    for i in range(first + cuda.threadIdx.x, stop, cuda.blockDim.x):
        taken = int64(branch[i])
        if taken != DROPPED and unknown[cases[i]]:
            begin = tests.slot_start[split] + max(taken, int64(0))
            end = begin + 1 if taken >= 0 else tests.slot_start[split + 1]
            for slot in range(begin, end):
                cuda.atomic.max(flawed, slot, 1)
