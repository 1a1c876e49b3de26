"""Send training cases through a tree that is being pruned, when unknown values divide them.

As :class:`c45gpu.kernels.descend.Placement`, compiled: one subtree after the other, depth first. The instances at the
node that is next are the last of an arena; they are divided among its branches behind them, and these move to their
place, so that the arena holds each instance once and those of one node twice::

    arena   | branch 2 | branch 1 | at branch 0 |
            | branch 2 | branch 1 | at branch 0 | below it, branch 1 | branch 0 |
            | branch 2 | branch 1 | branch 1 | branch 0 |
"""

from __future__ import annotations

from queue import Empty, LifoQueue
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.formulas import units_before
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_pages import PagedLists, paged_lists
from c45gpu.kernels.cpu_walk import (
    NO_BRANCH,
    branch_taken,
    fill_rows,
    raise_over,
    row_type,
    steps_of,
    tested_attributes,
)
from c45gpu.kernels.engine import Changes, Pairs
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.model.tree import Tree

# Room for so many instances of a case, in the arena and at leaves; more than is used is never touched, and room that is
# too small is replaced, which takes both at once. A tenth of all values unknown made 2.1 and 4.4.
ARENA, PLACED = 4, 8
LARGE = 1 / 16  # of all placed instances: the memory for sending so many is not kept
JOINED_AT_A_TIME = 1 << 20  # numbers, while others take the place of some


class Cases(NamedTuple):
    """What is known of the training cases."""

    rows: Any  # float32 or float64[N, tested attributes]
    classes: Any  # int32[N]


@compiled
def _longer(array: Any, used: Any, wanted: Any) -> Any:
    """The array, or a copy of what is used of it with room for what is wanted."""
    if wanted <= len(array):
        return array
    longer = np.empty(max(wanted, 2 * len(array)), array.dtype)
    longer[:used] = array[:used]
    return longer


@compiled
def _weigh(first: Any, stop: Any, node: Any, cases: Any, arena: Any, paths: Any, known: Any, room: Any) -> Any:
    """Mark instances by branch; `room` gets each branch's cumulative fraction and how many instances it gets."""
    case, units, taken = arena
    ends, upto = room
    steps, branch_start = paths
    slot, start = steps.slot_of[node], branch_start[node]
    n_branches = branch_start[node + 1] - start
    column = steps.signs[slot].column
    column = column if column >= 0 else ~column
    known[start : start + n_branches] = 0
    ends[:n_branches] = 0
    for i in range(first, stop):
        b = branch_taken(cases.rows[case[i], column], slot, steps)
        taken[i] = b
        if b != NO_BRANCH:
            known[start + b] += units[i]
            ends[b] += 1
    total, running = known[start : start + n_branches].sum(), np.int64(0)
    for b in range(n_branches):
        running += known[start + b]
        upto[b] = running / total if total else 0.0
    for i in range(first, stop):
        if taken[i] == NO_BRANCH:
            before = 0.0
            for b in range(n_branches):
                after = units_before(units[i], upto[b])
                ends[b] += after > before
                before = after
    return n_branches


@compiled
def _divide(first: Any, stop: Any, n_branches: Any, arena: Any, room: Any) -> None:
    """Write the instances into their branches' places, from ``ends`` on, which move to where the branches end."""
    case, units, taken = arena
    ends, upto = room
    for i in range(first, stop):
        b = taken[i]
        if b != NO_BRANCH:
            case[ends[b]], units[ends[b]] = case[i], units[i]
            ends[b] += 1
            continue
        before = 0.0
        for branch in range(n_branches):
            after = units_before(units[i], upto[branch])
            if after > before:
                case[ends[branch]], units[ends[branch]] = case[i], np.int64(after - before)
                ends[branch] += 1
            before = after


