"""Score columns with few values by exact histograms: discrete attributes, and continuous ones by rank.

    histogram   node 0                              | node 1 ...
                column 0            | column 1
                code 0   | code 1   |
                class 0 1| class 0 1|

Of a continuous column the cuts lie after each code that occurs and is followed by another one that does. A cut is
named by both of them: ``above << 32 | below``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64

from c45gpu.choose import Settings, branch_counts
from c45gpu.formulas import least_side
from c45gpu.kernels.cuda_block import best_of_block, sums_of_block
from c45gpu.kernels.cuda_counts import (
    NOTHING,
    Weights,
    add_to,
    clear_copies,
    copies_for,
    flush_copies,
    h_of,
    on_device,
    tile_range,
    units_of,
)
from c45gpu.kernels.cuda_device import Tiles
from c45gpu.kernels.cuda_measures import (
    ByClass,
    inner_of_node,
    inner_of_sides,
    one_class_of,
    split_of,
    whole_term,
)
from c45gpu.kernels.cuda_score import Found
from c45gpu.kernels.level import Int64s
from c45gpu.measures import ENTROPY

CUT_BITS = 32
MOST_OF_A_PACK = 16  # columns that a block counts, so that there are blocks enough
LEAST_COPIES = 4  # of a block's histogram, where it has several columns


class Codes(NamedTuple):
    """Columns of codes by case."""

    codes: Any  # uint8, uint16 or int32 [columns, cases]; the greatest number is unknown
    unknown: Any  # that number
    first: Any  # int64[columns + 1]: the first code of each column among the codes of all
    continuous: Any  # bool[columns]
    values: Any  # float64[codes of all]: of continuous columns
    attribute: Any  # int64[columns]


class Instances(NamedTuple):
    """Cases at nodes, node by node."""

    cases: Any  # int32[instances]
    classes: Any  # uint16[cases]


def packs_of(first: Int64s, n_classes: int, cells: int) -> Int64s:
    """Neighbouring columns that a block counts together: pack p has the columns ``packs[p] .. packs[p + 1] - 1``.

    Parameters
    ----------
    first : ndarray of int64, shape (columns + 1,)
        The first code of each column among the codes of all.
    n_classes : int
    cells : int
        Counters in the shared memory of a block; more than one column must leave room for several copies.
    """
    packs = [0]
    for column in range(1, len(first) - 1):
        together = (first[column + 1] - first[packs[-1]]) * n_classes
        if column - packs[-1] >= MOST_OF_A_PACK or together > cells // LEAST_COPIES:
            packs.append(column)
    return np.array([*packs, len(first) - 1], np.int64)


def count_codes(
    instances: Instances,
    codes: Codes,
    packs: Any,
    weights: Weights,
    tiles: Tiles,
    n_classes: int,
    cells: int,
    histogram: Any,
) -> None:
    """Class weights of each code; a block counts a pack of columns at one tile of a node's instances."""
    mine = cuda.shared.array(0, int64)
    n_columns, n_packs = codes.first.shape[0] - 1, packs.shape[0] - 1
    tile, pack = int64(cuda.blockIdx.x) // n_packs, int64(cuda.blockIdx.x) % n_packs
    segment, first, stop = tile_range(tile, tiles)
    left, right = packs[pack], packs[pack + 1]
    base = codes.first[left]
    size = (codes.first[right] - base) * n_classes
    start = (segment * codes.first[n_columns] + base) * n_classes
    copies = copies_for(size, cells, stop - first)
    clear_copies(mine, size, copies)
    for i in range(first + cuda.threadIdx.x, stop, cuda.blockDim.x):
        case, units = instances.cases[i], units_of(i, weights)
        label = int64(instances.classes[case])
        for column in range(left, right):
            code = int64(codes.codes[column, case])
            if code != codes.unknown:
                cell = (codes.first[column] - base + code) * n_classes + label
                add_to(histogram, start, size, cell, units, mine, copies)
    flush_copies(histogram, start, size, mine, copies)


def score_codes(
    codes: Codes, weights: Weights, settings: Settings, node_weight: Any, attributes: int, histogram: Any, found: Found
) -> None:
    """The candidate of each node and column; a block for each."""
    n_columns, c_stop = codes.first.shape[0] - 1, settings.n_classes
    node, column = int64(cuda.blockIdx.x) // n_columns, int64(cuda.blockIdx.x) % n_columns
    n_codes = codes.first[column + 1] - codes.first[column]
    start = (node * codes.first[n_columns] + codes.first[column]) * c_stop
    if codes.continuous[column]:
        add_up_codes(histogram, start, n_codes, c_stop)
        best = best_cut(histogram, start, n_codes, codes, column, weights, settings)
    else:
        best = all_values(histogram, start, n_codes, weights, settings)
    if cuda.threadIdx.x == 0:
        gain, known, branches, tries, cut, possible = best
        cell = node * attributes + codes.attribute[column]
        weight = node_weight[node]
        found.gain[cell], found.tries[cell], found.cut[cell], found.possible[cell] = gain, tries, cut, possible
        found.split[cell] = split_of(weight, known, branches, weights, settings)


@on_device
def add_up_codes(histogram: Any, start: Any, n_codes: Any, n_classes: Any) -> None:
    """Make class weights of codes those of all codes up to each; waits for all threads after."""
    for c in range(cuda.threadIdx.x, n_classes, cuda.blockDim.x):
        running = int64(0)
        for code in range(n_codes):
            running += histogram[start + code * n_classes + c]
            histogram[start + code * n_classes + c] = running
    cuda.syncthreads()


@on_device
def row_sum(histogram: Any, first: Any, n_classes: Any) -> Any:
    """Weight of a row of class weights."""
    total = int64(0)
    for c in range(n_classes):
        total += histogram[first + c]
    return total


@on_device
def next_code(histogram: Any, start: Any, code: Any, n_codes: Any, below: Any, n_classes: Any) -> Any:
    """The next code that occurs, by running class weights."""
    above = code + 1
    while above < n_codes - 1 and row_sum(histogram, start + above * n_classes, n_classes) == below:
        above += 1
    return above


@on_device
def inner_of_cut(histogram: Any, row: Any, last: Any, below: Any, known: Any, weights: Any, settings: Any) -> Any:
    """What is left to tell on both sides of a cut after a row of running class weights."""
    if settings.measure != ENTROPY:
        return inner_of_sides(below, known, ByClass(histogram, 1, row), ByClass(histogram, 1, last), settings)
    inner = h_of(below, weights) + h_of(known - below, weights)
    for c in range(settings.n_classes):
        inner -= h_of(histogram[row + c], weights) + h_of(histogram[last + c] - histogram[row + c], weights)
    return inner


@on_device
def values_differ(histogram: Any, start: Any, code: Any, following: Any, n_classes: Any) -> Any:
    """Whether the cases of two neighbouring values are not all of one class; of running class weights."""
    row = start + code * n_classes
    here = one_class_of(row, row - n_classes, code > 0, histogram, n_classes)
    return here < 0 or here != one_class_of(start + following * n_classes, row, True, histogram, n_classes)


@on_device
def best_cut(histogram: Any, start: Any, n_codes: Any, codes: Any, column: Any, weights: Any, settings: Any) -> Any:
    """Gain, known weight, H of both sides, cuts tried, name of the cut, and 1 if there is one; of running weights."""
    n_classes, last = settings.n_classes, start + (n_codes - 1) * settings.n_classes
    known = row_sum(histogram, last, n_classes) if n_codes > 0 else int64(0)
    side = least_side(known, n_classes, settings.min_units, settings.cap_units)
    inner, cut, low, tries = NOTHING, int64(-1), int64(0), int64(0)
    for code in range(cuda.threadIdx.x, n_codes - 1, cuda.blockDim.x):
        row = start + code * n_classes
        below = row_sum(histogram, row, n_classes)
        before = row_sum(histogram, row - n_classes, n_classes) if code > 0 else int64(0)
        above = known - below
        if below > before and above > 0 and below >= side and above >= side and known >= 2 * settings.min_units:
            following = next_code(histogram, start, code, n_codes, below, n_classes)
            at = codes.first[column]
            apart = codes.values[at + code] < codes.values[at + following] - settings.gap
            if apart and (not settings.boundaries or values_differ(histogram, start, code, following, n_classes)):
                tries += 1
                here = inner_of_cut(histogram, row, last, below, known, weights, settings)
                if below >= settings.min_units and above >= settings.min_units and here < inner:
                    inner, cut, low = here, (following << CUT_BITS) | code, below
    inner, cut, low, tries = best_of_block(inner, cut, low, tries)
    base = inner_of_node(known, ByClass(histogram, 1, last), weights, settings) if n_codes > 0 else int64(0)
    branches = h_of(low, weights) + h_of(known - low, weights)
    return base - inner, known, branches, tries, cut, int64(1 if cut >= 0 else 0)


@on_device
def all_values(histogram: Any, start: Any, n_codes: Any, weights: Any, settings: Any) -> Any:
    """As :func:`best_cut`, of a test with a branch for each code."""
    inner, branches, known, ample = int64(0), int64(0), int64(0), int64(0)
    n_classes = settings.n_classes
    for code in range(cuda.threadIdx.x, n_codes, cuda.blockDim.x):
        weight = row_sum(histogram, start + code * n_classes, n_classes)
        of_all = h_of(weight, weights)
        if settings.measure == ENTROPY:
            inner += of_all
            for c in range(n_classes):
                inner -= h_of(histogram[start + code * n_classes + c], weights)
        branches += of_all
        known += weight
        ample += branch_counts(weight, settings)
    inner, branches, known, ample = sums_of_block(inner, branches, known, ample)
    gain = gain_of_class(histogram, start, n_codes, told_to_all(known), weights, settings)
    gain, _, _, _ = sums_of_block(gain, int64(0), int64(0), int64(0))
    if settings.measure == ENTROPY:
        gain += h_of(known, weights) - inner
    return gain, known, branches, int64(0), int64(-1), int64(1 if ample >= 2 else 0)


@on_device
def told_to_all(value: Any) -> Any:
    """What thread 0 has; to be called once, by all threads."""
    cell = cuda.shared.array(1, int64)
    if cuda.threadIdx.x == 0:
        cell[0] = value
    cuda.syncthreads()
    return cell[0]


@on_device
def gain_of_class(histogram: Any, start: Any, n_codes: Any, known: Any, weights: Any, settings: Any) -> Any:
    """A part of what a discrete test gains, for each thread: by other measures all of it, by information the node's."""
    gain, n_classes = int64(0), settings.n_classes
    for c in range(cuda.threadIdx.x, n_classes, cuda.blockDim.x):
        total = int64(0)
        for code in range(n_codes):
            total += histogram[start + code * n_classes + c]
        if settings.measure == ENTROPY:
            gain -= h_of(total, weights)
        else:
            gain -= whole_term(total, known, total, settings)
            for code in range(n_codes):
                row = start + code * n_classes
                gain += whole_term(histogram[row + c], row_sum(histogram, row, n_classes), total, settings)
    return gain
