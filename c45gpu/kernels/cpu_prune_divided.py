"""The training cases at the nodes of a tree that is being pruned, when unknown values divide them.

As :class:`c45gpu.kernels.descend.Placement`, compiled, and without every instance at a leaf: a case with unknown values
is at many leaves, and at most where tests have many branches. Instances are *held* at nodes where all of them together
are no more than a few for each case. Those of a node above are gathered from what is held below it; those of a node
below are sent there when the host asks about it, which it does about few nodes, and forgotten then::

    held    | at node 2     | at node 7 | at node 8 |       node 1 has what is held at 2 .. 8
    leaves    3  5  6                                       node 4, of leaves 5 and 6, has what node 2 sends it
"""

from __future__ import annotations

from queue import Empty, LifoQueue
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.cpu_cells import cells_in_place
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_descend import hold
from c45gpu.kernels.cpu_pages import PagedLists, paged_lists
from c45gpu.kernels.cpu_send_divided import Groups, Memory, gather, note_groups, send_groups
from c45gpu.kernels.cpu_separate import Cases, Paths, Room
from c45gpu.kernels.cpu_walk import raise_over, row_type, steps_of, tested_attributes
from c45gpu.kernels.engine import Changes, Pairs
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.model.tree import Tree

HELD = 2  # instances of a case: with 1 pruning agr2 took a tenth longer, with 3 or 6 no less
HELD_AT_LEAST = 1 << 20  # in all: a small table can have every instance at its leaf
ARENA = 4  # room for so many instances of a case; more than is used is never touched, and too little is replaced
LARGE = 1 / 8  # of all cases: memory for sending so many is not kept by all workers together
JOINED_AT_A_TIME = 1 << 20  # numbers, while others take the place of some


class Instances(NamedTuple):
    """Instances in the order of the nodes where they are."""

    node: Any  # int64: those that have instances, ascending
    count: Any  # int64: how many of them each has
    case: Any  # int32
    units: Any  # int64


