"""Training cases on their way down: divided among branches, and sent through a finished tree for pruning.

An unknown value sends a case down every branch that holds known cases, with a share of its units in proportion to
their known weight. A *slot* is one branch of one node; the slots of node i are start[i] .. start[i + 1] - 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c45gpu.formulas import units_before
from c45gpu.kernels.engine import Changes, Pairs
from c45gpu.kernels.level import Int32s, Int64s, Problem
from c45gpu.model.route import branches_taken
from c45gpu.model.tree import LEAF, Tree, ranges


def sums(row: Int64s, column: Int64s, units: Int64s, n_rows: int, n_columns: int) -> Int64s:
    """Add units up by row and column; shape (n_rows, n_columns). Exact: a total weight is below 2^52."""
    flat = np.bincount(row * n_columns + column, weights=units, minlength=n_rows * n_columns)
    return flat.astype(np.int64).reshape(n_rows, n_columns)


def divide(
    start: Int64s, node: Int64s, branch: Int64s | Int32s, units: Int64s
) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Divide instances among the branches of their nodes.

    Parameters
    ----------
    start : ndarray of int64, shape (n_nodes + 1,)
        First slot of each node.
    node, branch, units : ndarray of integers, shape (n,)
        The instances: their node, the branch that they take (negative: unknown) and their weight.

    Returns
    -------
    slot, instance, units : ndarray of int64
        Instances at the branches in the order of slots and, within one, of `instance`, the number of what they were.
    known : ndarray of int64, shape (n_slots,)
        Units of the cases with a known value at each slot.
    """
    known = branch >= 0
    slot = start[node[known]] + branch[known]
    instance = np.flatnonzero(known)
    weight = np.bincount(slot, weights=units[known], minlength=start[-1])  # exact: the total is below 2^52
    if not known.all():
        extra = _shares(start, weight, node[~known], units[~known])
        slot = np.concatenate([slot, extra[0]])
        instance = np.concatenate([instance, np.flatnonzero(~known)[extra[1]]])
        units = np.concatenate([units[known], extra[2]])
    order = np.lexsort((instance, slot))
    return slot[order], instance[order], units[order], weight.astype(np.int64)


