"""Finish a small node: its whole subtree, in memory that fits a core's cache.

The node's cases get local numbers 0..n-1, and its lists are copied with those in the place of rows. Nodes are then
tested in order of arrival; lists are partitioned back and forth between two buffers, every node keeping its range::

    buffer 0   |      root       |
    buffer 1   |  low  |  high   |         a branch lies in the other buffer, within its parent's range
    buffer 0   |ll| lh |  ...    |

The choice is :func:`c45gpu.choose.choose`, compiled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.choose import NO_TEST, choose, is_leaf
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_entry import class_of, new_of, packed, row_of
from c45gpu.kernels.cpu_measures import is_plain, score_by_measure
from c45gpu.kernels.cpu_move import DROPPED, count_branches, mark_codes, mark_list, partition
from c45gpu.kernels.cpu_prune_order import note_leaves, note_whole
from c45gpu.kernels.cpu_score import (
    cut_range,
    scan_histogram,
    scan_list,
    sum_histogram,
    sum_list,
    sum_of_h,
)


class Columns(NamedTuple):
    """What is known of the attributes. A used attribute has a list or a column of codes; the last list is of rows."""

    list_of: Any  # int64[A]: the list of each used attribute, -1 for none
    code_of: Any  # int64[A]: its column of codes, -1 for none
    continuous: Any  # bool[A]
    code_first: Any  # int64[n_code + 1]: where each column's codes start in a histogram of all
    codes: Any  # uint8[N, n_code]
    list_codes: Any  # int32[A, N] or [0, 0]: codes of discrete attributes that have lists; row list_code_of[a]
    list_code_of: Any  # int64[A]


class Scores(NamedTuple):
    """Candidates of one node, one number for each used attribute, as :class:`c45gpu.kernels.level.Candidates`."""

    gain: Any
    split: Any
    tries: Any
    possible: Any
    cut: Any


class Scratch(NamedTuple):
    """Memory of one worker."""

    local_of: Any  # int32[N]: local number by row
    order: Any  # int32[N]: rows in the order of leaves
    row_of: Any  # int64[R]
    buffers: Any  # uint32[2, n_lists, R]
    codes: Any  # uint8[R, n_code]
    list_codes: Any  # int32[n_list_codes, R]
    marks: Any  # uint8[R], int32[R] where some test has more than 256 branches
    sides: Any  # the same, of tests with two branches
    histogram: Any  # int64[n_codes, C]
    branch_counts: Any  # int64[most branches, C]
    room: Any  # of a scan
    position: Any  # int64[most branches]
    new: Any  # int64[most branches]
    places: Any  # int64[most branches]
    sizes: Any  # int64[most branches]
    net: Any  # float64[A]
    scores: Scores


class Records(NamedTuple):
    """Rows of finished subtrees (see :class:`c45gpu.kernels.level.Subtrees`), and where a node's cases lie."""

    parent: Any
    branch: Any
    attribute: Any
    below: Any
    above: Any
    class_weights: Any
    first: Any
    count: Any
    buffer: Any


@compiled
def fill_histogram(rows: Any, layout: Any, codes: Any, code_first: Any, histogram: Any) -> None:
    """Count the cases of a row list by code and class, for all columns of codes at once."""
    histogram[:] = 0
    for i in range(len(rows)):
        entry = np.uint64(rows[i])
        row, c = row_of(entry, layout), class_of(entry, layout)
        for k in range(codes.shape[1]):
            histogram[code_first[k] + np.int64(codes[row, k]), c] += 1


