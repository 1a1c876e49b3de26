"""Class frequencies at the leaves that a case reaches, whole or in fractions.

A case starts at the root with share 1. A known value with a branch takes it with the whole share; an unknown value, or
a value without a branch, takes every branch with that branch's part of the node's weight:

    node of weight 14, share 1, value unknown
    branches         0      1      2          weights 5, 4, 5
    shares          5/14   4/14   5/14
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.model.route import branches_taken
from c45gpu.model.soft import SoftThresholds, low_shares
from c45gpu.model.tree import LEAF, Tree, ranges

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]

CASES_AT_A_TIME: Final = 1 << 17  # a level of a deep tree costs some 0.1 ms whatever the number of cases
SHARES_AT_A_TIME: Final = 1 << 21  # 24 bytes each, and some temporaries of the same length: about 200 MB


class Shares(NamedTuple):
    """How cases divide over leaves (or, on their way, over nodes); one row for each pair of a case and a node."""

    cases: Int64s
    leaves: Int64s
    shares: Float64s


def leaf_shares(tree: Tree, table: Table, soft: SoftThresholds | None = None) -> Shares:
    """The leaves that each case reaches, and with which share.

    Parameters
    ----------
    tree : Tree
    table : Table
        Its attributes are those of the tree's schema; its codes too, other codes count as values without a branch.
    soft : SoftThresholds, optional
        See :func:`class_frequencies`.

    Returns
    -------
    cases, leaves : ndarray of int64, shape (r,)
        Pairs of a case and a leaf (a node number), sorted by case, then leaf. Every case has at least one, unless no
        branch of a node has any weight (no tree that was trained is like that).
    shares : ndarray of float64, shape (r,)
        ``share * weight[branch] / weight[node]`` multiplied out from the root, in this order of operations. Above 0: a
        branch of weight 0 is entered by a known value only.
    """
    parts = [found._replace(cases=found.cases + first) for first, _, found in _in_chunks(tree, table, soft)]
    return Shares(*(np.concatenate(arrays) for arrays in zip(_no_shares(), *parts, strict=True)))


def class_frequencies(tree: Tree, table: Table, soft: SoftThresholds | None = None) -> Float64s:
    """The class frequencies of each case.

    Parameters
    ----------
    tree : Tree
        What is asked.
    table : Table
        See :func:`leaf_shares`.
    soft : SoftThresholds, optional
        Where a value lies between the bounds of a threshold, the case takes both branches, with the parts that
        :func:`c45gpu.model.soft.low_shares` gives.

    Returns
    -------
    ndarray of float64, shape (n_cases, n_classes)
        The sum of ``share * (class weight of the leaf / weight of the leaf)`` over the leaves that the case reaches,
        added in the order of the leaves; a leaf of weight 0 gives its share to its label. A row depends on no other
        case, so neither chunks nor the order of rows change a bit of it. Rows sum to 1 but for rounding, as far as the
        tree's weights do: at each node the branches sum to the node, and at each leaf the classes to the leaf.
    """
    frequencies = np.empty((table.n_cases, tree.n_classes))
    for first, stop, found in _in_chunks(tree, table, soft):
        frequencies[first:stop] = frequencies_of_shares(tree, found.cases, found.leaves, found.shares, stop - first)
    return frequencies


def frequencies_of_shares(tree: Tree, cases: Int64s, leaves: Int64s, shares: Float64s, n_cases: int) -> Float64s:
    """Class frequencies from the shares that an engine found; see :func:`class_frequencies`.

    Parameters
    ----------
    tree : Tree
    cases, leaves : ndarray of int64, shape (r,)
        Sorted by case, then leaf: the sums are taken in this order.
    shares : ndarray of float64, shape (r,)
    n_cases : int

    Returns
    -------
    ndarray of float64, shape (n_cases, n_classes)
    """
    probabilities = leaf_probabilities(tree)
    frequencies = np.empty((n_cases, tree.n_classes))
    for c in range(tree.n_classes):
        # bincount adds one weight after the other, as they come; np.sum and reduceat would pair them up
        frequencies[:, c] = np.bincount(cases, shares * probabilities[leaves, c], n_cases)
    return frequencies


def predicted_classes(frequencies: Float64s, costs: Float64s | None = None) -> npt.NDArray[np.int32]:
    """The class that each row of class frequencies is for.

    Parameters
    ----------
    frequencies : ndarray of float64, shape (n, C)
        As :func:`class_frequencies` gives them.
    costs : ndarray of float64, shape (C, C), optional
        What it costs to take a case of a class (row) for one of another (column).

    Returns
    -------
    ndarray of int32, shape (n,)
        The most frequent class; with costs the one of the least expected cost, ``sum_i frequency_i * cost[i, class]``.
        Of equals the first.
    """
    worth = frequencies
    if costs is not None:
        worth = np.zeros_like(frequencies)
        for i in range(len(costs)):  # one after the other: the same bits everywhere
            worth -= frequencies[:, i, None] * costs[i]
    classes: npt.NDArray[np.int32] = np.argmax(worth, axis=1).astype(np.int32)
    return classes


def leaf_probabilities(tree: Tree) -> Float64s:
    """Each node's class weights as parts of its weight; where that is 0 all of it is the label's."""
    empty = tree.weight <= 0
    probabilities = tree.class_weights / np.where(empty, 1.0, tree.weight)[:, None]
    probabilities[empty] = tree.label[empty, None] == np.arange(tree.n_classes)
    return probabilities


def _in_chunks(tree: Tree, table: Table, soft: SoftThresholds | None) -> Iterator[tuple[int, int, Shares]]:
    """Ranges of cases in their order, with their shares, cases counted from the start of the range."""
    ends = range(table.n_cases, 0, -CASES_AT_A_TIME)
    pending = [(max(0, stop - CASES_AT_A_TIME), stop) for stop in ends]
    while pending:
        first, stop = pending.pop()
        found = _shares_of_range(tree, table, soft, first, stop)
        if found is None:
            middle = (first + stop) // 2
            pending += [(middle, stop), (first, middle)]
        else:
            yield first, stop, found


def _shares_of_range(tree: Tree, table: Table, soft: SoftThresholds | None, first: int, stop: int) -> Shares | None:
    """The shares of cases first..stop-1, or None where they are so many that the range should be halved."""
    n_cases = stop - first
    here = Shares(np.arange(n_cases), np.zeros(n_cases, np.int64), np.ones(n_cases))
    arrived, held = [_no_shares()], 0
    while len(here.cases):
        at_leaf = tree.kind[here.leaves] == LEAF
        arrived.append(_take(here, at_leaf))
        held += len(arrived[-1].cases)
        here = _one_level_down(tree, table, soft, first, _take(here, ~at_leaf))
        if held + len(here.cases) > SHARES_AT_A_TIME and n_cases > 1:
            return None
    found = Shares(*(np.concatenate(arrays) for arrays in zip(*arrived, strict=True)))
    return _take(found, np.argsort(found.cases * tree.n_nodes + found.leaves))


def _one_level_down(tree: Tree, table: Table, soft: SoftThresholds | None, first: int, here: Shares) -> Shares:
    cases, nodes, shares = here
    if not len(cases):
        return here
    taken = branches_taken(tree, table, nodes, cases + first)
    known, parts = taken >= 0, []
    if soft is not None:
        low = low_shares(tree, soft, table, nodes, cases + first)
        by_threshold = ~np.isnan(low)
        parts = _over_both_branches(tree, _take(here, by_threshold), low[by_threshold])
        known &= ~by_threshold
    parts.append(Shares(cases[known], tree.branch[tree.branch_start[nodes[known]] + taken[known]], shares[known]))
    if (taken < 0).any():
        parts.append(_over_all_branches(tree, _take(here, taken < 0)))
    return parts[0] if len(parts) == 1 else Shares(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _over_both_branches(tree: Tree, here: Shares, low: Float64s) -> list[Shares]:
    """Cases at thresholds, with the parts of them that take the low branch: those that take it, and the others."""
    cases, nodes, shares = here
    first = tree.branch_start[nodes]
    parts = [Shares(cases, tree.branch[first + b], shares * part) for b, part in enumerate((low, 1.0 - low))]
    return [_take(part, part.shares > 0) for part in parts]


def _over_all_branches(tree: Tree, here: Shares) -> Shares:
    cases, nodes, shares = here
    start, stop = tree.branch_start[nodes], tree.branch_start[nodes + 1]
    row = np.repeat(np.arange(len(nodes)), stop - start)
    children = tree.branch[ranges(start, stop)]
    parts = shares[row] * tree.weight[children] / tree.weight[nodes[row]]
    return _take(Shares(cases[row], children, parts), parts > 0)


def _take(shares: Shares, chosen: npt.NDArray[np.bool_] | Int64s) -> Shares:
    return Shares(shares.cases[chosen], shares.leaves[chosen], shares.shares[chosen])


def _no_shares() -> Shares:
    return Shares(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
