"""Send training cases through a tree that is being pruned, when no value is unknown.

Cases are numbered in the order of the leaves that they are at first, leaves in preorder, and their values are written
in this order, so those lie near each other that are sent together (looking for values where they are takes three
times as long); `order` follows the cases when branches are raised, so that those of any node stay neighbours::

    order   c0 c1 | c2 | c3 c4 c5 |          before[t] .. before[end[t]] are the cases of node t and all below it
            leaf 2  leaf 3  leaf 5
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.cpu_cells import InPlace, Memory, cells_in_order, cells_in_place
from c45gpu.kernels.cpu_crew import LEAST_TASK, Crew
from c45gpu.kernels.cpu_prune_order import all_take, order_by_leaf
from c45gpu.kernels.cpu_send import Cases, Standing, count_known, raise_pairs, walk_all
from c45gpu.kernels.cpu_sending import PART, Sender
from c45gpu.kernels.cpu_settle import Nodes, rules_of, settle
from c45gpu.kernels.cpu_walk import ROWS_AT_A_TIME, raise_over, row_type, steps_of, tested_attributes
from c45gpu.kernels.engine import Changes, Judging, Pairs
from c45gpu.kernels.level import Bools, Int32s, Int64s, Problem
from c45gpu.model.tree import LEAF, Tree

Array = npt.NDArray[Any]

SUBTREES_PER_WORKER = 8  # at least so many are pruned whole, each by one worker


class Placed(NamedTuple):
    """Cases in the order of their leaves."""

    order: Int32s
    before: Int64s  # how many cases are at leaves below each number
    values: InPlace
    classes: Int32s


class WholePlacement:
    """See :class:`c45gpu.kernels.engine.Engine` for the methods.

    Parameters
    ----------
    problem : Problem
    tree : Tree
    crew : Crew
    order : ndarray of int32, shape (n_cases,), optional
        All cases once, or some negative numbers: the order that growing has left behind. It is used if it is the order
        of this tree's leaves.
    memory : sequence of ndarray
        Arrays that nobody needs any more, to write values to.
    part : int
        See :class:`c45gpu.kernels.cpu_sending.Sender`.
    """

    def __init__(
        self,
        problem: Problem,
        tree: Tree,
        crew: Crew,
        order: Int32s | None = None,
        memory: Sequence[Array] = (),
        part: int = PART,
    ) -> None:
        self._crew, self._memory = crew, Memory(memory)
        self._table, self._tested = problem.table, tested_attributes(tree)
        self._word = row_type(self._table, self._tested)
        self._steps = steps_of(tree, self._tested, self._word)
        placed = None if order is None else self._as_grown(order, tree)
        order, before, self._values, classes = placed or self._walked(tree)
        weights = problem.units[order] if bool((problem.units != 1).any()) else np.empty(0, np.int64)
        self._cases = Cases(self._values.cells, classes, weights)
        self._standing = Standing(np.arange(len(order), dtype=np.int32), before, tree.end)
        self._sender = Sender(crew, self._standing, self._cases, self._steps, part)
        self._known = np.empty(len(tree.branch), np.int64)
        count_known(0, len(order), self._cases, self._standing, tree.branch, self._known)

    def _as_grown(self, order: Int32s, tree: Tree) -> Placed | None:
        """The cases in this order, if every case passes the tests above the leaf at which it lies then."""
        at_leaf = np.where(tree.kind == LEAF, tree.weight, 0).astype(np.int64)
        before = np.concatenate([[0], np.cumsum(at_leaf)])
        if before[-1] != len(order) or at_leaf.min() < 0 or order.min() < 0:
            return None
        (values, classes), standing = self._in_order(order), Standing(order, before, tree.end)
        inner = np.flatnonzero(tree.kind != LEAF)
        tasks = [(inner[s], values.cells, standing, self._steps) for s in self._crew.shares(standing.held(inner))]
        return Placed(order, before, values, classes) if all(self._crew.run(all_take, tasks)) else None

    def _walked(self, tree: Tree) -> Placed:
        """The cases in the order of the leaves that they get to."""
        n, values = self._table.n_cases, cells_in_place(self._table, self._tested, self._word)
        leaves, cases = np.empty(n, np.int64), np.arange(n, dtype=np.int32)
        parts = [slice(i, i + ROWS_AT_A_TIME) for i in range(0, n, ROWS_AT_A_TIME)]
        self._crew.run(walk_all, [(values.cells, cases[s], 0, self._steps, leaves[s]) for s in parts])
        order, before = np.empty(n, np.int32), np.empty(tree.n_nodes + 1, np.int64)
        order_by_leaf(leaves, cases, before, order)
        return Placed(order, before, *self._in_order(order))

    def _in_order(self, order: Int32s) -> tuple[InPlace, Int32s]:
        """The values of the cases and their classes, written in an order."""
        return cells_in_order(self._table, self._tested, self._word, order, self._crew, self._memory)

    def known(self, tree: Tree) -> Int64s:
        """Units of the cases that take each entry of ``tree.branch``."""
        return self._known

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        """What the leaves below each branch would gain if all cases of its top were sent down it."""
        return self._sender.send(units, pairs)

    def is_little(self, nodes: Int64s) -> Bools:
        """Which subtrees have so few cases that one worker prunes them whole."""
        n_cases = len(self._standing.order)
        little: Bools = self._standing.held(nodes) <= max(
            LEAST_TASK, n_cases // (SUBTREES_PER_WORKER * self._crew.size)
        )
        return little

    def settle(self, roots: Int64s, judging: Judging) -> Int64s:
        """Prune whole subtrees; see :class:`c45gpu.kernels.engine.Settling`."""
        tree, now = judging.tree, roots.copy()
        nodes = Nodes(
            tree.kind, tree.label, tree.branch_start, tree.branch, judging.units, judging.estimate, judging.entry
        )
        placed = (self._standing, self._cases, self._steps, self._known)

        def job(here: slice) -> None:
            room = self._sender.take_room(judging.units.shape)
            settle(now[here], nodes, rules_of(judging), placed, room)
            self._sender.give_room(room)

        self._crew.run(job, [(share,) for share in self._crew.shares(self._standing.held(roots) + 1)])
        return now

    def cut(self, nodes: Int64s) -> None:
        """A node's range holds what was below it already."""
        self._steps.signs["first"][self._steps.slot_of[nodes]] = 0

    def raise_branches(self, tree: Tree, pairs: Pairs) -> Int64s:
        """All cases of each top are at the leaves of its branch from now on."""

        def job(here: slice) -> None:
            some = Pairs(*(x[here] for x in pairs))
            raise_pairs(self._standing, some, self._cases, self._steps, tree.branch_start, tree.branch, self._known)

        self._crew.run(job, [(share,) for share in self._crew.shares(self._standing.held(pairs.top) + 1)])
        raise_over(self._steps, pairs.top, pairs.branch)
        return self._known
