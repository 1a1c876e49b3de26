"""Give an engine cases that are at several nodes already, so that it goes on below nodes that were opened before.

An engine loads a root. The root is split by a test that the engine is not told of (:data:`.ELSEWHERE`), only which
branch each case takes, as if another engine had the attribute::

    rows of the part     0 1 2 3 4 5       load: one node of six cases
    node of each row     0 0 1 1 1 2       split by it: the frontier, three nodes in their order
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import ELSEWHERE, Frontier, Int64s, Problem, Splits

MOST_APART: Final = 127  # nodes at a time: the branches of a test with no more fit a byte in all engines


def load_apart(engine: Engine, problem: Problem, node: Int64s, n_nodes: int) -> Frontier:
    """Have an engine load cases that are at several open nodes.

    Parameters
    ----------
    engine : Engine
    problem : Problem
        With the cases of all of these nodes, and no others.
    node : ndarray of int64, shape (n_cases,)
        Which of the nodes each case is at; each has some.
    n_nodes : int

    Returns
    -------
    Frontier
        Of these nodes, in order.
    """
    if n_nodes == 1:
        return engine.load(problem)
    engine.load(replace(problem, forest=True, other_branches=n_nodes))
    root = np.zeros(1, np.int64)
    apart = Splits(root, root + ELSEWHERE, root - 1, np.array([0, len(node)]), node.astype(np.int32))
    return engine.split(apart).frontier