class DividedPlacement:
    """See :class:`c45gpu.kernels.engine.Engine` for the methods.

    Parameters
    ----------
    problem : Problem
    tree : Tree
    crew : Crew
    spread : float, optional
        So many instances of a case may be held; by the number of cases if absent.
    """

    _node: Int64s  # where instances are held, ascending
    _start: Int64s  # and where theirs begin, and the last end
    _case: PagedLists  # int32
    _units: PagedLists  # int64

    def __init__(self, problem: Problem, tree: Tree, crew: Crew, spread: float | None = None) -> None:
        self._crew, self._end, self._n_classes = crew, tree.end, problem.settings.n_classes
        self._case_units = problem.units
        n, tested = problem.table.n_cases, tested_attributes(tree)
        word = row_type(problem.table, tested)
        self._steps = steps_of(tree, tested, word)
        self._paths = Paths(self._steps, tree.branch_start, tree.end)
        self._values = cells_in_place(problem.table, tested, word)
        self._cases = Cases(self._values.cells, problem.table.classes)
        self._most = int(np.diff(tree.branch_start).max(initial=2))
        self._known = np.zeros(len(tree.branch), np.int64)
        self._spread = np.zeros(tree.n_nodes)
        self._memory: LifoQueue[Memory] = LifoQueue()
        if self._hold_all(max(HELD, HELD_AT_LEAST / n) if spread is None else spread):
            self._hold_all(np.inf)

    def known(self, tree: Tree) -> Int64s:
        """Units of the cases that take each entry of ``tree.branch`` with a known value."""
        return self._known

    def cut(self, nodes: Int64s) -> None:
        """The cases below these nodes are at them from now on."""
        self._steps.signs["first"][self._steps.slot_of[nodes]] = 0
        low, high = self._held_below(nodes)
        some = high > low
        self._node[low[some]] = nodes[some]
        kept = np.zeros(len(self._start), np.int64)  # those between low and high are no longer, below 0 here
        np.subtract.at(kept, low[some] + 1, 1)
        np.add.at(kept, high[some], 1)
        stays = np.cumsum(kept) == 0
        self._node, self._start = self._node[stays[:-1]], self._start[stays]

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        """What the leaves below each branch would gain if all cases of its top were sent down it."""
        hopeless = pairs.allowed < 0
        asked = np.flatnonzero(~hopeless)
        some, groups = Pairs(*(x[asked] for x in pairs)), self._groups(pairs.top[asked])

        def job(here: slice) -> tuple[Int64s, Int64s, Int64s]:
            memory, part = self._take_memory(), Groups(*(x[here] for x in groups))
            arena, pair, leaf, change = send_groups(
                self._placed, part, some, self._cases, self._paths, self._known, units, memory
            )
            self._put_back(memory._replace(arena=arena), part)
            return asked[pair], leaf, change.reshape(len(pair), units.shape[1])

        none = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, units.shape[1]), np.int64))
        parts = [none, *self._crew.run(job, [(share,) for share in self._shares(groups)])]
        return Changes(hopeless, *(np.concatenate(x) for x in zip(*parts, strict=True)))

    def raise_branches(self, tree: Tree, pairs: Pairs) -> Int64s:
        """All cases of each top are at the leaves of its branch from now on."""
        order = np.argsort(pairs.top)
        pairs = Pairs(*(x[order] for x in pairs))
        low, high = self._held_below(pairs.top)
        gathered = high > low
        lost = self._note(Pairs(*(x[~gathered] for x in pairs)))
        lost |= self._hold_again(Pairs(*(x[gathered] for x in pairs)))
        raise_over(self._steps, pairs.top, pairs.branch)
        if lost:
            self._hold_all(np.inf)
        return self._known

    def _hold_all(self, spread: float) -> bool:
        """Send all cases down from the root, and hold so many instances of each; returns whether some got lost.

        Cases get lost where all values are unknown. They are missing from every node above then, once it is raised, so
        instances can only be gathered from leaves.
        """
        n, memory = len(self._cases.classes), self._take_memory()
        root = int(self._steps.node_of[0])
        memory.arena[0][:n], memory.arena[1][:n] = np.arange(n), self._case_units
        self._spread[root] = spread
        room = int(min(spread, ARENA) * n)
        case, units = paged_lists(1, room, np.int32), paged_lists(1, room, np.int64)
        _, held, lost = self._down(n, root, memory, case.entries[0], units.entries[0])
        self._case, self._units = case.of_part(held.case), units.of_part(held.units)
        self._node, self._start = held.node, _starts(held.count)
        del memory
        return self._note_below(self._node) or lost

    def _hold_again(self, pairs: Pairs) -> bool:
        """Hold the cases of tops below their branches; returns whether some got lost."""
        if not len(pairs.top):
            return False
        memory, moved, lost = self._take_memory(), [], False
        low, high = self._held_below(pairs.top)
        first, stop = self._start[low], self._start[high]
        self._spread[pairs.branch] = self._spread[pairs.top]
        for branch, start, end in zip(pairs.branch.tolist(), first.tolist(), stop.tolist(), strict=True):
            arena, count = gather(start, end, False, self._placed, memory.arena, memory.place_of)
            memory = memory._replace(arena=arena)
            self._case.give_up(0, start, end)
            self._units.give_up(0, start, end)
            case, units = np.empty(count, np.int32), np.empty(count, np.int64)
            arena, held, some = self._down(count, branch, memory, case, units)
            memory = memory._replace(arena=arena)
            moved.append(held)
            lost |= some
        del memory, arena
        self._case = _joined(self._case, first, stop, [held.case for held in moved])
        self._units = _joined(self._units, first, stop, [held.units for held in moved])
        count, node = PagedLists(np.diff(self._start)[None, :], None), PagedLists(self._node[None, :], None)
        self._start = _starts(_joined(count, low, high, [held.count for held in moved]).entries[0])
        self._node = _joined(node, low, high, [held.node for held in moved]).entries[0]
        return self._note_below(np.concatenate([held.node for held in moved])) or lost

    def _note_below(self, held: Int64s) -> bool:
        """Note what is known below nodes with held instances; returns whether some got lost."""
        inner = held[self._steps.signs["first"][self._steps.slot_of[held]] != 0]
        return self._note(Pairs(inner, inner, inner))

    def _note(self, pairs: Pairs) -> bool:
        """Note what would be known below branches with all cases of the tops; returns whether some got lost."""
        groups = self._groups(pairs.top)

        def job(here: slice) -> bool:
            memory, part = self._take_memory(), Groups(*(x[here] for x in groups))
            arena, lost = note_groups(self._placed, part, pairs, self._cases, self._paths, self._known, memory)
            self._put_back(memory._replace(arena=arena), part)
            return bool(lost)

        return any(self._crew.run(job, [(share,) for share in self._shares(groups)]))

    def _groups(self, tops: Int64s) -> Groups:
        """Where the instances of tops (ascending) come from."""
        low, high = self._held_below(tops)
        above = np.maximum(low - 1, 0)
        inside = (low == high) & (low > 0) & (tops < self._end[self._node[above]])
        node, which = np.unique(np.where(inside, self._node[above], tops), return_index=True)
        first, stop = np.where(inside, above, low)[which], np.where(inside, low, high)[which]
        of_one = self._node[np.minimum(first, len(self._node) - 1)] == node
        return Groups(node, self._start[first], self._start[stop], of_one)

    def _shares(self, groups: Groups) -> list[slice]:
        """Groups for each task."""
        return self._crew.shares(groups.stop - groups.first + 1)

    @property
    def _placed(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Cases and units of the held instances."""
        return self._case.entries[0], self._units.entries[0]

    def _down(
        self, count: int, node: int, memory: Memory, case: npt.NDArray[Any], units: npt.NDArray[Any]
    ) -> tuple[Any, Instances, bool]:
        """Hold what is in a worker's arena below a node."""
        out = np.empty(16, np.int64), np.empty(16, np.int64), case, units
        arena, held, lost = hold(
            count, node, self._cases, memory.arena, self._paths, self._known, memory.room, self._spread, out
        )
        return arena, Instances(*held), bool(lost)

    def _held_below(self, nodes: Int64s) -> tuple[Int64s, Int64s]:
        """First and stop of the nodes with held instances among each node and those below it."""
        return np.searchsorted(self._node, nodes), np.searchsorted(self._node, self._end[nodes])

    def _take_memory(self) -> Memory:
        try:
            return self._memory.get_nowait()
        except Empty:
            n, most = len(self._cases.classes), self._most
            mark = np.int8 if most <= 1 << 7 else np.int32
            arena = (_room(ARENA * n, np.int32), _room(ARENA * n, np.int64), _room(ARENA * n, mark))
            weight, count, place = np.empty((3, most), np.int64)
            room = Room(weight, np.empty(most), count, place, np.empty(most, np.bool_))
            return Memory(arena, room, np.zeros(n, np.int32), np.empty(self._n_classes, np.int64))

    def _put_back(self, memory: Memory, groups: Groups) -> None:
        """Keep memory for other tasks, unless much of it has been used."""
        if int((groups.stop - groups.first).max(initial=0)) * self._crew.size < LARGE * len(self._cases.classes):
            self._memory.put(memory)


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
