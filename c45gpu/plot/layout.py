"""Where the nodes of a picture stand: no two of them, and no two labels of branches, ever overlap.

    parent                     depth 0      every subtree has a span of its own across, at least as wide as its widest
      |____________            lines        box or label and as its branches together; every depth has a band for its
    label       label          depth 1      labels, one for its boxes, and one for the lines that come from above
    box         box

*Across* is the direction in which branches lie side by side, *along* the one from the root to the leaves.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.model.tree import LEAF, Tree

Floats = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]

GAP_ACROSS: Final = 12.0  # points between neighbours
GAP_OF_LINES: Final = 24.0  # points for the lines from a node to its branches


class Part(NamedTuple):
    """The nodes of a tree that are drawn, in preorder.

    Attributes
    ----------
    nodes : ndarray of int64, shape (k,)
    parent : ndarray of int64, shape (k,)
        Positions among `nodes`, -1 for the root.
    depth : ndarray of int64, shape (k,)
    below : ndarray of int64, shape (k,)
        How many nodes are left out below each.
    """

    nodes: Int64s
    parent: Int64s
    depth: Int64s
    below: Int64s


class Places(NamedTuple):
    """Where the boxes and labels of a picture are, in points.

    Attributes
    ----------
    centre : ndarray of float64, shape (k,)
        Across, of a box and of the label of the branch that leads to it.
    label, box : ndarray of float64, shape (k,)
        Where they begin, along.
    size : (float, float)
        Of the whole, across and along.
    """

    centre: Floats
    label: Floats
    box: Floats
    size: tuple[float, float]


def part_of(tree: Tree, max_depth: int | None, most_nodes: int) -> Part:
    """The nodes down to a depth; without one, down to where they are at most so many."""
    sizes = np.cumsum([len(level) for level in tree.levels])
    if max_depth is None:
        max_depth = max(0, int(np.searchsorted(sizes, most_nodes, side="right")) - 1)
    levels = tree.levels[: max_depth + 1]
    nodes = np.sort(np.concatenate(levels))
    depth = np.empty(tree.n_nodes, np.int64)
    for d, level in enumerate(levels):
        depth[level] = d
    parent = np.searchsorted(nodes, tree.parent[nodes])
    parent[0] = -1
    cut = (depth[nodes] == max_depth) & (tree.kind[nodes] != LEAF)
    return Part(nodes, parent, depth[nodes], np.where(cut, tree.end[nodes] - nodes - 1, 0))


def place(part: Part, box: Floats, label: Floats) -> Places:
    """Give every node its place.

    Parameters
    ----------
    part : Part
    box, label : ndarray of float64, shape (k, 2)
        Extents of the box of a node, and of the label of the branch that leads to it, across and along.

    Returns
    -------
    Places
    """
    own = np.maximum(box[:, 0], label[:, 0])
    span, inside = _spans(part.parent.tolist(), own.tolist())
    centre = _centres(part.parent.tolist(), own.tolist(), span, inside)
    n_levels = int(part.depth.max()) + 1
    boxes, labels = np.zeros(n_levels), np.zeros(n_levels)
    np.maximum.at(boxes, part.depth, box[:, 1])
    np.maximum.at(labels, part.depth, label[:, 1])
    ends = np.cumsum(boxes + labels + GAP_OF_LINES) - GAP_OF_LINES
    first = (ends - boxes)[part.depth]
    return Places(np.array(centre), first - label[:, 1], first, (span[0], float(ends[-1])))


def _spans(parent: list[int], own: list[float]) -> tuple[list[float], list[float]]:
    """How much each subtree takes across, and how much of it the branches take."""
    inside, span = [-GAP_ACROSS] * len(parent), own.copy()
    for i in range(len(parent) - 1, -1, -1):
        span[i] = max(own[i], inside[i])
        if i:
            inside[parent[i]] += span[i] + GAP_ACROSS
    return span, inside


def _centres(parent: list[int], own: list[float], span: list[float], inside: list[float]) -> list[float]:
    """Every node in the middle of its branches, as far as its span reaches."""
    start = [0.0] * len(parent)
    following = [0.0] * len(parent)  # where the next branch begins
    for i in range(len(parent)):
        if i:
            start[i] = following[parent[i]]
            following[parent[i]] += span[i] + GAP_ACROSS
        following[i] = start[i] + (span[i] - max(inside[i], 0.0)) / 2
    centre, first, last = [0.0] * len(parent), [0.0] * len(parent), [-1.0] * len(parent)
    for i in range(len(parent) - 1, -1, -1):
        middle = (first[i] + last[i]) / 2 if last[i] >= 0 else start[i] + span[i] / 2
        centre[i] = min(max(middle, start[i] + own[i] / 2), start[i] + span[i] - own[i] / 2)
        if i:
            first[parent[i]] = centre[i]
            last[parent[i]] = max(last[parent[i]], centre[i])
    return centre
