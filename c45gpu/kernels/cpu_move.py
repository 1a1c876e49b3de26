"""Move the cases of split nodes to their branches: mark, count, and stably partition every list.

    marks   0 1 1 0 . 1       the branch of each case, by row
    list    r3 r1 r0 r5 r2    in the order of values
             |  |  |  |  |
             0  1  0  1  1    -> branch 0: r3 r0, branch 1: r1 r5 r2, each still in order

A branch's new-value bit is the OR of the bits skipped since its last entry; its first entry always has it. Branches
that will not be tested get no place (-1) and are dropped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_entry import class_of, new_of, row_of, with_new

DROPPED = -1
REPEATED = 16  # where at most one of so many entries repeats the value before it, a list counts as distinct
MOST: Any = np.int64(0x7FFFFFFFFFFFFFFF)


@compiled
def mark_list(entries: Any, layout: Any, cut: Any, marks: Any) -> None:
    """Mark the cases of a list by their side of a cut."""
    for i in range(len(entries)):
        marks[row_of(entries[i], layout)] = i >= cut


@compiled
def mark_codes(rows: Any, layout: Any, codes: Any, cut: Any, marks: Any) -> Any:
    """Mark the cases of a row list by their code, or by their side of a cut if that is not negative.

    Returns the least code above the cut.
    """
    above = MOST
    for i in range(len(rows)):
        row = row_of(rows[i], layout)
        code = np.int64(codes[row])
        marks[row] = code if cut < 0 else code > cut
        if cut < code < above:
            above = code
    return above


@compiled
def mark_given(rows: Any, layout: Any, branch: Any, marks: Any) -> None:
    """Mark the cases of a row list by branches that are given for each entry."""
    for i in range(len(rows)):
        marks[row_of(rows[i], layout)] = branch[i]


@compiled
def count_branches(rows: Any, layout: Any, marks: Any, counts: Any) -> None:
    """Count the cases of a row list by branch and class."""
    counts[:] = 0
    for i in range(len(rows)):
        entry = np.uint64(rows[i])
        counts[np.int64(marks[row_of(entry, layout)]), class_of(entry, layout)] += 1


class Sides(NamedTuple):
    """Marks of nodes with two branches, a byte or a bit of `packed` for each row."""

    packed: Any  # the mark of a row is in element row >> shift
    shift: Any  # uint64
    bit: Any  # uint64: and there it is bit row & bit


def bytes_of(marks: Any) -> Sides:
    """Marks as they are."""
    return Sides(marks, np.uint64(0), np.uint64(0))


def bits_of(marks: Any) -> Sides:
    """Marks packed into bits, which fit a nearer cache."""
    return Sides(np.packbits(marks, bitorder="little"), np.uint64(3), np.uint64(7))


@compiled
def _side(row: Any, sides: Any) -> Any:
    return (np.uint64(sides.packed[row >> sides.shift]) >> (row & sides.bit)) & np.uint64(1)


@compiled
def _partition_both(entries: Any, sides: Any, layout: Any, first: Any, second: Any, out: Any) -> None:
    """Two branches, both kept, from positions `first` and `second` on; no jump depends on the data."""
    one = np.uint64(1)
    low, high, low_new, high_new = np.uint64(first), np.uint64(second), one, one
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        side = _side(row_of(entry, layout), sides)
        bit = new_of(entry, layout)
        low_new |= bit
        high_new |= bit
        at = high if side else low
        new = high_new if side else low_new
        out[at] = with_new(entry, new, layout)
        high += side
        low += one - side
        high_new &= one - side
        low_new &= side


@compiled
def _partition_distinct(entries: Any, sides: Any, layout: Any, first: Any, second: Any, out: Any) -> None:
    """As :func:`_partition_both`, the quicker the fewer values occur again: an entry of a new value stays one."""
    one = np.uint64(1)
    low, high, side, i = np.uint64(first), np.uint64(second), np.uint64(0), 0
    while i < len(entries):
        entry = np.uint64(entries[i])
        if new_of(entry, layout):
            side = _side(row_of(entry, layout), sides)
            out[high if side else low] = entry
            high += side
            low += one - side
            i += 1
            continue
        seen = one << side  # the sides that have an entry of this value, whose first one went to `side`
        while i < len(entries) and new_of(entries[i], layout) == 0:
            entry = np.uint64(entries[i])
            side = _side(row_of(entry, layout), sides)
            out[high if side else low] = with_new(entry, ((seen >> side) & one) ^ one, layout)
            high += side
            low += one - side
            seen |= one << side
            i += 1


@compiled
def _partition_two(entries: Any, sides: Any, layout: Any, first: Any, second: Any, out: Any) -> None:
    """As :func:`_partition_both`, in the quicker way."""
    new = np.uint64(0)
    for i in range(len(entries)):
        new += new_of(entries[i], layout)
    if (len(entries) - np.int64(new)) * REPEATED > len(entries):
        _partition_both(entries, sides, layout, first, second, out)
    else:
        _partition_distinct(entries, sides, layout, first, second, out)


@compiled
def _partition_one(entries: Any, sides: Any, layout: Any, branch: Any, first: Any, stop: Any, out: Any) -> None:
    """Only one of two branches is kept, at positions from `first` on up to `stop`."""
    one, other = np.uint64(1), np.uint64(1 - branch)
    at, end, new, i = np.uint64(first), np.uint64(stop), one, 0
    while at < end:
        entry = np.uint64(entries[i])
        new |= new_of(entry, layout)
        out[at] = with_new(entry, new, layout)  # what does not stay is overwritten
        kept = _side(row_of(entry, layout), sides) ^ other
        at += kept
        new &= one - kept
        i += 1


@compiled
def _partition_many(entries: Any, marks: Any, layout: Any, places: Any, out: Any, position: Any, new: Any) -> None:
    """Any number of branches; `position` and `new` are room for one number each."""
    for b in range(len(places)):
        position[b], new[b] = places[b], -1
    group = 0  # number of the value in this list; an entry is new to its branch if the branch's last is of another
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        group += np.int64(new_of(entry, layout))
        b = np.int64(marks[row_of(entry, layout)])
        at = position[b]
        if at != DROPPED:
            out[at] = with_new(entry, new[b] != group, layout)
            position[b] = at + 1
            new[b] = group


@compiled
def partition(
    entries: Any, marks: Any, sides: Any, layout: Any, places: Any, sizes: Any, out: Any, position: Any, new: Any
) -> None:
    """Send the entries of one node to the places of its branches in `out`, :data:`DROPPED` for none.

    `sizes` is how many entries each branch gets.
    """
    if len(places) != 2:
        _partition_many(entries, marks, layout, places, out, position, new)
    elif places[0] != DROPPED and places[1] != DROPPED:
        _partition_two(entries, sides, layout, places[0], places[1], out)
    elif places[0] != DROPPED:
        _partition_one(entries, sides, layout, 0, places[0], places[0] + sizes[0], out)
    elif places[1] != DROPPED:
        _partition_one(entries, sides, layout, 1, places[1], places[1] + sizes[1], out)


@compiled
def move_lists(lists: Any, out: Any, which: Any, marks: Any, sides: Any, layout: Any, splits: Any, most: Any) -> None:
    """Partition some lists of split nodes; `splits` holds first, count, slot start of each, slots' places and sizes."""
    first, count, slot_start, places, sizes = splits
    position, new = np.empty(most, np.int64), np.empty(most, np.int64)
    for w in range(len(which)):
        entries, target = lists[which[w]], out[which[w]]
        for s in range(len(first)):
            here, slots = entries[first[s] : first[s] + count[s]], slice(slot_start[s], slot_start[s + 1])
            partition(here, marks, sides, layout, places[slots], sizes[slots], target, position, new)
