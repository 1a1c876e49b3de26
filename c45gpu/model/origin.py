"""Where the nodes of a pruned tree come from: which node of the tree as grown each of them is.

Pruning leaves a node as it is, makes a leaf of it, or puts a branch in its place (and perhaps a branch of that):

    as grown     a           pruned    a            a is kept, c is cut: it became a leaf, d and e are gone;
               b   c                 f   c          f was raised into the place of b; g is gone
              f g d e

A test occurs once on a path, so a node with the test of the one at its place is the same node; otherwise it was raised
from below. Where several nodes below could be it, one that holds what is below it is taken, and of these the one that
most of the largest branches lead to, as these are what pruning raises. That is a guess where subtrees are alike.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.model.tree import DISCRETE, LEAF, SUBSET, THRESHOLD, Tree

Int64s = npt.NDArray[np.int64]
Test = tuple[int, int, float, tuple[int, ...]]


class Origin(NamedTuple):
    """How the nodes of a pruned tree lie in the tree as grown.

    Attributes
    ----------
    node : ndarray of int64, shape (n_pruned,)
        The node of the tree as grown that each node of the pruned tree is.
    place : ndarray of int64, shape (n_pruned,)
        The node in whose place it is; the node itself, unless it was raised.
    """

    node: Int64s
    place: Int64s


def origin_of(unpruned: Tree, pruned: Tree) -> Origin:
    """Find each node of a pruned tree in the tree that it was pruned from.

    Parameters
    ----------
    unpruned, pruned : Tree

    Returns
    -------
    Origin

    Raises
    ------
    ValueError
        When the pruned tree cannot have come from the other.
    """
    finder = _Finder(unpruned, pruned)
    node, place = np.zeros((2, pruned.n_nodes), np.int64)
    for p in range(pruned.n_nodes):  # parents come first
        node[p] = place[p] if pruned.kind[p] == LEAF else finder.find(p, int(place[p]))
        children = pruned.branches(p)
        place[children] = unpruned.branches(int(node[p]))[: len(children)]
    return Origin(node, place)


class _Finder:
    def __init__(self, unpruned: Tree, pruned: Tree) -> None:
        self._unpruned, self._pruned = unpruned, pruned
        self._end = unpruned.end.tolist()
        self._where: dict[Test, list[int]] = {}  # the nodes of each test, ascending
        for node in np.flatnonzero(unpruned.kind != LEAF).tolist():
            self._where.setdefault(_test_of(unpruned, node), []).append(node)
        self._tests = {p: _test_of(pruned, p) for p in np.flatnonzero(pruned.kind != LEAF).tolist()}

    def find(self, p: int, place: int) -> int:
        """The node at or below a place that the inner node p of the pruned tree is."""
        found = self._within(self._tests[p], place)
        if not found:
            raise ValueError(f"node {p} of the pruned tree is not in the tree as grown")
        if len(found) == 1 or found[0] == place:
            return found[0]
        return max(found, key=lambda node: (self._holds(p, node), -self._smaller_branches(place, node)))

    def _smaller_branches(self, place: int, node: int) -> int:
        """How many branches on the way from a place to a node below it are not the largest of theirs."""
        tree, count = self._unpruned, 0
        while node != place:
            parent = int(tree.parent[node])
            branches = tree.branches(parent)
            weights = tree.weight[branches]
            count += int(branches[np.flatnonzero(weights == weights.max())[-1]]) != node
            node = parent
        return count

    def _within(self, test: Test, node: int) -> list[int]:
        """The nodes with a test in a subtree."""
        where = self._where.get(test, [])
        return where[bisect_left(where, node) : bisect_left(where, self._end[node])]

    def _holds(self, p: int, node: int) -> bool:
        """Whether the branches of a node hold the tests that are below the branches of p."""
        branches = self._unpruned.branches(node).tolist()
        for child, branch in zip(self._pruned.branches(p).tolist(), branches, strict=False):
            below = range(child, int(self._pruned.end[child]))
            if not all(self._within(self._tests[q], branch) for q in below if q in self._tests):
                return False
        return True


def _test_of(tree: Tree, node: int) -> Test:
    """What a node tests; of groups of values the first, as pruning may strike values out of the last."""
    kind, attribute = int(tree.kind[node]), int(tree.attribute[node])
    if kind == THRESHOLD:
        return kind, attribute, float(tree.threshold[node]), ()
    first = np.flatnonzero(tree.value_map(node) == 0).tolist() if kind == SUBSET else []
    return (kind if kind == SUBSET else DISCRETE), attribute, 0.0, tuple(first)
