"""What is asked about nodes when unknown values divide cases, a group of nodes after the other.

A group are the tops whose instances come from the same held ones: these are gathered, sent on to the tops, and from
each top down one of its branches (:mod:`.cpu_descend`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_descend import note_known, to_leaf, to_top
from c45gpu.kernels.cpu_separate import Room, longer


class Memory(NamedTuple):
    """What one worker keeps between tasks."""

    arena: Any  # case int32, units int64, branch taken int8 or int32
    room: Room
    place_of: Any  # int32[N]: 0, or while instances are gathered 1 + the place of a case
    totals: Any  # int64[C]


class Groups(NamedTuple):
    """Held instances, and the nodes from which these are sent to the tops: one that is asked about, or above some."""

    node: Any  # int64
    first: Any  # int64
    stop: Any  # int64
    of_one: Any  # bool: whether they are held at one inner node, so that each case is among them once


@compiled
def gather(first: Any, stop: Any, of_one: Any, placed: Any, arena: Any, place_of: Any) -> Any:
    """Put the cases of a range of held instances into the arena, each once, with all of its units."""
    case, units = placed
    most = min(stop - first, len(place_of))
    arena = (longer(arena[0], 0, most), longer(arena[1], 0, most), longer(arena[2], 0, most))
    if of_one:
        arena[0][:most], arena[1][:most] = case[first:stop], units[first:stop]
        return arena, most
    count = 0
    for i in range(first, stop):
        place = place_of[case[i]]
        if place == 0:
            arena[0][count], arena[1][count] = case[i], units[i]
            count += 1
            place_of[case[i]] = count
        else:
            arena[1][place - 1] += units[i]
    for i in range(count):
        place_of[arena[0][i]] = 0
    return arena, count


@compiled
def note_groups(placed: Any, groups: Any, pairs: Any, cases: Any, paths: Any, known: Any, memory: Any) -> Any:
    """Send all cases of tops down their branches, and note what is known below; returns the arena, and what is lost."""
    arena, room, place_of, _ = memory
    lost = False
    for g in range(len(groups.node)):
        arena, count = gather(groups.first[g], groups.stop[g], groups.of_one[g], placed, arena, place_of)
        stack = [(groups.node[g], np.int64(0), np.int64(count), np.int64(0))]
        while len(stack):
            arena, p, first, stop = to_top(stack, pairs.top, cases, arena, paths, known, room)
            if p >= 0:
                below = [(pairs.branch[p], first, stop, np.int64(0))]
                arena, some = note_known(below, cases, arena, paths, known, room)
                lost |= some
    return arena, lost


@compiled
def _send_one(p: Any, branch: Any, frame: Any, cases: Any, paths: Any, units: Any, memory: Any, rows: Any) -> Any:
    """Send a top's instances, a frame of the arena, down a branch; returns the arena and the rows, with those of p."""
    arena, room, _, totals = memory
    pair, leaf, change, filled = rows
    wide = len(totals)
    stack = [(branch, frame[0], frame[1], np.int64(0))]
    while len(stack):
        arena, here, first, stop = to_leaf(stack, cases, arena, paths, room)
        if here < 0:
            continue
        totals[:] = -units[here]
        for i in range(first, stop):
            totals[cases.classes[arena[0][i]]] += arena[1][i]
        if (totals != 0).any():
            pair, leaf = longer(pair, filled, filled + 1), longer(leaf, filled, filled + 1)
            change = longer(change, filled * wide, (filled + 1) * wide)
            pair[filled], leaf[filled] = p, here
            change[filled * wide : (filled + 1) * wide] = totals
            filled += 1
    return arena, (pair, leaf, change, filled)


@compiled
def send_groups(
    placed: Any, groups: Any, pairs: Any, cases: Any, paths: Any, known: Any, units: Any, memory: Any
) -> Any:
    """Changes of class weights at the leaves of each pair; returns the worker's arena, and the rows."""
    arena, room, place_of, totals = memory
    rows = (np.empty(16, np.int64), np.empty(16, np.int64), np.empty(16 * len(totals), np.int64), 0)
    for g in range(len(groups.node)):
        arena, count = gather(groups.first[g], groups.stop[g], groups.of_one[g], placed, arena, place_of)
        stack = [(groups.node[g], np.int64(0), np.int64(count), np.int64(0))]
        while len(stack):
            arena, p, first, stop = to_top(stack, pairs.top, cases, arena, paths, known, room)
            if p >= 0:
                mine = (arena, room, place_of, totals)
                arena, rows = _send_one(p, pairs.branch[p], (first, stop), cases, paths, units, mine, rows)
    pair, leaf, change, filled = rows
    return arena, pair[:filled], leaf[:filled], change[: filled * len(totals)]
