"""The engine for all cores of a CPU, compiled by numba.

Long columns are lists, sorted once and then only partitioned (:mod:`.cpu_sort`, :mod:`.cpu_move`); columns with few
values are codes, counted into histograms. Cases that all weigh 1 and have no unknown value are counted
(:mod:`.cpu_counting`), others are weighed and divided (:mod:`.cpu_dividing`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Floats, Table
from c45gpu.kernels.cpu_apart import Apart, SortedCases, SortedColumns, lists_from
from c45gpu.kernels.cpu_counting import CountingGrower
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_dividing import DividingGrower
from c45gpu.kernels.cpu_lists import build_lists, values_are_near
from c45gpu.kernels.cpu_nodes import choose_nodes
from c45gpu.kernels.cpu_plan import require
from c45gpu.kernels.cpu_prune import WholePlacement
from c45gpu.kernels.cpu_prune_divided import DividedPlacement
from c45gpu.kernels.cpu_route import route
from c45gpu.kernels.engine import PlacedCases
from c45gpu.kernels.level import Candidates, Children, Frontier, Instances, Int32s, Int64s, Problem, Splits, Taken
from c45gpu.model.tree import Tree


class CpuEngine:
    """See :class:`c45gpu.kernels.engine.Engine`.

    Parameters
    ----------
    threads : int, optional
        How many workers; all cores that the process may use if absent. No result depends on it.
    """

    name = "cpu"

    def __init__(self, threads: int | None = None) -> None:
        self._crew = Crew(threads)
        self._order: Int32s | None = None
        self._grower: CountingGrower | DividingGrower

    @property
    def threads(self) -> int:
        """How many workers it has."""
        return self._crew.size

    def load(self, problem: Problem) -> Frontier:
        """Take the cases of a problem; the frontier is its root.

        Raises
        ------
        MemoryPlanError
            When the work would not fit into memory.
        """
        require(problem, self._crew.size)
        self._problem = problem
        lists = build_lists(problem, self._crew)
        near = any(values_are_near(distinct, problem.settings.gap) for distinct in lists.distinct)
        counts = problem.whole and not near and bool((problem.units == 1).all())
        self._grower = (CountingGrower if counts else DividingGrower)(problem, self._crew, lists)
        return self._grower.root()

    def load_sorted(
        self, problem: Problem, cases: SortedCases, parts: Sequence[tuple[Int64s, SortedColumns]]
    ) -> Frontier:
        """Take cases of several nodes, which others have sorted; the frontier is these nodes.

        The ranks of :class:`~c45gpu.kernels.level.Children` and :class:`~c45gpu.kernels.level.Subtrees` are the numbers
        of cases then, where the attribute has a list.

        Parameters
        ----------
        problem : Problem
            Its columns have no values. Each case counts 1.
        cases : SortedCases
        parts : sequence of (ndarray of int64, SortedColumns)
            From each engine the positions of its attributes among the used ones, and their columns.
        """
        schema = problem.table.schema
        continuous = np.array([schema.attributes[a].kind == "continuous" for a in problem.used], np.bool_)
        lists = lists_from(cases, parts, continuous, problem.settings.n_classes)
        self._problem, self._grower = problem, CountingGrower(problem, self._crew, lists)
        return self._grower.roots(cases.counts)

    @property
    def apart(self) -> Apart:
        """The nodes that it has set apart (see :class:`~c45gpu.kernels.level.Problem`), if it counts cases."""
        assert isinstance(self._grower, CountingGrower)
        return self._grower.apart

    def distinct(self, attribute: int) -> Floats:
        """Sorted distinct values of a continuous column."""
        return self._grower.distinct(attribute)

    def score(self, first: int, stop: int) -> Candidates:
        """The best test of every attribute for the open nodes first..stop-1."""
        return self._grower.score(first, stop)

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        """Units of the known cases of each value and class of a discrete attribute at open nodes."""
        return self._grower.tables(attribute, first, stop)

    def split(self, splits: Splits) -> Children:
        """Send the cases of open nodes down the branches, and finish the small ones."""
        return self._grower.split(splits)

    def instances(self, nodes: Int64s) -> Instances:
        """The instances of some open nodes."""
        return self._grower.instances(nodes)

    def taken(self, splits: Splits) -> Taken:
        """Which branches the cases would take by some splits."""
        return self._grower.taken(splits)

    def choose(self, candidates: Candidates, weight: Int64s) -> Int64s:
        """What :func:`c45gpu.choose.choose` says for each node."""
        chosen = np.empty(len(weight), np.int64)
        scores = (candidates.gain, candidates.split, candidates.tries, candidates.possible)
        choose_nodes(weight, scores, self._problem.facts, self._problem.settings, chosen)
        return chosen

    @property
    def order(self) -> Int32s:
        """The cases in the order of leaves, as far as they are at leaves; the others are -1."""
        assert isinstance(self._grower, CountingGrower)
        return self._grower.order

    def hold(self, problem: Problem, order: Int32s | None = None) -> None:
        """Take the cases of a problem that is only to be placed; maybe in the order of the leaves of a tree."""
        self.__dict__.pop("_grower", None)
        self._problem, self._order = problem, order

    def place(self, tree: Tree) -> PlacedCases:
        """Send all training cases down a tree, to prune it."""
        grower = self.__dict__.pop("_grower", None)
        is_counting = isinstance(grower, CountingGrower)
        order, memory = (grower.order, grower.memory) if is_counting else (self._order, [])
        del grower  # its lists make room
        if order is None and self._problem.table.has_unknown():
            return DividedPlacement(self._problem, tree, self._crew)
        return WholePlacement(self._problem, tree, self._crew, order, memory)

    def route(self, tree: Tree, table: Table) -> npt.NDArray[np.float64]:
        """Class frequencies of cases to be predicted."""
        return route(tree, table, self._crew)

    def close(self) -> None:
        """Let go of the cases and end the workers."""
        self._crew.dismiss()
