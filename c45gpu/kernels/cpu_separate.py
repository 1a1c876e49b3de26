"""Divide the instances at a node among its branches, in an arena, as :mod:`.cpu_descend` goes down a tree.

They are the last of the arena; those of the branches are written behind them, and move to their place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.formulas import units_before
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_walk import NO_BRANCH, branch_taken

SPREAD = 4  # a node whose branches have more than so many times its instances stays while some of them are sent


class Cases(NamedTuple):
    """What is known of the training cases."""

    cells: Any  # of the tested attributes, see :class:`c45gpu.kernels.cpu_cells.Cells`
    classes: Any  # int32[N]


class Paths(NamedTuple):
    """Where the branches of a tree lead."""

    steps: Any  # see :class:`c45gpu.kernels.cpu_walk.Steps`
    branch_start: Any  # int64[n + 1]
    end: Any  # int64[n]: the number after those of a node and all below it


class Room(NamedTuple):
    """Of the branches of a node."""

    weight: Any  # int64[most branches]: units of the instances that are known to take it
    upto: Any  # float64[most branches]: the fraction of that weight which it has and those before it have
    count: Any  # int64[most branches]: its instances
    place: Any  # int64[most branches]: where they are in the arena
    kept: Any  # bool[most branches]


@compiled
def longer(array: Any, used: Any, wanted: Any) -> Any:
    """The array, or a copy of what is used of it with room for what is wanted."""
    if wanted <= len(array):
        return array
    longer = np.empty(max(wanted, 2 * len(array)), array.dtype)
    longer[:used] = array[:used]
    return longer


@compiled
def branch_of(case: Any, column: Any, slot: Any, cells: Any, steps: Any) -> Any:
    """The branch that a case takes at a slot, NO_BRANCH for none."""
    if column >= 0:
        return branch_taken(cells.floats[cells.start[column] + case], slot, steps)
    return branch_taken(cells.codes[cells.start[~column] + case], slot, steps)


@compiled
def weigh(first: Any, stop: Any, node: Any, cases: Any, arena: Any, paths: Any, room: Any) -> Any:
    """Mark instances by branch, and weigh and count the known ones.

    Returns the number of branches, and how many instances have no known value.
    """
    case, units, taken = arena
    steps, branch_start, _ = paths
    slot = steps.slot_of[node]
    n_branches = branch_start[node + 1] - branch_start[node]
    column = steps.signs[slot].column
    room.weight[:n_branches] = 0
    room.count[:n_branches] = 0
    unknown = 0
    for i in range(first, stop):
        b = branch_of(case[i], column, slot, cases.cells, steps)
        taken[i] = b
        if b == NO_BRANCH:
            unknown += 1
        else:
            room.weight[b] += units[i]
            room.count[b] += 1
    total, running = room.weight[:n_branches].sum(), np.int64(0)
    for b in range(n_branches):
        running += room.weight[b]
        room.upto[b] = running / total if total else 0.0
    return n_branches, unknown


@compiled
def count_shares(first: Any, stop: Any, n_branches: Any, arena: Any, room: Any) -> None:
    """Count what kept branches get of the instances without a known value."""
    _, units, taken = arena
    for i in range(first, stop):
        if taken[i] == NO_BRANCH:
            before = 0.0
            for b in range(n_branches):
                after = units_before(units[i], room.upto[b])
                room.count[b] += room.kept[b] and after > before
                before = after


@compiled
def _divide(first: Any, stop: Any, n_branches: Any, arena: Any, room: Any) -> None:
    """Write the instances of kept branches, from ``place`` on, which moves to where each branch ends."""
    case, units, taken = arena
    place = room.place
    for i in range(first, stop):
        b = taken[i]
        if b != NO_BRANCH:
            if room.kept[b]:
                case[place[b]], units[place[b]] = case[i], units[i]
                place[b] += 1
            continue
        before = 0.0
        for branch in range(n_branches):
            after = units_before(units[i], room.upto[branch])
            if after > before and room.kept[branch]:
                case[place[branch]], units[place[branch]] = case[i], np.int64(after - before)
                place[branch] += 1
            before = after


@compiled
def _keep_next(count: Any, sent: Any, n_branches: Any, room: Any) -> Any:
    """Keep, of the kept branches from number `sent` on, those that are sent next; returns the number after these.

    All of them, or one after the other as long as they have no more than the `count` instances of their node.
    """
    together, some, end = 0, 0, n_branches
    for b in range(n_branches):
        together += room.count[b] if room.kept[b] else 0
    most = together if together <= SPREAD * count else count
    room.kept[:sent] = False
    for b in range(sent, n_branches):
        wanted = some + (room.count[b] if room.kept[b] else 0)
        if some and wanted > most:
            end = b
            break
        some = wanted
    room.kept[end:n_branches] = False
    return end


@compiled
def separate(
    frame: Any, n_branches: Any, stack: Any, branches: Any, arena: Any, paths: Any, room: Any, empty: Any
) -> Any:
    """Put the kept branches of a node, which have been counted, in its place, the first one last; `empty` ones or not.

    `frame` is the node as it was in the stack. It stays there, below them, until its last branches are sent. Returns
    the arena, which may have been replaced by a longer one.
    """
    node, first, stop, sent = frame
    steps, place = paths.steps, stop
    end = _keep_next(stop - first, sent, n_branches, room)
    down = 0 if end < n_branches else stop - first
    if end < n_branches:
        stack.append((node, first, stop, end))
    for b in range(end - 1, sent - 1, -1):
        room.place[b] = place
        if room.kept[b] and (room.count[b] or empty):
            low = place - down
            stack.append((steps.node_of[branches + b], low, low + room.count[b], np.int64(0)))
            place += room.count[b]
    arena = (longer(arena[0], stop, place), longer(arena[1], stop, place), longer(arena[2], stop, place))
    _divide(first, stop, n_branches, arena, room)
    case, units, _ = arena
    for i in range(stop, place if down else stop):  # those of a node that stays are where they belong
        case[i - down], units[i - down] = case[i], units[i]
    return arena
