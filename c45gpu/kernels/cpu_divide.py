"""Divide the cases of open nodes among branches, where they have weights of their own or unknown values, and move them.

The records are those of :mod:`.cpu_parts`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.formulas import units_before
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_entry import class_of, new_of, row_of, with_new
from c45gpu.kernels.cpu_move import DROPPED
from c45gpu.kernels.level import ELSEWHERE

UNKNOWN = -1
BOTH = 2  # two branches get a share of the case


@compiled
def branch_by_code(rows: Any, layout: Any, a: Any, cut: Any, columns: Any, unknown_code: Any, branch: Any) -> Any:
    """Find the branches of a row list's cases by their codes; returns the codes on both sides of a cut."""
    k, continuous, below, above = columns.list_of[a], columns.continuous[a], np.int64(-1), np.int64(-1)
    if continuous:
        below, above = np.int64(cut), np.int64(unknown_code)
    for i in range(len(rows)):
        row = row_of(rows[i], layout)
        if k >= 0:
            code = np.int64(columns.list_codes[columns.list_code_of[a], row])
        else:
            code = np.int64(columns.codes[row, columns.code_of[a]])
            code = UNKNOWN if code == unknown_code else code
        if continuous and code >= 0:
            above = code if cut < code < above else above
            code = np.int64(code > cut)
        branch[i] = code
    return below, above


@compiled
def _find_branches(
    lists: Any, first: Any, list_count: Any, a: Any, cut: Any, columns: Any, context: Any, marks: Any, branch: Any
) -> Any:
    """Find the branches of a node's cases, in the order of the row list; returns the values on both sides of a cut.

    These are rows or codes; `marks` is room for a number by row.
    """
    layout, last = context.layout, len(lists) - 1
    k, rows = columns.list_of[a], lists[last, first : first + list_count[last]]
    if k < 0 or not columns.continuous[a]:
        return branch_by_code(rows, layout, a, cut, columns, context.unknown_code, branch)
    for i in range(len(rows)):
        marks[row_of(rows[i], layout)] = UNKNOWN
    entries = lists[k, first : first + list_count[k]]
    for i in range(len(entries)):
        marks[row_of(entries[i], layout)] = i >= cut
    for i in range(len(rows)):
        branch[i] = marks[row_of(rows[i], layout)]
    return np.int64(row_of(entries[cut - 1], layout)), np.int64(row_of(entries[cut], layout))


@compiled
def share_of(units: Any, upto: Any, b: Any) -> Any:
    """The share of branch b in the units of a case with an unknown value."""
    before = units_before(units, upto[b - 1]) if b > 0 else 0.0
    return np.int64(units_before(units, upto[b]) - before)


@compiled
def add_branches(rows: Any, units: Any, branch: Any, layout: Any, one: Any, sums: Any) -> None:
    """Add up what each branch of a node gets; `one` is the units of one case, `sums` as the fields of Divisions."""
    totals, n_rows, whole, upto = sums
    totals[:], n_rows[:], whole[:] = 0, 0, True
    for i in range(len(rows)):
        b = branch[i]
        if b >= 0:
            totals[b, class_of(rows[i], layout)] += units[i]
            n_rows[b] += 1
            whole[b] &= units[i] == one
    running, known = np.int64(0), totals.sum()
    for b in range(len(upto)):
        running += totals[b].sum()
        upto[b] = running / known
    for i in range(len(rows)):
        if branch[i] < 0:
            c = class_of(rows[i], layout)
            for b in range(len(upto)):
                share = share_of(units[i], upto, b)
                if share > 0:
                    totals[b, c] += share
                    n_rows[b] += 1
                    whole[b] &= share == one


@compiled
def divide_parts(lists: Any, units: Any, parts: Any, columns: Any, context: Any, place: Any, divisions: Any) -> None:
    """Find the branch of every case of some nodes, and add up what each branch gets."""
    layout, last = context.layout, len(lists) - 1
    for s in range(len(divisions.attribute)):
        first, list_count, a = parts.first[s], parts.list_count[s], divisions.attribute[s]
        here = slice(first, first + list_count[last])
        branch = divisions.branch[here]
        group = divisions.group_branch[divisions.group_start[s] : divisions.group_start[s + 1]]
        if a == ELSEWHERE:
            branch[:] = group
        else:
            divisions.below[s], divisions.above[s] = _find_branches(
                lists, first, list_count, a, divisions.cut[s], columns, context, place.marks, branch
            )
            if len(group):
                for i in range(len(branch)):
                    branch[i] = group[branch[i]] if branch[i] >= 0 else UNKNOWN
        slots = slice(divisions.slot_start[s], divisions.slot_start[s + 1])
        sums = divisions.units[slots], divisions.rows[slots], divisions.whole[slots], divisions.upto[slots]
        add_branches(lists[last, here], units[here], branch, layout, context.settings.case_units, sums)


