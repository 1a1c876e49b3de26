"""The tree: one array for each field of a node, nodes numbered in preorder.

    node      0          1         2          3       4
    kind      THRESHOLD  LEAF      THRESHOLD  LEAF    LEAF
    branches  1 2        -         3 4        -       -
              ^branch[branch_start[0]:branch_start[1]]

A node's subtree is the contiguous range [node, end[node]), branches come in their order, and a parent has a lower
number than its branches. Nothing here recurses, so a tree may be as deep as it likes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

LEAF: Final = 0  # the four kinds carry the numbers that the original writes into its .tree files
DISCRETE: Final = 1
THRESHOLD: Final = 2
SUBSET: Final = 3


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree of n nodes over C classes.

    Parameters
    ----------
    kind : ndarray of int8, shape (n,)
        LEAF, DISCRETE (one branch for each value), THRESHOLD (branch 0: value <= threshold, branch 1: value >
        threshold) or SUBSET (one branch for each group of values).
    attribute : ndarray of int32, shape (n,)
        The attribute tested, a number of the schema; -1 at a leaf.
    threshold : ndarray of float64, shape (n,)
        NaN where the node has none.
    branch_start : ndarray of int64, shape (n + 1,)
        The branches of node i are ``branch[branch_start[i]:branch_start[i + 1]]``.
    branch : ndarray of int64, shape (n - 1,)
        Node numbers.
    value_start : ndarray of int64, shape (n + 1,)
        ``value_branch[value_start[i] + code]`` is the branch (0, 1, ...) that a DISCRETE or SUBSET node i gives to a
        value, -1 for none; codes at or above ``value_start[i + 1] - value_start[i]`` have none either.
    value_branch : ndarray of int32
        The maps of all nodes, one behind the other.
    label : ndarray of int32, shape (n,)
        The class that the node stands for.
    weight : ndarray of float64, shape (n,)
        Weight of the training cases at the node, in cases; 0 at an empty branch.
    errors : ndarray of float64, shape (n,)
        Of a tree as grown: weight of the training cases below that their leaves get wrong. Of a pruned tree: the
        estimated errors of the pruning method.
    class_weights : ndarray of float64, shape (n, C)
        Weight of the training cases of each class; at an empty branch a copy of its parent's.
    """

    kind: npt.NDArray[np.int8]
    attribute: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float64]
    branch_start: npt.NDArray[np.int64]
    branch: npt.NDArray[np.int64]
    value_start: npt.NDArray[np.int64]
    value_branch: npt.NDArray[np.int32]
    label: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float64]
    errors: npt.NDArray[np.float64]
    class_weights: npt.NDArray[np.float64]

    @property
    def n_nodes(self) -> int:
        """All nodes, empty leaves included (the original's "size")."""
        return len(self.kind)

    @property
    def n_leaves(self) -> int:
        """All leaves, empty ones included."""
        return int((self.kind == LEAF).sum())

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.class_weights.shape[1])

    @cached_property
    def parent(self) -> npt.NDArray[np.int64]:
        """The parent of each node, -1 for the root; shape (n,)."""
        parent = np.full(self.n_nodes, -1, np.int64)
        parent[self.branch] = np.repeat(np.arange(self.n_nodes), np.diff(self.branch_start))
        return parent

    @cached_property
    def levels(self) -> tuple[npt.NDArray[np.int64], ...]:
        """The node numbers of each depth, ascending, from the root down."""
        levels, nodes = [], np.zeros(1, np.int64)
        while len(nodes):
            levels.append(nodes)
            nodes = self.branch[ranges(self.branch_start[nodes], self.branch_start[nodes + 1])]
        return tuple(levels)

    @property
    def depth(self) -> int:
        """Edges on the longest path from the root."""
        return len(self.levels) - 1

    @cached_property
    def end(self) -> npt.NDArray[np.int64]:
        """One past the last node of each node's subtree; shape (n,)."""
        end = np.arange(1, self.n_nodes + 1)
        inner = [level[self.kind[level] != LEAF] for level in self.levels]
        for nodes in reversed(inner):
            end[nodes] = end[self.branch[self.branch_start[nodes + 1] - 1]]
        return end

    def branches(self, node: int) -> npt.NDArray[np.int64]:
        """The branches of one node, in order.

        Parameters
        ----------
        node : int
            Its number.

        Returns
        -------
        ndarray of int64
            Node numbers; none at a leaf.
        """
        return self.branch[self.branch_start[node] : self.branch_start[node + 1]]

    def value_map(self, node: int) -> npt.NDArray[np.int32]:
        """The branch that each value of a DISCRETE or SUBSET node's attribute takes.

        Parameters
        ----------
        node : int
            Its number.

        Returns
        -------
        ndarray of int32
            For each code the number of a branch, -1 for none.
        """
        return self.value_branch[self.value_start[node] : self.value_start[node + 1]]

    def walk(self) -> Iterator[tuple[int, int]]:
        """Nodes in preorder, each with its depth.

        Returns
        -------
        iterator of (int, int)
            Node number and depth; the root has depth 0.
        """
        depth = np.empty(self.n_nodes, np.int64)
        for d, level in enumerate(self.levels):
            depth[level] = d
        return zip(range(self.n_nodes), depth.tolist(), strict=True)

    def equals(self, other: Tree) -> bool:
        """Whether both trees are the same in every bit.

        Parameters
        ----------
        other : Tree
            What this tree is held against.

        Returns
        -------
        bool
            False also where only an estimate or a weight differs.
        """
        pairs = [(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)

    def digest(self) -> str:
        """A hash over all fields, the same for equal trees.

        Returns
        -------
        str
            SHA-256 in hexadecimal.
        """
        whole = hashlib.sha256()
        for f in fields(self):
            array: npt.NDArray[Any] = getattr(self, f.name)
            whole.update(f"{f.name} {array.dtype.str} {array.shape}\n".encode())
            whole.update(np.ascontiguousarray(array).tobytes())
        return whole.hexdigest()


def ranges(first: npt.NDArray[np.int64], stop: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The numbers of several ranges one after the other: ``ranges([2, 7], [4, 8])`` is ``[2, 3, 7]``."""
    length = stop - first
    skip = np.repeat(first - np.concatenate([[0], np.cumsum(length)[:-1]]), length) if len(length) else first
    return skip + np.arange(len(skip))
