"""Move the cases of split nodes to their branches: mark, count, and stably partition every list.

    marks   0 1 1 0 . 1       the branch of each case, by row
    list    r3 r1 r0 r5 r2    in the order of values
             |  |  |  |  |
             0  1  0  1  1    -> branch 0: r3 r0, branch 1: r1 r5 r2, each still in order

A branch's new-value bit is the OR of the bits skipped since its last entry; its first entry always has it. Branches
that will not be tested get no place (-1) and are dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.kernels.compiled import compiled

DROPPED = -1
MOST: Any = np.int64(0x7FFFFFFFFFFFFFFF)


@compiled
def mark_list(entries: Any, layout: Any, cut: Any, marks: Any) -> None:
    """Mark the cases of a list by their side of a cut."""
    mask = (np.uint64(1) << np.uint64(layout.row_bits)) - np.uint64(1)
    for i in range(len(entries)):
        marks[np.int64(np.uint64(entries[i]) & mask)] = i >= cut


@compiled
def mark_codes(rows: Any, layout: Any, codes: Any, cut: Any, marks: Any) -> Any:
    """Mark the cases of a row list by their code, or by their side of a cut if that is not negative.

    Returns the least code above the cut.
    """
    mask = (np.uint64(1) << np.uint64(layout.row_bits)) - np.uint64(1)
    above = MOST
    for i in range(len(rows)):
        row = np.int64(np.uint64(rows[i]) & mask)
        code = np.int64(codes[row])
        marks[row] = code if cut < 0 else code > cut
        if cut < code < above:
            above = code
    return above


@compiled
def count_branches(rows: Any, layout: Any, marks: Any, counts: Any) -> None:
    """Count the cases of a row list by branch and class."""
    row_bits = np.uint64(layout.row_bits)
    mask = (np.uint64(1) << row_bits) - np.uint64(1)
    class_mask = (np.uint64(1) << np.uint64(layout.class_bits)) - np.uint64(1)
    counts[:] = 0
    for i in range(len(rows)):
        entry = np.uint64(rows[i])
        counts[np.int64(marks[np.int64(entry & mask)]), np.int64((entry >> row_bits) & class_mask)] += 1


@compiled
def _partition_both(entries: Any, marks: Any, layout: Any, first: Any, second: Any, out: Any) -> None:
    """Two branches, both kept, from positions `first` and `second` on; no jump depends on the data."""
    mask = (np.uint64(1) << np.uint64(layout.row_bits)) - np.uint64(1)
    new_bit = np.uint64(layout.new_bit)
    keep = (np.uint64(1) << new_bit) - np.uint64(1)
    one = np.uint64(1)
    low_new, high_new = np.uint64(1), np.uint64(1)
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        side = np.uint64(marks[np.int64(entry & mask)])
        bit = entry >> new_bit
        low_new |= bit
        high_new |= bit
        at = second if side else first
        new = high_new if side else low_new
        out[at] = (entry & keep) | (new << new_bit)
        second += np.int64(side)
        first += np.int64(one - side)
        high_new &= one - side
        low_new &= side


@compiled
def _partition_one(entries: Any, marks: Any, layout: Any, branch: Any, first: Any, out: Any) -> None:
    """Only one branch is kept."""
    mask = (np.uint64(1) << np.uint64(layout.row_bits)) - np.uint64(1)
    new_bit = np.uint64(layout.new_bit)
    keep = (np.uint64(1) << new_bit) - np.uint64(1)
    new = np.uint64(1)
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        new |= entry >> new_bit
        if marks[np.int64(entry & mask)] == branch:
            out[first] = (entry & keep) | (new << new_bit)
            first += 1
            new = np.uint64(0)


@compiled
def _partition_many(entries: Any, marks: Any, layout: Any, places: Any, out: Any, position: Any, new: Any) -> None:
    """Any number of branches; `position` and `new` are room for one number each."""
    mask = (np.uint64(1) << np.uint64(layout.row_bits)) - np.uint64(1)
    new_bit = np.uint64(layout.new_bit)
    keep = (np.uint64(1) << new_bit) - np.uint64(1)
    for b in range(len(places)):
        position[b], new[b] = places[b], -1
    group = 0  # number of the value in this list; an entry is new to its branch if the branch's last is of another
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        group += np.int64(entry >> new_bit)
        b = np.int64(marks[np.int64(entry & mask)])
        at = position[b]
        if at != DROPPED:
            out[at] = (entry & keep) | (np.uint64(new[b] != group) << new_bit)
            position[b] = at + 1
            new[b] = group


@compiled
def partition(entries: Any, marks: Any, layout: Any, places: Any, out: Any, position: Any, new: Any) -> None:
    """Send the entries of one node to the places of its branches in `out`, :data:`DROPPED` for none."""
    if len(places) != 2:
        _partition_many(entries, marks, layout, places, out, position, new)
    elif places[0] != DROPPED and places[1] != DROPPED:
        _partition_both(entries, marks, layout, places[0], places[1], out)
    elif places[0] != DROPPED:
        _partition_one(entries, marks, layout, 0, places[0], out)
    elif places[1] != DROPPED:
        _partition_one(entries, marks, layout, 1, places[1], out)


@compiled
def move_lists(lists: Any, out: Any, which: Any, marks: Any, layout: Any, splits: Any, most: Any) -> None:
    """Partition some lists of split nodes; `splits` holds first, count, slot start of each and the slots' places."""
    first, count, slot_start, places = splits
    position, new = np.empty(most, np.int64), np.empty(most, np.int64)
    for w in range(len(which)):
        entries, target = lists[which[w]], out[which[w]]
        for s in range(len(first)):
            here = entries[first[s] : first[s] + count[s]]
            partition(here, marks, layout, places[slot_start[s] : slot_start[s + 1]], target, position, new)
