"""Finish a node with divided cases: its whole subtree, depth first, so that few of its instances exist at once.

The choice is :func:`c45gpu.choose.choose`, compiled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.choose import NO_TEST, choose, is_leaf
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_arena import load_some, longer, roomier, send
from c45gpu.kernels.cpu_divide import UNKNOWN, add_branches, branch_by_code
from c45gpu.kernels.cpu_entry import class_of, new_of, packed, row_of
from c45gpu.kernels.cpu_move import DROPPED
from c45gpu.kernels.cpu_parts import apart, score_attribute
from c45gpu.kernels.cpu_units import fill_unit_histogram

SPREAD = 4  # a node whose branches have more than so many times its cases stays while some of them are finished


class Records(NamedTuple):
    """Rows of finished subtrees, as :class:`c45gpu.kernels.level.Subtrees`."""

    parent: Any
    branch: Any
    attribute: Any
    below: Any
    above: Any
    class_weights: Any


@compiled
def _with_room(records: Any, used: Any, wanted: Any) -> Any:
    """The records, or a copy with room for what is wanted."""
    if wanted <= len(records.parent):
        return records
    room = max(2 * len(records.parent), wanted)
    weights = np.empty((room, records.class_weights.shape[1]), np.int64)
    weights[:used] = records.class_weights[:used]
    return Records(
        longer(records.parent, used, room),
        longer(records.branch, used, room),
        longer(records.attribute, used, room),
        longer(records.below, used, room),
        longer(records.above, used, room),
        weights,
    )


@compiled
def _note(row: Any, parent: Any, branch: Any, class_weights: Any, records: Any) -> None:
    """Write a record of a node without a test."""
    records.parent[row], records.branch[row], records.attribute[row] = parent, branch, NO_TEST
    records.below[row], records.above[row] = -1, -1
    records.class_weights[row, :] = class_weights


@compiled
def _load(lists: Any, units: Any, first: Any, list_count: Any, layouts: Any, number_of: Any, arena: Any) -> None:
    """Copy a node to the bottom of the arena, its cases numbered."""
    (layout, local), last = layouts, len(lists) - 1
    for i in range(list_count[last]):
        entry = lists[last, first + i]
        arena.rows[i], arena.units[i] = entry, units[first + i]
        number_of[row_of(entry, layout)] = i
    for k in range(last):
        for i in range(list_count[k]):
            entry = lists[k, first + i]
            number = number_of[row_of(entry, layout)]
            arena.lists[k, i] = packed(new_of(entry, layout), class_of(entry, layout), number, local)


@compiled
def _choose(
    node: Any, list_count: Any, class_weights: Any, arena: Any, columns: Any, facts: Any, contexts: Any, bench: Any
) -> Any:
    """Score all attributes of a node and choose."""
    (first, count, counted), (context, local), weight = node, contexts, class_weights.sum()
    rows, units = arena.rows[first : first + count], arena.units[first : first + count]
    if columns.codes.shape[1]:
        fill_unit_histogram(
            rows, context.layout, units, columns.codes, columns.code_first, context.unknown_code, bench.histogram
        )
    for a in range(len(columns.list_of)):
        k, column = max(columns.list_of[a], 0), max(columns.code_of[a], 0)
        entries = arena.lists[k, first : first + list_count[k]]
        if context.near_of[a] >= 0:
            for i in range(count):
                bench.near[i] = context.near_values[context.near_of[a], row_of(rows[i], context.layout)]
            entries = apart(entries, local.layout, bench.near, context.gap, bench.apart)
        counts = bench.histogram[columns.code_first[column] : columns.code_first[column + 1]]
        work = bench.room, bench.totals
        score_attribute(a, entries, counts, (weight, counted), units, columns, local, work, bench.scores)
    scores = bench.scores
    candidates = (scores.gain, scores.split, scores.tries, scores.possible)
    return choose(weight, candidates, facts, context.settings, bench.net)


@compiled
def _divide(
    r: Any, a: Any, node: Any, list_count: Any, arena: Any, columns: Any, contexts: Any, records: Any, bench: Any
) -> Any:
    """Find the branch of each case and what each branch gets; returns the number of branches."""
    (first, count, _), (context, local), n_branches = node, contexts, bench.n_branches[a]
    rows, units = arena.rows[first : first + count], arena.units[first : first + count]
    branch, cut, k = bench.branch[:count], bench.scores.cut[a], columns.list_of[a]
    if k >= 0 and columns.continuous[a]:
        entries = arena.lists[k, first : first + list_count[k]]
        branch[:] = UNKNOWN
        for i in range(len(entries)):
            branch[row_of(entries[i], local.layout)] = i >= cut
        records.below[r] = row_of(rows[row_of(entries[cut - 1], local.layout)], context.layout)
        records.above[r] = row_of(rows[row_of(entries[cut], local.layout)], context.layout)
    else:
        records.below[r], records.above[r] = branch_by_code(
            rows, context.layout, a, cut, columns, context.unknown_code, branch
        )
    records.attribute[r] = a
    sums = bench.units[:n_branches], bench.n_rows[:n_branches], bench.whole[:n_branches], bench.upto[:n_branches]
    add_branches(rows, units, branch, context.layout, context.settings.case_units, sums)
    return n_branches


@compiled
def _keep(r: Any, n_branches: Any, stop: Any, again: Any, records: Any, settings: Any, bench: Any) -> Any:
    """Note the branches that hold cases behind the records, unless that is done and they are to be found `again`.

    Returns the end of the records, and how many branches are to be tested.
    """
    kept, largest = 0, 0
    for b in range(n_branches):
        weight = bench.units[b].sum()
        if weight > 0:
            if not again:
                _note(stop, r, b, bench.units[b], records)
            if not is_leaf(weight, bench.units[b].max(), settings):
                bench.kept[kept], bench.record[kept] = b, stop
                if bench.n_rows[b] > bench.n_rows[bench.kept[largest]]:
                    largest = kept
                kept += 1
            stop += 1
    if kept:
        bench.kept[0], bench.kept[largest] = bench.kept[largest], bench.kept[0]
        bench.record[0], bench.record[largest] = bench.record[largest], bench.record[0]
    return stop, kept


@compiled
def _take_some(sent: Any, kept: Any, n_branches: Any, count: Any, bench: Any) -> Any:
    """Put those of the branches to be tested in front which are sent next; returns how many.

    All of them, or one after the other as long as they have no more cases than their node.
    """
    all_rows, some_rows, some = 0, 0, 0
    for q in range(kept):
        all_rows += bench.n_rows[bench.kept[q]]
    most = all_rows if all_rows <= SPREAD * count else count
    bench.kept_as[:n_branches] = DROPPED
    for q in range(sent, kept):
        b = bench.kept[q]
        some_rows += bench.n_rows[b]
        if some and some_rows > most:
            break
        bench.kept[some], bench.record[some], bench.kept_as[b] = b, bench.record[q], some
        some += 1
    return some


@compiled
def _add_counts(list_counts: Any, depth: Any, counts: Any) -> Any:
    """The entries of waiting nodes with those of more behind the first `depth`; maybe a longer array."""
    wanted = depth + len(counts)
    if wanted > len(list_counts):
        more = np.empty((2 * wanted, list_counts.shape[1]), np.int64)
        more[:depth] = list_counts[:depth]
        list_counts = more
    list_counts[depth:wanted] = counts
    return list_counts


@compiled
def _finish_waiting(
    waiting: Any, list_counts: Any, stop: Any, columns: Any, facts: Any, contexts: Any, bench: Any, memory: Any
) -> Any:
    """Grow the subtrees of the nodes in the arena; returns the memory, and the records' end.

    A node that waits is its record, where it begins, whether its cases are counted, how many of its branches have been
    sent, and the record of the first of all branches then.
    """
    (arena, records), last = memory, list_counts.shape[1] - 1
    while len(waiting):
        r, first, counted, sent, branches = waiting.pop()
        list_count = list_counts[len(waiting)].copy()
        node, a = (first, list_count[last], counted), records.attribute[r]
        if sent == 0:
            a, branches = (
                _choose(node, list_count, records.class_weights[r], arena, columns, facts, contexts, bench),
                stop,
            )
            if a == NO_TEST:
                continue
            records = _with_room(records, stop, stop + bench.n_branches[a])
        n_branches = _divide(r, a, node, list_count, arena, columns, contexts, records, bench)
        end, kept = _keep(r, n_branches, branches, sent > 0, records, contexts[0].settings, bench)
        stop = max(stop, end)
        some = _take_some(sent, kept, n_branches, list_count[last], bench)
        if some == 0:
            continue
        stays = sent + some < kept
        if stays:
            waiting.append((r, first, counted, sent + some, branches))
        arena, counts = send(node, list_count, (n_branches, some), stays, arena, contexts[1], bench)
        list_counts = _add_counts(list_counts, len(waiting), counts)
        for q in range(some):
            counted = bench.whole[bench.kept[q]] and counts[q, last] < len(contexts[0].h)
            waiting.append((bench.record[q], bench.start[q], counted, 0, 0))
    return (arena, records), stop


@compiled
def finish_divided(
    lists: Any, units: Any, roots: Any, columns: Any, facts: Any, contexts: Any, bench: Any, memory: Any
) -> Any:
    """Grow the subtrees of several nodes.

    `roots` are their Parts and positions in the frontier, `contexts` the Context of all lists and that of an arena,
    `memory` an arena and records, both of which may be replaced by longer ones. Returns them, and the records' end.
    """
    (parts, positions), stop, last = roots, 0, len(lists) - 1
    for s in range(len(positions)):
        (arena, records), list_count = memory, parts.list_count[s]
        arena, records = roomier(arena, 0, list_count[last]), _with_room(records, stop, stop + 1)
        layouts = contexts[0].layout, contexts[1].layout
        _load(lists, units, parts.first[s], list_count, layouts, bench.number_of, arena)
        _note(stop, -1 - positions[s], 0, parts.totals[s], records)
        list_counts = np.empty((8, last + 1), np.int64)
        list_counts[0] = list_count
        waiting = [(stop, np.int64(0), parts.counted[s], 0, 0)]
        memory, stop = _finish_waiting(
            waiting, list_counts, stop + 1, columns, facts, contexts, bench, (arena, records)
        )
    return memory, stop


@compiled
def _set_branches(roots: Any, upto: Any, bench: Any) -> None:
    """Put what is known of a node's branches in its place; their records are the first."""
    which, _, n_rows, counted, _ = roots
    bench.upto[: len(upto)] = upto
    bench.kept_as[: len(upto)] = DROPPED
    for q in range(len(which)):
        b = which[q]
        bench.kept[q], bench.record[q] = b, q
        bench.kept_as[b], bench.n_rows[b], bench.whole[b] = q, n_rows[q], counted[q]


