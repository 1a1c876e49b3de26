"""Training cases on their way down: divided among branches, and sent through a finished tree for pruning.

An unknown value sends a case down every branch that holds known cases, with a share of its units in proportion to
their known weight. A *slot* is one branch of one node; the slots of node i are start[i] .. start[i + 1] - 1.
"""

from __future__ import annotations

import numpy as np

from c45gpu.formulas import units_before
from c45gpu.kernels.engine import Changes, Pairs
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.model.route import branches_taken
from c45gpu.model.tree import LEAF, Tree, ranges


def sums(row: Int64s, column: Int64s, units: Int64s, n_rows: int, n_columns: int) -> Int64s:
    """Add units up by row and column; shape (n_rows, n_columns). Exact: a total weight is below 2^52."""
    flat = np.bincount(row * n_columns + column, weights=units, minlength=n_rows * n_columns)
    return flat.astype(np.int64).reshape(n_rows, n_columns)


def divide(start: Int64s, node: Int64s, branch: Int64s, units: Int64s) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Divide instances among the branches of their nodes.

    Parameters
    ----------
    start : ndarray of int64, shape (n_nodes + 1,)
        First slot of each node.
    node, branch, units : ndarray of int64, shape (n,)
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


class Placement:
    """The training cases at the leaves of a tree that is being pruned: instances in the order of their leaves.

    All that happens below a node stays within its range of (preorder) numbers, so the instances of any node are
    neighbours, before and after its branches are cut or raised.
    """

    def __init__(self, problem: Problem, tree: Tree) -> None:
        self._table, self._n_classes = problem.table, problem.settings.n_classes
        self._classes = problem.table.classes.astype(np.int64)
        self._end = tree.end
        self._known = np.zeros(len(tree.branch), np.int64)
        n = problem.table.n_cases
        root = np.zeros(n, np.int64)
        placed = self._descend(tree, root, root, np.arange(n), problem.units, self._known)
        _, self._leaf, self._case, self._units = placed

    def known(self, tree: Tree) -> Int64s:
        """Units of the cases that take each entry of ``tree.branch`` with a known value."""
        return self._known

    def cut(self, nodes: Int64s) -> None:
        """See :meth:`c45gpu.kernels.engine.Engine.cut`."""
        here, owner = self._range(nodes, self._end[nodes])
        self._leaf[here] = nodes[owner]

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        """See :meth:`c45gpu.kernels.engine.Engine.send`."""
        pair, leaf, case, sent = self._resend(tree, pairs, self._known.copy())
        keys, inverse = np.unique(pair * len(tree.kind) + leaf, return_inverse=True)
        pair, leaf = keys // len(tree.kind), keys % len(tree.kind)
        change = sums(inverse, self._classes[case], sent, len(keys), self._n_classes) - units[leaf]
        some = change.any(axis=1)
        return Changes(np.zeros(len(pairs.top), np.bool_), pair[some], leaf[some], change[some])

    def raise_branches(self, tree: Tree, pairs: Pairs) -> Int64s:
        """See :meth:`c45gpu.kernels.engine.Engine.raise_branches`."""
        _, leaf, case, units = self._resend(tree, pairs, self._known)
        here, _ = self._range(pairs.top, self._end[pairs.top])
        rest = np.ones(len(self._leaf), np.bool_)
        rest[here] = False
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

    def _resend(self, tree: Tree, pairs: Pairs, known: Int64s) -> tuple[Int64s, Int64s, Int64s, Int64s]:
        """Send all cases of the tops down the branches: pairs, leaves, cases and units."""
        here, pair = self._range(pairs.top, self._end[pairs.top])
        keys, inverse = np.unique(pair * self._table.n_cases + self._case[here], return_inverse=True)
        units = np.bincount(inverse, weights=self._units[here], minlength=len(keys)).astype(np.int64)
        pair, case = keys // self._table.n_cases, keys % self._table.n_cases
        return self._descend(tree, pair, pairs.branch[pair], case, units, known)

    def _descend(
        self, tree: Tree, pair: Int64s, node: Int64s, case: Int64s, units: Int64s, known: Int64s
    ) -> tuple[Int64s, Int64s, Int64s, Int64s]:
        """Send instances, each of a pair and at a node, down to the leaves; sorted by leaf. Writes `known`.

        Instances of one node are of one pair here, since subtrees of different pairs do not overlap.
        """
        arrived: list[tuple[Int64s, Int64s, Int64s, Int64s]] = []
        while len(node):
            at_leaf = tree.kind[node] == LEAF
            arrived.append((pair[at_leaf], node[at_leaf], case[at_leaf], units[at_leaf]))
            pair, node, case, units = (x[~at_leaf] for x in (pair, node, case, units))
            nodes, position = np.unique(node, return_inverse=True)
            first = tree.branch_start[nodes]
            start = np.concatenate([[0], np.cumsum(tree.branch_start[nodes + 1] - first)])
            taken = branches_taken(tree, self._table, node, case)
            slot, instance, units, weight = divide(start, position, taken, units)
            entry = ranges(first, tree.branch_start[nodes + 1])
            known[entry], node = weight, tree.branch[entry[slot]]
            pair, case = pair[instance], case[instance]
        pair, node, case, units = (np.concatenate(x) for x in zip(*arrived, strict=True))
        order = np.argsort(node, kind="stable")
        return pair[order], node[order], case[order], units[order]