@compiled
def score_one(
    a: Any, entries: Any, counts: Any, totals: Any, cuts: Any, columns: Any, context: Any, room: Any, scores: Any
) -> None:
    """Score one attribute of one node whose values are all known: by its list, or by its histogram if it has none.

    `cuts` is the :func:`cut_range` of the node.
    """
    layout, h, settings = context
    n = np.int64(0)
    for c in range(len(totals)):
        n += totals[c]
    listed = columns.list_of[a] >= 0
    if not is_plain(settings):
        work, each_one = (room.inner, room.low), np.empty(0, np.int64)
        scores.gain[a], scores.split[a], scores.cut[a], scores.tries[a], scores.possible[a] = score_by_measure(
            listed, columns.continuous[a], entries, counts, layout, each_one, n, settings, work
        )
        return
    if columns.continuous[a]:
        if not listed:
            inner, at, tries = scan_histogram(counts, n, totals, h, cuts, room.low)
            below = np.int64(0)
            for code in range(at + 1):
                for c in range(len(totals)):
                    below += counts[code, c]
        else:
            inner, at, tries = scan_list(entries, layout, totals, h, cuts, room)
            below = np.int64(at)
        scores.possible[a], scores.cut[a], scores.tries[a] = at >= 0, at, tries
        below = max(below, np.int64(0))
        branches = h[below] + h[n - below]
    else:
        if listed:
            inner, branches, ample = sum_list(entries, layout, h, settings, room.low)
        else:
            inner, branches, ample = sum_histogram(counts, h, settings)
        scores.possible[a], scores.cut[a], scores.tries[a] = ample >= 2, -1, 0
    scores.gain[a] = h[n] - sum_of_h(totals, h) - inner if scores.possible[a] else 0
    scores.split[a] = h[n] - branches


@compiled
def _load(lists: Any, first: Any, count: Any, layout: Any, local: Any, columns: Any, scratch: Any) -> None:
    """Copy a node's lists, rows replaced by local numbers, and its codes."""
    last = len(lists) - 1
    for i in range(count):
        row = row_of(lists[last, first + i], layout)
        scratch.local_of[row], scratch.row_of[i] = i, row
        scratch.codes[i, :] = columns.codes[row, :]
        for k in range(len(columns.list_codes)):
            scratch.list_codes[k, i] = columns.list_codes[k, row]
    for k in range(len(lists)):
        for i in range(count):
            entry = lists[k, first + i]
            number = scratch.local_of[row_of(entry, layout)]
            scratch.buffers[0, k, i] = packed(new_of(entry, layout), class_of(entry, layout), number, local)


@compiled
def _choose(r: Any, records: Any, columns: Any, facts: Any, context: Any, scratch: Any) -> Any:
    """Score all attributes of a node and choose."""
    layout, _, settings = context
    first, stop = records.first[r], records.first[r] + records.count[r]
    lists, totals = scratch.buffers[records.buffer[r]], records.class_weights[r]
    if scratch.codes.shape[1]:
        fill_histogram(lists[len(lists) - 1, first:stop], layout, scratch.codes, columns.code_first, scratch.histogram)
    cuts = cut_range(records.count[r], settings)
    for a in range(len(columns.list_of)):
        k, column = max(columns.list_of[a], 0), max(columns.code_of[a], 0)
        counts = scratch.histogram[columns.code_first[column] : columns.code_first[column + 1]]
        score_one(a, lists[k, first:stop], counts, totals, cuts, columns, context, scratch.room, scratch.scores)
    scores = scratch.scores
    candidates = (scores.gain, scores.split, scores.tries, scores.possible)
    return choose(records.count[r], candidates, facts, settings, scratch.net)


@compiled
def _mark(r: Any, a: Any, records: Any, columns: Any, layout: Any, scratch: Any) -> Any:
    """Mark a node's cases by branch, note the values on both sides of a cut; returns the number of branches."""
    first, stop = records.first[r], records.first[r] + records.count[r]
    lists, cut = scratch.buffers[records.buffer[r]], scratch.scores.cut[a]
    k = columns.list_of[a]
    if k >= 0 and columns.continuous[a]:
        mark_list(lists[k, first:stop], layout, cut, scratch.marks)
        records.below[r] = scratch.row_of[row_of(lists[k, first + cut - 1], layout)]
        records.above[r] = scratch.row_of[row_of(lists[k, first + cut], layout)]
        return 2
    rows = lists[len(lists) - 1, first:stop]
    if k >= 0:
        codes = scratch.list_codes[columns.list_code_of[a]]
        mark_codes(rows, layout, codes, -1, scratch.marks)
        return len(scratch.places)
    column = columns.code_of[a]
    above = mark_codes(rows, layout, scratch.codes[:, column], cut, scratch.marks)
    if not columns.continuous[a]:
        return columns.code_first[column + 1] - columns.code_first[column]
    records.below[r], records.above[r] = cut, above
    return 2


