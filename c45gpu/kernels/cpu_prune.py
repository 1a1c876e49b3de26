"""Send training cases through a tree that is being pruned, when no value is unknown.

Rows lie in the order of the leaves they are at, leaves in preorder, so the cases of any node are neighbours::

    order   r7 r2 | r0 | r5 r1 r3 |          before[t] .. before[end[t]] are the cases of node t and all below it
            leaf 2  leaf 3  leaf 5

What a branch would do with all cases of the node above is what it does now, and what the others' cases add: only
these are sent, and no more of them once their errors have used up what was allowed.
"""

from __future__ import annotations

from queue import Empty, LifoQueue
from typing import Any

import numpy as np

from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_walk import (
    ABREAST,
    ROWS_AT_A_TIME,
    fill_rows,
    raise_over,
    row_type,
    steps_of,
    tested_attributes,
    walk,
)
from c45gpu.kernels.engine import Changes, Pairs
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.model.tree import Tree

FEW_ABREAST = 32  # of cases that may be the last to be sent


@compiled
def walk_all(rows: Any, cases: Any, start: Any, steps: Any, leaves: Any) -> None:
    """The leaf of every case, from a node on; see :func:`walk`."""
    slots, going = np.empty(ABREAST, np.int64), np.empty(ABREAST, np.int64)
    for first in range(0, len(cases), ABREAST):
        abreast = cases[first : first + ABREAST]
        walk(rows, abreast, steps.slot_of[start], steps, slots, going)
        for i in range(len(abreast)):
            leaves[first + i] = steps.node_of[slots[i]]


@compiled
def order_by_leaf(leaves: Any, cases: Any, before: Any, order: Any) -> None:
    """Counting sort; `before` gets the number of cases at leaves below each number, one entry more than nodes."""
    before[:] = 0
    for i in range(len(leaves)):
        before[leaves[i] + 1] += 1
    for node in range(1, len(before)):
        before[node] += before[node - 1]
    at = before.copy()
    for i in range(len(leaves)):
        order[at[leaves[i]]] = cases[i]
        at[leaves[i]] += 1


@compiled
def _send_some(
    cases: Any, branch: Any, rows: Any, labels: Any, steps: Any, units: Any, allowed: Any, memory: Any
) -> Any:
    """Send cases down a branch; returns the number of leaves touched so far and what is still allowed."""
    added, touched, most, (slots, going), n_touched = memory
    classes, weights = labels
    first, stop = 0, 0
    for i in range(len(cases)):
        if i == stop:
            first, stop = stop, min(len(cases), stop + min(ABREAST, FEW_ABREAST + stop))
            walk(rows, cases[first:stop], steps.slot_of[branch], steps, slots, going)
        leaf, c = steps.node_of[slots[i - first]], classes[cases[i]]
        weight = weights[cases[i]] if len(weights) else np.int64(1)
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
def send_pairs(
    order: Any, before: Any, end: Any, pairs: Any, rows: Any, labels: Any, steps: Any, units: Any, room: Any, out: Any
) -> Any:
    """Send the cases of the tops' other branches; returns the number of rows of `out` that are filled.

    `room` is memory of one worker, clean before and after: units added by leaf and class, leaves touched, and the
    largest class of each, by the leaf's distance from the branch.
    """
    added, touched, most = room
    walking = (np.empty(ABREAST, np.int64), np.empty(ABREAST, np.int64))
    hopeless, out_pair, out_leaf, out_units = out
    filled = 0
    for p in range(len(pairs.top)):
        top, branch, allowed = pairs.top[p], pairs.branch[p], pairs.allowed[p]
        n = 0
        for first, stop in ((before[top], before[branch]), (before[end[branch]], before[end[top]])):
            if allowed >= 0:
                memory = (added, touched, most, walking, n)
                n, allowed = _send_some(order[first:stop], branch, rows, labels, steps, units, allowed, memory)
        hopeless[p] = allowed < 0
        reached = touched[:n]
        if n > 1 and allowed >= 0:
            reached.sort()
        for i in range(n):
            slot = reached[i] - branch
            if allowed >= 0:
                out_pair[filled], out_leaf[filled] = p, reached[i]
            for c in range(added.shape[1]):
                if allowed >= 0:
                    out_units[filled, c] = added[slot, c]
                added[slot, c] = 0
            filled += allowed >= 0
            most[slot] = -1
    return filled


