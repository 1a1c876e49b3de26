"""Go on with a tree that was grown in part: send the cases down to its open nodes, and grow below these.

Which engine has grown it so far does not matter, nor which goes on: the tree tells everything. The open nodes are given
to the engine some at a time (:mod:`.apart`), each with the cases that are at it, or the parts of cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from c45gpu.data.table import Table
from c45gpu.induction.apart import MOST_APART
from c45gpu.induction.checkpoint import Kept
from c45gpu.induction.grow import Grower, Open, Start, kept_tree
from c45gpu.induction.limits import Limits, Stops
from c45gpu.induction.progress import Progress
from c45gpu.kernels.descend import divide
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Bools, Int32s, Int64s, Problem
from c45gpu.model.growing import GrowingTree, Nodes
from c45gpu.model.route import branches_of_values
from c45gpu.model.tree import Tree, ranges


class Instances(NamedTuple):
    """Cases at nodes, in the order of the nodes and, within one, of the cases.

    Attributes
    ----------
    node : ndarray of int64, shape (n,)
        Positions among the nodes asked for.
    case, units : ndarray of int64, shape (n,)
    """

    node: Int64s
    case: Int64s
    units: Int64s


class ResumedGrower:
    """Goes on growing a tree; iterate over it, then ask for the :attr:`tree`, as of :class:`.grow.Grower`.

    Parameters
    ----------
    engine : Engine
    problem : Problem
    growing : GrowingTree
        As far as it was grown.
    open_nodes : Open
        Its open nodes.
    whole : Table, optional
        Where the problem's cases are a window of it.
    limits : Limits, optional
    """

    def __init__(
        self,
        engine: Engine,
        problem: Problem,
        growing: GrowingTree,
        open_nodes: Open,
        whole: Table | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._engine, self._problem, self._limits = engine, problem, limits or Limits()
        self._whole = whole
        self._growing, self.open = growing, open_nodes
        self._part: Grower | None = None  # of the open nodes that are grown now

    @property
    def n_nodes(self) -> int:
        """Nodes so far, but for those that the engine tells later."""
        return self._growing.n_nodes

    @property
    def growing(self) -> GrowingTree:
        """The tree as far as it is grown."""
        if self._part is not None:
            self._part.settle()
        return self._growing

    def __iter__(self) -> Iterator[Progress]:
        pending, instances = self.open, instances_at(self.growing, self._problem, self.open.node)
        start = np.searchsorted(instances.node, np.arange(len(pending.node) + 1))
        for first, stop in _batches(pending.depth):
            here = slice(start[first], start[stop])
            later, pending_weight = pending.taken(slice(stop, None)), int(instances.units[start[stop] :].sum())
            grower = self._grower(pending.taken(slice(first, stop)), Instances(*(x[here] for x in instances)), first)
            self.open, self._part = grower.open.joined(later), grower
            for step in grower:
                self.open = grower.open.joined(later)
                weight = step.open_weight + pending_weight / self._problem.settings.case_units
                yield step._replace(open_nodes=len(self.open.node), open_weight=weight)

    @property
    def tree(self) -> Tree:
        """The tree as grown, collapsed; the engine is ready to prune it."""
        settings = self._problem.settings
        if self._problem.placed:
            self._engine.load(self._problem)
        return self.growing.finished(Stops(self._limits, settings.case_units, settings.scale_bits))

    def kept(self) -> Kept:
        """What is done so far, for a checkpoint."""
        return kept_tree(self.growing, self.open)

    def _grower(self, nodes: Open, here: Instances, first: int) -> Grower:
        part = replace(part_of(self._problem, here.case, here.units), placed=False)
        whole = self._problem.table if self._whole is None and part.table is not self._problem.table else self._whole
        return Grower(self._engine, part, whole, self._limits, Start(self.growing, nodes, here.node - first))


def _batches(depth: Int64s) -> Iterator[tuple[int, int]]:
    """Ranges of neighbours of the same depth, not too many in one."""
    edges = np.flatnonzero(np.diff(depth, prepend=-1, append=-1))
    for first, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        for start in range(first, stop, MOST_APART):
            yield start, min(start + MOST_APART, stop)


def part_of(problem: Problem, case: Int64s, units: Int64s) -> Problem:
    """The problem of some of the cases, with these weights; columns are copied unless it is all cases in order."""
    table = problem.table
    if len(case) == table.n_cases and bool((case == np.arange(table.n_cases)).all()):
        return replace(problem, units=units)
    taken = table.take(case)
    return replace(problem, table=Table(table.schema, taken.columns, taken.classes), units=units)


def instances_at(growing: GrowingTree, problem: Problem, nodes: Int64s) -> Instances:
    """Send all cases down a tree to some of its leaves, dividing them where a value is unknown.

    Parameters
    ----------
    growing : GrowingTree
    problem : Problem
    nodes : ndarray of int64, shape (m,)
        Leaves of the tree, in any order.

    Returns
    -------
    Instances
    """
    fields, values = growing.nodes, growing.values
    position = np.full(growing.n_nodes, -1, np.int64)
    position[nodes] = np.arange(len(nodes))
    leads = _leads_to(fields["first_child"], fields["n_children"], nodes)
    case = np.arange(problem.table.n_cases if len(nodes) else 0)
    node, units = np.zeros(len(case), np.int64), np.array(problem.units[: len(case)])
    arrived: list[Instances] = [Instances(node[:0], case[:0], units[:0])]
    while len(node):
        there = position[node] >= 0
        arrived.append(Instances(position[node[there]], case[there], units[there]))
        node, case, units = node[~there], case[~there], units[~there]
        above = np.unique(node)
        taken = _taken(fields, values, problem.table, node, case)
        start = np.concatenate([[0], np.cumsum(fields["n_children"][above])])
        slot, instance, units, _ = divide(start, np.searchsorted(above, node), taken, units)
        first = fields["first_child"][above]
        node = ranges(first, first + fields["n_children"][above])[slot]
        on = leads[node]
        node, case, units = node[on], case[instance[on]], units[on]
    joined = Instances(*(np.concatenate(x) for x in zip(*arrived, strict=True)))
    order = np.lexsort((joined.case, joined.node))
    return Instances(*(x[order] for x in joined))


def _leads_to(first_child: Int64s, n_children: Int64s, nodes: Int64s) -> Bools:
    """Which nodes are these or above them."""
    parent = np.full(len(first_child), -1, np.int64)
    parent[ranges(first_child, first_child + n_children)] = np.repeat(np.arange(len(first_child)), n_children)
    leads = np.zeros(len(first_child), np.bool_)
    while len(nodes):
        leads[nodes] = True
        above = np.unique(parent[nodes])
        nodes = above[(above >= 0) & ~leads[above]]
    return leads


def _taken(fields: Nodes, values: Int32s, table: Table, node: Int64s, case: Int64s) -> Int64s:
    """The branch that each case takes at the inner node it is at."""
    taken = np.empty(len(node), np.int64)
    attributes = fields["attribute"][node]
    order = np.argsort(attributes, kind="stable")
    present, first = np.unique(attributes[order], return_index=True)
    for attribute, here in zip(present.tolist(), np.split(order, first)[1:], strict=True):
        threshold, start, n_values = (fields[x][node[here]] for x in ("threshold", "value_first", "n_values"))
        found = table.rows(attribute, case[here])
        taken[here] = branches_of_values(found, threshold, values, start, n_values)
    return taken
