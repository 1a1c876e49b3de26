"""Grow from cases that all weigh 1 and have no unknown value: weights are counts, and H comes from a table.

Large nodes are scored and split all at once; a node that fits a core's cache is finished there.

    lists     attribute 0   |   node A   | node B |      a node has the same range in every list
              attribute 3   |   node A   | node B |
              rows          |   node A   | node B |
                            ^first[0]    ^first[1]
"""

from __future__ import annotations

from queue import Empty, LifoQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.choose import is_leaf
from c45gpu.kernels.cpu_apart import Apart
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_entry import Layout, rows_of
from c45gpu.kernels.cpu_finish import Records, Scores, Scratch, finish
from c45gpu.kernels.cpu_grower import CpuGrower
from c45gpu.kernels.cpu_lists import Lists
from c45gpu.kernels.cpu_move import DROPPED, Sides, bits_of, bytes_of, move_lists
from c45gpu.kernels.cpu_nodes import Marks, Nodes, mark_nodes, read_marks, score_nodes
from c45gpu.kernels.cpu_prune_order import note_closed, note_split
from c45gpu.kernels.cpu_score import add_classes, new_room
from c45gpu.kernels.cpu_small import finished_now, joined
from c45gpu.kernels.level import (
    Bools,
    Candidates,
    Children,
    Frontier,
    Instances,
    Int32s,
    Int64s,
    Problem,
    Splits,
    Subtrees,
    Taken,
)
from c45gpu.model.tree import ranges

Groups = tuple[Int64s, Int32s]  # as in Splits

FINISH_BYTES = 1536 << 10  # both buffers of a node that is finished: best of 384 KB..16 MB at 100k and 1M x 28
FINISH_CASES = 1 << 13
FINISH_COUNTS = 1 << 20  # branches times classes, and cases times classes, that a worker has room for


