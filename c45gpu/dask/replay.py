"""The levels that a tree has grown, by values: what brings new shares, of whatever engine, to where others were.

An engine's own name of a cut is good for its own lists only; a threshold is good for all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.level import Int64s, Splits

Floats = npt.NDArray[np.float64]


class Tests(NamedTuple):
    """The tests of a level.

    Attributes
    ----------
    splits : Splits
        What it says of cuts is good for the engines that found them.
    threshold : ndarray of float64, shape (k,)
        NaN for other tests than cuts.
    """

    splits: Splits
    threshold: Floats

    def branch(self, values: npt.NDArray[Any], split: Int64s) -> Int64s:
        """The branch of each value of one attribute, -1 for an unknown one; `split` says which split each is for."""
        if values.dtype.kind == "f":
            side = (values > self.threshold[split]).astype(np.int64)
            return np.where(np.isnan(values), -1, side)
        branch, start = values.astype(np.int64), self.splits.group_start
        grouped = np.flatnonzero((np.diff(start)[split] > 0) & (branch >= 0))
        branch[grouped] = self.splits.group_branch[start[split[grouped]] + branch[grouped]]
        return branch


class Past(NamedTuple):
    """What a run has done so far.

    Attributes
    ----------
    small : int
        Nodes up to this weight, in cases, were grown on one worker.
    levels : list of Tests
    """

    small: int
    levels: list[Tests]
