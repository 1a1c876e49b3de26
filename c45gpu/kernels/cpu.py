"""The engine for all cores of a CPU, compiled by numba.

Long columns are lists, sorted once and then only partitioned (:mod:`.cpu_sort`, :mod:`.cpu_move`); columns with few
values are codes, counted into histograms; nodes that fit a core's cache are finished there (:mod:`.cpu_finish`).
Workers are plain threads: a kernel runs without Python's lock, and which thread does what cannot change a bit,
since all sums are of integers and every worker writes to places of its own.

    lists     attribute 0   |   node A   | node B |      a node has the same range in every list
              attribute 3   |   node A   | node B |
              rows          |   node A   | node B |
                            ^first[0]    ^first[1]
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.choose import is_leaf
from c45gpu.data.table import Floats
from c45gpu.formulas import q_log_q
from c45gpu.kernels.cpu_finish import Records, Scores, Scratch, finish
from c45gpu.kernels.cpu_lists import build_lists
from c45gpu.kernels.cpu_move import DROPPED, move_lists
from c45gpu.kernels.cpu_nodes import Marks, Nodes, mark_nodes, score_nodes
from c45gpu.kernels.cpu_sort import Layout
from c45gpu.kernels.level import Candidates, Children, Frontier, Int64s, Problem, Splits, Subtrees

FINISH_BYTES = 768 << 10  # both buffers of a node that is finished: within a core's second cache
FINISH_CASES = 1 << 13
FINISH_COUNTS = 1 << 20  # branches times classes, and cases times classes, that a worker has room for
TASKS_PER_WORKER = 4  # so that workers end at about the same time


def n_workers() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class CountingEngine:
    """Grows from cases that all weigh 1 and have no unknown value.

    Parameters
    ----------
    problem : Problem
    workers : ThreadPoolExecutor
    n_workers : int
    """

    def __init__(self, problem: Problem, workers: ThreadPoolExecutor, n_workers: int) -> None:
        self._problem, self._workers, self._n_workers = problem, workers, n_workers
        settings = problem.settings
        self._layout, self._lists, _, self._columns, self._distinct = build_lists(problem, workers)
        self._spare = np.empty_like(self._lists)
        self._h = self._table_of_h()
        self._context = (self._layout, self._h, settings)
        n, c = problem.table.n_cases, settings.n_classes
        sizes = [len(problem.table.schema.attributes[a].values) for a in problem.used]
        self._n_branches = np.where(self._columns.continuous, 2, np.array(sizes, np.int64))
        self._most_branches = int(max(2, *self._n_branches)) if len(sizes) else 2
        self._marks = np.empty(n, np.uint8 if self._most_branches <= 256 else np.int32)
        self._finish_cases = self._small_enough()
        self._scratch: SimpleQueue[Scratch] = SimpleQueue()
        self._nodes = Nodes(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, c), np.int64))

    def root(self) -> Frontier:
        """The root, open or finished."""
        totals = np.bincount(self._problem.table.classes, minlength=self._problem.settings.n_classes)[None, :]
        whole = Nodes(np.zeros(1, np.int64), np.array([self._problem.table.n_cases]), totals.astype(np.int64))
        return self._advance(whole, ~is_leaf(whole.count, whole.totals.max(1), self._problem.settings))

    def distinct(self, attribute: int) -> Floats:
        """Sorted distinct values of a continuous column."""
        values = self._distinct[attribute]
        assert values is not None
        return values

    def score(self, first: int, stop: int) -> Candidates:
        """The best test of every attribute for the open nodes first..stop-1."""
        candidates = Candidates.none(stop - first, len(self._columns.list_of))
        out = Scores(candidates.gain, candidates.split, candidates.tries, candidates.possible, candidates.cut)
        coded = np.flatnonzero(self._columns.code_of >= 0)
        groups = [np.array([a]) for a in np.flatnonzero(self._columns.list_of >= 0)]
        groups += [coded] if len(coded) else []
        jobs = []
        for rows in self._shares(self._nodes.count[first:stop], max(1, len(groups))):
            nodes = Nodes(*(x[first:stop][rows] for x in self._nodes))
            jobs += [(nodes, which, Scores(*(x[rows] for x in out))) for which in groups]
        self._run(self._score_job, jobs)
        return candidates

    def _score_job(self, nodes: Nodes, which: Int64s, out: Scores) -> None:
        coded = self._columns.code_of[which[0]] >= 0
        shape = (int(self._columns.code_first[-1]) if coded else 0, self._problem.settings.n_classes)
        histogram = np.empty(shape, np.int64)
        score_nodes(self._lists, nodes, which, self._columns, self._context, histogram, out)

    def split(self, splits: Splits) -> Children:
        """Send the cases of open nodes down the branches, and finish the small ones."""
        nodes = Nodes(*(x[splits.node] for x in self._nodes))
        slot_start = np.concatenate([[0], np.cumsum(self._n_branches[splits.attribute])])
        counts = np.empty((slot_start[-1], self._problem.settings.n_classes), np.int64)
        below, above = np.full(len(splits), -1, np.int64), np.full(len(splits), -1, np.int64)
        jobs = []
        for rows in self._shares(nodes.count, 1):
            part = slice(rows.start, rows.stop + 1)
            marks = Marks(self._marks, counts, below[rows], above[rows])
            some = Nodes(*(x[rows] for x in nodes))
            jobs.append((some, splits.attribute[rows], splits.cut[rows], slot_start[part], marks))
        self._run(self._mark_job, jobs)
        self._to_ranks(splits.attribute, below, above)
        weight = counts.sum(1)
        held = np.flatnonzero(weight > 0)
        is_open = ~is_leaf(weight[held], counts[held].max(1), self._problem.settings)
        self._move(nodes, slot_start, held[is_open], weight)
        first = np.full(len(held), DROPPED, np.int64)
        first[is_open] = np.cumsum(weight[held[is_open]]) - weight[held[is_open]]
        frontier = self._advance(Nodes(first, weight[held], counts[held]), is_open)
        split = np.searchsorted(slot_start, held, side="right") - 1
        return Children(frontier, split, held - slot_start[split], below, above)

    def _mark_job(self, nodes: Nodes, attribute: Int64s, cut: Int64s, slot_start: Int64s, marks: Marks) -> None:
        mark_nodes(self._lists, nodes, attribute, cut, slot_start, self._columns, self._layout, marks)

    def _to_ranks(self, attribute: Int64s, below: Int64s, above: Int64s) -> None:
        """Replace rows by ranks where the attribute has a list."""
        for a in np.unique(attribute).tolist():
            if self._columns.continuous[a] and self._columns.list_of[a] >= 0:
                here = attribute == a
                column, distinct = self._problem.table.column(self._problem.used[a]), self._distinct[a]
                for rows in (below, above):
                    some = here & (rows >= 0)
                    rows[some] = np.searchsorted(distinct, column[rows[some]])

    def _move(self, nodes: Nodes, slot_start: Int64s, kept: Int64s, weight: Int64s) -> None:
        """Partition all lists into the spare ones, the kept slots one after the other."""
        places = np.full(slot_start[-1], DROPPED, np.int64)
        places[kept] = np.cumsum(weight[kept]) - weight[kept]
        splits = (nodes.first, nodes.count, slot_start, places)
        self._run(self._move_job, [(np.array([k]), splits) for k in range(len(self._lists))])
        self._lists, self._spare = self._spare, self._lists

    def _move_job(self, which: Int64s, splits: tuple[Int64s, ...]) -> None:
        move_lists(self._lists, self._spare, which, self._marks, self._layout, splits, self._most_branches)

    def _advance(self, nodes: Nodes, is_open: npt.NDArray[np.bool_]) -> Frontier:
        """Finish the small ones of the open nodes and remember the others."""
        small = is_open & (nodes.count <= self._finish_cases)
        self._nodes = Nodes(*(x[is_open & ~small] for x in nodes))
        finished = self._finish(nodes, np.flatnonzero(small)) if small.any() else None
        return Frontier(nodes.totals, is_open & ~small, finished)

    def _finish(self, nodes: Nodes, small: Int64s) -> Subtrees:
        roots = Nodes(*(x[small] for x in nodes))
        jobs = [(Nodes(*(x[rows] for x in roots)), small[rows]) for rows in self._shares(roots.count, 1)]
        parts = self._run(self._finish_job, jobs)
        start = np.cumsum([0] + [len(part.parent) for part in parts])
        for part, offset in zip(parts, start, strict=False):
            part.parent[part.parent >= 0] += offset
        whole = Subtrees(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Subtrees)))
        self._to_ranks(whole.attribute, whole.below, whole.above)
        return whole

    def _finish_job(self, nodes: Nodes, positions: Int64s) -> Subtrees:
        scratch = self._take_scratch()
        room = int(2 * nodes.count.sum())
        numbers = [np.empty(room, np.int64) for _ in range(5)]
        records = Records(*numbers, np.empty((room, nodes.totals.shape[1]), np.int64), *(np.empty(room, np.int64) for _ in range(3)))
        local = self._local_layout()
        roots = (nodes.first, nodes.count, nodes.totals, positions)
        context = (local, self._h, self._problem.settings)
        stop = finish(self._lists, roots, self._layout, self._columns, self._problem.facts, context, scratch, records)
        self._scratch.put(scratch)
        return Subtrees(*(np.array(array[:stop]) for array in records[:6]))

    def _take_scratch(self) -> Scratch:
        try:
            return self._scratch.get_nowait()
        except Empty:
            return self._new_scratch()

    def _new_scratch(self) -> Scratch:
        columns, cases, c = self._columns, self._finish_cases, self._problem.settings.n_classes
        used, branches = len(columns.list_of), self._most_branches
        numbers = [np.empty(used, np.int64) for _ in range(3)]
        return Scratch(
            local_of=np.empty(self._problem.table.n_cases, np.int32),
            row_of=np.empty(cases, np.int64),
            buffers=np.empty((2, len(self._lists), cases), np.uint32),
            codes=np.empty((cases, columns.codes.shape[1]), np.uint8),
            list_codes=np.empty((len(columns.list_codes), cases), np.int32),
            marks=np.empty(cases, np.int32),
            histogram=np.empty((int(columns.code_first[-1]), c), np.int64),
            branch_counts=np.empty((branches, c), np.int64),
            low=np.empty(c, np.int64),
            position=np.empty(branches, np.int64),
            new=np.empty(branches, np.int64),
            places=np.empty(branches, np.int64),
            net=np.empty(used, np.float64),
            scores=Scores(*numbers, np.empty(used, np.bool_), np.empty(used, np.int64)),
        )

    def _local_layout(self) -> Layout:
        return Layout(31 - self._layout.class_bits, self._layout.class_bits, 31)

    def _table_of_h(self) -> Int64s:
        n, settings = self._problem.table.n_cases, self._problem.settings
        table = np.empty(n + 1, np.int64)
        for first in range(0, n + 1, 1 << 16):  # a formula of seventy steps on whole columns would leave the cache
            table[first : first + (1 << 16)] = q_log_q(np.arange(first, min(n + 1, first + (1 << 16))), settings.scale_bits)
        return table

    def _small_enough(self) -> int:
        """The most cases of a node that is finished by one worker; 0 where finishing is of no use."""
        c = self._problem.settings.n_classes
        if self._most_branches * c > FINISH_COUNTS or self._layout.class_bits > 15:
            return 0
        entry = 8 * len(self._lists) + self._columns.codes.shape[1] + 4 * len(self._columns.list_codes)
        fits = min(FINISH_BYTES // entry, FINISH_CASES, FINISH_COUNTS // c)
        return min(fits, (1 << (31 - self._layout.class_bits)) - 1)

    def _shares(self, counts: Int64s, groups: int) -> list[slice]:
        """Cut nodes into runs of about equal numbers of cases, so many that there are enough tasks for all workers."""
        wanted = max(1, -(-TASKS_PER_WORKER * self._n_workers // groups))
        ends = np.cumsum(counts)
        cuts = np.searchsorted(ends, ends[-1] * np.arange(1, wanted) / wanted) + 1 if len(ends) else np.zeros(0, int)
        edges = np.unique(np.concatenate([[0], np.minimum(cuts, len(counts)), [len(counts)]]))
        return [slice(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]

    def _run(self, job: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        if len(arguments) == 1:
            return [job(*arguments[0])]
        return [future.result() for future in [self._workers.submit(job, *a) for a in arguments]]


class CpuEngine:
    """See :class:`c45gpu.kernels.engine.Engine`.

    Parameters
    ----------
    threads : int, optional
        How many workers; all cores that the process may use if absent. The result does not depend on it.
    """

    name = "cpu"

    def __init__(self, threads: int | None = None) -> None:
        self._n_workers = threads or n_workers()
        self._workers = ThreadPoolExecutor(self._n_workers, thread_name_prefix="c45gpu")

    def load(self, problem: Problem) -> Frontier:
        """Take the cases of a problem; the frontier is its root."""
        self._problem = problem
        self._growing = CountingEngine(problem, self._workers, self._n_workers)
        return self._growing.root()

    def distinct(self, attribute: int) -> Floats:
        return self._growing.distinct(attribute)

    def score(self, first: int, stop: int) -> Candidates:
        return self._growing.score(first, stop)

    def split(self, splits: Splits) -> Children:
        return self._growing.split(splits)

    def place(self, tree):
        from c45gpu.kernels.descend import Placement
        self._placement = Placement(self._problem, tree)
        return self._placement.known
    def cut(self, nodes): self._placement.cut(nodes)
    def send(self, t,a,b): return self._placement.send(t,a,b)
    def raise_branches(self,t,a,b): return self._placement.raise_branches(t,a,b)
    def close(self): self._workers.shutdown()
