"""Score one attribute of one node, weights being counts.

A *list* holds a node's cases in the order of an attribute's values, an entry for each::

    entry   new-value bit | class | row        the bit says: differs from the entry before it in this node

A scan moves one case after the other from the high side to the low side. With ``S = sum of H(class count)`` of each
side kept up to date, the information of a cut is four look-ups in the table of H, whatever the number of classes.
Attributes with few values have *histograms* instead, counts by code and class.

Most cuts are not looked at: a *block* of entries is skipped if no cut in it can be as good as the best. With L of n
cases on the low side, l(c) of them and t(c) of all being of class c, a cut leaves ::

    H(L) + H(n - L)  -  sum over c of [ H(l(c)) + H(t(c) - l(c)) ]
    ^ convex in L: above any of its tangents   ^ convex in l(c), so its negative is least at either end of the block

With the tangent in the block's middle in the place of the first part, the whole falls apart into one least for each
class, and their sum is a bound for the block. It is made lower by what the rounding of H could amount to, so whatever
is skipped is worse than what is kept, and no tie is lost.

What a scan returns: the information that the best test leaves, its position (of equals the lowest) or -1 if none is
possible, and the number of tries.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from c45gpu.choose import branch_counts, cut_sides
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_entry import class_of, new_of

MOST: Any = np.int64(0x7FFFFFFFFFFFFFFF)
HALF: Any = np.uint64(32)
LOW_HALF: Any = np.uint64(0xFFFFFFFF)
LEAST_BLOCK = 16  # entries; of less than FEW_BLOCKS blocks each cut is looked at
FEW_BLOCKS = 32


class Room(NamedTuple):
    """Memory for a scan."""

    low: Any  # int64[C]: cases or units of each class on the low side
    inner: Any  # int64[C]: H of both sides of each class
    bound: Any  # int64[blocks]
    before: Any  # int64[blocks, C]: `low` before each block
    rough: Any  # float64[C]: `inner` about
    rough_bound: Any  # float64[blocks]
    new: Any  # int64[blocks]: entries with a new value


def room_bytes(n: int, n_classes: int) -> int:
    """Bytes of :func:`new_room`."""
    return 8 * (3 * n_classes + (n_classes + 3) * _blocks_of(n, n_classes))


def _blocks_of(n: int, n_classes: int) -> int:
    return 1 + min(8 * math.isqrt(n) + 1, n // max(LEAST_BLOCK, n_classes))


def new_room(n: int, n_classes: int) -> Room:
    """Memory for scans of up to `n` entries."""
    blocks = _blocks_of(n, n_classes)
    low, inner = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    before = np.empty((blocks, n_classes), np.int64)
    rough, rough_bound = np.empty(n_classes), np.empty(blocks)
    return Room(low, inner, np.empty(blocks, np.int64), before, rough, rough_bound, np.empty(blocks, np.int64))


@compiled
def block_size(n: Any, n_classes: Any) -> Any:
    """Entries in a block; it grows like the noise in the class counts of so many cases."""
    return max(LEAST_BLOCK, n_classes, 1 + n // (8 * np.int64(math.sqrt(n)) + 1))


@compiled
def sum_of_h(counts: Any, h: Any) -> Any:
    """The sum of H over class counts."""
    total = np.int64(0)
    for c in range(len(counts)):
        total += h[counts[c]]
    return total


@compiled
def cut_range(known: Any, settings: Any) -> Any:
    """The cuts that are tried and those that may be taken, as weights of the low side: first and stop of each."""
    if known < 2 * settings.min_units:
        return known, known, known, known
    side, ample = cut_sides(known, settings)
    return side, max(side, known - side + 1), ample, max(ample, known - ample + 1)


@compiled
def add_classes(entries: Any, layout: Any, low: Any) -> Any:
    """Add the cases of a list to their classes' counts; returns how many entries have a new value."""
    if len(low) != 2:
        new = np.int64(0)
        for i in range(len(entries)):
            entry = np.uint64(entries[i])
            low[class_of(entry, layout)] += 1
            new += np.int64(new_of(entry, layout))
        return new
    both = np.uint64(0)  # cases of class 1, and 2^32 for each new value: compilers add up several of these at once
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        both += class_of(entry, layout) + (new_of(entry, layout) << HALF)
    ones = np.int64(both & LOW_HALF)
    low[0] += len(entries) - ones
    low[1] += ones
    return np.int64(both >> HALF)


