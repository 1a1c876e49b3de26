"""Prune whole subtrees by Quinlan's estimates, compiled; c45gpu.induction.prune says how, and judges what is above.

Nodes are judged after their branches, as they come off a stack. A raised branch goes onto it again with all below it::

    todo    0 1 2 5 |6        6 is judged, then 5; if its branch 6 takes its place:    0 1 2 | 6

Nothing here depends on how the work is divided among workers, since subtrees share no cases and no nodes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from c45gpu.estimates import (
    ONE_WRONG,
    SIMPLER_BY,
    SOME_WRONG,
    halvings,
    log_of,
    nearly_all_wrong,
    one_less_power,
    part_wrong,
    simplest,
    squared_deviation,
    upper_errors,
)
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_send import clean, others_of, raise_one, send_one
from c45gpu.kernels.cpu_walk import step_over
from c45gpu.kernels.engine import Judging
from c45gpu.model.tree import LEAF

NONE = -1
NO_END = np.iinfo(np.int64).max


class Nodes(NamedTuple):
    """A tree that is being pruned, and what is known of its nodes; see :class:`c45gpu.kernels.engine.Judging`."""

    kind: Any  # int8[n]
    label: Any  # int32[n]
    branch_start: Any  # int64[n + 1]
    branch: Any  # int64[b]
    units: Any  # int64[n, C]
    estimate: Any  # float64[n]
    entry: Any  # int64[n]


class Rules(NamedTuple):
    """How nodes are judged."""

    log_confidence: float
    deviation: float  # squared
    case_units: float
    least_rise: float  # 0 if there is no telling
    raising: bool


def rules_of(judging: Judging) -> Rules:
    """The numbers that compiled judging needs."""
    confidence = judging.confidence
    return Rules(
        log_of(confidence),
        squared_deviation(confidence),
        float(judging.case_units),
        judging.least_rise,
        judging.raising,
    )


@compiled
def _extra_of_many(cases: Any, errors: Any, rules: Any) -> Any:
    if errors + 0.5 >= cases:
        return nearly_all_wrong(cases, errors)
    return upper_errors(cases, errors, rules.deviation)


@compiled
def extra_errors_of(cases: Any, errors: Any, rules: Any) -> Any:
    """:func:`c45gpu.estimates.extra_errors` of one leaf."""
    if errors >= ONE_WRONG:
        return _extra_of_many(cases, errors, rules)
    y = rules.log_confidence / cases
    k = halvings(y)
    none = cases * one_less_power(y, k, math.ldexp(1.0, int(k)))
    return none if errors < SOME_WRONG else part_wrong(errors, none, _extra_of_many(cases, 1.0, rules))


@compiled
def _leaf_estimate(weight: Any, most: Any, rules: Any) -> Any:
    """Estimated errors of a leaf of cases that weigh so much, and its most frequent class; 0 if nothing is there."""
    if weight == 0:
        return 0.0
    errors = (weight - most) / rules.case_units
    return errors + extra_errors_of(weight / rules.case_units, errors, rules)


@compiled
def _add_up(node: Any, nodes: Any) -> None:
    """Give an inner node the class weights of its branches."""
    nodes.units[node, :] = 0
    for e in range(nodes.branch_start[node], nodes.branch_start[node + 1]):
        for c in range(nodes.units.shape[1]):
            nodes.units[node, c] += nodes.units[nodes.branch[e], c]


@compiled
def _take_for_leaf(node: Any, nodes: Any, rules: Any) -> None:
    """Give a node the label, its old one among equals, and the estimate that it has as a leaf."""
    units = nodes.units[node]
    weight, greatest = np.int64(0), 0
    for c in range(len(units)):
        weight += units[c]
        greatest = c if units[c] > units[greatest] else greatest
    if units[nodes.label[node]] != units[greatest]:
        nodes.label[node] = greatest
    nodes.estimate[node] = _leaf_estimate(weight, units[greatest], rules)


@compiled
def _allowed(as_leaf: Any, as_tree: Any, as_branch: Any, rules: Any) -> Any:
    """By how many units a branch's errors may rise before it is out; see :func:`c45gpu.induction.prune.allowed`."""
    limit = as_tree + SIMPLER_BY
    errors = (as_leaf - SIMPLER_BY if as_leaf <= limit else limit) - as_branch + 0.5
    if rules.least_rise == 0:
        return np.int64(-1) if errors < 0 else np.int64(NO_END)
    return np.int64(math.ceil(errors / rules.least_rise))


