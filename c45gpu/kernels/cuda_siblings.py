"""Histograms of nodes that are not counted: their parent's, less those of their siblings.

    parent      counted on the level before and kept
    siblings    counted  counted  the rest        the largest is what the others leave of the parent

No unit is lost where a case is divided, so the rest is exact. What was kept of a continuous column are running sums.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64

from c45gpu.kernels.level import Bools, Int64s

CELL_BYTES = 8
CELLS_TAKEN_OFF = 4  # cells that are read or written for each that is found so, beside one for each other sibling


class Kept(NamedTuple):
    """Histograms of the level before.

    Attributes
    ----------
    row_of : ndarray of int64, shape (m,)
        Of each open node of that level, -1 where none was kept.
    histogram : device array of int64
        Row by row.
    """

    row_of: Int64s
    histogram: Any


class Families(NamedTuple):
    """Nodes whose histograms are found by subtraction, as kernels see them."""

    node: Any  # int64[families]
    parent: Any  # int64[families]: the row that was kept
    first: Any  # int64[families]: the siblings are first..stop-1
    stop: Any  # int64[families]


class Price(NamedTuple):
    """Bytes that are read to count an instance in all columns, and cells of a node's histograms."""

    instance_bytes: int
    n_cells: int

    def is_saved(self, instances: Int64s, siblings: Int64s) -> Bools:
        """Whether counting so many instances costs more than subtracting in a family of so many."""
        saved: Bools = instances * self.instance_bytes > CELL_BYTES * self.n_cells * (siblings + CELLS_TAKEN_OFF)
        return saved

    def worth_keeping(self, instances: Int64s) -> Bools:
        """Whether a node's histograms will save something where it is divided into halves."""
        return self.is_saved(instances // 2, np.full(len(instances), 2))


def families(parent: Int64s, siblings: Int64s, count: Int64s, kept: Kept, price: Price) -> Families:
    """Families that are all there, and whose largest node is not worth counting; on the host.

    Parameters
    ----------
    parent : ndarray of int64, shape (m,)
        The parent of each node, a number among the open nodes of the level before; siblings are neighbours.
    siblings : ndarray of int64, shape (m,)
        The branches of the parent that hold cases.
    count : ndarray of int64, shape (m,)
        Instances.
    kept : Kept
    price : Price
    """
    first = np.flatnonzero(np.append(True, parent[1:] != parent[:-1]))
    stop = np.append(first[1:], len(parent))
    row = kept.row_of[parent[first]]
    here = (stop - first == siblings[first]) & (row >= 0)
    first, stop, row = first[here], stop[here], row[here]
    largest = np.array([a + int(np.argmax(count[a:b])) for a, b in zip(first, stop, strict=True)], np.int64)
    saved = price.is_saved(count[largest], stop - first)
    return Families(*(field[saved] for field in (largest, row, first, stop)))


def take_off(first: Any, continuous: Any, of: Families, kept: Any, n_classes: int, histogram: Any) -> None:
    """Make the histograms of families' largest nodes; a block for each and each column. The first two as in Codes."""
    n_columns = first.shape[0] - 1
    family, column = int64(cuda.blockIdx.x) // n_columns, int64(cuda.blockIdx.x) % n_columns
    width, begin = first[n_columns] * n_classes, first[column] * n_classes
    end, node = first[column + 1] * n_classes, of.node[family]
    for cell in range(begin + cuda.threadIdx.x, end, cuda.blockDim.x):
        rest = kept[of.parent[family] * width + cell]
        if continuous[column] and cell >= begin + n_classes:
            rest -= kept[of.parent[family] * width + cell - n_classes]
        for sibling in range(of.first[family], of.stop[family]):
            if sibling != node:
                rest -= histogram[sibling * width + cell]
        histogram[node * width + cell] = rest
