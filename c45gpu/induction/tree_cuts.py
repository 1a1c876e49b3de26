"""Cuts of one column by a small C4.5 tree of that column alone."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.formulas import q_log_q, scale_bits_for
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.tree import LEAF, Tree


def tree_cuts(
    values: npt.NDArray[Any], classes: npt.NDArray[np.int32], most: int, min_cases: int, engine: str
) -> list[float]:
    """Where a column is cut, in ascending order.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        Without NaN.
    classes : ndarray of int32, shape (n,)
        0, 1, ...
    most : int
        So many cuts are enough.
    min_cases : int
        Both sides of a cut hold so many cases.
    engine : str
        See :func:`c45gpu.induction.train.train`.

    Returns
    -------
    list of float
        Thresholds: a value that does not exceed one is below it.
    """
    options = Options(min_cases=min_cases, prune="none")
    if not len(values):
        return []
    names = tuple(map(str, range(int(classes.max()) + 1)))
    table = Table(Schema((Attribute("x", "continuous"),), names), [values], classes)
    return best_thresholds(train(table, options, engine).unpruned, most)


def best_thresholds(tree: Tree, most: int) -> list[float]:
    """Thresholds of a tree of whole cases, at most so many, in ascending order.

    From the root down, the test is taken next that gains the most information, of equals the one that stands first.
    """
    units = np.rint(tree.class_weights).astype(np.int64)
    bits = scale_bits_for(int(units[0].sum()))
    information = q_log_q(units.sum(1), bits) - q_log_q(units, bits).sum(1)
    gain = information.copy()
    np.subtract.at(gain, tree.parent[1:], information[1:])
    found: list[float] = []
    waiting = [(-int(gain[0]), 0)] if tree.kind[0] != LEAF else []
    while waiting and len(found) < most:
        node = heappop(waiting)[1]
        found.append(float(tree.threshold[node]))
        for branch in tree.branches(node).tolist():
            if tree.kind[branch] != LEAF:
                heappush(waiting, (-int(gain[branch]), branch))
    return sorted(found)
