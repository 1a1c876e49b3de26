"""Score one attribute of one node by any measure, or by cuts on class boundaries only, weights being units.

Information over all cuts has its own, faster scans (cpu_score.py, cpu_units.py); these look at every cut and add up
every class. The results mean the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.choose import branch_counts, cut_sides
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_entry import class_of, new_of, row_of
from c45gpu.kernels.cpu_score import MOST
from c45gpu.kernels.cpu_units import h_of
from c45gpu.measures import CHI2, ENTROPY, term

MIXED = -1  # the class of cases of more than one


@compiled
def is_plain(settings: Any) -> Any:
    """Whether the faster scans will do."""
    return settings.measure == ENTROPY and not settings.boundaries


@compiled
def inner_of(side: Any, totals: Any, settings: Any) -> Any:
    """What is left to tell about the classes of some cases, given the class weights of their node."""
    weight, inner = side.sum(), np.int64(0)
    if settings.measure == ENTROPY:
        inner = h_of(weight, settings)
    for c in range(len(side)):
        if settings.measure == ENTROPY:
            inner -= h_of(side[c], settings)
        else:
            inner -= np.int64(term(side[c], weight, totals[c], settings.measure, settings.scale))
    return inner


@compiled
def _inner_of_cut(low: Any, weight: Any, totals: Any, known: Any, settings: Any) -> Any:
    """:func:`inner_of` both sides of a cut."""
    inner = np.int64(0)
    if settings.measure == ENTROPY:
        inner = h_of(weight, settings) + h_of(known - weight, settings)
    for c in range(len(totals)):
        high = totals[c] - low[c]
        if settings.measure == ENTROPY:
            inner -= h_of(low[c], settings) + h_of(high, settings)
        else:
            inner -= np.int64(term(low[c], weight, totals[c], settings.measure, settings.scale))
            inner -= np.int64(term(high, known - weight, totals[c], settings.measure, settings.scale))
    return inner


@compiled
def split_of(weight: Any, known: Any, branches: Any, settings: Any) -> Any:
    """The split information, given the sum of H over the branches; by chi-square the known weight."""
    if settings.measure == CHI2:
        return known
    return h_of(weight, settings) - h_of(weight - known, settings) - branches


@compiled
def _units_at(row: Any, units: Any) -> Any:
    return units[row] if len(units) else np.int64(1)


@compiled
def add_up(entries: Any, layout: Any, units: Any, totals: Any) -> None:
    """Class weights of a list; `units` are by row, or none where each case counts 1."""
    totals[:] = 0
    for i in range(len(entries)):
        totals[class_of(entries[i], layout)] += _units_at(row_of(entries[i], layout), units)


@compiled
def _class_of_value(entries: Any, layout: Any, start: Any) -> Any:
    """The class of all entries of the value that begins at a position, MIXED if there are more."""
    first = class_of(entries[start], layout)
    for i in range(start + 1, len(entries)):
        if new_of(entries[i], layout):
            break
        if class_of(entries[i], layout) != first:
            return np.int64(MIXED)
    return np.int64(first)


@compiled
def scan_values(entries: Any, layout: Any, units: Any, totals: Any, known: Any, settings: Any, low: Any) -> Any:
    """Scan a list: the least left to tell, after how many entries, the weight below that cut, and the tries."""
    best, best_at, best_low, tries = MOST, -1, np.int64(0), 0
    side, enough = cut_sides(known, settings)
    low[:] = 0
    weight, before, here = np.int64(0), np.int64(MIXED), np.int64(MIXED)
    for i in range(len(entries)):
        if i == 0 or new_of(entries[i], layout):
            if settings.boundaries:
                before, here = here, _class_of_value(entries, layout, i)
            tried = here == MIXED or before != here
            if i > 0 and tried and side <= weight <= known - side:
                tries += 1
                if enough <= weight <= known - enough:
                    inner = _inner_of_cut(low, weight, totals, known, settings)
                    if inner < best:
                        best, best_at, best_low = inner, i, weight
        units_here = _units_at(row_of(entries[i], layout), units)
        low[class_of(entries[i], layout)] += units_here
        weight += units_here
    return best, best_at, best_low, tries


@compiled
def _class_of_counts(counts: Any) -> Any:
    """The class of all of some cases, MIXED if there are more."""
    found = np.int64(MIXED)
    for c in range(len(counts)):
        if counts[c] > 0:
            if found != MIXED:
                return np.int64(MIXED)
            found = np.int64(c)
    return found


@compiled
def scan_codes(counts: Any, totals: Any, known: Any, settings: Any, low: Any) -> Any:
    """As :func:`scan_values`, of a histogram by code and class; the position is the code below the cut."""
    best, best_at, best_low, tries = MOST, -1, np.int64(0), 0
    side, enough = cut_sides(known, settings)
    low[:] = 0
    weight, last = np.int64(0), -1
    for code in range(len(counts)):
        if counts[code].sum() == 0:
            continue
        tried = True
        if settings.boundaries and last >= 0:
            here = _class_of_counts(counts[code])
            tried = here == MIXED or here != _class_of_counts(counts[last])
        if last >= 0 and tried and side <= weight <= known - side:
            tries += 1
            if enough <= weight <= known - enough:
                inner = _inner_of_cut(low, weight, totals, known, settings)
                if inner < best:
                    best, best_at, best_low = inner, last, weight
        for c in range(len(totals)):
            low[c] += counts[code, c]
            weight += counts[code, c]
        last = code
    return best, best_at, best_low, tries


@compiled
def sum_codes(counts: Any, totals: Any, settings: Any) -> Any:
    """Of a discrete attribute: what is left to tell, the sum of H over the branches, and what they count."""
    inner, branches, ample = np.int64(0), np.int64(0), np.int64(0)
    for code in range(len(counts)):
        here = counts[code].sum()
        inner += inner_of(counts[code], totals, settings)
        branches += h_of(here, settings)
        ample += branch_counts(here, settings)
    return inner, branches, ample


@compiled
def sum_values(entries: Any, layout: Any, units: Any, totals: Any, settings: Any, low: Any) -> Any:
    """As :func:`sum_codes`, of a list in the order of codes."""
    inner, branches, ample, start = np.int64(0), np.int64(0), np.int64(0), 0
    for i in range(1, len(entries) + 1):
        if i == len(entries) or new_of(entries[i], layout):
            add_up(entries[start:i], layout, units, low)
            here = low.sum()
            inner += inner_of(low, totals, settings)
            branches += h_of(here, settings)
            ample += branch_counts(here, settings)
            start = i
    return inner, branches, ample


@compiled
def score_by_measure(
    listed: Any,
    continuous: Any,
    entries: Any,
    counts: Any,
    layout: Any,
    units: Any,
    weight: Any,
    settings: Any,
    work: Any,
) -> Any:
    """Gain, split information, cut, tries and whether it is possible, of a list or else a histogram.

    `weight` is that of the node, unknown values included; `work` is room for two numbers of each class.
    """
    totals, low = work
    if listed:
        add_up(entries, layout, units, totals)
    else:
        for c in range(len(totals)):
            totals[c] = counts[:, c].sum()
    known, at, tries = totals.sum(), np.int64(-1), 0
    if continuous:
        if listed:
            inner, at, below, tries = scan_values(entries, layout, units, totals, known, settings, low)
        else:
            inner, at, below, tries = scan_codes(counts, totals, known, settings, low)
        branches, possible = h_of(below, settings) + h_of(known - below, settings), at >= 0
    else:
        if listed:
            inner, branches, ample = sum_values(entries, layout, units, totals, settings, low)
        else:
            inner, branches, ample = sum_codes(counts, totals, settings)
        possible = ample >= 2
    gain = inner_of(totals, totals, settings) - inner if possible else np.int64(0)
    return gain, split_of(weight, known, branches, settings), at, tries, possible
