"""Finish small nodes: a block grows the whole subtree of each, so that they cost no further launches.

A node brings its cases, side by side with those of the other nodes, and a list of every attribute, also of those that
have codes. Its subtree is grown in the order of arrival, some records at a time; a branch keeps its part of the
parent's range, in the other of two buffers::

    buffer 0   |      root       |            records   root | low | high | ll | lh | ...
    buffer 1   |  low  |  high   |                      done ->| these at once |
    buffer 0   |ll| lh |  ...    |

Between two barriers a thread works on a list of one record: it walks the cuts or values (:mod:`.cuda_finish_score`),
or sends the entries to the branches (:mod:`.cuda_finish_move`). The choice is :func:`c45gpu.choose.choose`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int64

from c45gpu.choose import NO_TEST, Facts, Settings, choose, is_leaf
from c45gpu.kernels.cuda_codes import Codes
from c45gpu.kernels.cuda_counts import Weights, class_of, id_of, is_new, on_device, scan_runs, scan_size
from c45gpu.kernels.cuda_finish_move import OPEN, Records, entry_of, move_records
from c45gpu.kernels.cuda_finish_score import Attributes, clear_classes, score_records, span_of, weight_of
from c45gpu.kernels.cuda_measures import ByClass, of_class
from c45gpu.kernels.cuda_score import Found, Lists, amount_at


class Roots(NamedTuple):
    """Nodes that are finished together; a case has a place among those of all."""

    start: Any  # int64[nodes]: the first instance in the level
    offset: Any  # int64[nodes + 1]: cases of the nodes before
    begin: Any  # int64[nodes]: the first place
    owner: Any  # int64[cases]: the node
    class_weights: Any  # int32 or int64[nodes * classes]


class Growing(NamedTuple):
    """What a subtree grows from, and where it goes."""

    roots: Roots
    lists: Lists  # uint32[2 buffers * attributes * places]; cases by place; near_of by attribute
    attributes: Attributes
    codes: Codes
    records: Records
    marks: Any  # int32[places]: the record of the branch
    room: Found  # of each block: the candidates of the records that are worked on at once
    net: Any  # float64, as long


def finish(growing: Growing, weights: Weights, settings: Settings, facts: Facts, group: int, rows: Any) -> None:
    """Grow subtrees, `group` records at a time; `rows` gets the number of records of each node."""
    mine = cuda.shared.array(0, int64)
    t, threads, n_attributes = cuda.threadIdx.x, cuda.blockDim.x, growing.attributes.continuous.shape[0]
    total = scan_size(int64(1), threads)
    low = ByClass(mine, threads, total + 1 + t)  # of this thread alone
    for node in range(int64(cuda.blockIdx.x), rows.shape[0], int64(cuda.gridDim.x)):
        base = 2 * growing.roots.offset[node]
        begin_subtree(node, base, growing, settings)
        cuda.syncthreads()
        first, stop = base, base + 1
        while first < stop:
            last = min(stop, first + group)
            cell = int64(cuda.blockIdx.x) * group * n_attributes
            score_records(first, last, growing, weights, settings, cell, low)
            cuda.syncthreads()
            branches = int64(0)
            if first + t < last:
                branches = choose_test(first + t, growing, settings, facts, cell + t * n_attributes)
            mine[t] = branches
            scan_runs(mine, int64(1))
            if t == threads - 1:
                mine[total] = mine[t] + branches
            if branches > 0:
                count = int64(growing.records.count[first + t])
                at = cell + t * n_attributes
                add_branches(first + t, stop + mine[t], count, growing, weights, settings, at, low)
            cuda.syncthreads()
            move_records(first, last, growing.lists, growing.attributes.continuous, growing.records, growing.marks)
            first, stop = last, stop + mine[total]
            cuda.syncthreads()
        if t == 0:
            rows[node] = stop - base


@on_device
def begin_subtree(node: Any, r: Any, growing: Any, settings: Any) -> None:
    """Write the record of a root."""
    roots, records = growing.roots, growing.records
    for c in range(cuda.threadIdx.x, settings.n_classes, cuda.blockDim.x):
        weight = roots.class_weights[node * settings.n_classes + c]
        records.class_weights[c * records.parent.shape[0] + r] = weight
    if cuda.threadIdx.x == 0:
        records.parent[r], records.branch[r], records.attribute[r] = -1, 0, OPEN
        records.first[r], records.side[r] = roots.begin[node], 0
        records.count[r] = roots.offset[node + 1] - roots.offset[node]


@on_device
def choose_test(r: Any, growing: Any, settings: Any, facts: Any, cell: Any) -> Any:
    """Choose the test of a record; returns its number of branches that hold cases, 0 for a leaf."""
    records, room, end = growing.records, growing.room, cell + growing.attributes.continuous.shape[0]
    records.below[r], records.above[r] = -1, -1
    if records.attribute[r] != OPEN:
        return int64(0)
    candidates = (room.gain[cell:end], room.split[cell:end], room.tries[cell:end], room.possible[cell:end])
    weight = weight_of(r, records, settings)
    a = int64(choose(weight, candidates, facts, settings, growing.net[cell:end]))
    records.attribute[r] = a
    if a == NO_TEST:
        return int64(0)
    return int64(2) if growing.attributes.continuous[a] else room.cut[cell + a]


@on_device
def add_branches(
    r: Any, child: Any, count: Any, growing: Any, weights: Any, settings: Any, cell: Any, low: ByClass
) -> None:
    """Write the records of the branches, the first of them at `child`, and mark the cases of each.

    `count` is the length of the list that is tested, `low` room for the class weights of a branch, not yet cleared.
    """
    records, lists, a = growing.records, growing.lists, int64(growing.records.attribute[r])
    cut, continuous = growing.room.cut[cell + a], growing.attributes.continuous[a]
    begin = entry_of(r, a, records, lists, growing.attributes.continuous)
    end, first, row = begin + count, begin, child
    span = span_of(begin, end, a, lists, settings)
    records.child[r] = child
    clear_classes(low, settings)
    for i in range(begin, end):
        word = int64(lists.entries[i])
        place = id_of(word, lists.layout)
        if i > begin and (i - begin == cut if continuous else is_new(word, lists.layout)):
            close_branch(row, r, first - begin, i - first, low, records, settings)
            first, row = i, row + 1
        if i == first:
            records.branch[row] = row - child
            if not continuous:
                records.branch[row] = growing.codes.codes[growing.attributes.column[a], lists.cases[place]]
            elif i > begin:
                records.below[r] = lists.cases[id_of(int64(lists.entries[i - 1]), lists.layout)]
                records.above[r] = lists.cases[place]
        low.cells[class_of(word, lists.layout) * low.stride + low.offset] += amount_at(i, word, span, lists, weights)
        growing.marks[place] = row
    close_branch(row, r, first - begin, end - first, low, records, settings)


@on_device
def close_branch(row: Any, r: Any, before: Any, count: Any, low: ByClass, records: Any, settings: Any) -> None:
    """Write a branch of r that holds `count` cases, after so many `before`; `low` is 0 again afterwards."""
    records.parent[row], records.side[row] = r, 1 - records.side[r]
    records.first[row], records.count[row] = records.first[r] + before, count
    for c in range(settings.n_classes):
        records.class_weights[c * records.parent.shape[0] + row] = of_class(c, low)
    clear_classes(low, settings)
    judge_branch(row, records, settings)


@on_device
def judge_branch(row: Any, records: Any, settings: Any) -> None:
    """Note whether a branch is to be tested."""
    weight, largest = int64(0), int64(0)
    for c in range(settings.n_classes):
        here = int64(records.class_weights[c * records.parent.shape[0] + row])
        weight, largest = weight + here, max(largest, here)
    records.attribute[row] = NO_TEST if is_leaf(weight, largest, settings) else OPEN
