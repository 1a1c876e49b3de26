"""Score lists: every cut between different values, at all open nodes at once.

The classes of each tile are counted and summed up over the tiles before it; then every tile walks its entries with
running class weights, and its best cut competes with those of the other tiles of its segment (a list at a node).
A cut is named by the number of entries below it, so of equal cuts the lowest has the least name.

The running sums are integers that are kept up to date entry by entry: sum of H(low_c) changes by
H(low_c + w) - H(low_c) when an entry of class c and weight w passes to the low side, so an entry costs the same
whatever the number of classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64

from c45gpu.choose import Settings
from c45gpu.formulas import least_side
from c45gpu.kernels.cuda_block import best_of_block
from c45gpu.kernels.cuda_counts import (
    NOTHING,
    Layout,
    Weights,
    class_of,
    h_of,
    id_of,
    is_new,
    on_device,
    run_range,
    scan_runs,
    scan_size,
    sum_groups,
    tile_range,
    units_of,
)
from c45gpu.kernels.cuda_device import Tiles
from c45gpu.kernels.cuda_measures import ByClass, inner_of_node, inner_of_sides, of_class, on_boundary, split_of
from c45gpu.measures import ENTROPY


class Lists(NamedTuple):
    """Entries of all lists at all nodes, list by list and node by node."""

    entries: Any  # uint32 or uint64
    layout: Layout
    cases: Any  # int32[instances]
    near_of: Any  # int64[segments]: the row of near_values where some values are too near for a cut, -1 for none
    near_values: Any  # float32[near columns * cases]


class Span(NamedTuple):
    """Entries of a list at a node that are walked, where the lists have them or in a block's shared memory."""

    begin: Any
    end: Any
    start: Any  # the first entry at the node
    stop: Any  # and the one after its last
    near: Any  # from Lists.near_of
    words: Any  # entry i is ``words[i - skip]``
    skip: Any
    units_after: Any  # cells from there to its units; 0 where words are only entries
    each: Any  # units of every entry where weights name none


@on_device
def word_at(i: Any, span: Span) -> Any:
    """An entry of a span."""
    return int64(span.words[i - span.skip])


@on_device
def amount_at(i: Any, word: Any, span: Span, lists: Any, weights: Any) -> Any:
    """The units of an entry of a span."""
    if weights.units.shape[0] == 0:
        return int64(span.each)
    if span.units_after > 0:
        return int64(span.words[i - span.skip + span.units_after])
    return int64(weights.units[id_of(word, lists.layout)])


@on_device
def hold_tile(lists: Any, weights: Any, first: Any, stop: Any, mine: Any, room: Any, size: Any) -> None:
    """Read a tile into shared memory from cell `room` on, its units behind it; waits for all threads after."""
    for k in range(cuda.threadIdx.x, stop - first, cuda.blockDim.x):
        word = int64(lists.entries[first + k])
        mine[room + k] = word
        if weights.units.shape[0] > 0:
            mine[room + size + k] = weights.units[id_of(word, lists.layout)]
    cuda.syncthreads()


class Bests(NamedTuple):
    """The best cut of each tile."""

    inner: Any  # int64: NOTHING for no cut
    at: Any  # int64: entries of the segment below it
    low: Any  # int64: their units
    tries: Any  # int64


class Found(NamedTuple):
    """The candidates of each node and attribute, as in level.Candidates: ``[node * attributes + attribute]``."""

    gain: Any
    split: Any
    tries: Any
    possible: Any
    cut: Any


def count_tiles(lists: Lists, weights: Weights, tiles: Tiles, n_classes: int, counts: Any) -> None:
    """Class weights of each tile; a thread counts its run in shared memory."""
    mine = cuda.shared.array(0, int64)
    t, threads, tile = cuda.threadIdx.x, cuda.blockDim.x, int64(cuda.blockIdx.x)
    segment, first, stop = tile_range(tile, tiles)
    begin, end = run_range(first, stop)
    bounds = (tiles.start[segment], tiles.stop[segment])
    span = Span(begin, end, bounds[0], bounds[1], int64(-1), lists.entries, int64(0), int64(0), int64(1))
    count_run(span, lists, weights, mine, n_classes)
    groups = sum_groups(mine, n_classes)
    for c in range(t, n_classes, threads):
        total = int64(0)
        for group in range(groups):
            total += mine[n_classes * threads + c * groups + group]
        counts[c * cuda.gridDim.x + tile] = total