@compiled
def _scan_two_classes(entries: Any, layout: Any, totals: Any, h: Any, first: Any, low: Any) -> Any:
    """The least information that a cut before one of some entries leaves, its position, and how many cuts there are.

    `first` is the position of the first of them; `low` is the class counts before it.
    """
    zeros, ones, n = totals[0], totals[1], totals[0] + totals[1]
    best, best_at, low_ones, cuts = MOST, -1, low[1], 0
    for k in range(len(entries)):
        entry = np.uint64(entries[k])
        if new_of(entry, layout):
            cuts += 1
            i = first + k
            low_zeros = i - low_ones
            inner = h[i] - h[low_zeros] - h[low_ones]
            inner += h[n - i] - h[zeros - low_zeros] - h[ones - low_ones]
            if inner < best:
                best, best_at = inner, i
        low_ones += np.int64(class_of(entry, layout))
    return best, best_at, cuts


@compiled
def _scan_classes(entries: Any, layout: Any, totals: Any, h: Any, first: Any, low: Any) -> Any:
    """As :func:`_scan_two_classes`, of any number of classes; `low` is overwritten."""
    of_classes, n = np.int64(0), np.int64(0)
    for c in range(len(totals)):
        of_classes += h[low[c]] + h[totals[c] - low[c]]
        n += totals[c]
    best, best_at, cuts = MOST, -1, 0
    for k in range(len(entries)):
        entry = np.uint64(entries[k])
        if new_of(entry, layout):
            cuts += 1
            inner = h[first + k] + h[n - first - k] - of_classes
            if inner < best:
                best, best_at = inner, first + k
        c = class_of(entry, layout)
        here, there = low[c], totals[c] - low[c]
        of_classes += h[here + 1] - h[here] + h[there - 1] - h[there]
        low[c] = here + 1
    return best, best_at, cuts


@compiled
def _scan_some(entries: Any, layout: Any, totals: Any, h: Any, first: Any, low: Any) -> Any:
    if len(totals) == 2:
        return _scan_two_classes(entries, layout, totals, h, first, low)
    return _scan_classes(entries, layout, totals, h, first, low)


