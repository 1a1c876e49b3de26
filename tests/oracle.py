"""C4.5 in plain, slow Python, straight from the specification: what the package is held against.

It imports nothing from c45gpu and shares no idea with it but the rules of its arithmetic: weights are whole numbers of
units, shares of unknown cases are rounded down to units, and of equally good tests the first wins. Information is
taken with 50 digits, so what differs by less than one part in 10^30 is equal.

A tree is a nested dictionary in the format of the golden files: type, leaf, items, errors, dist and, at an inner node,
att, cut (of a threshold) and branches.

This file prunes and predicts (sections 8 and 9); oracle_grow.py grows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from tests.oracle_groups import strike_out_impossible_values
from tests.oracle_grow import (
    Case,
    Json,
    Node,
    Problem,
    Settings,
    Training,
    Value,
    as_document,
    as_read,
    grow,
    shares,
    single,
)
from tests.recursion import deep_recursion

__all__ = ["Json", "Problem", "Settings", "Value", "class_sums", "train"]


# ---------------------------------------------------------------- error-based pruning, on cases
def extra_errors(n: float, e: float, confidence: float) -> float:
    """The errors that a leaf of n cases with e errors is expected to make on new cases, above e."""
    none = n * (1 - math.exp(math.log(confidence) / n))
    if e < 1e-6:
        return none
    if e < 0.9999:
        return none + e * (extra_errors(n, 1.0, confidence) - none)
    if e + 0.5 >= n:
        return 0.67 * (n - e)
    q = deviation(confidence) ** 2
    rate = (e + 0.5 + q / 2 + math.sqrt(q * ((e + 0.5) * (1 - (e + 0.5) / n) + q / 4))) / (n + q)
    return n * rate - e


def deviation(confidence: float) -> float:
    """The standard deviations that go with a confidence, interpolated in the original's table."""
    levels = [0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00]
    deviations = [4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00]
    i = next(i for i, level in enumerate(levels) if confidence <= level)
    part = (confidence - levels[i - 1]) / (levels[i] - levels[i - 1])
    return deviations[i - 1] + part * (deviations[i] - deviations[i - 1])


def estimate(training: Training, node: Node, cases: list[Case], update: bool) -> float:
    """Expected errors of a subtree for some cases; with `update` it is pruned and its numbers are rewritten."""
    tally = training.tally(cases)
    best = node.label
    for c, units in enumerate(tally):
        best = c if units > tally[best] else best
    wrong = training.as_cases(sum(tally) - tally[best])
    as_leaf = wrong + extra_errors(training.as_cases(sum(tally)), wrong, training.settings.confidence)
    if update:
        node.label, node.units, node.class_units, node.errors = best, sum(tally), tally, as_leaf
    if not node.branches:
        return as_leaf
    largest, most, as_tree = None, 0, 0.0
    for branch, (part, known) in zip(node.branches, shares(training, node, cases), strict=True):
        if known:
            largest, most = (branch, known) if known >= most else (largest, most)
            as_tree += estimate(training, branch, part, update)
    if update:
        decide(training, node, cases, as_leaf, as_tree, largest)
        return float(node.errors)
    return as_tree


def decide(
    training: Training, node: Node, cases: list[Case], as_leaf: float, as_tree: float, largest: Node | None
) -> None:
    """Leave a node as it is, make it a leaf, or put its largest branch in its place."""
    as_branch = math.inf if largest is None else estimate(training, largest, cases, False)
    if as_leaf <= as_branch + 0.1 and as_leaf <= as_tree + 0.1:
        node.branches, node.attribute, node.threshold, node.errors = [], -1, None, as_leaf
    elif largest is not None and as_branch <= as_tree + 0.1:
        estimate(training, largest, cases, True)
        node.__dict__.update(largest.__dict__)
    else:
        node.errors = as_tree


# ---------------------------------------------------------------- pessimistic pruning, on the numbers in the tree
def prune_pessimistically(training: Training, node: Node) -> None:
    """Quinlan 1987, from the root down."""
    n, wrong = training.as_cases(node.units), training.as_cases(node.units - node.class_units[node.label])
    below = [leaf for leaf in leaves(node) if leaf.units]
    cost = sum(training.as_cases(leaf.units - leaf.class_units[leaf.label]) for leaf in below) + len(below) / 2
    if node.branches and wrong + 0.5 <= cost + math.sqrt(max(0.0, cost * (n - cost)) / max(n, 1e-300)):
        node.branches, node.attribute, node.threshold = [], -1, None
    node.errors = cost if node.branches else wrong + 0.5 if node.units else 0.0
    for branch in node.branches:
        prune_pessimistically(training, branch)


def leaves(node: Node) -> Iterator[Node]:
    if not node.branches:
        yield node
    for branch in node.branches:
        yield from leaves(branch)


# ---------------------------------------------------------------- trees, and what they say
@deep_recursion()
def train(problem: Problem, settings: Settings, guide: Json | None = None) -> tuple[Json, Json]:
    """The tree as grown and the pruned tree.

    A guide is an unpruned tree: where it has a test that is as good as the best but for rounding, that test is taken.
    """
    training = Training(problem, settings)
    tree = grow(training, training.cases, frozenset(), guide)
    unpruned = as_document(training, tree, as_grown=True)
    if settings.prune == "none":
        return unpruned, unpruned
    if settings.prune == "pep":
        prune_pessimistically(training, tree)
    else:
        estimate(training, tree, training.cases, update=True)
    strike_out_impossible_values(training, tree)
    return unpruned, as_document(training, tree, as_grown=False)


@deep_recursion()
def class_sums(problem: Problem, settings: Settings, tree: Json, row: Sequence[Value]) -> list[Fraction]:
    """What a tree says of a case: a weight for each class, 1 in all, without any rounding."""
    sums = [Fraction(0)] * problem.n_classes
    open_nodes = [(tree, Fraction(1))]
    values = as_read(problem, settings, row)
    while open_nodes:
        node, weight = open_nodes.pop()
        if node["type"] != "leaf":
            b = branch_taken(settings, node, values[node["att"]])
            if b is not None:
                open_nodes.append((node["branches"][b], weight))
            else:
                items = Fraction(node["items"])
                open_nodes += [(below, weight * Fraction(below["items"]) / items) for below in node["branches"]]
        elif node["items"] > 0:
            part = weight / Fraction(node["items"])
            sums = [s + part * Fraction(units) for s, units in zip(sums, node["dist"], strict=True)]
        else:
            sums[node["leaf"]] += weight
    return sums


def branch_taken(settings: Settings, node: Json, value: Value) -> int | None:
    """None where the value is unknown, or has no branch."""
    if value is None:
        return None
    if node["type"] == "threshold":
        return int(value > (node["cut"] if settings.compat is None else single(node["cut"])))
    if node["type"] == "subset":
        return next((b for b, values in enumerate(node["subsets"]) if value + 1 in values), None)
    return int(value) if value < len(node["branches"]) else None
