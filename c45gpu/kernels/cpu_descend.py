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

from typing import Any

import numpy as np

from c45gpu.formulas import units_before
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_separate import branch_of, count_shares, longer, separate, weigh
from c45gpu.kernels.cpu_walk import NO_BRANCH


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
        n_branches, unknown = weigh(first, stop, node, cases, arena, paths, room)
        room.kept[:n_branches] = True
        if unknown:
            count_shares(first, stop, n_branches, arena, room)
        arena = separate((node, first, stop, sent), n_branches, stack, branches, arena, paths, room, True)
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
        n_branches, unknown = weigh(first, stop, node, cases, arena, paths, room)
        known[start : start + n_branches] = room.weight[:n_branches]
        lost |= unknown == stop - first
        inner = False
        for b in range(n_branches):
            room.kept[b] = steps.signs[branches + b].first != 0
            inner |= room.kept[b]
        if inner:
            if unknown:
                count_shares(first, stop, n_branches, arena, room)
            arena = separate((node, first, stop, sent), n_branches, stack, branches, arena, paths, room, False)
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
            n_branches, unknown = weigh(first, stop, node, cases, arena, paths, room)
            room.kept[:n_branches] = True
            if unknown:
                count_shares(first, stop, n_branches, arena, room)
            left = spread[node] * (stop - first) / max(1, room.count[:n_branches].sum())
            if left >= 1.0:
                lost |= unknown == stop - first
                known[begin : begin + n_branches] = room.weight[:n_branches]
                for b in range(n_branches):
                    spread[steps.node_of[branches + b]] = left
                arena = separate((node, first, stop, sent), n_branches, stack, branches, arena, paths, room, False)
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
        b, share = branch_of(case[i], column, slot, cases.cells, steps), units[i]
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
        n_branches, unknown = weigh(first, stop, node, cases, arena, paths, room)
        if unknown:
            count_shares(first, stop, n_branches, arena, room)
        arena = separate((node, first, stop, sent), n_branches, stack, branches, arena, paths, room, False)
    return arena, np.int64(-1), np.int64(0), np.int64(0)