@compiled
def _bound_blocks(entries: Any, layout: Any, totals: Any, h: Any, first: Any, size: Any, room: Any) -> Any:
    """Bound the information left by the cuts before some entries, block by block; returns how many have a new value.

    `first` is the position of the first of them; ``room.low`` is the class counts before it, and after them at last.
    """
    n, new = np.int64(0), np.int64(0)
    for c in range(len(totals)):
        n += totals[c]
        room.inner[c] = h[room.low[c]] + h[totals[c] - room.low[c]]
    for b in range(-(-len(entries) // size)):
        start = b * size
        here = entries[start : start + size]
        room.before[b, :] = room.low
        new += add_classes(here, layout, room.low)
        middle = first + start + len(here) // 2
        sides = h[middle] + h[n - middle]
        slope = h[middle + 1] + h[n - middle - 1] - sides
        bound = sides - slope * (len(here) // 2) - 8 * (size + len(totals))
        for c in range(len(totals)):
            moved, inner = room.low[c] - room.before[b, c], room.inner[c]
            if moved:
                room.inner[c] = h[room.low[c]] + h[totals[c] - room.low[c]]
            bound += min(-inner, slope * moved - room.inner[c])
        room.bound[b] = bound
    return new


@compiled
def _scan_blocks(entries: Any, layout: Any, totals: Any, h: Any, first: Any, room: Any) -> Any:
    """As :func:`_scan_two_classes`; ``room.low`` as for the bounds."""
    size = block_size(len(entries), len(totals))
    n_blocks = -(-len(entries) // size)
    if n_blocks < FEW_BLOCKS:
        return _scan_some(entries, layout, totals, h, first, room.low)
    cuts = _bound_blocks(entries, layout, totals, h, first, size, room)
    best, best_at, limit = MOST, -1, MOST
    for turn in range(-1, n_blocks):  # the most promising block first, to have a limit
        b = turn if turn >= 0 else np.int64(np.argmin(room.bound[:n_blocks]))
        if room.bound[b] <= limit:
            room.low[:] = room.before[b]
            here = entries[b * size : (b + 1) * size]
            inner, at, _ = _scan_some(here, layout, totals, h, first + b * size, room.low)
            limit = min(limit, inner)
            if turn >= 0 and inner < best:
                best, best_at = inner, at
    return best, best_at, cuts


@compiled
def scan_list(entries: Any, layout: Any, totals: Any, h: Any, cuts: Any, room: Any) -> Any:
    """Scan the list of a continuous attribute; `totals` are its class counts, `cuts` its :func:`cut_range`."""
    first, stop, ample_first, ample_stop = cuts
    room.low[:] = 0
    add_classes(entries[:first], layout, room.low)
    tries = np.int64(0)
    if first < ample_first:
        tries += add_classes(entries[first:ample_first], layout, room.low)
    best, best_at, found = _scan_blocks(entries[ample_first:ample_stop], layout, totals, h, ample_first, room)
    if ample_stop < stop:
        tries += add_classes(entries[ample_stop:stop], layout, room.low)
    return best, best_at, tries + found


@compiled
def scan_histogram(counts: Any, n: Any, totals: Any, h: Any, cuts: Any, low: Any) -> Any:
    """Scan the histogram of a continuous attribute, shape (codes, classes); the position is the code below the cut."""
    first, stop, ample_first, ample_stop = cuts
    low[:] = 0
    low_count, tries = 0, 0
    best, best_at = MOST, -1
    for code in range(len(counts)):
        here = 0
        for c in range(len(totals)):
            low[c] += counts[code, c]
            here += counts[code, c]
        low_count += here
        if here and first <= low_count < min(stop, n):
            tries += 1
            if ample_first <= low_count < ample_stop:
                inner = h[low_count] + h[n - low_count]
                for c in range(len(totals)):
                    inner -= h[low[c]] + h[totals[c] - low[c]]
                if inner < best:
                    best, best_at = inner, code
    return best, best_at, tries


@compiled
def sum_histogram(counts: Any, h: Any, settings: Any) -> Any:
    """Of a discrete attribute: the information left, the sum of H over the branches, and how many are ample."""
    inner, branches, ample = np.int64(0), np.int64(0), 0
    for code in range(len(counts)):
        here, of_classes = 0, np.int64(0)
        for c in range(counts.shape[1]):
            here += counts[code, c]
            of_classes += h[counts[code, c]]
        inner += h[here] - of_classes
        branches += h[here]
        ample += branch_counts(here, settings)
    return inner, branches, ample


@compiled
def sum_list(entries: Any, layout: Any, h: Any, settings: Any, counts: Any) -> Any:
    """As :func:`sum_histogram`, of a list in the order of codes; `counts` is room for a count of each class."""
    inner, branches, ample, start = np.int64(0), np.int64(0), 0, 0
    counts[:] = 0
    of_classes = np.int64(0)
    for i in range(len(entries) + 1):
        if i == len(entries) or (i > 0 and new_of(entries[i], layout)):
            inner += h[i - start] - of_classes
            branches += h[i - start]
            ample += branch_counts(i - start, settings)
            for k in range(start, i):
                counts[class_of(entries[k], layout)] = 0
            start, of_classes = i, np.int64(0)
        if i < len(entries):
            c = class_of(entries[i], layout)
            of_classes += h[counts[c] + 1] - h[counts[c]]
            counts[c] += 1
    return inner, branches, ample
