"""Which nodes with divided cases are finished by one worker, and what the workers need for it."""

from __future__ import annotations

import numpy as np

from c45gpu.kernels.cpu_arena import Arena, Bench
from c45gpu.kernels.cpu_counting import FINISH_COUNTS
from c45gpu.kernels.cpu_depth_first import Records, finish_divided
from c45gpu.kernels.cpu_entry import Layout
from c45gpu.kernels.cpu_finish import Scores
from c45gpu.kernels.cpu_grower import CpuGrower
from c45gpu.kernels.cpu_lists import layout_for
from c45gpu.kernels.cpu_pages import PagedLists, paged_lists
from c45gpu.kernels.cpu_parts import Context, Parts, Workplace
from c45gpu.kernels.cpu_small import finished_now
from c45gpu.kernels.level import Bools, Int64s, Subtrees

FINISH_CASES = 1 << 13  # of a node that a worker finishes, however small the table
WORKERS_SHARE = 8  # beyond that, the nodes that are being finished at a time have one in so many of a table's cases
ARENA = 4  # room for so many times a node's cases: what is not used is never touched, and more is made if need be


def local_layout(class_bits: int) -> Layout:
    """The packing of entries where cases are numbered at each node."""
    return Layout(31 - class_bits, class_bits, 31)


def most_finished(n_cases: int, n_classes: int, most_branches: int, workers: int) -> int:
    """The most cases of a node that one worker finishes; 0 where counts or numbers would be too many."""
    class_bits = layout_for(n_cases, n_classes).class_bits
    if most_branches * n_classes > FINISH_COUNTS or class_bits > 15:
        return 0
    wanted = max(FINISH_CASES, n_cases // (WORKERS_SHARE * workers))
    return int(min(wanted, n_cases, (1 << local_layout(class_bits).row_bits) - 1))


class DepthFirst:
    """Finishes nodes of a level.

    Parameters
    ----------
    grower : CpuGrower
        Whose nodes they are; it is not kept.

    Attributes
    ----------
    most : int
        No node of more cases is finished.
    """

    def __init__(self, grower: CpuGrower) -> None:
        self._local = local_layout(grower.layout.class_bits)
        self._columns, self._facts, self._word = grower.columns, grower.problem.facts, grower.lists.dtype
        self._n_lists, self._n_classes = len(grower.lists), grower.problem.settings.n_classes
        self._n_branches, self._most_branches = grower.n_branches, grower.most_branches
        self._workers, n = grower.crew.size, grower.problem.table.n_cases
        may = grower.problem.may_finish
        self.most = most_finished(n, self._n_classes, self._most_branches, self._workers) if may else 0

    def chosen(self, counts: Int64s) -> Bools:
        """Which nodes of so many cases to finish: not one that others would wait for; all are scored by all workers."""
        small = counts <= self.most
        small[small] = finished_now(counts[small], len(self._n_branches), self._workers)
        return small

    def finish(
        self, paged: PagedLists, units: Int64s, parts: Parts, positions: Int64s, context: Context, place: Workplace
    ) -> Subtrees:
        """Grow the subtrees of some nodes, and give up their part of the level's lists.

        `positions` are in the frontier; `place` is the worker's.
        """
        count = parts.list_count[:, -1]
        most = int(count.max())
        contexts = (context, context._replace(layout=self._local))
        memory, bench = self._new_memory(most, len(count)), self._new_bench(most, place)
        (_, records), stop = finish_divided(
            paged.entries, units, (parts, positions), self._columns, self._facts, contexts, bench, memory
        )
        for first, here in zip(parts.first.tolist(), count.tolist(), strict=True):
            paged.give_up_all(first, first + here)
        return Subtrees(*(np.array(array[:stop]) for array in records))

    def _new_memory(self, cases: int, nodes: int) -> tuple[Arena, Records]:
        room = ARENA * cases
        arena = Arena(
            paged_lists(max(1, self._n_lists - 1), room, np.uint32).entries,
            paged_lists(1, room, self._word).entries[0],
            paged_lists(1, room, np.int64).entries[0],
        )
        numbers = {name: np.empty(2 * nodes, np.int64) for name in Records._fields}
        numbers["class_weights"] = np.empty((2 * nodes, self._n_classes), np.int64)
        return arena, Records(**numbers)

    def _new_bench(self, cases: int, place: Workplace) -> Bench:
        used, near = len(self._n_branches), min(cases, len(place.apart))
        gain, split, tries, cut = (np.empty(used, np.int64) for _ in range(4))
        most = self._most_branches
        n_rows, kept_as, kept, record, start, position, last = (np.empty(most, np.int64) for _ in range(7))
        return Bench(
            number_of=place.units,
            room=place.room,
            totals=place.totals,
            histogram=place.histogram,
            near=np.empty(near, np.float32),
            apart=np.empty(near, np.uint32),
            branch=np.empty(cases, np.int32),
            number=np.empty(cases, np.int32),
            units=np.empty((most, self._n_classes), np.int64),
            n_rows=n_rows,
            whole=np.empty(most, np.bool_),
            upto=np.empty(most, np.float64),
            kept_as=kept_as,
            kept=kept,
            record=record,
            start=start,
            position=position,
            last=last,
            n_branches=self._n_branches,
            net=np.empty(used, np.float64),
            scores=Scores(gain, split, tries, np.empty(used, np.bool_), cut),
        )