class WholePlacement:
    """See :class:`c45gpu.kernels.engine.Engine` for the methods."""

    def __init__(self, problem: Problem, tree: Tree, crew: Crew) -> None:
        self._crew, self._end = crew, tree.end
        weights = problem.units if bool((problem.units != 1).any()) else np.empty(0, np.int64)
        self._labels = (problem.table.classes, weights)
        self._rooms: LifoQueue[tuple[Int64s, Int64s, Int64s]] = LifoQueue()
        n, tested = problem.table.n_cases, tested_attributes(tree)
        word = row_type(problem.table, tested)
        self._steps = steps_of(tree, tested, word)
        self._rows = np.empty((n, len(tested)), word)
        leaves, cases = np.empty(n, np.int64), np.arange(n, dtype=np.int32)

        def job(here: slice) -> None:
            fill_rows(problem.table, tested, here.start, self._rows[here])
            walk_all(self._rows, cases[here], 0, self._steps, leaves[here])

        crew.run(job, [(slice(i, i + ROWS_AT_A_TIME),) for i in range(0, n, ROWS_AT_A_TIME)])
        self._order, self._before = np.empty(n, np.int32), np.empty(tree.n_nodes + 1, np.int64)
        order_by_leaf(leaves, cases, self._before, self._order)

    def known(self, tree: Tree) -> Int64s:
        """Units of the cases that take each entry of ``tree.branch``."""
        weights = self._labels[1]
        units = np.concatenate([[0], np.cumsum(weights[self._order])])[self._before] if len(weights) else self._before
        return units[self._end[tree.branch]] - units[tree.branch]

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        """What the leaves below each branch would gain if all cases of its top were sent down it."""
        others = self._before[self._end[pairs.top]] - self._before[pairs.top]
        others -= self._before[self._end[pairs.branch]] - self._before[pairs.branch]
        hopeless = np.zeros(len(pairs.top), np.bool_)

        def job(first: int, stop: int) -> tuple[Int64s, Int64s, Int64s]:
            some = Pairs(*(x[first:stop] for x in pairs))
            room = self._take_room(units.shape)
            most = int(np.minimum(self._end[some.branch] - some.branch, others[first:stop]).sum())
            found = (np.empty(most, np.int64), np.empty(most, np.int64), np.empty((most, units.shape[1]), np.int64))
            out = (hopeless[first:stop], *found)
            filled = send_pairs(
                self._order, self._before, self._end, some, self._rows, self._labels, self._steps, units, room, out
            )
            self._rooms.put(room)
            return found[0][:filled] + first, found[1][:filled], found[2][:filled]

        parts = self._crew.run(job, [(s.start, s.stop) for s in self._crew.shares(others + 1)])
        return Changes(hopeless, *(np.concatenate(x) for x in zip(*parts, strict=True)))

    def _take_room(self, shape: tuple[int, ...]) -> tuple[Int64s, Int64s, Int64s]:
        """Memory of one worker for :func:`send_pairs`, clean."""
        try:
            return self._rooms.get_nowait()
        except Empty:
            n = shape[0]
            return np.zeros(shape, np.int64), np.empty(n, np.int64), np.full(n, -1, np.int64)

    def cut(self, nodes: Int64s) -> None:
        """A node's range holds what was below it already."""
        self._steps.signs["first"][self._steps.slot_of[nodes]] = 0

    def raise_branches(self, tree: Tree, pairs: Pairs) -> Int64s:
        """All cases of each top are at the leaves of its branch from now on."""
        for top, branch in zip(pairs.top.tolist(), pairs.branch.tolist(), strict=True):
            first, stop = int(self._before[top]), int(self._before[self._end[top]])
            cases = self._order[first:stop].copy()
            leaves = np.empty(len(cases), np.int64)
            walk_all(self._rows, cases, branch, self._steps, leaves)
            span = int(self._end[branch] - branch)
            before = np.empty(span + 1, np.int64)
            order_by_leaf(leaves - branch, cases, before, self._order[first:stop])
            self._before[top + 1 : branch] = first
            self._before[branch : self._end[branch] + 1] = first + before
            self._before[self._end[branch] + 1 : self._end[top]] = stop
        raise_over(self._steps, pairs.top, pairs.branch)
        return self.known(tree)
