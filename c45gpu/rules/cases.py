"""The training cases as rules see them: whole, each with its weight, and known by what they cost to describe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.formulas import log2_of
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.kernels.level import Int64s

Float64s = npt.NDArray[np.float64]


MOST_LOGARITHMS: Final = 1 << 22  # 32 MB; searching for rules looks up some thousands of them thousands of times


@dataclass(frozen=True, eq=False)
class RuleCases:
    """Training cases, each of positive weight and with a class.

    Parameters
    ----------
    table : Table
    units : ndarray of int64, shape (n_cases,)
        Weights; the units are as large as they can be.
    unit_bits : int
        A unit is 2^-unit_bits of a case; below 0 where all weights are even.
    """

    table: Table
    units: Int64s
    unit_bits: int

    @cached_property
    def total(self) -> int:
        """Weight of all cases, in units."""
        return int(self.units.sum())

    @cached_property
    def class_units(self) -> Int64s:
        """Weight of each class, in units; shape (C,)."""
        n_classes = self.table.schema.n_classes
        units = np.zeros(n_classes, np.int64)
        np.add.at(units, self.table.classes, self.units)
        return units

    @cached_property
    def default_error(self) -> Float64s:
        """The error of a rule without conditions for each class, of which rules must be better; shape (C,)."""
        error: Float64s = 1.0 - (self.cases(self.class_units) + 1.0) / (self.cases(self.total) + 2.0)
        return error

    def cases(self, units: Any) -> Any:
        """Weights in cases, exactly."""
        return units * 2.0**-self.unit_bits

    def log2(self, units: Any) -> Any:
        """log2 of weights above 0, in cases."""
        return log2_of(units) - self.unit_bits

    def log2_of_units(self, units: Any) -> Any:
        """log2 of weights above 0 and up to twice that of all cases, in units; looked up where that is quicker."""
        return log2_of(units) if 2 * self.total >= MOST_LOGARITHMS else self._logarithms[units]

    @cached_property
    def _logarithms(self) -> Float64s:
        return np.append(0.0, log2_of(np.arange(1, 2 * self.total + 1)))


def rule_cases(table: Table, options: Options) -> RuleCases:
    """What rules are made on: the cases of a table as the learner reads them.

    Raises
    ------
    DataError
        When there is nothing to learn from.
    """
    problem = pose(table, options)
    common = int(np.bitwise_or.reduce(problem.units))
    shift = (common & -common).bit_length() - 1
    unit_bits = problem.settings.case_units.bit_length() - 1 - shift
    return RuleCases(problem.table, problem.units >> shift, unit_bits)
