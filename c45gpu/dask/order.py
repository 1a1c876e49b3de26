"""The order of cases by leaf, as growing leaves it behind; whoever prunes all of them starts from it."""

from __future__ import annotations

from typing import NamedTuple

from c45gpu.kernels.level import Int32s, Int64s
from c45gpu.model.tree import ranges


class Order(NamedTuple):
    """Cases in the order of leaves, in which those of small nodes are still missing.

    Attributes
    ----------
    cases : ndarray of int32, shape (n_cases,)
        -1 where it is missing.
    first, counts : ndarray of int64, shape (m,)
        Where the cases of small nodes lie, by their numbers.
    """

    cases: Int32s
    first: Int64s
    counts: Int64s

    def fill(self, small: Int64s, cases: Int32s) -> None:
        """Write the cases of some small nodes, one node after the other."""
        self.cases[ranges(self.first[small], (self.first + self.counts)[small])] = cases
