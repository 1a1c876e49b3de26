"""Divide the cases of a record in a subtree that a block grows, where some values are unknown.

An instance is named by its place. Those of a branch are written to new places; of a case whose value is unknown there
may be several, and these are a chain::

    place       p0    p1    p2                        marks: at last the first of the new places
    branch       0     ?     1
    new places  n0    n1 -> n3    n2                  following: the next of a chain
    row         low   low   high  high

Each list of a record has one place more than instances, and its length stands behind these. While a list is filled, its
number of entries and the number of the value of the last one stand there together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int64

from c45gpu.kernels.cuda_counts import class_of, id_of, is_new, on_device
from c45gpu.kernels.cuda_entries import moved_word
from c45gpu.kernels.cuda_finish import add_branches, judge_branch
from c45gpu.kernels.cuda_finish_move import OPEN, STATE_BITS, entry_of
from c45gpu.kernels.cuda_finish_score import clear_classes, score_span, span_of, weight_of
from c45gpu.kernels.cuda_mark import UNKNOWN, fraction_of, share_of
from c45gpu.kernels.cuda_measures import ByClass


class Heirs(NamedTuple):
    """What becomes of instances."""

    row: Any  # int32[places]: the record
    following: Any  # int32[places]: the next instance of the same case, -1 for none
    branches: Any  # int32[rows]: of a record, those that hold cases
    upto: Any  # float64[rows]: of a branch, as in Shares
    classes: Any  # uint16[cases of the table]


@on_device
def length_at(begin: Any, r: Any, growing: Any) -> Any:
    """The length of a record's list that begins there."""
    return int64(growing.lists.entries[begin + growing.records.count[r]])


@on_device
def score_known(
    r: Any, a: Any, growing: Any, weights: Any, settings: Any, low: ByClass, totals: ByClass, cell: Any
) -> None:
    """The candidate of a record and an attribute; `low` and `totals` are a thread's room for itself."""
    lists = growing.lists
    begin, known = entry_of(r, a, growing.records, lists, growing.attributes.continuous), int64(0)
    end = begin + length_at(begin, r, growing)
    clear_classes(totals, settings)
    for i in range(begin, end):
        word = int64(lists.entries[i])
        units = weights.units[id_of(word, lists.layout)]
        totals.cells[class_of(word, lists.layout) * totals.stride + totals.offset] += units
        known += units
    weight = weight_of(r, growing.records, settings)
    score_span(
        span_of(begin, end, a, lists, settings), a, (weight, known), growing, weights, settings, low, totals, cell
    )


@on_device
def divide_record(
    r: Any, child: Any, branches: Any, growing: Any, heirs: Heirs, weights: Any, settings: Any, cell: Any, low: ByClass
) -> Any:
    """Write the records of the branches and mark the cases; returns how many places those take that will be tested."""
    records, a = growing.records, int64(growing.records.attribute[r])
    first, stop = int64(records.first[r]), int64(records.first[r]) + int64(records.count[r])
    for i in range(first, stop):
        growing.marks[i] = UNKNOWN
    length = length_at(entry_of(r, a, records, growing.lists, growing.attributes.continuous), r, growing)
    add_branches(r, child, length, growing, weights, settings, cell, low)
    heirs.branches[r] = branches
    if length < stop - first:
        share_cases(first, stop, child, branches, growing, heirs, weights, settings)
    places = int64(0)
    for row in range(child, child + branches):
        if records.attribute[row] == OPEN:
            places += int64(records.count[row]) + 1
    return places


