"""How well a tree classifies cases whose classes are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.model.predict import predicted_classes
from c45gpu.model.tree import Tree

Float64s = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What became of the cases that have a class.

    Parameters
    ----------
    size : int
        Nodes of the tree, empty leaves included.
    n_cases : int
        The number of cases with a class, whatever they weigh.
    confusion : ndarray of float64, shape (C, C)
        Weight of the cases by true class (row) and predicted class (column).
    estimate : float
        The errors that pruning expects on unseen cases, in percent. Only a pruned tree has such an estimate; of a tree
        as grown this is its rate of training errors.
    costs : ndarray of float64, shape (C, C), optional
        What it costs to take a case of a class (row) for one of another (column).
    """

    size: int
    n_cases: int
    confusion: Float64s
    estimate: float
    costs: Float64s | None = None

    @property
    def cost(self) -> float | None:
        """The mean cost of a case, by weight; None where mistakes have no costs, 0 where there are no cases."""
        if self.costs is None:
            return None
        return float((self.confusion * self.costs).sum()) / self.weight if self.weight > 0 else 0.0

    @property
    def weight(self) -> float:
        """Weight of all cases counted."""
        return float(self.confusion.sum())

    @property
    def errors(self) -> float:
        """Weight of the cases that were given another class than theirs."""
        return float(self.confusion[~np.eye(len(self.confusion), dtype=bool)].sum())

    @property
    def error_percent(self) -> float:
        """Errors in percent of the weight, 0 where there are no cases."""
        return 100 * self.errors / self.weight if self.weight > 0 else 0.0

    @property
    def accuracy(self) -> float:
        """The part of the weight that was given its class; NaN where there are no cases."""
        return float(np.trace(self.confusion)) / self.weight if self.weight > 0 else float("nan")

    @cached_property
    def precision(self) -> Float64s:
        """For each class: of what was taken for it, the part that is; NaN where nothing was. Shape (C,)."""
        return _ratio(np.diagonal(self.confusion), self.confusion.sum(axis=0))

    @cached_property
    def recall(self) -> Float64s:
        """For each class: of what is of it, the part that was recognised; NaN where nothing is. Shape (C,)."""
        return _ratio(np.diagonal(self.confusion), self.confusion.sum(axis=1))

    @cached_property
    def f1(self) -> Float64s:
        """For each class the harmonic mean of precision and recall; NaN for a class neither true nor predicted."""
        both = self.confusion.sum(axis=0) + self.confusion.sum(axis=1)
        return _ratio(2 * np.diagonal(self.confusion), both)

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the classes present, as true or as predicted ones; NaN where there are no cases."""
        present = self.f1[~np.isnan(self.f1)]
        return float(present.mean()) if len(present) else float("nan")


def evaluate(
    tree: Tree,
    classes: npt.NDArray[np.integer[Any]],
    frequencies: Float64s,
    weights: Float64s | None = None,
    costs: Float64s | None = None,
) -> Evaluation:
    """Hold the classes that a tree predicts against the true ones.

    Parameters
    ----------
    tree : Tree
        Whose predictions they are.
    classes : ndarray of int, shape (n_cases,)
        True classes. Cases with -1 have none and are left out.
    frequencies : ndarray of float64, shape (n_cases, C)
        What :func:`~c45gpu.model.predict.class_frequencies` says of the same cases.
    weights : ndarray of float64, shape (n_cases,), optional
        None means that every case weighs 1.
    costs : ndarray of float64, shape (C, C), optional
        What it costs to take a case of a class (row) for one of another (column); the class of the least expected
        cost is predicted then.

    Returns
    -------
    Evaluation
        Errors, confusion matrix, and what follows from them.
    """
    counted = classes >= 0
    predicted = predicted_classes(frequencies[counted], costs)
    pairs = classes[counted].astype(np.int64) * tree.n_classes + predicted
    counted_weights = None if weights is None else weights[counted]
    confusion = np.bincount(pairs, counted_weights, tree.n_classes**2).astype(np.float64)
    confusion = confusion.reshape(tree.n_classes, tree.n_classes)
    return Evaluation(tree.n_nodes, int(counted.sum()), confusion, _estimate(tree), costs)


def _estimate(tree: Tree) -> float:
    return 100 * float(tree.errors[0]) / float(tree.weight[0]) if tree.weight[0] > 0 else 0.0


def _ratio(part: Float64s, whole: Float64s) -> Float64s:
    ratio = np.full(len(whole), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio
