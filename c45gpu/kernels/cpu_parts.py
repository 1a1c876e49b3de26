"""The open nodes of a level when cases have weights of their own or unknown values: their records, and scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_entry import class_of, row_of, with_new
from c45gpu.kernels.cpu_finish import Scores
from c45gpu.kernels.cpu_measures import is_plain, score_by_measure
from c45gpu.kernels.cpu_score import cut_range, scan_list, sum_list, sum_of_h
from c45gpu.kernels.cpu_units import (
    fill_unit_histogram,
    h_of,
    information,
    scan_unit_histogram,
    scan_units,
    sum_blocks,
    sum_unit_histogram,
    sum_unit_list,
)


class Parts(NamedTuple):
    """Open nodes: where their cases lie, and how many entries each has in each list."""

    first: Any  # int64[m]: in every list
    list_count: Any  # int64[m, n_lists]: entries in each list; the last list is of rows
    totals: Any  # int64[m, C]: in units
    counted: Any  # bool[m]: every case has the units of one case, so counts will do


class Workplace(NamedTuple):
    """Memory of one worker."""

    units: Any  # int64[N]: by row
    marks: Any  # int8[N], int32[N] where some test has more than 128 branches: by row
    room: Any  # of a scan
    totals: Any  # int64[C]
    histogram: Any  # int64[codes, C]
    position: Any  # int64[most branches]
    last: Any  # int64[most branches]
    apart: Any  # as the lists, [N], or [0] where no values are too near


class Context(NamedTuple):
    """What scoring needs beside a node."""

    layout: Any
    h: Any  # H of a number of cases, in units
    settings: Any  # in units
    count_settings: Any  # in cases
    unknown_code: Any
    gap: Any  # neighbouring values must differ by more for a cut between them
    near_of: Any  # int64[A]: the column of `near_values` where some values are nearer than that, -1 for none
    near_values: Any  # float32[near columns, N]


class Divisions(NamedTuple):
    """How nodes are divided; slots are branches of nodes."""

    attribute: Any  # int64[k]
    cut: Any  # int64[k]
    group_start: Any  # int64[k + 1]: as in level.Splits
    group_branch: Any  # int32
    slot_start: Any  # int64[k + 1]
    upto: Any  # float64[slots]: known weight of the branches up to and with this one, over that of all
    branch: Any  # as the marks: of each row list entry, UNKNOWN for an unknown value
    units: Any  # int64[slots, C]
    rows: Any  # int64[slots]: cases
    whole: Any  # bool[slots]: every case has the units of one case
    below: Any  # int64[k]
    above: Any  # int64[k]
    places: Any  # int64[slots]


@compiled
def apart(entries: Any, layout: Any, values: Any, gap: Any, out: Any) -> Any:
    """A copy of a list whose new-value bits are taken from entries too near to the one before, as release 8 does."""
    before = np.float64(0)
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        value = np.float64(values[row_of(entry, layout)])
        out[i] = entry if i == 0 or before < value - gap else with_new(entry, 0, layout)
        before = value
    return out[: len(entries)]


@compiled
def _score_counted_list(a: Any, entries: Any, columns: Any, context: Any, room: Any, totals: Any) -> Any:
    """Information before and after, the sum of H over the branches, position, tries, and whether possible."""
    layout, h, settings = context.layout, context.h, context.count_settings
    totals[:] = 0
    for i in range(len(entries)):
        totals[class_of(entries[i], layout)] += 1
    base = h[len(entries)] - sum_of_h(totals, h)
    if not columns.continuous[a]:
        inner, branches, ample = sum_list(entries, layout, h, settings, room.low)
        return base, inner, branches, -1, 0, ample >= 2
    inner, at, tries = scan_list(entries, layout, totals, h, cut_range(len(entries), settings), room)
    return base, inner, h[max(at, 0)] + h[len(entries) - max(at, 0)], at, tries, at >= 0


@compiled
def _score_units(
    a: Any, entries: Any, counts: Any, units: Any, columns: Any, context: Any, room: Any, totals: Any
) -> Any:
    """As :func:`_score_counted_list`, of a list or histogram in units, with the known units before it."""
    layout, settings = context.layout, context.settings
    listed, blocks = columns.list_of[a] >= 0, (np.int64(0), 0)
    if listed:
        known, size, n_blocks = sum_blocks(entries, layout, units, room, totals)
        blocks = size, n_blocks
    else:
        known = np.int64(0)
        for c in range(len(totals)):
            totals[c] = counts[:, c].sum()
            known += totals[c]
    base = information(totals, settings)
    if not columns.continuous[a]:
        if listed:
            inner, branches, ample = sum_unit_list(entries, layout, units, settings, room.low)
        else:
            inner, branches, ample = sum_unit_histogram(counts, settings)
        return known, base, inner, branches, -1, 0, ample >= 2
    if listed:
        inner, at, low, tries = scan_units(entries, layout, units, totals, known, blocks, settings, room)
    else:
        inner, at, low, tries = scan_unit_histogram(counts, totals, known, settings, room.low)
    return known, base, inner, h_of(low, settings) + h_of(known - low, settings), at, tries, at >= 0


@compiled
def score_attribute(
    a: Any, entries: Any, counts: Any, node: Any, units: Any, columns: Any, context: Any, work: Any, scores: Any
) -> None:
    """Score one attribute of one node by its list, or by its histogram if it has none.

    `node` is its weight, and whether its cases are counted; `units` are by the rows of `entries`, `work` is room for a
    scan and a number for each class.
    """
    (weight, counted), (room, totals), settings = node, work, context.settings
    listed = columns.list_of[a] >= 0
    if not is_plain(settings):
        scores.gain[a], scores.split[a], scores.cut[a], scores.tries[a], scores.possible[a] = score_by_measure(
            listed, columns.continuous[a], entries, counts, context.layout, units, weight, settings, (totals, room.low)
        )
        return
    if counted and listed:
        known = len(entries) * settings.case_units
        base, inner, branches, at, tries, possible = _score_counted_list(a, entries, columns, context, room, totals)
    else:
        known, base, inner, branches, at, tries, possible = _score_units(
            a, entries, counts, units, columns, context, room, totals
        )
    scores.possible[a], scores.cut[a], scores.tries[a] = possible, at, tries
    scores.gain[a] = base - inner if possible else 0
    scores.split[a] = h_of(weight, settings) - h_of(weight - known, settings) - branches


@compiled
def score_parts(
    lists: Any, units: Any, parts: Any, which: Any, columns: Any, context: Any, place: Any, out: Any
) -> None:
    """Score some attributes of some nodes: all with lists, or all with codes."""
    layout, last, work = context.layout, len(lists) - 1, (place.room, place.totals)
    coded, plain = columns.code_of[which[0]] >= 0, is_plain(context.settings)
    for m in range(len(parts.first)):
        first, count = parts.first[m], parts.list_count[m, last]
        rows = lists[last, first : first + count]
        if coded:
            fill_unit_histogram(
                rows, layout, units[first:], columns.codes, columns.code_first, context.unknown_code, place.histogram
            )
        elif not (parts.counted[m] and plain):
            for i in range(count):
                place.units[row_of(rows[i], layout)] = units[first + i]
        node = parts.totals[m].sum(), parts.counted[m]
        scores = Scores(out.gain[m], out.split[m], out.tries[m], out.possible[m], out.cut[m])
        for w in range(len(which)):
            a = which[w]
            k, column = max(columns.list_of[a], 0), max(columns.code_of[a], 0)
            entries = lists[k, first : first + parts.list_count[m, k]]
            if context.near_of[a] >= 0:
                entries = apart(entries, layout, context.near_values[context.near_of[a]], context.gap, place.apart)
            counts = place.histogram[columns.code_first[column] : columns.code_first[column + 1]]
            score_attribute(a, entries, counts, node, place.units, columns, context, work, scores)


def branches_of(parts: Parts, divisions: Divisions, s: int) -> npt.NDArray[Any]:
    """The branch of each case of a node."""
    branch: npt.NDArray[Any] = divisions.branch[parts.first[s] : parts.first[s] + parts.list_count[s, -1]]
    return branch


def divisions_of(divisions: Divisions, s: slice) -> Divisions:
    """The divisions of some nodes; their slots keep their numbers."""
    one_more = slice(s.start, s.stop + 1)
    return divisions._replace(
        attribute=divisions.attribute[s],
        cut=divisions.cut[s],
        group_start=divisions.group_start[one_more],
        slot_start=divisions.slot_start[one_more],
        below=divisions.below[s],
        above=divisions.above[s],
    )