@on_device
def share_cases(
    first: Any, stop: Any, child: Any, branches: Any, growing: Any, heirs: Heirs, weights: Any, settings: Any
) -> None:
    """Add the shares of the unknown instances first..stop-1 to the branches."""
    records, known, running = growing.records, int64(0), int64(0)
    for row in range(child, child + branches):
        known += weight_of(row, records, settings)
    for row in range(child, child + branches):
        running += weight_of(row, records, settings)
        heirs.upto[row] = fraction_of(running, known)
    for i in range(first, stop):
        if growing.marks[i] == UNKNOWN:
            c = int64(heirs.classes[growing.lists.cases[i]])
            for row in range(child, child + branches):
                share = share_of(weights.units[i], row, child, heirs.upto)
                if share > 0:
                    records.class_weights[c * records.parent.shape[0] + row] += share
                    records.count[row] += 1
    for row in range(child, child + branches):
        judge_branch(row, records, settings)


@on_device
def place_cases(r: Any, place: Any, growing: Any, heirs: Heirs, weights: Any) -> None:
    """Write the instances of the branches that will be tested, from a place on."""
    records, child = growing.records, int64(growing.records.child[r])
    stop = child + int64(heirs.branches[r])
    for row in range(child, stop):
        records.first[row], records.side[row], records.child[row] = place, 0, place
        if records.attribute[row] == OPEN:
            place += int64(records.count[row]) + 1
    for i in range(int64(records.first[r]), int64(records.first[r]) + int64(records.count[r])):
        row, heir = int64(growing.marks[i]), int64(-1)
        if row >= 0:
            heir = place_case(i, row, weights.units[i], heir, growing, heirs, weights)
        else:
            for branch in range(child, stop):
                share = share_of(weights.units[i], branch, child, heirs.upto)
                heir = place_case(i, branch, share, heir, growing, heirs, weights)
        growing.marks[i] = heir


@on_device
def place_case(i: Any, row: Any, units: Any, following: Any, growing: Any, heirs: Heirs, weights: Any) -> Any:
    """Write an instance with so many units to a branch; returns where its chain begins."""
    records, cases = growing.records, growing.lists.cases
    if units == 0 or records.attribute[row] != OPEN:
        return following
    to = int64(records.child[row])
    records.child[row] = to + 1
    cases[to], weights.units[to] = cases[i], units
    heirs.row[to], heirs.following[to] = row, following
    return to


@on_device
def move_divided(first: Any, last: Any, growing: Any, heirs: Heirs) -> None:
    """Move the lists of the records first..last-1; a thread moves a list at a record."""
    n_attributes, records = growing.attributes.continuous.shape[0], growing.records
    for item in range(cuda.threadIdx.x, (last - first) * n_attributes, cuda.blockDim.x):
        r = first + item // n_attributes
        if records.attribute[r] >= 0:
            move_list(r, item % n_attributes, growing, heirs)


@on_device
def move_list(r: Any, a: Any, growing: Any, heirs: Heirs) -> None:
    """Move a list to all branches that will be tested."""
    records, lists, value = growing.records, growing.lists, int64(0)
    begin, base = entry_of(r, a, records, lists, growing.attributes.continuous), a * lists.cases.shape[0]
    rows = range(int64(records.child[r]), int64(records.child[r]) + int64(heirs.branches[r]))
    end = begin
    for row in rows:
        if records.attribute[row] == OPEN:
            lists.entries[base + records.first[row] + records.count[row]] = 0
            end = begin + length_at(begin, r, growing)
    for i in range(begin, end):
        word = int64(lists.entries[i])
        value += 1 if is_new(word, lists.layout) else 0
        heir = int64(growing.marks[id_of(word, lists.layout)])
        while heir >= 0:
            row = int64(heirs.row[heir])
            out = base + int64(records.first[row])
            state = int64(lists.entries[out + records.count[row]])
            moved, before = state >> STATE_BITS, state & ((1 << STATE_BITS) - 1)
            lists.entries[out + moved] = moved_word(word, value != before, heir, lists.layout, lists.layout)
            lists.entries[out + records.count[row]] = (moved + 1) << STATE_BITS | value
            heir = int64(heirs.following[heir])
    for row in rows:
        if records.attribute[row] == OPEN:
            last = base + records.first[row] + records.count[row]
            lists.entries[last] = int64(lists.entries[last]) >> STATE_BITS