@compiled
def _to_leaf(stack: Any, cases: Any, arena: Any, paths: Any, known: Any, room: Any) -> Any:
    """Send the last instances of the arena on until some are at a leaf.

    `stack` has the nodes with instances, and where these lie, the last of the arena on top. Returns the arena, which
    may have been replaced by a longer one, the leaf, and where its instances lie; a leaf of -1 when none are left.
    """
    steps, ends = paths[0], room[0]
    while len(stack):
        node, first, stop = stack.pop()
        branches = np.int64(steps.signs[steps.slot_of[node]].first)
        if branches == 0:
            return arena, node, first, stop
        n_branches = _weigh(first, stop, node, cases, arena, paths, known, room)
        place = stop
        for b in range(n_branches - 1, -1, -1):
            here = ends[b]
            ends[b] = place
            if here:
                low = place - stop + first
                stack.append((steps.node_of[branches + b], low, low + here))
            place += here
        arena = (_longer(arena[0], stop, place), _longer(arena[1], stop, place), _longer(arena[2], stop, place))
        _divide(first, stop, n_branches, arena, room)
        case, units, _ = arena
        for i in range(place - stop):
            case[first + i], units[first + i] = case[stop + i], units[stop + i]
    return arena, np.int64(-1), np.int64(0), np.int64(0)


@compiled
def descend(count: Any, start: Any, cases: Any, arena: Any, paths: Any, known: Any, room: Any, out: Any) -> Any:
    """Send the first `count` instances of the arena down from a node.

    Returns the arena and what of `out` is filled, both of which may have been replaced by longer ones: the leaves where
    instances arrived (ascending), how many did, and these instances' cases and units.
    """
    filled, arrived = 0, 0
    leaves, counts, case, units = out
    stack = [(np.int64(start), np.int64(0), np.int64(count))]
    while len(stack):
        arena, leaf, first, stop = _to_leaf(stack, cases, arena, paths, known, room)
        if leaf < 0:
            continue
        wanted = arrived + stop - first
        leaves, counts = _longer(leaves, filled, filled + 1), _longer(counts, filled, filled + 1)
        case, units = _longer(case, arrived, wanted), _longer(units, arrived, wanted)
        leaves[filled], counts[filled] = leaf, stop - first
        case[arrived:wanted], units[arrived:wanted] = arena[0][first:stop], arena[1][first:stop]
        filled, arrived = filled + 1, wanted
    return arena, (leaves[:filled], counts[:filled], case[:arrived], units[:arrived])


@compiled
def _gather(first: Any, stop: Any, placed: Any, arena: Any, sums: Any) -> Any:
    """Put the cases of a range of placed instances into the arena, each once, with all of its units."""
    case, units = placed
    most = min(stop - first, len(sums))
    arena = (_longer(arena[0], 0, most), _longer(arena[1], 0, most), _longer(arena[2], 0, most))
    count = 0
    for i in range(first, stop):
        if sums[case[i]] == 0:
            arena[0][count] = case[i]
            count += 1
        sums[case[i]] += units[i]
    for i in range(count):
        arena[1][i] = sums[arena[0][i]]
        sums[arena[0][i]] = 0
    return arena, count


@compiled
def send_divided(
    placed: Any, ranges: Any, pairs: Any, cases: Any, paths: Any, units: Any, memory: Any, hopeless: Any
) -> Any:
    """Changes of class weights at the leaves of each pair; returns the worker's arena, and the rows."""
    arena, known, room, sums, totals = memory
    filled, wide = 0, len(totals)
    rows_pair, rows_leaf = np.empty(16, np.int64), np.empty(16, np.int64)
    rows_units = np.empty(16 * wide, np.int64)
    for p in range(len(pairs.top)):
        hopeless[p] = pairs.allowed[p] < 0
        if hopeless[p]:
            continue
        arena, count = _gather(ranges[0][p], ranges[1][p], placed, arena, sums)
        stack = [(np.int64(pairs.branch[p]), np.int64(0), np.int64(count))]
        while len(stack):
            arena, leaf, first, stop = _to_leaf(stack, cases, arena, paths, known, room)
            if leaf < 0:
                continue
            totals[:] = -units[leaf]
            for i in range(first, stop):
                totals[cases.classes[arena[0][i]]] += arena[1][i]
            if (totals != 0).any():
                rows_pair, rows_leaf = _longer(rows_pair, filled, filled + 1), _longer(rows_leaf, filled, filled + 1)
                rows_units = _longer(rows_units, filled * wide, (filled + 1) * wide)
                rows_pair[filled], rows_leaf[filled] = p, leaf
                rows_units[filled * wide : (filled + 1) * wide] = totals
                filled += 1
    return arena, rows_pair[:filled], rows_leaf[:filled], rows_units[: filled * wide]


