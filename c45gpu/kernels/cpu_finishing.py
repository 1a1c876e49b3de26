"""Which nodes with divided cases are finished by one worker, and what the workers need for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition
from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.cpu_arena import Arena, Bench
from c45gpu.kernels.cpu_counting import FINISH_COUNTS
from c45gpu.kernels.cpu_depth_first import Records, finish_branches, finish_divided
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

# Where a next level would have more than LEVEL instances of each case, branches of nodes whose branches have more than
# SPREADING times their cases are finished from the lists of these nodes: so many instances of each case at a time, and
# at least one branch.
LEVEL = 1.75  # 1.7 are there where tests have 20 branches (agr2, a tenth unknown), which 16 bytes an entry hold
SPREADING = 2
AHEAD = 1 / 4


class Allowance:
    """Lets workers take so many instances at a time, and at least one of them any number.

    Parameters
    ----------
    most : int
    """

    def __init__(self, most: int) -> None:
        self._most, self._taken, self._changed = most, 0, Condition()

    @contextmanager
    def taken(self, n: int) -> Iterator[None]:
        """Wait until so many instances may be taken, and have them for a while."""
        with self._changed:
            self._changed.wait_for(lambda: self._taken == 0 or self._taken + n <= self._most)
            self._taken += n
        try:
            yield
        finally:
            with self._changed:
                self._taken -= n
                self._changed.notify_all()


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
        self._workers, self._n_cases = grower.crew.size, grower.problem.table.n_cases
        may = grower.problem.may_finish
        self.most = most_finished(self._n_cases, self._n_classes, self._most_branches, self._workers) if may else 0

    def chosen(self, counts: Int64s) -> Bools:
        """Which nodes of so many cases to finish: not one that others would wait for; all are scored by all workers."""
        small = counts <= self.most
        small[small] = finished_now(counts[small], len(self._n_branches), self._workers)
        return small

    def ahead(self, count: Int64s, split: Int64s, rows: Int64s) -> Bools:
        """Which branches to finish from the lists of their nodes, instead of writing them to the next level.

        Parameters
        ----------
        count : ndarray of int64, shape (k,)
            Cases of each node that is split.
        split, rows : ndarray of int64, shape (m,)
            The split, and the cases, of each branch that is to be tested.
        """
        room = LEVEL * self._n_cases - rows.sum()
        together = np.bincount(split, rows, minlength=len(count))
        ahead = (together > SPREADING * count)[split]
        if not self.most or room >= 0:
            return np.zeros_like(ahead)
        large = np.flatnonzero(ahead & (rows > AHEAD * self._n_cases))  # these keep workers waiting
        room += rows[ahead].sum()
        ahead[large[np.cumsum(rows[large]) <= room]] = False
        return ahead

    def groups(self, split: Int64s, known: Int64s, unknown: Int64s) -> list[slice]:
        """Cut branches into runs of one node each, for one worker, who copies their cases first.

        Those whose value is unknown are read again for each branch; no more than a third as many others, unless it is
        a single branch.

        Parameters
        ----------
        split, known : ndarray of int64, shape (m,)
            The split of each branch, and how many cases are known to take it.
        unknown : ndarray of int64, shape (k,)
            Cases of each split that take all branches.
        """
        groups, first, size = [], 0, 0
        for i, (s, n) in enumerate(zip(split.tolist(), known.tolist(), strict=True)):
            if i > first and (s != split[first] or 3 * (size + n) > unknown[s]):
                groups.append(slice(first, i))
                first, size = i, 0
            size += n
        return [*groups, slice(first, len(split))]

    def allowance(self) -> Allowance:
        """Of cases, for all workers together."""
        return Allowance(max(int(AHEAD * self._n_cases), self._workers * self.most))

    def finish_ahead(
        self,
        lists: tuple[npt.NDArray[Any], Int64s],
        node: tuple[int, Int64s, npt.NDArray[Any], npt.NDArray[np.float64]],
        roots: tuple[Int64s, Int64s, Int64s, Bools, Int64s],
        loaded: int,
        context: Context,
        place: Workplace,
    ) -> Subtrees:
        """Grow the subtrees of some branches of a node; see :func:`.cpu_depth_first.finish_branches`.

        `lists` are those of a level, and its units; `loaded` is how many cases the branches have.
        """
        contexts = (context, context._replace(layout=self._local))
        memory, bench = self._new_memory(loaded, len(roots[0])), self._new_bench(loaded, place)
        (_, records), stop = finish_branches(*lists, node, roots, self._columns, self._facts, contexts, bench, memory)
        return Subtrees(*(np.array(array[:stop]) for array in records))

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
