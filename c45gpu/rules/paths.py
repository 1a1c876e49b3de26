"""From the leaves of a tree to paths of conditions.

node         0            1       2           a condition is called after the node that it leads to:
tests        x <= 3       LEAF    LEAF        1 is "x <= 3", 2 is "x > 3"; equal conditions have one *identity*

A path is the identities from the root to a leaf.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from c45gpu.kernels.cover import ABOVE, AMONG, AT_MOST, Conditions, Lists
from c45gpu.kernels.level import Int64s
from c45gpu.model.tree import DISCRETE, LEAF, THRESHOLD, Tree
from c45gpu.rules.rule import Condition

LEAST_WEIGHT: Final = 1.0  # a leaf with fewer cases makes no rule


@dataclass(frozen=True, eq=False)
class Paths:
    """The paths to the leaves of a tree that make rules, in the order of branches.

    Parameters
    ----------
    conditions : tuple of Condition
        All different conditions of the tree.
    arrays : Conditions
        The same as arrays.
    lists : Lists
        For each path the positions in `conditions`, root first.
    labels : ndarray of int64, shape (n_paths,)
        What the leaf at the end says.
    """

    conditions: tuple[Condition, ...]
    arrays: Conditions
    lists: Lists
    labels: Int64s


def paths_of(tree: Tree) -> Paths:
    """The paths of a tree to all leaves that hold a case or more."""
    identity, conditions = _identities(tree)
    leaves = np.flatnonzero((tree.kind == LEAF) & (tree.weight >= LEAST_WEIGHT)).tolist()
    parent, start = tree.parent.tolist(), [0]
    rows: list[int] = []
    for leaf in leaves:
        path, node = [], leaf
        while node:
            path.append(identity[node])
            node = parent[node]
        rows += reversed(path)
        start.append(len(rows))
    lists = Lists(np.array(start, np.int64), np.array(rows, np.int64))
    return Paths(conditions, as_arrays(conditions), lists, tree.label[leaves].astype(np.int64))


def as_arrays(conditions: tuple[Condition, ...]) -> Conditions:
    """Conditions in the form that cases are counted by."""
    signs = {"<=": AT_MOST, ">": ABOVE, "=": AMONG, "in": AMONG}
    return Conditions(
        np.array([c.attribute for c in conditions], np.int32),
        np.array([signs[c.sign] for c in conditions], np.int8),
        np.array([np.nan if c.threshold is None else c.threshold for c in conditions], np.float64),
        np.cumsum([0, *(len(c.values) for c in conditions)]),
        np.array([code for c in conditions for code in c.values], np.int32),
    )


def _identities(tree: Tree) -> tuple[list[int], tuple[Condition, ...]]:
    """For each node the identity of the condition that leads to it (0 for the root), and the conditions."""
    number: dict[Condition, int] = {}
    identity = [0] * tree.n_nodes
    for node in np.flatnonzero(tree.kind != LEAF).tolist():
        for branch, condition in zip(tree.branches(node).tolist(), conditions_of(tree, node), strict=True):
            identity[branch] = number.setdefault(condition, len(number))
    return identity, tuple(number)


def conditions_of(tree: Tree, node: int) -> list[Condition]:
    """The condition of each branch of an inner node."""
    attribute = int(tree.attribute[node])
    if tree.kind[node] == THRESHOLD:
        threshold = float(tree.threshold[node])
        return [Condition(attribute, "<=", threshold), Condition(attribute, ">", threshold)]
    of_value, branches = tree.value_map(node), range(len(tree.branches(node)))
    groups = [tuple(np.flatnonzero(of_value == b).tolist()) for b in branches]
    if tree.kind[node] == DISCRETE:
        return [Condition(attribute, "=", None, group) for group in groups]
    return [Condition(attribute, "in", None, group) for group in groups]
