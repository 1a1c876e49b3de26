"""The engine for NVIDIA GPUs: every threshold of every attribute of every open node at once.

Long columns are lists, sorted once and then only partitioned; columns with few values are codes, counted into
histograms. Kernels stand in cuda_*.py, one file for each step, and take their array module as an argument, so that
all of this runs without a GPU on NumPy and an emulator of CUDA (tests/cuda_emulator).

    load    build_columns: sort                                        cuda_sort.py
    score   tiles' class counts, their scan, cuts; histograms          cuda_score.py, cuda_codes.py
    choose  on the host
    split   branch of each instance, totals of the branches            cuda_mark.py
            partition of instances and lists                           cuda_move.py, cuda_entries.py
            subtrees of small nodes                                    cuda_finish.py, cuda_finish_divided.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.choose import is_leaf
from c45gpu.data.table import Floats, Table
from c45gpu.errors import EngineError
from c45gpu.formulas import q_log_q
from c45gpu.kernels.cpu_nodes import choose_nodes
from c45gpu.kernels.cuda_card import CudaLauncher, free_memory, missing
from c45gpu.kernels.cuda_codes import packs_of
from c45gpu.kernels.cuda_device import TABLE_UNITS, Device, Done, Launcher, Sizes
from c45gpu.kernels.cuda_finishing import Finisher
from c45gpu.kernels.cuda_level import Level, Training
from c45gpu.kernels.cuda_moving import Mover
from c45gpu.kernels.cuda_plan import needs_of, require
from c45gpu.kernels.cuda_prune import WholePlacement
from c45gpu.kernels.cuda_prune_chunks import ChunkedPlacement
from c45gpu.kernels.cuda_prune_divided import DividedPlacement
from c45gpu.kernels.cuda_route import route
from c45gpu.kernels.cuda_scoring import Scorer
from c45gpu.kernels.cuda_siblings import Kept
from c45gpu.kernels.cuda_sort import build_columns, unknown_codes
from c45gpu.kernels.cuda_splitting import Splitter
from c45gpu.kernels.cuda_values import Values
from c45gpu.kernels.engine import PlacedCases
from c45gpu.kernels.level import (
    Bools,
    Candidates,
    Children,
    Frontier,
    Instances,
    Int64s,
    Problem,
    Splits,
    Taken,
)
from c45gpu.model.tree import Tree, ranges

H_AT_A_TIME = 1 << 16


class CudaEngine:
    """See :class:`c45gpu.kernels.engine.Engine`.

    Parameters
    ----------
    xp : module, optional
        What stands for CuPy.
    launcher : Launcher, optional
        What starts kernels in place of numba.
    sizes : Sizes, optional
        How work is cut. No result depends on it.
    free : callable, optional
        Bytes of memory that a level may take, once the lists are there; on a device what is free on it.

    Raises
    ------
    EngineError
        Without CuPy, numba-cuda or a device, unless `xp` and `launcher` stand for them.
    """

    name = "cuda"

    def __init__(
        self,
        xp: Any = None,
        launcher: Launcher | None = None,
        sizes: Sizes | None = None,
        free: Callable[[], int] | None = None,
    ) -> None:
        if xp is None or launcher is None:
            reason = missing()
            if reason is not None:
                raise EngineError(f"engine='cuda' {reason}")
            launcher = CudaLauncher()
            xp, free = launcher.xp, free or free_memory
        self._device = Device(xp, launcher, sizes or Sizes())
        self._sizes, self._free = self._device.sizes, free
        self._level: Level
        self._kept: Kept | None = None
        self._to_keep: Kept | None = None

    @property
    def work(self) -> Done:
        """Launches and transfers so far."""
        return self._device.done

    def load(self, problem: Problem) -> Frontier:
        """Take the cases of a problem; the frontier is its root."""
        self._take(problem)
        if self._free is not None:
            require(needs_of(problem, self._sizes), self._free(), self._sizes)
        return self._device.persist(lambda: self._loaded(problem), self._shrink)

    def _take(self, problem: Problem) -> None:
        self._problem, self._device.sizes = problem, self._sizes
        self._values = Values(self._device, problem, self._shrink)
        self._let_go()  # of the problem before, if there was one

    def _loaded(self, problem: Problem) -> Frontier:
        self._training = self._trained(problem)
        columns, table, settings = self._training.columns, problem.table, problem.settings
        totals = np.bincount(table.classes, weights=problem.units, minlength=settings.n_classes).astype(np.int64)[None]
        is_open = ~is_leaf(totals.sum(1), totals.max(1), settings)
        stops = [np.cumsum(columns.counts[chunk.first : chunk.stop]) for chunk in columns.chunks]
        stop = np.concatenate([np.zeros(0, np.int64), *stops])
        self._finisher = Finisher(self._device, self._training, problem.facts, problem.may_finish)
        self._level = Level(
            start=np.zeros(1, np.int64),
            stop=np.array([table.n_cases]),
            weight=totals.sum(1),
            cases=self._device.xp.arange(table.n_cases, dtype=np.int32),
            units=self._device.up(np.zeros(0, np.int64) if self._training.counted else problem.units),
            list_start=(stop - columns.counts)[:, None],
            list_stop=stop[:, None],
            list_tile=np.zeros((len(stop), 1), np.int64),
            chunks=columns.chunks,
            layout=columns.layout,
            parent=np.full(1, -1, np.int64),
            siblings=np.ones(1, np.int64),
        )
        return self._advance(totals, is_open)

    def _advance(self, class_weights: Int64s, is_open: Bools) -> Frontier:
        """Finish the small ones of the open nodes."""
        position = np.flatnonzero(is_open)
        if not len(position) or (self._problem.forest and self._level.parent[0] < 0):
            return Frontier(class_weights, is_open)
        left, finished = self._device.persist(
            lambda: self._finisher.run(self._level, position, class_weights[position]), self._shrink
        )
        self._level = self._level.only(left)
        if finished is not None:
            sides = (finished.attribute, finished.below, finished.above)
            below, above = self._values.ranks(*sides, self._training.continuous)
            finished = replace(finished, below=below, above=above)
        still_open = np.zeros_like(is_open)
        still_open[position[left]] = True
        return Frontier(class_weights, still_open, finished)

    def _trained(self, problem: Problem) -> Training:
        schema, settings = problem.table.schema, problem.settings
        used = [schema.attributes[a] for a in problem.used]
        continuous = np.array([a.kind == "continuous" for a in used], np.bool_)
        classes = self._device.xp.asarray(problem.table.classes_in_place()).astype(np.uint16)
        columns = build_columns(self._device, problem, classes, self._free)
        first = self._device.down(columns.codes.first)
        return Training(
            settings=settings,
            counted=problem.whole and bool((problem.units == 1).all()),
            even=bool((problem.units == settings.case_units).all()),
            columns=columns,
            classes=classes,
            h=self._device.up(table_of_h(int(problem.units.sum()), settings.scale_bits)),
            n_branches=np.where(continuous, 2, [len(a.values) for a in used]).astype(np.int64),
            listed=np.flatnonzero(columns.list_of >= 0),
            continuous=continuous,
            n_codes=int(first[-1]),
            packs=self._device.up(packs_of(first, settings.n_classes, self._sizes.shared_cells)),
            unknown_codes=unknown_codes(self._device.xp, columns.codes),
        )

    def distinct(self, attribute: int) -> Floats:
        """Sorted distinct values of a continuous column, sorted again on the device when first asked for."""
        return self._values.distinct(attribute)

    def score(self, first: int, stop: int) -> Candidates:
        """The best test of every attribute for the open nodes first..stop-1."""
        scorer, found = self._device.persist(lambda: self._scored(first, stop), self._shrink)
        self._to_keep = scorer.to_keep
        return found

    def _scored(self, first: int, stop: int) -> tuple[Scorer, Candidates]:
        scorer = Scorer(self._device, self._training, self._level, self._kept)
        return scorer, scorer.run(first, stop)

    def _shrink(self) -> None:
        self._kept = self._to_keep = None
        self._device.shrink(len(self._problem.used))

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        """Units of the known cases of each value and class of a discrete attribute at open nodes."""
        return Scorer(self._device, self._training, self._level).tables(attribute, first, stop)

    def choose(self, candidates: Candidates, weight: Int64s) -> Int64s:
        """What :func:`c45gpu.choose.choose` says for each node, compiled for the host."""
        chosen = np.empty(len(weight), np.int64)
        scores = (candidates.gain, candidates.split, candidates.tries, candidates.possible)
        choose_nodes(weight, scores, self._problem.facts, self._problem.settings, chosen)
        return chosen

    def split(self, splits: Splits) -> Children:
        """Send the cases of open nodes down the branches."""
        self._kept, self._to_keep = self._to_keep, None
        splitter = Splitter(self._device, self._training, self._level, splits)
        marked = self._device.persist(splitter.mark, self._shrink)
        mover = Mover(self._device, self._training, self._level, splits, marked)
        lengths = mover.count()
        divided, division = self._device.persist(lambda: splitter.judge(marked, lengths), self._shrink)
        self._level = mover.run(division)
        below, above = self._ranks_of_sides(splits, divided.below, divided.above)
        split = np.searchsorted(splitter.slot_start, divided.held, side="right") - 1
        branch = divided.held - splitter.slot_start[split]
        return Children(self._advance(divided.units, divided.is_open), split, branch, below, above)

    def instances(self, nodes: Int64s) -> Instances:
        """The instances of some open nodes."""
        first, stop = self._level.start[nodes], self._level.stop[nodes]
        here = self._device.up(ranges(first, stop))
        case = self._device.down(self._level.cases[here]).astype(np.int64)
        one = np.broadcast_to(np.int64(self._problem.settings.case_units), len(case))
        units = one if self._training.counted else self._device.down(self._level.units[here])
        return Instances(case, units, np.cumsum([0, *(stop - first)]))

    def taken(self, splits: Splits) -> Taken:
        """Which branches the cases would take by some splits."""
        splitter = Splitter(self._device, self._training, self._level, splits)
        branch, below, above = splitter.taken(self._device.persist(splitter.mark, self._shrink))
        return Taken(branch, *self._ranks_of_sides(splits, below, above))

    def _ranks_of_sides(self, splits: Splits, below: Int64s, above: Int64s) -> Int64s:
        listed = np.append(self._training.columns.list_of >= 0, False)  # the last for what is elsewhere
        return self._values.ranks(splits.attribute, below, above, listed)

    def hold(self, problem: Problem) -> None:
        """Take the cases of a problem that is only to be placed."""
        self._take(problem)

    def _let_go(self) -> None:
        """Give up what growing needs; its memory goes back to CuPy's pool."""
        self._kept = self._to_keep = None
        for held in ("_level", "_training", "_finisher"):
            self.__dict__.pop(held, None)

    def place(self, tree: Tree) -> PlacedCases:
        """Send all training cases down a tree, to prune it."""
        table = self._problem.table
        training: Training | None = self.__dict__.get("_training")
        classes = (
            self._device.xp.asarray(table.classes_in_place()).astype(np.uint16)
            if training is None
            else (training.classes)
        )
        self._let_go()
        placement = DividedPlacement if self._problem.table.has_unknown() else WholePlacement
        return ChunkedPlacement(self._device, lambda: placement(self._device, self._problem, tree, classes))

    def route(self, tree: Tree, table: Table) -> npt.NDArray[np.float64]:
        """Class frequencies of cases to be predicted."""
        return route(self._device, tree, table)

    def close(self) -> None:
        """Let go of the cases and of all memory."""
        self.__dict__.clear()


def table_of_h(total: int, scale_bits: int) -> Int64s:
    """H of every weight up to the total, or of none where that would be a large table."""
    table = np.empty(total + 1 if total < TABLE_UNITS else 0, np.int64)
    for first in range(0, len(table), H_AT_A_TIME):
        weights = np.arange(first, min(len(table), first + H_AT_A_TIME))
        table[first : first + len(weights)] = q_log_q(weights, scale_bits)
    return table
