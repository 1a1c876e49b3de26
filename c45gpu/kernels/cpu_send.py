"""Send whole cases that stand in the order of their leaves down branches of a tree, and raise these.

What a branch would do with all cases of the node above is what it does now, and what the others' cases add: only
these are sent, and no more of them once their errors have used up what was allowed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_prune_order import order_by_leaf
from c45gpu.kernels.cpu_walk import ABREAST, walk
from c45gpu.kernels.level import Int64s

Room = tuple[Int64s, Int64s, Int64s, tuple[Int64s, Int64s]]  # see :func:`send_one`

FEW_ABREAST = 32  # where a few errors more may make it hopeless: enough to hide each other's visits to memory


class Cases(NamedTuple):
    """What is known of the cases, by their number."""

    cells: Any  # of the tested attributes
    classes: Any  # int32[N]
    weights: Any  # int64[N], or none if all weigh 1


class Standing(NamedTuple):
    """Where the cases are."""

    order: Any  # int32[N]
    before: Any  # int64[n + 1]
    end: Any  # int64[n]

    def held(self, nodes: Int64s) -> Int64s:
        """How many cases are at and below nodes."""
        counts: Int64s = self.before[self.end[nodes]] - self.before[nodes]
        return counts


class Spans(NamedTuple):
    """Which cases of a top's other branches are sent, numbered with those in front of the branch first; by pair."""

    first: Any  # int64
    stop: Any  # int64


@compiled
def walk_all(cells: Any, cases: Any, start: Any, steps: Any, leaves: Any) -> None:
    """The leaf of every case, from a node on; see :func:`walk`."""
    slots, going = np.empty(ABREAST, np.int64), np.empty(ABREAST, np.int64)
    for first in range(0, len(cases), ABREAST):
        abreast = cases[first : first + ABREAST]
        walk(cells, abreast, steps.slot_of[start], steps, slots, going)
        for i in range(len(abreast)):
            leaves[first + i] = steps.node_of[slots[i]]


@compiled
def send_some(sent: Any, branch: Any, cases: Any, steps: Any, units: Any, allowed: Any, memory: Any) -> Any:
    """Send cases down a branch; returns the number of leaves touched so far and what is still allowed."""
    added, touched, most, (slots, going), n_touched = memory
    first, stop = 0, 0
    for i in range(len(sent)):
        if i == stop:
            first, stop = stop, min(len(sent), stop + min(ABREAST, max(FEW_ABREAST, allowed)))
            walk(cases.cells, sent[first:stop], steps.slot_of[branch], steps, slots, going)
        leaf, c = steps.node_of[slots[i - first]], cases.classes[sent[i]]
        weight = cases.weights[sent[i]] if len(cases.weights) else np.int64(1)
        slot = leaf - branch
        if most[slot] < 0:
            touched[n_touched] = leaf
            n_touched += 1
            most[slot] = units[leaf].max()
        added[slot, c] += weight
        here = units[leaf, c] + added[slot, c]
        allowed -= weight
        if here > most[slot]:
            allowed += here - most[slot]
            most[slot] = here
        if allowed < 0:
            break
    return n_touched, allowed


@compiled
def send_one(pair: Any, span: Any, allowed: Any, standing: Any, cases: Any, steps: Any, units: Any, room: Any) -> Any:
    """Send cases of a top's other branches down one; returns how many leaves they reach and what is still allowed.

    `pair` has the top and the branch, `span` the number of the first case and that after the last, and `room` is
    memory of one worker, clean before and to be cleaned after: units added by leaf and class, leaves reached
    (ascending), the largest class of each, by the leaf's distance from the branch, and a walk's numbers.
    """
    (order, before, end), (top, branch), (first, stop) = standing, pair, span
    added, reached, most, walking = room
    start, held, n = before[top], before[end[branch]] - before[branch], 0
    in_front = before[branch] - start
    for a, b in ((first, min(stop, in_front)), (max(first, in_front) + held, stop + held)):
        if a < b and allowed >= 0:
            memory = (added, reached, most, walking, n)
            n, allowed = send_some(order[start + a : start + b], branch, cases, steps, units, allowed, memory)
    if n > 1 and allowed >= 0:
        reached[:n].sort()
    return n, allowed


@compiled
def others_of(top: Any, branch: Any, standing: Any) -> Any:
    """How many cases of a top are at its other branches."""
    _, before, end = standing
    return before[end[top]] - before[top] - (before[end[branch]] - before[branch])


@compiled
def clean(room: Any, branch: Any, n: Any) -> None:
    """Make room again after :func:`send_one`."""
    added, reached, most, _ = room
    for i in range(n):
        slot = reached[i] - branch
        most[slot] = -1
        for c in range(added.shape[1]):
            added[slot, c] = 0


@compiled
def send_pairs(standing: Any, pairs: Any, spans: Any, cases: Any, steps: Any, units: Any, room: Any, out: Any) -> Any:
    """Send cases of the tops' other branches; returns the number of rows of `out` that are filled."""
    added, reached, _, _ = room
    hopeless, out_pair, out_leaf, out_units = out
    filled = 0
    for p in range(len(pairs.top)):
        branch, span = pairs.branch[p], (spans.first[p], spans.stop[p])
        n, allowed = send_one((pairs.top[p], branch), span, pairs.allowed[p], standing, cases, steps, units, room)
        hopeless[p] = allowed < 0
        if allowed >= 0:
            for i in range(n):
                out_pair[filled + i], out_leaf[filled + i] = p, reached[i]
                for c in range(added.shape[1]):
                    out_units[filled + i, c] = added[reached[i] - branch, c]
            filled += n
        clean(room, branch, n)
    return filled


@compiled
def count_known(first: Any, stop: Any, cases: Any, standing: Any, nodes: Any, known: Any) -> None:
    """Units of the cases at and below some nodes, all of which are between two places of the order."""
    order, before, end = standing
    for i in range(len(nodes)):
        known[i] = before[end[nodes[i]]] - before[nodes[i]]
    if len(cases.weights):
        running = np.zeros(stop - first + 1, np.int64)
        for i in range(stop - first):
            running[i + 1] = running[i] + cases.weights[order[first + i]]
        for i in range(len(nodes)):
            known[i] = running[before[end[nodes[i]]] - first] - running[before[nodes[i]] - first]


@compiled
def raise_one(
    standing: Any, top: Any, branch: Any, cases: Any, steps: Any, branch_start: Any, branches: Any, known: Any
) -> None:
    """Send all cases of a top down a branch, and bring up to date what is known below that."""
    order, before, end = standing
    first, stop, after = before[top], before[end[top]], end[branch]
    moved = order[first:stop].copy()
    leaves = np.empty(len(moved), np.int64)
    walk_all(cases.cells, moved, branch, steps, leaves)
    at = np.empty(after - branch + 1, np.int64)
    order_by_leaf(leaves - branch, moved, at, order[first:stop])
    before[top + 1 : branch] = first
    before[branch : after + 1] = first + at
    before[after + 1 : end[top]] = stop
    below = slice(branch_start[branch], branch_start[after])
    count_known(first, stop, cases, standing, branches[below], known[below])


@compiled
def raise_pairs(
    standing: Any, pairs: Any, cases: Any, steps: Any, branch_start: Any, branches: Any, known: Any
) -> None:
    """Send all cases of the tops down the branches, and bring up to date what is known below these."""
    for p in range(len(pairs.top)):
        raise_one(standing, pairs.top[p], pairs.branch[p], cases, steps, branch_start, branches, known)
