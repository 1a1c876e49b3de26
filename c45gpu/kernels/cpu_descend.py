"""Send training cases through a tree that is being pruned, when unknown values divide them.

One subtree after the other, depth first. The instances at the node that is next are the last of an arena; they are
divided among its branches behind them, and these move to their place, so that the arena holds each instance once and
those of one node twice::

    arena   | branch 2 | branch 1 | at branch 0 |
            | branch 2 | branch 1 | at branch 0 | below it, branch 1 | branch 0 |
            | branch 2 | branch 1 | branch 1 | branch 0 |

Branches that nobody asks about are not *kept*: no instance is written for them.
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
def _branch_of(case: Any, column: Any, slot: Any, cells: Any, steps: Any) -> Any:
    """The branch that a case takes at a slot, NO_BRANCH for none."""
    if column >= 0:
        return branch_taken(cells.floats[cells.start[column] + case], slot, steps)
    return branch_taken(cells.codes[cells.start[~column] + case], slot, steps)


@compiled
def _weigh(first: Any, stop: Any, node: Any, cases: Any, arena: Any, paths: Any, room: Any) -> Any:
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
        b = _branch_of(case[i], column, slot, cases.cells, steps)
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
def _count_shares(first: Any, stop: Any, n_branches: Any, arena: Any, room: Any) -> None:
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
def _separate(
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


@compiled
def to_leaf(stack: Any, cases: Any, arena: Any, paths: Any, room: Any) -> Any:
    """Send the last instances of the arena on until some are at a leaf.

    `stack` has the nodes with instances, where these lie, the last of the arena on top, and how many of the branches
    have been sent. Returns the arena, which
    may have been replaced by a longer one, the leaf, and where its instances lie; a leaf of -1 when none are left.
    None may be at a leaf, where a case's share has come to be less than a unit.
    """
    steps = paths.steps
    while len(stack):
        node, first, stop, sent = stack.pop()
        branches = np.int64(steps.signs[steps.slot_of[node]].first)
        if branches == 0:
            return arena, node, first, stop
        n_branches, unknown = _weigh(first, stop, node, cases, arena, paths, room)
        room.kept[:n_branches] = True
        if unknown:
            _count_shares(first, stop, n_branches, arena, room)
        arena = _separate((node, first, stop, sent), n_branches, stack, branches, arena, paths, room, True)
    return arena, np.int64(-1), np.int64(0), np.int64(0)


@compiled
def note_known(stack: Any, cases: Any, arena: Any, paths: Any, known: Any, room: Any) -> Any:
    """Send the instances of the arena on to the leaves, and note what is known on the way.

    Returns the arena, and whether a case was lost at a node where all values are unknown.
    """
    steps, lost = paths.steps, False
    while len(stack):
        node, first, stop, sent = stack.pop()
        branches, start = np.int64(steps.signs[steps.slot_of[node]].first), paths.branch_start[node]
        if branches == 0:
            continue
        n_branches, unknown = _weigh(first, stop, node, cases, arena, paths, room)
        known[start : start + n_branches] = room.weight[:n_branches]
        lost |= unknown == stop - first
        inner = False
        for b in range(n_branches):
            room.kept[b] = steps.signs[branches + b].first != 0
            inner |= room.kept[b]
        if inner:
            if unknown:
                _count_shares(first, stop, n_branches, arena, room)
            arena = _separate((node, first, stop, sent), n_branches, stack, branches, arena, paths, room, False)
    return arena, lost


@compiled
def hold(
    count: Any, start: Any, cases: Any, arena: Any, paths: Any, known: Any, room: Any, spread: Any, out: Any
) -> Any:
    """Send the first `count` instances of the arena down from a node, as far as they do not become too many.

    `spread` says by node how many instances may be held there for each that is at the node. Returns the arena and what
    of `out` is filled, both of which may have been replaced by longer ones: the nodes where instances are (ascending),
    how many, and these instances' cases and units; and whether a case was lost.
    """
    steps, lost, filled, arrived = paths.steps, False, 0, 0
    nodes, counts, case, units = out
    stack = [(np.int64(start), np.int64(0), np.int64(count), np.int64(0))]
    while len(stack):
        node, first, stop, sent = stack.pop()
        branches, begin = np.int64(steps.signs[steps.slot_of[node]].first), paths.branch_start[node]
        if branches:
            n_branches, unknown = _weigh(first, stop, node, cases, arena, paths, room)
            room.kept[:n_branches] = True
            if unknown:
                _count_shares(first, stop, n_branches, arena, room)
            left = spread[node] * (stop - first) / max(1, room.count[:n_branches].sum())
            if left >= 1.0:
                lost |= unknown == stop - first
                known[begin : begin + n_branches] = room.weight[:n_branches]
                for b in range(n_branches):
                    spread[steps.node_of[branches + b]] = left
                arena = _separate((node, first, stop, sent), n_branches, stack, branches, arena, paths, room, False)
                continue
        wanted = arrived + stop - first
        nodes, counts = longer(nodes, filled, filled + 1), longer(counts, filled, filled + 1)
        case, units = longer(case, arrived, wanted), longer(units, arrived, wanted)
        nodes[filled], counts[filled] = node, stop - first
        case[arrived:wanted], units[arrived:wanted] = arena[0][first:stop], arena[1][first:stop]
        filled, arrived = filled + 1, wanted
    return arena, (nodes[:filled], counts[:filled], case[:arrived], units[:arrived]), lost


@compiled
def _follow(first: Any, stop: Any, node: Any, branch: Any, cases: Any, arena: Any, paths: Any, known: Any) -> Any:
    """Leave of a node's instances those that take one of its branches; returns where they end."""
    case, units, _ = arena
    steps, start = paths.steps, paths.branch_start[node]
    slot = steps.slot_of[node]
    column = steps.signs[slot].column
    total, running = known[start : paths.branch_start[node + 1]].sum(), known[start : start + branch].sum()
    low = running / total if total else 0.0
    high = (running + known[start + branch]) / total if total else 0.0
    at = first
    for i in range(first, stop):
        b, share = _branch_of(case[i], column, slot, cases.cells, steps), units[i]
        if b == NO_BRANCH:
            share = np.int64(units_before(units[i], high) - units_before(units[i], low))
        case[at], units[at] = case[i], share
        at += b in (branch, NO_BRANCH) and share > 0
    return at


