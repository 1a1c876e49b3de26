"""Prunings that judge by counts at the nodes alone; error-based pruning, which moves cases, is in prune.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.errors import OptionError
from c45gpu.estimates import interval_limit, pessimistic_limit, totals_and_greatest, wrong_as_leaves
from c45gpu.kernels.descend import Placement
from c45gpu.kernels.level import Bools, Int64s, Problem
from c45gpu.model.tree import LEAF, Tree, ranges

Floats = npt.NDArray[np.float64]


def pessimistically_pruned(tree: Tree, standard_errors: float = 1.0) -> Tree:
    """Pessimistic error pruning (Quinlan 1987), from the top down on the counts of the tree as grown.

    A node becomes a leaf if its errors as one, plus 1/2, are at most those of its subtree's leaves, plus 1/2 for each
    leaf that holds cases, plus standard errors of that sum. The errors of the pruned tree are these corrected ones.
    """
    as_leaf = np.where(tree.weight > 0, _errors(tree) + 0.5, 0.0)
    cost = np.where(tree.kind == LEAF, as_leaf, 0.0)
    for level in reversed(tree.levels[1:]):
        np.add.at(cost, tree.parent[level], cost[level])
    cut = (tree.kind != LEAF) & (as_leaf <= pessimistic_limit(cost, tree.weight, standard_errors))
    return _with_leaves(tree, cut, np.where(cut, as_leaf, cost))


def interval_pruned(tree: Tree, confidence: float) -> Tree:
    """Prune by the upper end of the score interval of the error rate, from the bottom up.

    A leaf is expected to make its cases times :func:`c45gpu.estimates.interval_limit` errors; a node becomes one if
    that is no more than what its branches are expected to make together.
    """
    held = tree.weight > 0
    rate = _errors(tree) / np.where(held, tree.weight, 1.0)
    as_leaf = np.where(held, tree.weight * interval_limit(rate, np.where(held, tree.weight, 1.0), confidence), 0.0)
    return _bottom_up(tree, as_leaf, 1.0)


def labels_of(units: Int64s, label: npt.NDArray[np.integer[Any]]) -> Int64s:
    """The most frequent class of nodes with these class weights; of equals the old label if it is one of them."""
    other = np.flatnonzero(units[np.arange(len(units)), label] != totals_and_greatest(units)[1])
    labels = label.astype(np.int64)
    labels[other] = units[other].argmax(1)
    return labels


class Held(NamedTuple):
    """Cases to grow on, and cases to prune with."""

    growing: Table
    pruning: Table


def held_out(table: Table, share: float, seed: int) -> Held:
    """Hold out a share of the cases of each class, drawn at random.

    Raises
    ------
    OptionError
        When no case would be left on either side.
    """
    chance = np.random.default_rng(seed)
    order = chance.permutation(table.n_cases)
    order = order[np.argsort(table.classes[order], kind="stable")]
    counts = np.bincount(table.classes, minlength=table.schema.n_classes)
    first = np.cumsum(counts) - counts
    chosen = order[ranges(first, first + np.rint(counts * share).astype(np.int64))]
    if len(chosen) in (0, table.n_cases):
        n = table.n_cases
        raise OptionError(f"held_out={share!r} leaves no case on one side of {n}: give another share or more cases")
    inside = np.ones(table.n_cases, np.bool_)
    inside[chosen] = False
    return Held(table.take(inside), table.take(~inside))


def reduced_error_pruned(tree: Tree, pruning: Problem) -> Tree:
    """Reduced-error pruning, from the bottom up on cases that the tree was not grown on.

    A node becomes a leaf of its class if that gets no more of these cases wrong than its subtree. The errors of the
    pruned tree are theirs, in proportion to the weight that it was grown on.

    A case with an unknown value is divided among branches as in training, by the other held-out cases there; where
    none of them has a known value either, they tell nothing and do not count.
    """
    units = Placement(pruning, tree).class_units(tree.n_nodes)
    for level in reversed(tree.levels[1:]):
        np.add.at(units, tree.parent[level], units[level])
    wrong = units.sum(1) - units[np.arange(tree.n_nodes), tree.label]
    scale = float(tree.weight[0]) / max(float(units[0].sum()), 1.0)
    return _bottom_up(tree, wrong.astype(np.float64), scale)


def _errors(tree: Tree) -> Floats:
    """Weight of the cases at each node that it gets wrong as a leaf."""
    errors: Floats = np.where(tree.weight > 0, wrong_as_leaves(tree.class_weights), 0.0)
    return errors


def _bottom_up(tree: Tree, as_leaf: Floats, scale: float) -> Tree:
    """Make leaves of the nodes that cost no more as one than their branches do, which may have become leaves."""
    cost = np.where(tree.kind == LEAF, as_leaf, 0.0)
    cut = np.zeros(tree.n_nodes, np.bool_)
    for level in reversed(tree.levels):
        inner: Int64s = level[tree.kind[level] != LEAF]
        cut[inner] = as_leaf[inner] <= cost[inner]
        cost[inner[cut[inner]]] = as_leaf[inner[cut[inner]]]
        below = level[tree.parent[level] >= 0]
        np.add.at(cost, tree.parent[below], cost[below])
    return _with_leaves(tree, cut, cost * scale)


def _with_leaves(tree: Tree, cut: Bools, errors: Floats) -> Tree:
    """The tree with some nodes as leaves, and new errors."""
    below = np.zeros(tree.n_nodes + 1, np.int64)  # how many cut nodes' subtrees start less how many end
    np.add.at(below, np.flatnonzero(cut) + 1, 1)
    np.add.at(below, tree.end[cut], -1)
    kind = np.where(cut, LEAF, tree.kind).astype(np.int8)
    return subset(replace(tree, kind=kind, errors=errors), np.cumsum(below[:-1]) == 0)


def subset(tree: Tree, alive: Bools) -> Tree:
    """Only the living nodes of a tree, in their order; leaves lose the tests that they had."""
    number = np.cumsum(alive) - 1
    inner = tree.kind[alive] != LEAF
    n_branches = np.where(inner, np.diff(tree.branch_start)[alive], 0)
    n_values = np.where(inner, np.diff(tree.value_start)[alive], 0)
    branch_first, value_first = tree.branch_start[:-1][alive], tree.value_start[:-1][alive]
    return Tree(
        kind=tree.kind[alive],
        attribute=np.where(inner, tree.attribute[alive], -1).astype(np.int32),
        threshold=np.where(inner, tree.threshold[alive], np.nan),
        branch_start=np.concatenate([[0], np.cumsum(n_branches)]),
        branch=number[tree.branch[ranges(branch_first, branch_first + n_branches)]],
        value_start=np.concatenate([[0], np.cumsum(n_values)]),
        value_branch=tree.value_branch[ranges(value_first, value_first + n_values)],
        label=tree.label[alive],
        weight=tree.weight[alive],
        errors=tree.errors[alive],
        class_weights=tree.class_weights[alive],
    )
