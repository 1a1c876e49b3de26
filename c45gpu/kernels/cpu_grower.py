"""What both growers of the CPU engine have: sorted lists, the table of H, and ranks for the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.data.table import Floats
from c45gpu.formulas import q_log_q
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_lists import Lists
from c45gpu.kernels.level import Int64s, Problem

H_AT_A_TIME = 1 << 16  # for one worker


@compiled
def fill_h(table: Any, first: Any, most: Any, settings: Any) -> None:
    """Write H of `first` cases and more, of one case's weight each; 0 for more than `most`."""
    for k in range(len(table)):
        table[k] = q_log_q((first + k) * settings.case_units, settings.scale_bits) if first + k <= most else 0


class CpuGrower:
    """Holds a problem's columns.

    Parameters
    ----------
    problem : Problem
    crew : Crew
    lists : Lists
    """

    def __init__(self, problem: Problem, crew: Crew, lists: Lists) -> None:
        self.problem, self.crew = problem, crew
        self.layout, self.lists, self.list_counts, self.columns, self._distinct = lists
        self.h = self._table_of_h()
        values = np.array([len(problem.table.schema.attributes[a].values) for a in problem.used], np.int64)
        self.n_branches = np.where(self.columns.continuous, 2, values)
        self.most_branches = int(self.n_branches.max(initial=2))

    def distinct(self, attribute: int) -> Floats:
        """Sorted distinct values of a continuous column."""
        values = self._distinct[attribute]
        assert values is not None
        return values

    def to_ranks(self, attribute: Int64s, below: Int64s, above: Int64s) -> None:
        """Replace the rows on both sides of a cut by the ranks of their values, where the attribute has a list."""
        for a in np.unique(attribute[below >= 0]).tolist():
            if self.columns.list_of[a] >= 0:
                here = (attribute == a) & (below >= 0)
                column = self.problem.table.column(self.problem.used[a])
                below[here] = np.searchsorted(self.distinct(a), column[below[here]])
                above[here] = np.searchsorted(self.distinct(a), column[above[here]])

    def _table_of_h(self) -> Int64s:
        """H of every number of cases of one case's weight, up to the weight of all."""
        stop, settings = self.problem.table.n_cases + 1, self.problem.settings
        table, most = np.empty(stop, np.int64), int(self.problem.units.sum()) // settings.case_units
        cuts = range(0, stop, H_AT_A_TIME)
        self.crew.run(fill_h, [(table[first : first + H_AT_A_TIME], first, most, settings) for first in cuts])
        return table
