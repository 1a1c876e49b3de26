"""Score and divide nodes whose cases have weights of their own, or unknown values.

A list holds the known cases of its attribute only; the row list holds all, its units beside it::

    rows    r3 r0 r7 r5            list of an attribute   r5 r3 r0      (r7 is unknown)
    units    8  8  3  8            known units             24

To find a case's units from a list entry, a worker writes them by row before it scans a node: a case stands only once
at a node. An unknown value of the tested attribute sends the case to every branch with its share of the units.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.choose import branch_counts, cut_sides
from c45gpu.formulas import q_log_q
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_entry import class_of, new_of, row_of
from c45gpu.kernels.cpu_score import FEW_BLOCKS, MOST, block_size

LOG2_E_2 = 2.8853900817779268  # 2 log2(e)


@compiled
def rough_log2(q: Any) -> Any:
    """About log2 of a weight in units, to tell what is not worth the exact formula; it is off by 10^-12 at most.

    No tree depends on it: what may be better or equal within twice that error is always looked at exactly.
    """
    bits = np.float64(q).view(np.int64)
    exponent = (bits >> 52) - 1023
    m = np.int64((bits & ((1 << 52) - 1)) | (1023 << 52)).view(np.float64)
    large = m > 1.4142135623730951
    m = 0.5 * m if large else m
    z = (m - 1.0) / (m + 1.0)
    square = z * z
    series = LOG2_E_2 / 11 + square * (LOG2_E_2 / 13)
    series = LOG2_E_2 / 7 + square * (LOG2_E_2 / 9 + square * series)
    series = LOG2_E_2 / 3 + square * (LOG2_E_2 / 5 + square * series)
    return np.float64(exponent + large) + z * (LOG2_E_2 + square * series)


@compiled
def rough_h(q: Any) -> Any:
    """About q*log2(q), in bits times units."""
    return q * rough_log2(q)


@compiled
def margin_of(known: Any, totals: Any) -> Any:
    """More than informations that are sums of :func:`rough_h`, or of H, over these classes are off by."""
    return (len(totals) + 4) * (1.0 + 4e-12 * known)


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
def add_units(entries: Any, layout: Any, units: Any, low: Any) -> Any:
    """Add the units of a list's cases, given by row, to those of their classes; returns how many have a new value."""
    new = np.int64(0)
    if len(low) != 2:
        for i in range(len(entries)):
            entry = np.uint64(entries[i])
            low[class_of(entry, layout)] += units[row_of(entry, layout)]
            new += np.int64(new_of(entry, layout))
        return new
    of_both, ones = np.int64(0), np.int64(0)
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        here = units[row_of(entry, layout)]
        of_both += here
        ones += here & -np.int64(class_of(entry, layout))
        new += np.int64(new_of(entry, layout))
    low[0] += of_both - ones
    low[1] += ones
    return new


