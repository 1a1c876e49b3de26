"""The engine for NVIDIA GPUs: every threshold of every attribute of every open node at once.

Long columns are lists, sorted once and then only partitioned; columns with few values are codes, counted into
histograms. Kernels stand in cuda_*.py, one file for each step, and take their array module as an argument, so that
all of this runs without a GPU on NumPy and an emulator of CUDA (tests/cuda_emulator).

    load    sort                                                       cuda_loading.py, cuda_sort.py
    score   tiles' class counts, their scan, cuts; histograms          cuda_score.py, cuda_codes.py
    choose  on the host, or all nodes of a level on the device         cuda_choose.py
    split   branch of each instance, totals of the branches            cuda_mark.py
            partition of instances and lists                           cuda_move.py, cuda_entries.py
            subtrees of small nodes                                    cuda_finish.py, cuda_finish_divided.py

Where the host has no say in the choice, a level is one step with one transfer (cuda_advance.py).
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
from c45gpu.kernels.cpu_nodes import choose_nodes
from c45gpu.kernels.cuda_advance import Advancer
from c45gpu.kernels.cuda_card import CudaLauncher, free_memory, missing
from c45gpu.kernels.cuda_device import Device, Done, Launcher, Sizes
from c45gpu.kernels.cuda_finishing import Finisher, joined
from c45gpu.kernels.cuda_grouping import Slots
from c45gpu.kernels.cuda_judging import Told, judged, of_slots, sides_of, told_of_slots
from c45gpu.kernels.cuda_later import Later
from c45gpu.kernels.cuda_level import Level, Training
from c45gpu.kernels.cuda_loading import root_of, training_of
from c45gpu.kernels.cuda_moving import Mover
from c45gpu.kernels.cuda_plan import needs_of, require
from c45gpu.kernels.cuda_prune import WholePlacement
from c45gpu.kernels.cuda_prune_chunks import ChunkedPlacement
from c45gpu.kernels.cuda_prune_divided import DividedPlacement
from c45gpu.kernels.cuda_route import route
from c45gpu.kernels.cuda_scoring import Scorer
from c45gpu.kernels.cuda_siblings import Kept
from c45gpu.kernels.cuda_splitting import Splitter, asked_by_host
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
    Subtrees,
    Taken,
)
from c45gpu.kernels.level_engine import Details, GrownLevel
from c45gpu.model.tree import Tree, ranges


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
        self._training = training_of(self._device, problem, self._sizes, self._free)
        self._finisher = Finisher(self._device, self._training, problem.may_finish)
        self._later = Later(self._device, self._training, self._finisher, self._values)
        self._level = root_of(self._device, self._training, problem)
        totals = self._level.class_weights
        is_open = ~is_leaf(totals.sum(1), totals.max(1), problem.settings)
        return self._advance(totals, is_open)

    def _advance(self, class_weights: Int64s, is_open: Bools) -> Frontier:
        """Finish the small ones of the open nodes."""
        position = np.flatnonzero(is_open)
        if not len(position) or (self._problem.forest and self._level.parent[0] < 0):
            return Frontier(class_weights, is_open)
        is_left, finished = self._device.persist(lambda: self._finished(position), self._shrink)
        self._level = self._level.only(np.flatnonzero(is_left))
        still_open = np.zeros_like(is_open)
        still_open[position[is_left]] = True
        return Frontier(class_weights, still_open, finished)

    def _finished(self, position: Int64s) -> tuple[Bools, Subtrees | None]:
        """Which nodes are too large to be finished, and the subtrees of the others, given their positions."""
        device, finisher, parts = self._device, self._finisher, []
        is_left = np.ones(len(position), np.bool_)
        for how, nodes in finisher.batches(self._level):
            running = finisher.begin(self._level, nodes, how)
            gathered = finisher.gather(running, device.down(running.rows))
            parts.append(finisher.subtrees(gathered, device.down(gathered.table), position[gathered.nodes]))
            is_left[gathered.nodes] = False
        if not parts:
            return is_left, None
        finished = joined(parts)
        sides = finished.attribute, finished.below, finished.above
        below, above = self._values.ranks(*sides, self._training.continuous)
        return is_left, replace(finished, below=below, above=above)

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
        device, training, level = self._device, self._training, self._level
        asked = asked_by_host(device, training, level, splits)
        marked = device.persist(Splitter(device, training, level, asked).mark, self._shrink)
        slots = Slots(asked.node, asked.tests.slot_start, asked.n_slots, asked.widest, asked.slot_start)
        mover = Mover(device, training, level, marked, slots)
        lengths = mover.count()
        of_all = [*marked.sides, marked.room[-1:], *of_slots(marked, lengths, 0, asked.n_slots)]
        below, above, spread, *found = device.persist(lambda: device.down_all(of_all), self._shrink)
        told = Told(*told_of_slots(found, training.settings.n_classes), below, above, int(spread.sum()))
        divided, division = judged(training, level, splits, mover.start, told)
        self._level = mover.run(division)
        below, above = self._ranks_of_sides(splits, below, above)
        frontier = self._advance(divided.units, divided.is_open)
        return Children(frontier, divided.split, divided.branch, below, above)

    def grow_level(self) -> GrownLevel:
        """Choose the tests of all open nodes, and split them: one transfer, see :mod:`.cuda_advance`."""
        of_all = self._device, self._training, self._level, lambda: self._kept
        step = Advancer(*of_all, self._finisher, self._later, self._shrink).run()
        self._level, self._kept, self._to_keep = step.level, step.to_keep, None
        sides = sides_of(self._training, step.splits, step.below, step.above)
        self._later.add((step.splits.attribute, *sides), step.taken, step.gathered)
        frontier = Frontier(step.divided.units, step.divided.is_open)
        return GrownLevel(step.splits, step.taken, frontier, step.divided.split, step.divided.branch)

    def details(self) -> Details:
        """What the levels since the last time did not tell: one transfer, and one for values on the device."""
        return self._device.persist(self._later.told, self._shrink)

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
        asked = asked_by_host(self._device, self._training, self._level, splits)
        splitter = Splitter(self._device, self._training, self._level, asked)
        branch, below, above = splitter.taken(self._device.persist(splitter.mark, self._shrink))
        return Taken(branch, *self._ranks_of_sides(splits, below, above))

    def _ranks_of_sides(self, splits: Splits, below: Int64s, above: Int64s) -> Int64s:
        listed = np.append(self._training.columns.list_of >= 0, False)  # the last for what is elsewhere
        return self._values.ranks(splits.attribute, *sides_of(self._training, splits, below, above), listed)

    def hold(self, problem: Problem) -> None:
        """Take the cases of a problem that is only to be placed."""
        self._take(problem)

    def _let_go(self) -> None:
        """Give up what growing needs; its memory goes back to CuPy's pool."""
        self._kept = self._to_keep = None
        for held in ("_level", "_training", "_finisher", "_later"):
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