class Memory(NamedTuple):
    """What one worker keeps between tasks."""

    arena: tuple[Any, Any, Any]
    known: Any
    room: tuple[Any, Any]
    sums: Any
    totals: Any


class Instances(NamedTuple):
    """Instances at leaves, in the order of these."""

    leaf: Any  # int64: those that have instances, ascending
    count: Any  # int64: how many of them each has
    case: Any  # int32
    units: Any  # int64


class DividedPlacement:
    """See :class:`c45gpu.kernels.engine.Engine` for the methods."""

    def __init__(self, problem: Problem, tree: Tree, crew: Crew) -> None:
        self._crew, self._end, self._n_classes = crew, tree.end, problem.settings.n_classes
        n, tested = problem.table.n_cases, tested_attributes(tree)
        word = row_type(problem.table, tested)
        self._steps = steps_of(tree, tested, word)
        self._paths = (self._steps, tree.branch_start)
        rows = np.empty((n, len(tested)), word)
        fill_rows(problem.table, tested, 0, rows)
        self._cases = Cases(rows, problem.table.classes)
        self._most = int(np.diff(tree.branch_start).max(initial=2))
        self._known = np.zeros(len(tree.branch), np.int64)
        self._memory: LifoQueue[Memory] = LifoQueue()
        memory = self._take_memory()
        memory.arena[0][:n], memory.arena[1][:n] = np.arange(n), problem.units
        case, units = paged_lists(1, PLACED * n, np.int32), paged_lists(1, PLACED * n, np.int64)
        arrived = self._down(n, 0, memory, case.entries[0], units.entries[0])[1]
        self._case, self._units = case.of_part(arrived.case), units.of_part(arrived.units)
        self._leaf, self._start = arrived.leaf, _starts(arrived.count)

    def known(self, tree: Tree) -> Int64s:
        """Units of the cases that take each entry of ``tree.branch`` with a known value."""
        return self._known

    def cut(self, nodes: Int64s) -> None:
        """The cases below these nodes are at them from now on."""
        self._steps.signs["first"][self._steps.slot_of[nodes]] = 0
        low, high = self._leaves(nodes)
        held = high > low
        self._leaf[low[held]] = nodes[held]
        kept = np.zeros(len(self._start), np.int64)  # the leaves between low and high are no longer, below 0 here
        np.subtract.at(kept, low[held] + 1, 1)
        np.add.at(kept, high[held], 1)
        stays = np.cumsum(kept) == 0
        self._leaf, self._start = self._leaf[stays[:-1]], self._start[stays]

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        """What the leaves below each branch would gain if all cases of its top were sent down it."""
        paths = self._paths
        first, stop = self._ranges(pairs.top)
        hopeless = np.zeros(len(pairs.top), np.bool_)
        large = LARGE * int(self._start[-1])

        def job(here: slice) -> tuple[Int64s, Int64s, Int64s]:
            memory = self._take_memory()
            some = Pairs(*(x[here] for x in pairs))
            ranges = (first[here], stop[here])
            arena, pair, leaf, change = send_divided(
                self._placed, ranges, some, self._cases, paths, units, memory, hopeless[here]
            )
            if int((stop - first)[here].sum()) < large:
                self._memory.put(memory._replace(arena=arena))
            return pair + here.start, leaf, change.reshape(len(pair), units.shape[1])

        parts = self._crew.run(job, [(share,) for share in self._crew.shares(stop - first + 1)])
        return Changes(hopeless, *(np.concatenate(x) for x in zip(*parts, strict=True)))

    def raise_branches(self, tree: Tree, pairs: Pairs) -> Int64s:
        """All cases of each top are at the leaves of its branch from now on."""
        memory, moved = self._take_memory(), []
        order = np.argsort(pairs.top)
        first, stop = self._ranges(pairs.top[order])
        for p, low, high in zip(order.tolist(), first.tolist(), stop.tolist(), strict=True):
            arena, count = _gather(low, high, self._placed, memory.arena, memory.sums)
            case, units = np.empty(count, np.int32), np.empty(count, np.int64)
            memory = memory._replace(arena=arena)
            arena, arrived = self._down(count, int(pairs.branch[p]), memory, case, units)
            memory = memory._replace(arena=arena)
            moved.append(arrived)
        self._memory.put(memory)
        low, high = self._leaves(pairs.top[order])
        self._case = _joined(self._case, first, stop, [arrived.case for arrived in moved])
        self._units = _joined(self._units, first, stop, [arrived.units for arrived in moved])
        count, leaf = PagedLists(np.diff(self._start)[None, :], None), PagedLists(self._leaf[None, :], None)
        self._start = _starts(_joined(count, low, high, [arrived.count for arrived in moved]).entries[0])
        self._leaf = _joined(leaf, low, high, [arrived.leaf for arrived in moved]).entries[0]
        raise_over(self._steps, pairs.top, pairs.branch)
        return self._known

    @property
    def _placed(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Cases and units of the instances."""
        return self._case.entries[0], self._units.entries[0]

    def _down(
        self, count: int, node: int, memory: Memory, case: npt.NDArray[Any], units: npt.NDArray[Any]
    ) -> tuple[Any, Instances]:
        """Send what is in a worker's arena down from a node, and note the known units on the way."""
        out = np.empty(16, np.int64), np.empty(16, np.int64), case, units
        arena, arrived = descend(count, node, self._cases, memory.arena, self._paths, self._known, memory.room, out)
        return arena, Instances(*arrived)

    def _leaves(self, nodes: Int64s) -> tuple[Int64s, Int64s]:
        """First and stop of the leaves with instances at and below each node."""
        return np.searchsorted(self._leaf, nodes), np.searchsorted(self._leaf, self._end[nodes])

    def _ranges(self, nodes: Int64s) -> tuple[Int64s, Int64s]:
        """First and stop of the placed instances at and below each node."""
        low, high = self._leaves(nodes)
        return self._start[low], self._start[high]

    def _take_memory(self) -> Memory:
        try:
            return self._memory.get_nowait()
        except Empty:
            n = len(self._cases.classes)
            mark = np.int8 if self._most <= 1 << 7 else np.int32
            arena = (_room(ARENA * n, np.int32), _room(ARENA * n, np.int64), _room(ARENA * n, mark))
            room = (np.empty(self._most, np.int64), np.empty(self._most, np.float64))
            sums = np.zeros(n, np.int64)
            return Memory(arena, self._known.copy(), room, sums, np.empty(self._n_classes, np.int64))


def _room(n: int, word: npt.DTypeLike) -> npt.NDArray[Any]:
    """Memory that is the system's again when nobody needs it."""
    room: npt.NDArray[Any] = paged_lists(1, n, word).entries[0]
    return room


def _starts(counts: Int64s) -> Int64s:
    """Where each of some ranges begins, and where the last ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def _joined(old: PagedLists, first: Int64s, stop: Int64s, new: list[npt.NDArray[Any]]) -> PagedLists:
    """A list with other numbers in the place of some ranges, which are in order; the old one is given up on the way."""
    edges, array = [0, *stop.tolist()], old.entries[0]
    kept = zip(edges, [*first.tolist(), len(array)], strict=True)
    n = len(array) + sum(map(len, new)) - int((stop - first).sum())
    joined, at = paged_lists(1, n, array.dtype), 0
    for (low, high), piece in zip(kept, [*new, array[:0]], strict=True):
        for start in range(low, high, JOINED_AT_A_TIME):
            end = min(high, start + JOINED_AT_A_TIME)
            joined.entries[0, at : at + end - start] = array[start:end]
            old.give_up(0, start, end)
            at += end - start
        joined.entries[0, at : at + len(piece)] = piece
        at += len(piece)
    return joined.of_part(joined.entries[0, :n])
