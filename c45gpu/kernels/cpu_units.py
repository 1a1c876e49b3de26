"""Score and divide nodes whose cases have weights of their own, or unknown values.

A list holds the known cases of its attribute only; the row list holds all, its units beside it::

    rows    r3 r0 r7 r5            list of an attribute   r5 r3 r0      (r7 is unknown)
    units    8  8  3  8            known units             24

To find a case's units from a list entry, a worker writes them by row before it scans a node: a case stands only once
at a node. An unknown value of the tested attribute sends the case to every branch with its share of the units.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.formulas import least_side, q_log_q
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_score import MOST


@compiled
def h_of(q: Any, settings: Any) -> Any:
    """H of a weight in units."""
    return q_log_q(q, settings.scale_bits)


@compiled
def information(class_units: Any, settings: Any) -> Any:
    """H of the sum less the sum of H."""
    total, inner = np.int64(0), np.int64(0)
    for c in range(len(class_units)):
        total += class_units[c]
        inner += h_of(class_units[c], settings)
    return h_of(total, settings) - inner


@compiled
def class_units_of(entries: Any, layout: Any, units: Any, totals: Any) -> Any:
    """Add up the units of a list's cases by class; `units` are by row. Returns their sum."""
    row_bits = np.uint64(layout.row_bits)
    mask = (np.uint64(1) << row_bits) - np.uint64(1)
    class_mask = (np.uint64(1) << np.uint64(layout.class_bits)) - np.uint64(1)
    totals[:] = 0
    known = np.int64(0)
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        here = units[np.int64(entry & mask)]
        totals[np.int64((entry >> row_bits) & class_mask)] += here
        known += here
    return known


class ClassRoom(NamedTuple):
    """Memory for a number of each class."""

    low: Any  # int64[C]: units on the low side
    inner: Any  # int64[C]: sum of H of a class on both sides
    stale: Any  # int64[C]: classes whose `inner` is not up to date, the first so many
    is_stale: Any  # bool[C]


@compiled
def scan_units(entries: Any, layout: Any, units: Any, totals: Any, known: Any, settings: Any, room: Any) -> Any:
    """Scan the list of a continuous attribute; the position is the number of entries on the low side.

    H is taken anew only of the classes that moved since the last cut.
    """
    row_bits, new_bit = np.uint64(layout.row_bits), np.uint64(layout.new_bit)
    mask = (np.uint64(1) << row_bits) - np.uint64(1)
    class_mask = (np.uint64(1) << np.uint64(layout.class_bits)) - np.uint64(1)
    best, best_at, best_low, tries = MOST, -1, np.int64(0), 0
    if known < 2 * settings.min_units:
        return best, best_at, best_low, tries
    side = least_side(known, settings.n_classes, settings.min_units, settings.cap_units)
    ample = max(side, settings.min_units)
    of_classes, n_stale, weight = np.int64(0), 0, np.int64(0)
    for c in range(len(totals)):
        room.low[c], room.inner[c], room.is_stale[c] = 0, h_of(totals[c], settings), False
        of_classes += room.inner[c]
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        if entry >> new_bit and side <= weight <= known - side:
            tries += 1
            if ample <= weight <= known - ample:
                for k in range(n_stale):
                    c = room.stale[k]
                    of_classes -= room.inner[c]
                    room.inner[c] = h_of(room.low[c], settings) + h_of(totals[c] - room.low[c], settings)
                    of_classes += room.inner[c]
                    room.is_stale[c] = False
                n_stale = 0
                inner = h_of(weight, settings) + h_of(known - weight, settings) - of_classes
                if inner < best:
                    best, best_at, best_low = inner, i, weight
        here, c = units[np.int64(entry & mask)], np.int64((entry >> row_bits) & class_mask)
        room.low[c] += here
        weight += here
        if not room.is_stale[c]:
            room.stale[n_stale], room.is_stale[c] = c, True
            n_stale += 1
    return best, best_at, best_low, tries


@compiled
def scan_unit_histogram(counts: Any, totals: Any, known: Any, settings: Any, low: Any) -> Any:
    """As :func:`scan_units`, of a histogram; the position is the code below the cut."""
    best, best_at, best_low, tries = MOST, -1, np.int64(0), 0
    if known < 2 * settings.min_units:
        return best, best_at, best_low, tries
    side = least_side(known, settings.n_classes, settings.min_units, settings.cap_units)
    ample = max(side, settings.min_units)
    low[:] = 0
    weight = np.int64(0)
    for code in range(len(counts)):
        here = np.int64(0)
        for c in range(len(totals)):
            low[c] += counts[code, c]
            here += counts[code, c]
        weight += here
        if here and side <= weight <= known - side and weight < known:
            tries += 1
            if ample <= weight <= known - ample:
                inner = h_of(weight, settings) + h_of(known - weight, settings)
                for c in range(len(totals)):
                    inner -= h_of(low[c], settings) + h_of(totals[c] - low[c], settings)
                if inner < best:
                    best, best_at, best_low = inner, code, weight
    return best, best_at, best_low, tries


@compiled
def sum_unit_histogram(counts: Any, settings: Any) -> Any:
    """Of a discrete attribute: the information left, the sum of H over the branches, and how many are ample."""
    inner, branches, ample = np.int64(0), np.int64(0), 0
    for code in range(len(counts)):
        here = counts[code].sum()
        if here:
            inner += information(counts[code], settings)
            branches += h_of(here, settings)
            ample += here >= settings.min_units
    return inner, branches, ample


@compiled
def sum_unit_list(entries: Any, layout: Any, units: Any, settings: Any, low: Any) -> Any:
    """As :func:`sum_unit_histogram`, of a list in the order of codes."""
    new_bit = np.uint64(layout.new_bit)
    inner, branches, ample, start = np.int64(0), np.int64(0), 0, 0
    for i in range(1, len(entries) + 1):
        if i == len(entries) or np.uint64(entries[i]) >> new_bit:
            here = class_units_of(entries[start:i], layout, units, low)
            inner += information(low, settings)
            branches += h_of(here, settings)
            ample += here >= settings.min_units
            start = i
    return inner, branches, ample


@compiled
def fill_unit_histogram(
    rows: Any, layout: Any, units: Any, codes: Any, code_first: Any, unknown: Any, histogram: Any
) -> None:
    """Add up units by code and class, for all columns of codes at once; the code `unknown` is left out."""
    row_bits = np.uint64(layout.row_bits)
    mask = (np.uint64(1) << row_bits) - np.uint64(1)
    class_mask = (np.uint64(1) << np.uint64(layout.class_bits)) - np.uint64(1)
    histogram[:] = 0
    for i in range(len(rows)):
        entry = np.uint64(rows[i])
        row, c = np.int64(entry & mask), np.int64((entry >> row_bits) & class_mask)
        for k in range(codes.shape[1]):
            code = np.int64(codes[row, k])
            if code != unknown:
                histogram[code_first[k] + code, c] += units[i]
