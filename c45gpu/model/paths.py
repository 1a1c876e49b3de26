"""The ways from the root to nodes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from c45gpu.model.tree import Tree

Int64s = npt.NDArray[np.int64]


def nodes_above(tree: Tree, nodes: Int64s) -> tuple[Int64s, Int64s]:
    """The nodes on the way from the root to each of some nodes, with those themselves.

    Parameters
    ----------
    tree : Tree
    nodes : ndarray of int64, shape (k,)
        Node numbers, any of them any number of times.

    Returns
    -------
    which : ndarray of int64, shape (m,)
        Which of `nodes` it is, ascending.
    above : ndarray of int64, shape (m,)
        A node on its way, from the root down.
    """
    which, here = np.arange(len(nodes)), nodes
    pairs = []
    while len(here):
        pairs.append((which, here))
        up = tree.parent[here]
        which, here = which[up >= 0], up[up >= 0]
    all_which = np.concatenate([np.empty(0, np.int64), *(which for which, _ in pairs)])
    above = np.concatenate([np.empty(0, np.int64), *(here for _, here in pairs)])
    order = np.lexsort((above, all_which))
    return all_which[order], above[order]
