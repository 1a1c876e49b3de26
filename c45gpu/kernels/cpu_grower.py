"""What both growers of the CPU engine have: sorted lists, the table of H, and ranks for the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Floats
from c45gpu.formulas import q_log_q
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_groups import fill_tables
from c45gpu.kernels.cpu_lists import UNKNOWN_CODE, Lists
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
        self.most_branches = int(self.n_branches.max(initial=problem.other_branches))

    def distinct(self, attribute: int) -> Floats:
        """Sorted distinct values of a continuous column."""
        values = self._distinct[attribute]
        assert values is not None
        return values

    def codes_of(self, attribute: int) -> npt.NDArray[Any]:
        """The codes of a discrete attribute by row; unknown ones are negative, or :data:`UNKNOWN_CODE` of a byte."""
        column, listed = self.columns.code_of[attribute], self.columns.list_code_of[attribute]
        codes: npt.NDArray[Any] = self.columns.codes[:, column] if column >= 0 else self.columns.list_codes[listed]
        return codes

    def tables_of(self, attribute: int, first: Int64s, count: Int64s, units: Int64s) -> Int64s:
        """Class weights by value of the nodes whose rows lie there; `units` are by entry, or none for counts."""
        codes = self.codes_of(attribute)
        unknown = UNKNOWN_CODE if codes.dtype == np.uint8 else -1
        shape = (len(first), int(self.n_branches[attribute]), self.problem.settings.n_classes)
        tables = np.empty(shape, np.int64)
        jobs = [(first[s], count[s], tables[s]) for s in self.crew.shares(count)]

        def job(first: Int64s, count: Int64s, tables: Int64s) -> None:
            fill_tables(self.lists[-1], self.layout, first, count, codes, unknown, units, tables)

        self.crew.run(job, jobs)
        return tables

    def to_ranks(self, attribute: Int64s, below: Int64s, above: Int64s) -> None:
        """Replace the rows on both sides of a cut by the ranks of their values, where they are known."""
        for a in np.unique(attribute[below >= 0]).tolist():
            if self.columns.list_of[a] >= 0 and self._distinct[a] is not None:
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