@compiled
def _branch(r: Any, n_branches: Any, stop: Any, records: Any, context: Any, scratch: Any, order: Any) -> Any:
    """Add the branches that hold cases behind the records, and move the lists; returns the end of the records.

    The cases of leaves among them are written to their place in the order of leaves.
    """
    layout, _, settings = context
    first, count = records.first[r], records.count[r]
    lists, out = scratch.buffers[records.buffer[r]], scratch.buffers[1 - records.buffer[r]]
    counts = scratch.branch_counts[:n_branches]
    count_branches(lists[len(lists) - 1, first : first + count], layout, scratch.marks, counts)
    places, position, place, moved, closed = scratch.places[:n_branches], scratch.position, first, False, False
    for b in range(n_branches):
        here, largest = counts[b].sum(), counts[b].max()
        places[b], scratch.sizes[b], position[b] = DROPPED, here, place
        if here:
            records.parent[stop], records.branch[stop], records.attribute[stop] = r, b, NO_TEST
            records.class_weights[stop, :] = counts[b]
            records.first[stop], records.count[stop], records.buffer[stop] = place, here, 1 - records.buffer[r]
            if is_leaf(here, largest, settings):
                closed = True
            else:
                places[b], moved = place, True
            place += here
            stop += 1
    if closed:
        rows = lists[len(lists) - 1, first : first + count]
        note_leaves(rows, layout, scratch.marks, places, position, scratch.row_of, order)
    if moved:
        for k in range(len(lists)):
            here = lists[k, first : first + count]
            partition(here, scratch.marks, scratch.sides, layout, places, scratch.sizes, out[k], position, scratch.new)
    return stop


@compiled
def finish(
    lists: Any, roots: Any, layout: Any, columns: Any, facts: Any, context: Any, scratch: Any, records: Any
) -> Any:
    """Grow the subtrees of several small nodes.

    `roots` holds first, count, class counts, position in the frontier and in the order of leaves of each; `context` the
    layout of local entries, the table of H by counts, and the settings with counts as units. Returns the end of the
    records.
    """
    firsts, counts, totals, positions, finals = roots
    local, stop = context[0], 0
    for s in range(len(firsts)):
        root = stop
        _load(lists, firsts[s], counts[s], layout, local, columns, scratch)
        records.parent[root], records.branch[root], records.attribute[root] = -1 - positions[s], 0, NO_TEST
        records.class_weights[root, :] = totals[s]
        records.first[root], records.count[root], records.buffer[root] = 0, counts[s], 0
        order = scratch.order[finals[s] : finals[s] + counts[s]]
        stop = root + 1
        r = root
        while r < stop:
            records.below[r], records.above[r] = -1, -1
            if not is_leaf(records.count[r], records.class_weights[r].max(), context[2]):
                a = _choose(r, records, columns, facts, context, scratch)
                if a != NO_TEST:
                    records.attribute[r] = a
                    n_branches = _mark(r, a, records, columns, local, scratch)
                    stop = _branch(r, n_branches, stop, records, context, scratch, order)
                else:
                    first, last = records.first[r], records.first[r] + records.count[r]
                    rows = scratch.buffers[records.buffer[r], len(lists) - 1, first:last]
                    note_whole(rows, local, scratch.row_of, order[first:last])
            r += 1
    return stop