@compiled
def sum_blocks(entries: Any, layout: Any, units: Any, room: Any, totals: Any) -> Any:
    """Add up the units of a list by class, noting in `room` the sums before each block.

    Returns the known units, the size of a block and the number of blocks.
    """
    size = block_size(len(entries), len(totals))
    if len(entries) < FEW_BLOCKS * size:
        size = max(1, len(entries))
    room.low[:] = 0
    n_blocks = -(-len(entries) // size)
    for b in range(n_blocks):
        room.before[b, :] = room.low
        room.new[b] = add_units(entries[b * size : (b + 1) * size], layout, units, room.low)
    totals[:] = room.low
    return totals.sum(), size, n_blocks


@compiled
def _bound_unit_blocks(n_blocks: Any, totals: Any, known: Any, sides: Any, room: Any) -> None:
    """Bound the information left by the cuts of each block, in float64 and bits times units."""
    ample, margin = sides[1], margin_of(known, totals)
    for c in range(len(totals)):
        room.rough[c] = rough_h(totals[c])
    start = np.int64(0)
    for b in range(n_blocks):
        after = room.before[b + 1] if b + 1 < n_blocks else totals
        stop = np.int64(0)
        for c in range(len(totals)):
            stop += after[c]
        middle = min(max(start + (stop - start) // 2, 1), known - 1)
        below, above = rough_log2(middle), rough_log2(known - middle)
        bound, slope = middle * below + (known - middle) * above - margin, below - above
        bound += slope * (start - middle)
        for c in range(len(totals)):
            moved, rough = after[c] - room.before[b, c], room.rough[c]
            if moved:
                room.rough[c] = rough_h(after[c]) + rough_h(totals[c] - after[c])
            bound += min(-rough, slope * moved - room.rough[c])
        room.rough_bound[b] = bound if stop > ample and start <= known - ample else np.inf
        start = stop


@compiled
def _inner_of(weight: Any, known: Any, low: Any, totals: Any, settings: Any) -> Any:
    """The information that a cut leaves; `low` of the `totals` of each class, in all `weight`, are on its low side."""
    inner = h_of(weight, settings) + h_of(known - weight, settings)
    for c in range(len(totals)):
        inner -= h_of(low[c], settings) + h_of(totals[c] - low[c], settings)
    return inner


@compiled
def _scan_unit_block(
    entries: Any, layout: Any, units: Any, totals: Any, known: Any, sides: Any, limit: Any, settings: Any, room: Any
) -> Any:
    """The least information that a cut before one of some entries leaves, its position and low side, and the tries.

    Cuts that leave more than `limit` need not be found; ``room.low`` is before the first entry.
    """
    best, best_at, best_low, tries = MOST, -1, np.int64(0), 0
    (side, ample), low, margin = sides, room.low, margin_of(known, totals)
    weight, rough_limit, of_classes = np.int64(0), limit / settings.scale + margin, 0.0
    for c in range(len(totals)):
        weight += low[c]
        room.rough[c] = rough_h(low[c]) + rough_h(totals[c] - low[c])
        of_classes += room.rough[c]
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        if new_of(entry, layout) and side <= weight <= known - side:
            tries += 1
            if (
                ample <= weight <= known - ample
                and rough_h(weight) + rough_h(known - weight) - of_classes <= rough_limit
            ):
                inner = _inner_of(weight, known, low, totals, settings)
                if inner < best:
                    best, best_at, best_low = inner, i, weight
                    rough_limit = min(rough_limit, inner / settings.scale + margin)
        here, c = units[row_of(entry, layout)], class_of(entry, layout)
        low[c] += here
        weight += here
        rough = rough_h(low[c]) + rough_h(totals[c] - low[c])
        of_classes += rough - room.rough[c]
        room.rough[c] = rough
    return best, best_at, best_low, tries


@compiled
def scan_units(
    entries: Any, layout: Any, units: Any, totals: Any, known: Any, blocks: Any, settings: Any, room: Any
) -> Any:
    """Scan the list of a continuous attribute; the position is the number of entries on the low side.

    `blocks` are the size and number that :func:`sum_blocks` returned.
    """
    size, n_blocks = blocks
    best, best_at, best_low, tries = MOST, -1, np.int64(0), 0
    if known < 2 * settings.min_units:
        return best, best_at, best_low, tries
    sides = cut_sides(known, settings)
    side = sides[0]
    _bound_unit_blocks(n_blocks, totals, known, sides, room)
    limit = MOST
    for turn in range(-1 if n_blocks > 1 else 0, n_blocks):  # the most promising block first, to have a limit
        b = turn if turn >= 0 else np.int64(np.argmin(room.rough_bound[:n_blocks]))
        start = room.before[b].sum()
        stop = room.before[b + 1].sum() if b + 1 < n_blocks else known
        inside, outside = side <= start and stop <= known - side, stop <= side or start > known - side
        tried = room.new[b] if inside else 0
        if room.rough_bound[b] <= limit / settings.scale or not (inside or outside):
            room.low[:] = room.before[b]
            inner, at, low, walked = _scan_unit_block(
                entries[b * size : (b + 1) * size], layout, units, totals, known, sides, limit, settings, room
            )
            tried = tried if inside else walked
            limit = min(limit, inner)
            if turn >= 0 and inner < best:
                best, best_at, best_low = inner, b * size + at, low
        tries += tried if turn >= 0 else 0
    return best, best_at, best_low, tries


@compiled
def scan_unit_histogram(counts: Any, totals: Any, known: Any, settings: Any, low: Any) -> Any:
    """As :func:`scan_units`, of a histogram; the position is the code below the cut."""
    best, best_at, best_low, tries = MOST, -1, np.int64(0), 0
    if known < 2 * settings.min_units:
        return best, best_at, best_low, tries
    side, ample = cut_sides(known, settings)
    low[:] = 0
    weight, margin, rough_limit = np.int64(0), margin_of(known, totals), np.inf
    for code in range(len(counts)):
        here = np.int64(0)
        for c in range(len(totals)):
            low[c] += counts[code, c]
            here += counts[code, c]
        weight += here
        if here and side <= weight <= known - side and weight < known:
            tries += 1
            if ample <= weight <= known - ample:
                rough = rough_h(weight) + rough_h(known - weight)
                for c in range(len(totals)):
                    rough -= rough_h(low[c]) + rough_h(totals[c] - low[c])
                if rough <= rough_limit:
                    inner = _inner_of(weight, known, low, totals, settings)
                    if inner < best:
                        best, best_at, best_low = inner, code, weight
                        rough_limit = inner / settings.scale + margin
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
            ample += branch_counts(here, settings)
    return inner, branches, ample


@compiled
def sum_unit_list(entries: Any, layout: Any, units: Any, settings: Any, low: Any) -> Any:
    """As :func:`sum_unit_histogram`, of a list in the order of codes."""
    inner, branches, ample, start = np.int64(0), np.int64(0), 0, 0
    for i in range(1, len(entries) + 1):
        if i == len(entries) or new_of(entries[i], layout):
            low[:] = 0
            add_units(entries[start:i], layout, units, low)
            here = low.sum()
            inner += information(low, settings)
            branches += h_of(here, settings)
            ample += branch_counts(here, settings)
            start = i
    return inner, branches, ample


@compiled
def fill_unit_histogram(
    rows: Any, layout: Any, units: Any, codes: Any, code_first: Any, unknown: Any, histogram: Any
) -> None:
    """Add up units by code and class, for all columns of codes at once; the code `unknown` is left out."""
    histogram[:] = 0
    for i in range(len(rows)):
        entry = np.uint64(rows[i])
        row, c = row_of(entry, layout), class_of(entry, layout)
        for k in range(codes.shape[1]):
            code = np.int64(codes[row, k])
            if code != unknown:
                histogram[code_first[k] + code, c] += units[i]