class CountingGrower(CpuGrower):
    """See :class:`c45gpu.kernels.engine.Engine` for the methods."""

    def __init__(self, problem: Problem, crew: Crew, lists: Lists) -> None:
        super().__init__(problem, crew, lists)
        n, c = problem.table.n_cases, problem.settings.n_classes
        self._spare = np.empty_like(self.lists)
        self._context = (self.layout, self.h, problem.settings)
        self._marks = np.empty(n, np.uint8 if self.most_branches <= 256 else np.int32)
        self._local = Layout(31 - self.layout.class_bits, self.layout.class_bits, 31)
        self._local_of = np.empty(n, np.int32)  # shared by all workers: a row is at one node only
        self._finish_cases = self._small_enough()
        self._scratch: LifoQueue[Scratch] = LifoQueue()
        none = np.zeros(0, np.int64)
        self._nodes = Nodes(none, none, np.zeros((0, c), np.int64), none)
        self.order = np.full(n, -1, np.int32)
        self.apart = Apart(self.layout, self.columns, n, c, self._local_of)

    def root(self) -> Frontier:
        """The root, open or finished."""
        table, c = self.problem.table, self.problem.settings.n_classes
        totals = np.zeros((1, c), np.int64)
        add_classes(self.lists[-1], self.layout, totals[0])
        whole = Nodes(np.zeros(1, np.int64), np.array([table.n_cases]), totals, np.zeros(1, np.int64))
        is_open = ~is_leaf(whole.count, totals.max(1), self.problem.settings)
        if self._set_apart(whole.count, totals, is_open)[0]:
            self.apart.add(self.lists, whole.first, whole.count, whole.final)
        if self.problem.forest:
            self._nodes = Nodes(*(x[is_open] for x in whole))
            return Frontier(totals, is_open)
        return self._advance(whole, is_open)

    def roots(self, counts: Int64s) -> Frontier:
        """Several roots, whose cases lie one after the other in all lists."""
        totals, first = np.zeros((len(counts), self.problem.settings.n_classes), np.int64), np.cumsum(counts) - counts
        for m, here in enumerate(first.tolist()):
            add_classes(self.lists[-1, here : here + counts[m]], self.layout, totals[m])
        is_open = ~is_leaf(counts, totals.max(1), self.problem.settings)
        return self._advance(Nodes(first, counts, totals, first), is_open)

    def score(self, first: int, stop: int) -> Candidates:
        """The best test of every attribute for the open nodes first..stop-1."""
        candidates = Candidates.none(stop - first, len(self.columns.list_of))
        out = Scores(candidates.gain, candidates.split, candidates.tries, candidates.possible, candidates.cut)
        coded = np.flatnonzero(self.columns.code_of >= 0)
        groups = self.crew.groups(np.flatnonzero(self.columns.list_of >= 0))
        groups += [coded] if len(coded) else []
        jobs = []
        for rows in self.crew.shares(self._nodes.count[first:stop], max(1, len(groups))):
            nodes = Nodes(*(x[first:stop][rows] for x in self._nodes))
            jobs += [(nodes, which, Scores(*(x[rows] for x in out))) for which in groups]
        self.crew.run(self._score_job, jobs)
        return candidates

    @property
    def memory(self) -> list[npt.NDArray[Any]]:
        """What it keeps its lists in, to be used again when no node is open."""
        return [self.lists, self._spare]

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        """Cases of each value and class of a discrete attribute at open nodes."""
        nodes = Nodes(*(x[first:stop] for x in self._nodes))
        return self.tables_of(attribute, nodes.first, nodes.count, np.zeros(0, np.int64))

    def _score_job(self, nodes: Nodes, which: Int64s, out: Scores) -> None:
        coded = self.columns.code_of[which[0]] >= 0
        shape = (int(self.columns.code_first[-1]) if coded else 0, self.problem.settings.n_classes)
        work = new_room(int(nodes.count.max()), shape[1]), np.empty(shape, np.int64)
        score_nodes(self.lists, nodes, which, self.columns, self._context, work, out)

    def split(self, splits: Splits) -> Children:
        """Send the cases of open nodes down the branches, and finish the small ones."""
        nodes = Nodes(*(x[splits.node] for x in self._nodes))
        slot_start = np.concatenate([[0], np.cumsum(splits.n_branches(self.n_branches))])
        counts, below, above = self._marked(splits, nodes, slot_start)
        weight = counts.sum(1)
        held = np.flatnonzero(weight > 0)
        is_open = ~is_leaf(weight[held], counts[held].max(1), self.problem.settings)
        apart = self._set_apart(weight[held], counts[held], is_open)
        final = self._note_leaves(splits, nodes, slot_start, held[is_open | apart], weight)
        first = np.full(len(held), DROPPED, np.int64)
        first[is_open] = np.cumsum(weight[held[is_open]]) - weight[held[is_open]]
        first[apart] = self.apart.room(weight[held[apart]])
        self._move(nodes, slot_start, held, first, weight)
        self.apart.add(self.lists, first[apart], weight[held[apart]], final[held[apart]])
        frontier = self._advance(Nodes(first, weight[held], counts[held], final[held]), is_open)
        split = np.searchsorted(slot_start, held, side="right") - 1
        return Children(frontier, split, held - slot_start[split], below, above)

    def instances(self, nodes: Int64s) -> Instances:
        """The instances of some open nodes."""
        first, count = self._nodes.first[nodes], self._nodes.count[nodes]
        rows = rows_of(self.lists[-1][ranges(first, first + count)], self.layout)
        return Instances(rows, np.broadcast_to(np.int64(1), len(rows)), np.cumsum([0, *count]))

    def taken(self, splits: Splits) -> Taken:
        """Which branches the cases would take by some splits."""
        nodes = Nodes(*(x[splits.node] for x in self._nodes))
        slot_start = np.concatenate([[0], np.cumsum(splits.n_branches(self.n_branches))])
        _, below, above = self._marked(splits, nodes, slot_start)
        branch = np.empty(int(nodes.count.sum()), np.int32)
        read_marks(self.lists, nodes, self.layout, self._marks, branch)
        return Taken(branch, below, above)

    def _marked(self, splits: Splits, nodes: Nodes, slot_start: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Mark the cases by branch; returns the class counts of the branches, and the ranks on both sides of cuts."""
        counts = np.empty((slot_start[-1], self.problem.settings.n_classes), np.int64)
        below, above = np.full(len(splits), -1, np.int64), np.full(len(splits), -1, np.int64)
        jobs = []
        for rows in self.crew.shares(nodes.count, 1):
            part = slice(rows.start, rows.stop + 1)
            marks = Marks(self._marks, counts, below[rows], above[rows])
            some = Nodes(*(x[rows] for x in nodes))
            groups = (splits.group_start[part], splits.group_branch)
            jobs.append((some, splits.attribute[rows], splits.cut[rows], groups, slot_start[part], marks))
        self.crew.run(self._mark_job, jobs)
        self.to_ranks(splits.attribute, below, above)
        return counts, below, above

    def _mark_job(
        self, nodes: Nodes, attribute: Int64s, cut: Int64s, groups: Groups, slot_start: Int64s, marks: Marks
    ) -> None:
        mark_nodes(self.lists, nodes, attribute, cut, groups, slot_start, self.columns, self.layout, marks)

    def _note_leaves(self, splits: Splits, nodes: Nodes, slot_start: Int64s, kept: Int64s, weight: Int64s) -> Int64s:
        """Write the cases of new leaves to the order of leaves; returns where each slot starts there."""
        closed = np.ones(len(self._nodes.first), np.bool_)
        closed[splits.node] = False
        note_closed(self.lists, Nodes(*(x[closed] for x in self._nodes)), self.layout, self.order)
        final = np.cumsum(weight) - weight
        final += np.repeat(nodes.final - final[slot_start[:-1]], np.diff(slot_start))
        places = np.full(slot_start[-1], DROPPED, np.int64)
        places[kept] = 0
        note_split(self.lists, nodes, self.layout, self._marks, (slot_start, places, final.copy()), self.order)
        return final

    def _set_apart(self, weight: Int64s, counts: Int64s, is_open: Bools) -> Bools:
        """Which nodes that are not open are leaves for their weight only."""
        if self.problem.apart is None:
            return np.zeros(len(weight), np.bool_)
        apart: Bools = ~is_open & ~is_leaf(weight, counts.max(1), self.problem.apart)
        return apart

    def _move(self, nodes: Nodes, slot_start: Int64s, held: Int64s, first: Int64s, weight: Int64s) -> None:
        """Partition all lists into the spare ones, the slots that hold cases to these places."""
        places = np.full(slot_start[-1], DROPPED, np.int64)
        places[held] = first
        splits = (nodes.first, nodes.count, slot_start, places, weight)
        sides = bits_of(self._marks)
        groups = self.crew.groups(np.arange(len(self.lists)))
        self.crew.run(self._move_job, [(which, sides, splits) for which in groups])
        self.lists, self._spare = self._spare, self.lists

    def _move_job(self, which: Int64s, sides: Sides, splits: tuple[Int64s, ...]) -> None:
        move_lists(self.lists, self._spare, which, self._marks, sides, self.layout, splits, self.most_branches)

    def _advance(self, nodes: Nodes, is_open: Bools) -> Frontier:
        """Finish the small ones of the open nodes and remember the others."""
        small = is_open & (nodes.count <= self._finish_cases)
        entries = len(self.lists) + self.columns.codes.shape[1]
        small[small] = finished_now(nodes.count[small], entries, self.crew.size)
        self._nodes = Nodes(*(x[is_open & ~small] for x in nodes))
        finished = self._finish(nodes, np.flatnonzero(small)) if small.any() else None
        return Frontier(nodes.totals, is_open & ~small, finished)

    def _finish(self, nodes: Nodes, small: Int64s) -> Subtrees:
        small = small[np.argsort(-nodes.count[small], kind="stable")]  # the longest tasks first
        roots = Nodes(*(x[small] for x in nodes))
        jobs = [(Nodes(*(x[rows] for x in roots)), small[rows]) for rows in self.crew.shares(roots.count, 1)]
        whole = joined(self.crew.run(self._finish_job, jobs))
        self.to_ranks(whole.attribute, whole.below, whole.above)
        return whole

    def _finish_job(self, nodes: Nodes, positions: Int64s) -> Subtrees:
        scratch = self._take_scratch()
        room = int(2 * nodes.count.sum())
        numbers = {name: np.empty(room, np.int64) for name in Records._fields}
        numbers["class_weights"] = np.empty((room, nodes.totals.shape[1]), np.int64)
        records = Records(**numbers)
        roots = (nodes.first, nodes.count, nodes.totals, positions, nodes.final)
        context = (self._local, self.h, self.problem.settings)
        stop = finish(self.lists, roots, self.layout, self.columns, self.problem.facts, context, scratch, records)
        self._scratch.put(scratch)
        return Subtrees(*(np.array(array[:stop]) for array in records[:6]))

    def _take_scratch(self) -> Scratch:
        try:
            return self._scratch.get_nowait()
        except Empty:
            return self._new_scratch()

    def _new_scratch(self) -> Scratch:
        columns, cases, c = self.columns, self._finish_cases, self.problem.settings.n_classes
        marks = np.empty(cases, self._marks.dtype)
        used, branches = len(columns.list_of), self.most_branches
        gain, split, tries, cut = (np.empty(used, np.int64) for _ in range(4))
        return Scratch(
            local_of=self._local_of,
            order=self.order,
            row_of=np.empty(cases, np.int64),
            buffers=np.empty((2, len(self.lists), cases), np.uint32),
            codes=np.empty((cases, columns.codes.shape[1]), np.uint8),
            list_codes=np.empty((len(columns.list_codes), cases), np.int32),
            marks=marks,
            sides=bytes_of(marks),
            histogram=np.empty((int(columns.code_first[-1]), c), np.int64),
            branch_counts=np.empty((branches, c), np.int64),
            room=new_room(cases, c),
            position=np.empty(branches, np.int64),
            new=np.empty(branches, np.int64),
            places=np.empty(branches, np.int64),
            sizes=np.empty(branches, np.int64),
            net=np.empty(used, np.float64),
            scores=Scores(gain, split, tries, np.empty(used, np.bool_), cut),
        )

    def _small_enough(self) -> int:
        """The most cases of a node that is finished by one worker; 0 where finishing is of no use."""
        c = self.problem.settings.n_classes
        too_many = self.most_branches * c > FINISH_COUNTS or self.layout.class_bits > 15
        if too_many or not self.problem.may_finish:
            return 0
        entry = 8 * len(self.lists) + self.columns.codes.shape[1] + 4 * len(self.columns.list_codes)
        fits = min(FINISH_BYTES // entry, FINISH_CASES, FINISH_COUNTS // c)
        return int(min(fits, (1 << (31 - self.layout.class_bits)) - 1))
