"""From what a leaf holds to what it says: smoothed probabilities, and classes by what mistakes cost.

Both come as a tree whose leaves differ and whose weights do not, so every engine routes it as any other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from c45gpu.errors import OptionError
from c45gpu.model.predict import predicted_classes
from c45gpu.model.tree import LEAF, Tree

Float64s = npt.NDArray[np.float64]


def smoothed(tree: Tree) -> Tree:
    """The tree with Laplace's law of succession at its leaves: (n_c + 1) / (n + C) is the probability of class c.

    n is the weight of the training cases at the leaf, n_c that of class c, C the number of classes. What an unknown
    value sends down each branch stays as it is, and a leaf without cases stays with its label.
    """
    leaf = (tree.kind == LEAF) & (tree.weight > 0)
    weight = np.where(leaf, tree.weight, 1.0)[:, None]
    smooth = weight * ((tree.class_weights + 1.0) / (weight + tree.n_classes))
    return replace(tree, class_weights=np.where(leaf[:, None], smooth, tree.class_weights))


def as_costs(costs: npt.ArrayLike, n_classes: int) -> Float64s:
    """A matrix of costs, if it is one.

    Parameters
    ----------
    costs : array_like, shape (n_classes, n_classes)
        What it costs to take a case of a class (row) for one of another (column).
    n_classes : int

    Raises
    ------
    OptionError
        When it has another shape, or a cost that is negative or not finite, or one of a case that is taken for what
        it is.
    """
    try:
        matrix = np.array(costs, np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.shape != (n_classes, n_classes):
        raise OptionError(f"the costs are not numbers in {n_classes} rows and columns: give one for each two classes")
    wrong = ~(np.isfinite(matrix) & (matrix >= 0))
    if wrong.any():
        i, j = np.argwhere(wrong)[0].tolist()
        raise OptionError(f"it costs {matrix[i, j]} to take class {i} for class {j}: give a number from 0 on")
    if np.diagonal(matrix).any():
        c = int(np.flatnonzero(np.diagonal(matrix))[0])
        raise OptionError(f"it costs {matrix[c, c]} to take class {c} for itself: give 0")
    return matrix


def with_least_cost_labels(tree: Tree, costs: Float64s) -> Tree:
    """The tree with each node labelled by the class that would cost least there; see :func:`predicted_classes`."""
    return replace(tree, label=predicted_classes(tree.class_weights, costs))


def errors_of_labels(tree: Tree) -> Float64s:
    """Weight of the training cases that the leaves below each node get wrong by their labels; shape (n,)."""
    right = np.take_along_axis(tree.class_weights, tree.label[:, None].astype(np.int64), axis=1)[:, 0]
    errors = np.where((tree.kind == LEAF) & (tree.weight > 0), tree.weight - right, 0.0)
    for level in reversed(tree.levels[1:]):
        np.add.at(errors, tree.parent[level], errors[level])
    return errors
