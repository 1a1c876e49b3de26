"""A tree put together from nodes that come one after the other, in preorder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c45gpu.model.soft import SoftThresholds
from c45gpu.model.tree import LEAF, THRESHOLD, Tree


class Node(NamedTuple):
    """A node as it is read.

    Parameters
    ----------
    kind : int
        LEAF, DISCRETE, THRESHOLD or SUBSET.
    label : int
    weight, errors : float
    class_weights : sequence of float
    attribute : int
        -1 at a leaf.
    threshold, lower, upper : float
        NaN where there is none; the latter two are where a soft threshold begins and ends to matter.
    n_branches : int
    branch_of_code : sequence of int
        For a test of values the branch of each, -1 for none.
    """

    kind: int
    label: int
    weight: float
    errors: float
    class_weights: Sequence[float]
    attribute: int = -1
    threshold: float = np.nan
    lower: float = np.nan
    upper: float = np.nan
    n_branches: int = 0
    branch_of_code: Sequence[int] = ()


def tree_of(nodes: Sequence[Node]) -> Tree:
    """The tree of all its nodes.

    Parameters
    ----------
    nodes : sequence of Node
        In preorder, and neither too few nor too many of them.
    """
    parents = _parents(nodes)
    branch = np.argsort(parents[1:], kind="stable") + 1  # by parent, and those of one parent in their order
    counts = [node.n_branches for node in nodes]
    return Tree(
        kind=np.array([node.kind for node in nodes], np.int8),
        attribute=np.array([node.attribute for node in nodes], np.int32),
        threshold=np.array([node.threshold if node.kind == THRESHOLD else np.nan for node in nodes], np.float64),
        branch_start=np.cumsum([0, *counts], dtype=np.int64),
        branch=branch.astype(np.int64),
        value_start=np.cumsum([0, *(len(node.branch_of_code) for node in nodes)], dtype=np.int64),
        value_branch=np.array([branch for node in nodes for branch in node.branch_of_code], np.int32),
        label=np.array([node.label for node in nodes], np.int32),
        weight=np.array([node.weight for node in nodes], np.float64),
        errors=np.array([node.errors for node in nodes], np.float64),
        class_weights=np.array([node.class_weights for node in nodes], np.float64),
    )


def soft_thresholds_of(nodes: Sequence[Node]) -> SoftThresholds | None:
    """The soft thresholds of all nodes, if there is one."""
    if all(node.lower == node.threshold == node.upper for node in nodes if node.kind == THRESHOLD):
        return None
    return SoftThresholds(*(np.array([getattr(node, bound) for node in nodes]) for bound in ("lower", "upper")))


def _parents(nodes: Sequence[Node]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The parent of each node, -1 for the root."""
    parents = np.full(len(nodes), -1, np.int64)
    above: list[list[int]] = []  # nodes whose branches are not all there, and how many are missing
    for number, node in enumerate(nodes):
        if above:
            parents[number] = above[-1][0]
            above[-1][1] -= 1
            if above[-1][1] == 0:
                above.pop()
        if node.kind != LEAF:
            above.append([number, node.n_branches])
    return parents