@compiled
def move_rows(
    rows: Any, units: Any, parts: Any, divisions: Any, layout: Any, place: Any, out: Any, out_units: Any
) -> None:
    """Send the row list's entries of some nodes, with their units, to the places of the branches."""
    for s in range(len(divisions.attribute)):
        start, stop = divisions.slot_start[s], divisions.slot_start[s + 1]
        upto = divisions.upto[start:stop]
        place.position[: stop - start] = divisions.places[start:stop]
        for i in range(parts.first[s], parts.first[s] + parts.list_count[s, parts.list_count.shape[1] - 1]):
            b = divisions.branch[i]
            for branch in range(b if b >= 0 else 0, b + 1 if b >= 0 else stop - start):
                at = place.position[branch]
                share = units[i] if b >= 0 else share_of(units[i], upto, branch)
                if at != DROPPED and share > 0:
                    out[at], out_units[at] = rows[i], share
                    place.position[branch] = at + 1


@compiled
def _move_to_two(entries: Any, marks: Any, layout: Any, places: Any, out: Any) -> Any:
    """Send a list's entries to the places of two branches, marked :data:`BOTH` to each; returns how many each gets."""
    one = np.uint64(1)
    low, high, low_new, high_new = places[0], places[1], one, one
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        mark, bit = np.uint64(marks[row_of(entry, layout)]), new_of(entry, layout)
        low_new |= bit
        high_new |= bit
        if mark == BOTH:
            out[low], out[high] = with_new(entry, low_new, layout), with_new(entry, high_new, layout)
            low, high, low_new, high_new = low + 1, high + 1, np.uint64(0), np.uint64(0)
        else:
            out[high if mark else low] = with_new(entry, high_new if mark else low_new, layout)
            high += np.int64(mark)
            low += np.int64(one - mark)
            high_new &= one - mark
            low_new &= mark
    return low - places[0], high - places[1]


@compiled
def _move_to_one(entries: Any, marks: Any, layout: Any, branch: Any, place: Any, out: Any) -> Any:
    """As :func:`_move_to_two`, where only one of the branches is kept."""
    one = np.uint64(1)
    at, new, other = place, one, np.uint64(1 - branch)
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        new |= new_of(entry, layout)
        if np.uint64(marks[row_of(entry, layout)]) != other:
            out[at] = with_new(entry, new, layout)
            at, new = at + 1, np.uint64(0)
    return at - place


@compiled
def _move_to_many(entries: Any, layout: Any, upto: Any, places: Any, place: Any, out: Any) -> None:
    """As :func:`_move_to_two`, of any number of branches; leaves the ends of the branches in ``place.position``."""
    group = 0
    place.position[: len(places)], place.last[: len(places)] = places, -1
    for i in range(len(entries)):
        entry = np.uint64(entries[i])
        group += np.int64(new_of(entry, layout))
        row = row_of(entry, layout)
        b = place.marks[row]
        for branch in range(b if b >= 0 else 0, b + 1 if b >= 0 else len(places)):
            at = place.position[branch]
            if at != DROPPED and (b >= 0 or share_of(place.units[row], upto, branch) > 0):
                out[at] = with_new(entry, place.last[branch] != group, layout)
                place.position[branch], place.last[branch] = at + 1, group


@compiled
def _mark_rows(rows: Any, branch: Any, units: Any, layout: Any, upto: Any, place: Any) -> None:
    """Write by row where cases go: a branch, and if there are two, :data:`BOTH`; else UNKNOWN, beside the units."""
    for i in range(len(rows)):
        row, b = row_of(rows[i], layout), branch[i]
        if len(upto) > 2:
            place.units[row] = units[i]
        elif b < 0:
            low = share_of(units[i], upto, 0)
            b = 1 if low == 0 else 0 if low == units[i] else BOTH
        place.marks[row] = b


@compiled
def move_parts(
    lists: Any, units: Any, parts: Any, which: Any, divisions: Any, layout: Any, place: Any, out: Any, moved: Any
) -> None:
    """Partition some lists of some nodes; `moved` gets the number of entries at each slot and list."""
    last = len(lists) - 1
    for s in range(len(divisions.attribute)):
        first, start, stop = parts.first[s], divisions.slot_start[s], divisions.slot_start[s + 1]
        upto, places = divisions.upto[start:stop], divisions.places[start:stop]
        here = slice(first, first + parts.list_count[s, last])
        _mark_rows(lists[last, here], divisions.branch[here], units[here], layout, upto, place)
        for w in range(len(which)):
            k = which[w]
            entries, slots = lists[k, first : first + parts.list_count[s, k]], moved[start:stop, k]
            if len(upto) > 2:
                _move_to_many(entries, layout, upto, places, place, out[k])
                for b in range(len(slots)):
                    slots[b] = place.position[b] - places[b] if places[b] != DROPPED else 0
            elif places[0] != DROPPED and places[1] != DROPPED:
                slots[0], slots[1] = _move_to_two(entries, place.marks, layout, places, out[k])
            else:
                for b in range(2):
                    if places[b] != DROPPED:
                        slots[b] = _move_to_one(entries, place.marks, layout, b, places[b], out[k])
