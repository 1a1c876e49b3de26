"""Score one attribute of one node, weights being counts.

A *list* holds a node's cases in the order of an attribute's values, an entry for each::

    entry   new-value bit | class | row        the bit says: differs from the entry before it in this node

A scan moves one case after the other from the high side to the low side. With ``S = sum of H(class count)`` of each
side kept up to date, the information of a cut is four look-ups in the table of H, whatever the number of classes.
Attributes with few values have *histograms* instead, counts by code and class.

What a scan returns: the information that the best test leaves, its position (of equals the lowest) or -1 if none is
possible, and the number of tries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.formulas import least_side
from c45gpu.kernels.compiled import compiled

MOST: Any = np.int64(0x7FFFFFFFFFFFFFFF)


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
    side = least_side(known, settings.n_classes, settings.min_units, settings.cap_units)
    if known < 2 * settings.min_units:
        return known, known, known, known
    ample = max(side, settings.min_units)
    return side, max(side, known - side + 1), ample, max(ample, known - ample + 1)


@compiled
def scan_two_classes(entries: Any, layout: Any, totals: Any, h: Any, settings: Any) -> Any:
    """Scan the list of a continuous attribute when there are two classes; `totals` are the list's class counts."""
    n = len(entries)
    class_bit, new_bit = np.uint64(layout.row_bits), np.uint64(layout.new_bit)
    first, stop, ample_first, ample_stop = cut_range(n, settings)
    zeros, ones, tries = totals[0], totals[1], 0
    best, best_at = MOST, -1
    low_ones = np.int64(0)
    for i in range(min(first, n)):
        low_ones += np.int64((np.uint64(entries[i]) >> class_bit) & np.uint64(1))
    for i in range(first, stop):
        entry = np.uint64(entries[i])
        if entry >> new_bit:
            tries += 1
            if ample_first <= i < ample_stop:
                low_zeros = i - low_ones
                inner = h[i] - h[low_zeros] - h[low_ones]
                inner += h[n - i] - h[zeros - low_zeros] - h[ones - low_ones]
                if inner < best:
                    best, best_at = inner, i
        low_ones += np.int64((entry >> class_bit) & np.uint64(1))
    return best, best_at, tries


@compiled
def scan_classes(entries: Any, layout: Any, totals: Any, h: Any, settings: Any, low: Any) -> Any:
    """Scan the list of a continuous attribute; `low` is room for a count of each class."""
    n = len(entries)
    row_bits, new_bit = np.uint64(layout.row_bits), np.uint64(layout.new_bit)
    class_mask = (np.uint64(1) << np.uint64(layout.class_bits)) - np.uint64(1)
    first, stop, ample_first, ample_stop = cut_range(n, settings)
    low[:] = 0
    low_sum, high_sum = np.int64(0), sum_of_h(totals, h)
    best, best_at, tries = MOST, -1, 0
    for i in range(stop):
        entry = np.uint64(entries[i])
        if i >= first and entry >> new_bit:
            tries += 1
            if ample_first <= i < ample_stop:
                inner = h[i] - low_sum + h[n - i] - high_sum
                if inner < best:
                    best, best_at = inner, i
        c = np.int64((entry >> row_bits) & class_mask)
        here, there = low[c], totals[c] - low[c]
        low_sum += h[here + 1] - h[here]
        high_sum += h[there - 1] - h[there]
        low[c] = here + 1
    return best, best_at, tries


@compiled
def scan_histogram(counts: Any, n: Any, totals: Any, h: Any, settings: Any, low: Any) -> Any:
    """Scan the histogram of a continuous attribute, shape (codes, classes); the position is the code below the cut."""
    first, stop, ample_first, ample_stop = cut_range(n, settings)
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
def sum_histogram(counts: Any, h: Any, min_units: Any) -> Any:
    """Of a discrete attribute: the information left, the sum of H over the branches, and how many are ample."""
    inner, branches, ample = np.int64(0), np.int64(0), 0
    for code in range(len(counts)):
        here, of_classes = 0, np.int64(0)
        for c in range(counts.shape[1]):
            here += counts[code, c]
            of_classes += h[counts[code, c]]
        inner += h[here] - of_classes
        branches += h[here]
        ample += here >= min_units
    return inner, branches, ample


@compiled
def sum_list(entries: Any, layout: Any, h: Any, min_units: Any, counts: Any) -> Any:
    """As :func:`sum_histogram`, of a list in the order of codes; `counts` is room for a count of each class."""
    row_bits, new_bit = np.uint64(layout.row_bits), np.uint64(layout.new_bit)
    class_mask = (np.uint64(1) << np.uint64(layout.class_bits)) - np.uint64(1)
    inner, branches, ample, start = np.int64(0), np.int64(0), 0, 0
    counts[:] = 0
    of_classes = np.int64(0)
    for i in range(len(entries) + 1):
        if i == len(entries) or (i > 0 and np.uint64(entries[i]) >> new_bit):
            inner += h[i - start] - of_classes
            branches += h[i - start]
            ample += i - start >= min_units
            for k in range(start, i):
                counts[np.int64((np.uint64(entries[k]) >> row_bits) & class_mask)] = 0
            start, of_classes = i, np.int64(0)
        if i < len(entries):
            c = np.int64((np.uint64(entries[i]) >> row_bits) & class_mask)
            of_classes += h[counts[c] + 1] - h[counts[c]]
            counts[c] += 1
    return inner, branches, ample