def _shares(start: Int64s, weight: np.ndarray, node: Int64s, units: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Slot, position and units of each share of instances with an unknown value; shares of no unit are dropped."""
    running = np.concatenate([[0.0], np.cumsum(weight)])
    owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
    total = running[start[1:]] - running[start[:-1]]
    slots = np.flatnonzero(weight > 0)
    upto = (running[slots + 1] - running[start[owner[slots]]]) / total[owner[slots]]
    before = (running[slots] - running[start[owner[slots]]]) / total[owner[slots]]
    first = np.searchsorted(owner[slots], np.arange(len(start)))
    here = ranges(first[node], first[node + 1])
    position = np.repeat(np.arange(len(node)), first[node + 1] - first[node])
    share = (units_before(units[position], upto[here]) - units_before(units[position], before[here])).astype(np.int64)
    some = share > 0
    return slots[here[some]], position[some], share[some]


class Sent(NamedTuple):
    """Instances that arrived at leaves, in the order of those, and the numbers of the instances that they replace."""

    pair: Int64s
    leaf: Int64s
    case: Int64s
    units: Int64s
    gone: Int64s


class Placement:
    """The training cases at the leaves of a tree that is being pruned: instances in the order of their leaves.

    All that happens below a node stays within its range of (preorder) numbers, so the instances of any node are
    neighbours, before and after its branches are cut or raised.

    Cases that join a node change nothing for those that are there already, as long as all values there are known: so
    only what joins is sent down. From a node with an unknown value on, whose shares change, all its cases are.
    """

    def __init__(self, problem: Problem, tree: Tree) -> None:
        self._table, self._n_classes = problem.table, problem.settings.n_classes
        self._classes = problem.table.classes.astype(np.int64)
        self._end = tree.end
        self._known = np.zeros(len(tree.branch), np.int64)
        self._unknown = np.zeros(tree.n_nodes, np.bool_)  # whether a case at the node has no known value for its test
        self._leaf = self._case = self._units = np.zeros(0, np.int64)
        root, cases = np.zeros(problem.table.n_cases, np.int64), np.arange(problem.table.n_cases)
        _, self._leaf, self._case, self._units, _ = self._descend(tree, root, root, cases, problem.units)

    def known(self, tree: Tree) -> Int64s:
        """Units of the cases that take each entry of ``tree.branch`` with a known value."""
        return self._known

    def class_units(self, n_nodes: int) -> Int64s:
        """Units of each class that are at each node, which must be a leaf to hold any; shape (n_nodes, C)."""
        return sums(self._leaf, self._classes[self._case], self._units, n_nodes, self._n_classes)

    def cases_below(self, node: int) -> tuple[Int64s, Int64s]:
        """The cases at the leaves below a node, ascending, and the units that each has there."""
        first, stop = np.searchsorted(self._leaf, [node, self._end[node]])
        cases, which = np.unique(self._case[first:stop], return_inverse=True)
        return cases, np.bincount(which, self._units[first:stop], len(cases)).astype(np.int64)

    def cut(self, nodes: Int64s) -> None:
        """See :meth:`c45gpu.kernels.engine.Engine.cut`."""
        here, owner = self._range(nodes, self._end[nodes])
        self._leaf[here] = nodes[owner]

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        """See :meth:`c45gpu.kernels.engine.Engine.send`."""
        kept = self._known, self._unknown
        self._known, self._unknown = self._known.copy(), self._unknown.copy()
        pair, leaf, case, sent, gone = self._join(tree, pairs)
        self._known, self._unknown = kept
        owner = np.searchsorted(pairs.top, self._leaf[gone], side="right") - 1
        key = np.concatenate([pair, owner]) * len(tree.kind) + np.concatenate([leaf, self._leaf[gone]])
        keys, inverse = np.unique(key, return_inverse=True)
        classes = self._classes[np.concatenate([case, self._case[gone]])]
        signed = np.concatenate([sent, -self._units[gone]])
        change = sums(inverse, classes, signed, len(keys), self._n_classes)
        some = change.any(axis=1)
        pair, leaf = keys[some] // len(tree.kind), keys[some] % len(tree.kind)
        return Changes(np.zeros(len(pairs.top), np.bool_), pair, leaf, change[some])

    def raise_branches(self, tree: Tree, pairs: Pairs) -> Int64s:
        """See :meth:`c45gpu.kernels.engine.Engine.raise_branches`."""
        _, leaf, case, units, gone = self._join(tree, pairs)
        rest = np.ones(len(self._leaf), np.bool_)
        rest[gone] = False
        rest[self._outside(pairs)[0]] = False
        leaf = np.concatenate([self._leaf[rest], leaf])
        order = np.argsort(leaf, kind="stable")
        self._leaf = leaf[order]
        self._case = np.concatenate([self._case[rest], case])[order]
        self._units = np.concatenate([self._units[rest], units])[order]
        return self._known

    def _range(self, first: Int64s, stop: Int64s) -> tuple[Int64s, Int64s]:
        """The instances at nodes first..stop-1 for each of several ranges, and which range each is of."""
        start, end = np.searchsorted(self._leaf, first), np.searchsorted(self._leaf, stop)
        return ranges(start, end), np.repeat(np.arange(len(first)), end - start)

    def _outside(self, pairs: Pairs) -> tuple[Int64s, Int64s]:
        """The instances below each top that are not below its branch, and which top each is below."""
        before, pair = self._range(pairs.top, pairs.branch)
        after, other = self._range(self._end[pairs.branch], self._end[pairs.top])
        return np.concatenate([before, after]), np.concatenate([pair, other])

    def _join(self, tree: Tree, pairs: Pairs) -> Sent:
        """Send what is below each top and not below its branch down that branch. Writes what is known of nodes."""
        here, pair = self._outside(pairs)
        pair, case, units = self._merged(pair, self._case[here], self._units[here])
        return self._descend(tree, pair, pairs.branch[pair], case, units)

    def _merged(self, node: Int64s, case: Int64s, units: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """One instance for each node and case."""
        keys, inverse = np.unique(node * self._table.n_cases + case, return_inverse=True)
        total = np.bincount(inverse, weights=units, minlength=len(keys)).astype(np.int64)
        return keys // self._table.n_cases, keys % self._table.n_cases, total

    def _descend(self, tree: Tree, pair: Int64s, node: Int64s, case: Int64s, units: Int64s) -> Sent:
        """Send instances, each of a pair and at a node, down to the leaves."""
        pair_of = np.zeros(tree.n_nodes, np.int64)
        pair_of[node] = pair
        fresh = np.zeros(tree.n_nodes, np.bool_)  # all cases of the node are on their way
        none = np.zeros(0, np.int64)
        arrived, gone = [(none, none, none, none)], [none]
        while len(node):
            at_leaf = tree.kind[node] == LEAF
            arrived.append((pair_of[node[at_leaf]], node[at_leaf], case[at_leaf], units[at_leaf]))
            node, case, units = (x[~at_leaf] for x in (node, case, units))
            taken = branches_taken(tree, self._table, node, case)
            self._unknown[node[taken < 0]] = True
            nodes = np.unique(node)
            stirred = nodes[self._unknown[nodes] & ~fresh[nodes]]
            if len(stirred):
                here, owner = self._range(stirred, self._end[stirred])
                gone.append(here)
                node, case, units = self._merged(
                    np.concatenate([node, stirred[owner]]),
                    np.concatenate([case, self._case[here]]),
                    np.concatenate([units, self._units[here]]),
                )
                fresh[stirred] = True
                taken = branches_taken(tree, self._table, node, case)
            first, stop = tree.branch_start[nodes], tree.branch_start[nodes + 1]
            entry = ranges(first, stop)
            start = np.concatenate([[0], np.cumsum(stop - first)])
            slot, instance, units, weight = divide(start, np.searchsorted(nodes, node), taken, units)
            again = np.repeat(fresh[nodes], stop - first)
            self._known[entry] = np.where(again, 0, self._known[entry]) + weight
            below = tree.branch[entry]
            fresh[below] = again
            pair_of[below] = np.repeat(pair_of[nodes], stop - first)
            node, case = below[slot], case[instance]
        pair, node, case, units = (np.concatenate(x) for x in zip(*arrived, strict=True))
        order = np.argsort(node, kind="stable")
        return Sent(pair[order], node[order], case[order], units[order], np.concatenate(gone))
