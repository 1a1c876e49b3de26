"""Learning when mistakes have costs, as C5.0 does it: a tree is grown as ever, and its leaves say what costs least.

Of two classes the one whose cases cost more when they are missed also weighs more while the tree grows and is pruned.
Afterwards the weights are the cases' own again, as the expected cost of a label is taken from them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.model.decide import errors_of_labels, with_least_cost_labels
from c45gpu.model.store import Model
from c45gpu.model.tree import Tree

Float64s = npt.NDArray[np.float64]

FACTOR_BITS: Final = 20  # factors are so short that a whole weight times one, divided by it, is that weight again


def class_factors(table: Table, costs: Float64s) -> Float64s:
    """What the weights of the cases of each class are multiplied by while a tree is grown; shape (C,).

    Of two classes in proportion to the costs of missing them, the total weight staying as it is but for rounding
    (one in a million). Of more classes, or where a mistake costs nothing, all 1.
    """
    if len(costs) != 2:
        return np.ones(len(costs))
    return factors_of(np.bincount(table.classes, table.weights, 2).astype(np.float64), costs)


def factors_of(weights: Float64s, costs: Float64s) -> Float64s:
    """What :func:`class_factors` says of cases with these weights of each class."""
    missed = costs.sum(1)
    if len(costs) != 2 or not missed.all():
        return np.ones(len(costs))
    mantissa, exponent = np.frexp(missed * (weights.sum() / (weights * missed).sum()))
    factors: Float64s = np.ldexp(np.rint(mantissa * 2**FACTOR_BITS), exponent - FACTOR_BITS)
    return factors


def scaled(table: Table, factors: Float64s) -> Table:
    """The table with weights multiplied by the factors of their classes."""
    if (factors == 1).all():
        return table
    weights = np.ones(table.n_cases) if table.weights is None else table.weights
    return replace(table, weights=weights * factors[table.classes])


def decided_by_cost(model: Model, costs: Float64s, factors: Float64s) -> Model:
    """A model of scaled weights with the cases' own, and labels that cost least.

    The errors of the tree as grown are those of its labels; those that pruning expects of the pruned one are left as
    they are, so of two classes they weigh what they cost.
    """
    unpruned, pruned = (
        with_least_cost_labels(_unscaled(tree, factors), costs) for tree in (model.unpruned, model.pruned)
    )
    unpruned = replace(unpruned, errors=errors_of_labels(unpruned))
    record = model.record | {"weight": float(pruned.weight[0])}
    return replace(model, unpruned=unpruned, pruned=pruned, record=record, costs=costs)


def _unscaled(tree: Tree, factors: Float64s) -> Tree:
    class_weights = tree.class_weights / factors
    return replace(tree, class_weights=class_weights, weight=np.where(tree.weight > 0, class_weights.sum(1), 0.0))