@on_device
def count_run(span: Span, lists: Any, weights: Any, mine: Any, n_classes: Any) -> None:
    """Class weights of this thread's run: ``mine[c * threads + thread]``."""
    t, threads = cuda.threadIdx.x, cuda.blockDim.x
    for c in range(n_classes):
        mine[c * threads + t] = 0
    for i in range(span.begin, span.end):
        word = word_at(i, span)
        mine[class_of(word, lists.layout) * threads + t] += amount_at(i, word, span, lists, weights)


def count_tiles_of_many(lists: Lists, weights: Weights, tiles: Tiles, counts: Any) -> None:
    """Class weights of each tile where classes are many; `counts` is 0 before."""
    tile = int64(cuda.blockIdx.x)
    _, first, stop = tile_range(tile, tiles)
    for i in range(first + cuda.threadIdx.x, stop, cuda.blockDim.x):
        word = int64(lists.entries[i])
        amount = units_of(id_of(word, lists.layout), weights)
        cuda.atomic.add(counts, class_of(word, lists.layout) * cuda.gridDim.x + tile, amount)


class Scoring(NamedTuple):
    """What walking a list needs beside its entries."""

    before: Any  # int64[classes * tiles + 1]: class weights before each tile, ``before[c * tiles + tile]``
    totals: Any  # int64[classes * segments]
    settings: Settings


@on_device
def far_enough(i: Any, word: Any, lists: Any, near: Any, gap: Any) -> Any:
    """Whether the value of entry i is far enough above that of the entry before it; `near` is from `near_of`."""
    if near < 0:
        return True
    below = lists.near_values[near, lists.cases[id_of(int64(lists.entries[i - 1]), lists.layout)]]
    above = lists.near_values[near, lists.cases[id_of(word, lists.layout)]]
    return np.float64(below) < np.float64(above) - gap


@on_device
def walk_cuts(span: Span, lists: Any, weights: Any, settings: Any, low: ByClass, totals: ByClass) -> Any:
    """The best cut before one of the entries of a span: inner information, entries and units below, cuts tried.

    `low` holds the class weights before the span, and is kept up to date; `totals` those of the list at the node.
    """
    below, known, low_sum, high_sum = int64(0), int64(0), int64(0), int64(0)
    for c in range(settings.n_classes):
        here, total = low.cells[c * low.stride + low.offset], totals.cells[c * totals.stride + totals.offset]
        below += here
        known += total
        low_sum += h_of(here, weights)
        high_sum += h_of(total - here, weights)
    side = least_side(known, settings.n_classes, settings.min_units, settings.cap_units)
    best, best_at, best_low, tries = NOTHING, int64(-1), int64(0), int64(0)
    end = span.end if known >= 2 * settings.min_units else span.begin
    for i in range(span.begin, end):
        word = word_at(i, span)
        above = known - below
        tried = i > span.start and below >= side and above >= side and is_new(word, lists.layout)
        if tried and settings.boundaries:
            tried = on_boundary(i, span.start, span.stop, lists)
        if tried and far_enough(i, word, lists, span.near, settings.gap):
            tries += 1
            if settings.measure == ENTROPY:
                inner = h_of(below, weights) - low_sum + h_of(above, weights) - high_sum
            else:
                inner = inner_of_sides(below, known, low, totals, settings)
            if below >= settings.min_units and above >= settings.min_units and inner < best:
                best, best_at, best_low = inner, i - span.start, below
        c = class_of(word, lists.layout)
        amount = amount_at(i, word, span, lists, weights)
        cell = c * low.stride + low.offset
        here = low.cells[cell]
        there = totals.cells[c * totals.stride + totals.offset] - here
        low_sum += h_of(here + amount, weights) - h_of(here, weights)
        high_sum += h_of(there - amount, weights) - h_of(there, weights)
        low.cells[cell] = here + amount
        below += amount
    return best, best_at, best_low, tries


