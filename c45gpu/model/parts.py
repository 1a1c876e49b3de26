"""Which of the cases at a node arrived there in parts, because a value was unknown above."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.model.predict import leaf_shares
from c45gpu.model.tree import Tree

Float64s = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]


def shares_in_parts(tree: Tree, table: Table) -> Float64s:
    """The share of the weight at each node that belongs to cases of which other parts went elsewhere.

    Parameters
    ----------
    tree : Tree
    table : Table
        Its attributes are those of the tree's schema.

    Returns
    -------
    ndarray of float64, shape (n_nodes,)
        From 0 to 1; 0 where no case comes.
    """
    found = leaf_shares(tree, table)
    weight = found.shares if table.weights is None else found.shares * table.weights[found.cases]
    _, first, which, count = np.unique(found.cases, return_index=True, return_inverse=True, return_counts=True)
    divided = count > 1
    parted = np.zeros(len(first), np.int64)
    parted[divided] = _parted(tree, found.leaves[first[divided]], found.leaves[(first + count - 1)[divided]])
    there = divided[which]
    arrived, whole_above = found.leaves[there], parted[which[there]]
    all_of_node = _below(tree, found.leaves, weight)
    parts = _below(tree, arrived, weight[there]) - _below(tree, whole_above, weight[there])
    some = all_of_node > 0
    return np.clip(np.divide(parts, all_of_node, out=np.zeros(tree.n_nodes), where=some), 0.0, 1.0)


def _parted(tree: Tree, first: Int64s, last: Int64s) -> Int64s:
    """The deepest node above both leaves of each pair, the first of which has the lower number."""
    node = first.copy()
    apart = tree.end[node] <= last
    while apart.any():
        node[apart] = tree.parent[node[apart]]
        apart = tree.end[node] <= last
    return node


def _below(tree: Tree, nodes: Int64s, weight: Float64s) -> Float64s:
    """The weight at and below each node; what lies at a node itself counts too."""
    running = np.concatenate([[0.0], np.cumsum(np.bincount(nodes, weight, tree.n_nodes))])
    below: Float64s = running[tree.end] - running[:-1]
    return below