@compiled
def _branches_of(node: Any, nodes: Any, known: Any) -> Any:
    """The sum of the branches' estimates, in order, and the branch with most known weight, of equals the last."""
    total, largest = 0.0, nodes.branch_start[node]
    for e in range(nodes.branch_start[node], nodes.branch_start[node + 1]):
        total += nodes.estimate[nodes.branch[e]]
        largest = e if known[e] >= known[largest] else largest
    return total, nodes.branch[largest]


@compiled
def _as_raised(branch: Any, n: Any, nodes: Any, room: Any, rules: Any) -> Any:
    """What a branch would be estimated at with what was sent to `n` leaves of it."""
    added, reached, _, _ = room
    estimate = nodes.estimate[branch]
    for i in range(n):
        leaf = reached[i]
        weight, most = np.int64(0), np.int64(0)
        for c in range(added.shape[1]):
            units = nodes.units[leaf, c] + added[leaf - branch, c]
            weight, most = weight + units, max(most, units)
        estimate += _leaf_estimate(weight, most, rules) - nodes.estimate[leaf]
    return estimate


@compiled
def _put_in_place(top: Any, branch: Any, n: Any, nodes: Any, room: Any) -> None:
    """Let a branch take the place of its top, with what was sent to `n` leaves of it; a leaf gets all."""
    added, reached, _, _ = room
    if nodes.kind[branch] == LEAF:
        nodes.units[branch] = nodes.units[top]
    for i in range(n):
        nodes.units[reached[i]] += added[reached[i] - branch]
    nodes.entry[branch] = nodes.entry[top]
    if nodes.entry[top] >= 0:
        nodes.branch[nodes.entry[top]] = branch


@compiled
def _judge(node: Any, nodes: Any, rules: Any, placed: Any, room: Any) -> Any:
    """Decide about an inner node; returns the branch that was raised, or NONE."""
    standing, cases, steps, known = placed
    as_leaf, (as_tree, branch) = nodes.estimate[node], _branches_of(node, nodes, known)
    as_branch, n = np.inf, 0
    if rules.raising and nodes.kind[branch] == LEAF:
        as_branch = nodes.estimate[branch] + (as_leaf - nodes.estimate[branch])
    elif rules.raising:
        allowed = _allowed(as_leaf, as_tree, nodes.estimate[branch], rules)
        if allowed >= 0:
            span = (np.int64(0), others_of(node, branch, standing))
            n, allowed = send_one((node, branch), span, allowed, standing, cases, steps, nodes.units, room)
        if allowed >= 0:
            as_branch = _as_raised(branch, n, nodes, room, rules)
    to_leaf, to_branch = simplest(as_leaf, as_tree, as_branch)
    if to_branch:
        _put_in_place(node, branch, n, nodes, room)
    clean(room, branch, n)
    if to_branch:
        raise_one(standing, node, branch, cases, steps, nodes.branch_start, nodes.branch, known)
        step_over(steps, node, branch)
        return branch
    if to_leaf:
        nodes.kind[node] = LEAF
        steps.signs[steps.slot_of[node]].first = 0
    else:
        nodes.estimate[node] = as_tree
    return NONE


@compiled
def _stack(root: Any, nodes: Any, todo: Any, n: Any, waiting: Any) -> Any:
    """Put a node and all below it onto a stack, branches above their tops; returns how many are there then."""
    waiting[0], left = root, 1
    while left > 0:
        left -= 1
        node = waiting[left]
        todo[n] = node
        n += 1
        if nodes.kind[node] != LEAF:
            for e in range(nodes.branch_start[node], nodes.branch_start[node + 1]):
                waiting[left] = nodes.branch[e]
                left += 1
    return n


@compiled
def settle(roots: Any, nodes: Any, rules: Any, placed: Any, room: Any) -> None:
    """Prune the subtrees of some nodes; in the place of `roots` come the nodes that stand in their places then."""
    end = placed[0].end
    size = (end[roots] - roots).max()
    todo, waiting = np.empty(size, np.int64), np.empty(size, np.int64)
    for r in range(len(roots)):
        n = _stack(roots[r], nodes, todo, 0, waiting)
        while n > 0:
            n -= 1
            node = todo[n]
            if nodes.kind[node] != LEAF:
                _add_up(node, nodes)
            _take_for_leaf(node, nodes, rules)
            if nodes.kind[node] != LEAF:
                raised = _judge(node, nodes, rules, placed, room)
                if raised >= 0:
                    roots[r] = raised if node == roots[r] else roots[r]
                    n = _stack(raised, nodes, todo, n, waiting)