@compiled
def finish_branches(
    lists: Any, units: Any, node: Any, roots: Any, columns: Any, facts: Any, contexts: Any, bench: Any, memory: Any
) -> Any:
    """Grow the subtrees of some branches of a level's node, as :func:`finish_divided`.

    `node` is where it begins in the lists, how many entries it has in each, and of its Divisions the branches of its
    cases and `upto`; `roots` are the branches, their positions in the frontier, cases, whether these are counted, and
    class weights; `bench` is for as many cases as take any of the branches.
    """
    (first, list_count, branch, upto), (which, positions, _, counted, totals), sent = node, roots, 0
    (arena, records), stop, of_case = memory, len(which), np.empty(len(bench.branch), np.int32)
    layouts = contexts[0].layout, contexts[1].layout
    arena, records = roomier(arena, 0, len(of_case)), _with_room(records, 0, stop)
    for q in range(stop):
        _note(q, -1 - positions[q], 0, totals[q], records)
    _set_branches(roots, upto, bench)
    loaded = load_some(lists, units, (first, list_count, branch), layouts, bench.number_of, arena, bench, of_case)
    count = loaded[len(loaded) - 1]
    while sent < len(which):
        _set_branches(roots, upto, bench)
        bench.branch[:count] = of_case[:count]
        some = _take_some(sent, len(which), len(upto), count, bench)
        arena, counts = send((0, count, False), loaded, (len(upto), some), True, arena, contexts[1], bench)
        waiting, sent = [], sent + some
        for q in range(some):
            waiting.append((bench.record[q], bench.start[q], counted[bench.record[q]], 0, 0))
        (arena, records), stop = _finish_waiting(
            waiting, counts, stop, columns, facts, contexts, bench, (arena, records)
        )
    return (arena, records), stop