def score_tiles(lists: Lists, weights: Weights, tiles: Tiles, scoring: Scoring, bests: Bests) -> None:
    """The best cut of each tile; a thread walks its run."""
    mine = cuda.shared.array(0, int64)
    t, threads, tile = cuda.threadIdx.x, cuda.blockDim.x, int64(cuda.blockIdx.x)
    n_classes, n_tiles = scoring.settings.n_classes, int64(cuda.gridDim.x)
    segment, first, stop = tile_range(tile, tiles)
    room = scan_size(n_classes, threads)
    hold_tile(lists, weights, first, stop, mine, room, tiles.size)
    begin, end = run_range(first, stop)
    bounds = (tiles.start[segment], tiles.stop[segment], lists.near_of[segment])
    span = Span(begin, end, bounds[0], bounds[1], bounds[2], mine, first - room, int64(tiles.size), int64(1))
    count_run(span, lists, weights, mine, n_classes)
    scan_runs(mine, n_classes)
    for c in range(n_classes):
        row = c * n_tiles
        mine[c * threads + t] += scoring.before[row + tile] - scoring.before[row + tiles.first[segment]]
    totals = ByClass(scoring.totals, tiles.start.shape[0], segment)
    running = ByClass(mine, threads, t)
    inner, at, low, tries = walk_cuts(span, lists, weights, scoring.settings, running, totals)
    inner, at, low, tries = best_of_block(inner, at, low, tries)
    if t == 0:
        bests.inner[tile], bests.at[tile], bests.low[tile], bests.tries[tile] = inner, at, low, tries


def score_tiles_of_many(
    lists: Lists, weights: Weights, tiles: Tiles, counts: Any, scoring: Scoring, bests: Bests
) -> None:
    """As :func:`score_tiles`, where classes are many: a thread walks a whole tile; `counts` is overwritten."""
    tile, n_tiles = int64(cuda.grid(1)), tiles.segment.shape[0]
    if tile >= n_tiles:
        return
    segment, first, stop = tile_range(tile, tiles)
    for c in range(scoring.settings.n_classes):
        row = c * n_tiles
        counts[row + tile] = scoring.before[row + tile] - scoring.before[row + tiles.first[segment]]
    bounds = (tiles.start[segment], tiles.stop[segment], lists.near_of[segment])
    span = Span(first, stop, bounds[0], bounds[1], bounds[2], lists.entries, int64(0), int64(0), int64(1))
    totals = ByClass(scoring.totals, tiles.start.shape[0], segment)
    running = ByClass(counts, n_tiles, tile)
    inner, at, low, tries = walk_cuts(span, lists, weights, scoring.settings, running, totals)
    bests.inner[tile], bests.at[tile], bests.low[tile], bests.tries[tile] = inner, at, low, tries


class Asked(NamedTuple):
    """Where the candidates of segments go."""

    node: Any  # int64[segments]: the row of the node
    attribute: Any  # int64[segments]
    attributes: Any  # columns of the candidates
    weight: Any  # int64[rows]: of each node, in units


def best_of_segments(
    bests: Bests, weights: Weights, tiles: Tiles, scoring: Scoring, asked: Asked, found: Found
) -> None:
    """The candidate of each segment: a block takes the best of its tiles, thread 0 computes its gain."""
    segment = int64(cuda.blockIdx.x)
    inner, at, low, tries = NOTHING, int64(-1), int64(0), int64(0)
    for tile in range(tiles.first[segment] + cuda.threadIdx.x, tiles.first[segment + 1], cuda.blockDim.x):
        tries += bests.tries[tile]
        if bests.inner[tile] < inner:
            inner, at, low = bests.inner[tile], bests.at[tile], bests.low[tile]
    inner, at, low, tries = best_of_block(inner, at, low, tries)
    if cuda.threadIdx.x > 0:
        return
    known, totals = int64(0), ByClass(scoring.totals, tiles.start.shape[0], segment)
    for c in range(scoring.settings.n_classes):
        known += of_class(c, totals)
    weight = asked.weight[asked.node[segment]]
    cell = asked.node[segment] * asked.attributes + asked.attribute[segment]
    found.gain[cell] = inner_of_node(known, totals, weights, scoring.settings) - inner
    branches = h_of(low, weights) + h_of(known - low, weights)
    found.split[cell] = split_of(weight, known, branches, weights, scoring.settings)
    found.tries[cell] = tries
    found.possible[cell] = 1 if at >= 0 else 0
    found.cut[cell] = at