@compiled
def to_top(stack: Any, tops: Any, cases: Any, arena: Any, paths: Any, known: Any, room: Any) -> Any:
    """As :func:`to_leaf`, until some are at one of the tops, which ascend; its number takes the place of the leaf."""
    steps, end = paths.steps, paths.end
    while len(stack):
        node, first, stop, sent = stack.pop()
        p = np.searchsorted(tops, node)
        if tops[p] == node:
            return arena, p, first, stop
        branches = np.int64(steps.signs[steps.slot_of[node]].first)
        n_branches, kept, last = paths.branch_start[node + 1] - paths.branch_start[node], 0, 0
        for b in range(n_branches):
            below = steps.node_of[branches + b]
            while p < len(tops) and tops[p] < below:
                p += 1
            room.kept[b] = p < len(tops) and tops[p] < end[below]
            if room.kept[b]:
                kept, last = kept + 1, b
        if kept == 1:
            stop = _follow(first, stop, node, last, cases, arena, paths, known)
            if stop > first:
                stack.append((steps.node_of[branches + last], first, stop, np.int64(0)))
            continue
        n_branches, unknown = _weigh(first, stop, node, cases, arena, paths, room)
        if unknown:
            _count_shares(first, stop, n_branches, arena, room)
        arena = _separate((node, first, stop, sent), n_branches, stack, branches, arena, paths, room, False)
    return arena, np.int64(-1), np.int64(0), np.int64(0)
