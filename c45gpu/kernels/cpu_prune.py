"""Send training cases through a tree that is being pruned, when no value is unknown.

Cases are numbered in the order of the leaves that they are at first, leaves in preorder, and their values are written
in this order, so those lie near each other that are sent together (looking for values where they are takes three
times as long); `order` follows the cases when branches are raised, so that those of any node stay neighbours::

    order   c0 c1 | c2 | c3 c4 c5 |          before[t] .. before[end[t]] are the cases of node t and all below it
            leaf 2  leaf 3  leaf 5

What a branch would do with all cases of the node above is what it does now, and what the others' cases add: only
these are sent, and no more of them once their errors have used up what was allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from queue import Empty, LifoQueue
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_cells import InPlace, Memory, cells_in_order, cells_in_place
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_prune_order import all_take, order_by_leaf
from c45gpu.kernels.cpu_walk import (
    ABREAST,
    ROWS_AT_A_TIME,
    raise_over,
    row_type,
    steps_of,
    tested_attributes,
    walk,
)
from c45gpu.kernels.engine import Changes, Pairs
from c45gpu.kernels.level import Int32s, Int64s, Problem
from c45gpu.model.tree import LEAF, Tree

Array = npt.NDArray[Any]

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
def _send_some(sent: Any, branch: Any, cases: Any, steps: Any, units: Any, allowed: Any, memory: Any) -> Any:
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
def send_pairs(standing: Any, pairs: Any, cases: Any, steps: Any, units: Any, room: Any, out: Any) -> Any:
    """Send the cases of the tops' other branches; returns the number of rows of `out` that are filled.

    `room` is memory of one worker, clean before and after: units added by leaf and class, leaves touched, and the
    largest class of each, by the leaf's distance from the branch.
    """
    order, before, end = standing
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
                n, allowed = _send_some(order[first:stop], branch, cases, steps, units, allowed, memory)
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


@compiled
def _count_known(first: Any, stop: Any, cases: Any, standing: Any, nodes: Any, known: Any) -> None:
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
def raise_pairs(
    standing: Any, pairs: Any, cases: Any, steps: Any, branch_start: Any, branches: Any, known: Any
) -> None:
    """Send all cases of the tops down the branches, and bring up to date what is known below these."""
    order, before, end = standing
    for p in range(len(pairs.top)):
        top, branch = pairs.top[p], pairs.branch[p]
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
        _count_known(first, stop, cases, standing, branches[below], known[below])


class Placed(NamedTuple):
    """Cases in the order of their leaves."""

    order: Int32s
    before: Int64s  # how many cases are at leaves below each number
    values: InPlace


class WholePlacement:
    """See :class:`c45gpu.kernels.engine.Engine` for the methods.

    Parameters
    ----------
    problem : Problem
    tree : Tree
    crew : Crew
    order : ndarray of int32, shape (n_cases,), optional
        All cases once, or some negative numbers: the order that growing has left behind. It is used if it is the order
        of this tree's leaves.
    memory : sequence of ndarray
        Arrays that nobody needs any more, to write values to.
    """

    def __init__(
        self, problem: Problem, tree: Tree, crew: Crew, order: Int32s | None = None, memory: Sequence[Array] = ()
    ) -> None:
        self._crew, self._memory = crew, Memory(memory)
        self._rooms: LifoQueue[tuple[Int64s, Int64s, Int64s]] = LifoQueue()
        self._table, self._tested = problem.table, tested_attributes(tree)
        self._word = row_type(self._table, self._tested)
        self._steps = steps_of(tree, self._tested, self._word)
        placed = None if order is None else self._as_grown(order, tree)
        order, before, self._values = placed or self._walked(tree)
        weights = problem.units[order] if bool((problem.units != 1).any()) else np.empty(0, np.int64)
        self._cases = Cases(self._values.cells, self._table.classes[order], weights)
        self._standing = Standing(np.arange(len(order), dtype=np.int32), before, tree.end)
        self._known = np.empty(len(tree.branch), np.int64)
        _count_known(0, len(order), self._cases, self._standing, tree.branch, self._known)

    def _as_grown(self, order: Int32s, tree: Tree) -> Placed | None:
        """The cases in this order, if every case passes the tests above the leaf at which it lies then."""
        at_leaf = np.where(tree.kind == LEAF, tree.weight, 0).astype(np.int64)
        before = np.concatenate([[0], np.cumsum(at_leaf)])
        if before[-1] != len(order) or at_leaf.min() < 0 or order.min() < 0:
            return None
        values, standing = self._in_order(order), Standing(order, before, tree.end)
        inner = np.flatnonzero(tree.kind != LEAF)
        tasks = [(inner[s], values.cells, standing, self._steps) for s in self._crew.shares(standing.held(inner))]
        return Placed(order, before, values) if all(self._crew.run(all_take, tasks)) else None

    def _walked(self, tree: Tree) -> Placed:
        """The cases in the order of the leaves that they get to."""
        n, values = self._table.n_cases, cells_in_place(self._table, self._tested, self._word)
        leaves, cases = np.empty(n, np.int64), np.arange(n, dtype=np.int32)
        parts = [slice(i, i + ROWS_AT_A_TIME) for i in range(0, n, ROWS_AT_A_TIME)]
        self._crew.run(walk_all, [(values.cells, cases[s], 0, self._steps, leaves[s]) for s in parts])
        order, before = np.empty(n, np.int32), np.empty(tree.n_nodes + 1, np.int64)
        order_by_leaf(leaves, cases, before, order)
        return Placed(order, before, self._in_order(order))

    def _in_order(self, order: Int32s) -> InPlace:
        """The values of the cases, written in an order."""
        return cells_in_order(self._table, self._tested, self._word, order, self._crew, self._memory)

    def known(self, tree: Tree) -> Int64s:
        """Units of the cases that take each entry of ``tree.branch``."""
        return self._known

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        """What the leaves below each branch would gain if all cases of its top were sent down it."""
        end = self._standing.end
        others = self._standing.held(pairs.top) - self._standing.held(pairs.branch)
        hopeless = np.zeros(len(pairs.top), np.bool_)

        def job(first: int, stop: int) -> tuple[Int64s, Int64s, Int64s]:
            some = Pairs(*(x[first:stop] for x in pairs))
            room = self._take_room(units.shape)
            most = int(np.minimum(end[some.branch] - some.branch, others[first:stop]).sum())
            found = (np.empty(most, np.int64), np.empty(most, np.int64), np.empty((most, units.shape[1]), np.int64))
            out = (hopeless[first:stop], *found)
            filled = send_pairs(self._standing, some, self._cases, self._steps, units, room, out)
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

        def job(here: slice) -> None:
            some = Pairs(*(x[here] for x in pairs))
            raise_pairs(self._standing, some, self._cases, self._steps, tree.branch_start, tree.branch, self._known)

        self._crew.run(job, [(share,) for share in self._crew.shares(self._standing.held(pairs.top) + 1)])
        raise_over(self._steps, pairs.top, pairs.branch)
        return self._known
