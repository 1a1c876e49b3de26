"""Very wide tables: of each node only the attributes that rank highest on a sample of its cases are scored exactly.

Glossary: a *sample* is so many of a node's cases, drawn by its path; a node is *ranked* if its sample has said which
attributes it may test. Attributes that hardly vary on the root's sample are never tested. A node that has few cases, up
to :data:`RANKED_ABOVE` samples of them, keeps the attributes of the node above that was ranked, so its whole subtree is
grown on these alone::

    root             rank all attributes on a sample, grow one level on the best
    large branch     the same, on its own cases
    small branch     grow the subtree on the attributes of its parent

Which attributes a node may test is said here, from integers that all engines agree about; so they grow the same tree.
The sample depends on the order of the cases.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from c45gpu.choose import Facts, is_leaf
from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.induction.checkpoint import Kept
from c45gpu.induction.grow import Grower, Open, Start, kept_tree, tree_of
from c45gpu.induction.limits import Keys, Limits, Stops, branch_keys, root_key, sampled
from c45gpu.induction.options import Options, n_features
from c45gpu.induction.progress import Progress
from c45gpu.induction.resume import instances_at
from c45gpu.kernels.descend import divide, sums
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Bools, Candidates, Int64s, Problem
from c45gpu.model.growing import GrowingTree, Test
from c45gpu.model.route import branches_of_values
from c45gpu.model.tree import Tree

SAMPLE = 1000  # cases that attributes are ranked on
RANKED_ABOVE = 4  # samples: a branch of fewer cases keeps its parent's attributes
LEAST_VARIANCE = 100  # 1 / 0.01, of a column of 0 and 1


class Branch(NamedTuple):
    """A node that is to be grown below.

    Attributes
    ----------
    node, depth : int
    key : ndarray of uint64, shape (1,)
        Hashed from the path.
    case, units : ndarray of int64, shape (n,)
    attributes : ndarray of int64
        Positions among the used attributes that it may test, if it is not ranked.
    """

    node: int
    depth: int
    key: Keys
    case: Int64s
    units: Int64s
    attributes: Int64s


@runtime_checkable
class Holding(Protocol):
    """An engine that takes cases which are only to be placed without sorting them; those of the package do."""

    def hold(self, problem: Problem) -> None:
        """See :class:`c45gpu.kernels.engine.LocalEngine`."""


class ScreenedGrower:
    """Grows one tree; iterate over it to let it grow, then ask for the :attr:`tree`, as of :class:`.grow.Grower`.

    Parameters
    ----------
    engine : Engine
        It is given a part of the problem after the other. In the end it holds all cases, to be pruned with, and the
        attributes that are tested.
    problem : Problem
    options : Options
    whole : Table, optional
        Where the problem's cases are a window of it.
    sample : int, optional
        Cases that attributes are ranked on; :data:`SAMPLE` if absent.
    begun : Kept, optional
        Go on with this tree.
    """

    def __init__(
        self,
        engine: Engine,
        problem: Problem,
        options: Options,
        whole: Table | None = None,
        sample: int | None = None,
        begun: Kept | None = None,
    ) -> None:
        self._engine, self._problem, self._whole = engine, problem, whole or problem.table
        self._sample = sample or SAMPLE
        self._count = n_features(options.screen, len(problem.used))
        self._limits, self._ratio = Limits.of(options, len(problem.used)), problem.settings.ratio
        self._ignored = [replace(a, kind="ignored") for a in problem.table.schema.attributes]
        cases = np.arange(problem.table.n_cases)
        totals = self._class_units(cases * 0, cases, problem.units, 1)
        self.growing = GrowingTree(problem.table.schema, problem.settings.case_units, totals)
        root = Branch(0, 0, root_key(options.random_state), cases, problem.units, np.arange(len(problem.used)))
        self._varied = self._varied_at(root)
        self._queue = deque([] if self._leaves(totals)[0] else [root._replace(attributes=self._varied)])
        if begun is not None:
            self.growing, nodes = tree_of(begun, problem)
            self._queue = deque(self._waiting(nodes, begun))

    def __iter__(self) -> Iterator[Progress]:
        while self._queue:
            branch = self._queue[0]
            if branch.depth != self._limits.max_depth:
                self._grow(branch)
            self._queue.popleft()
            weight = sum(int(b.units.sum()) for b in self._queue)
            nodes, opened = self.growing.n_nodes, len(self._queue)
            yield Progress(branch.depth + 1, nodes, opened, weight / self._problem.settings.case_units)

    @property
    def n_nodes(self) -> int:
        """Nodes so far."""
        return self.growing.n_nodes

    @property
    def tree(self) -> Tree:
        """The tree as grown, collapsed; the engine is ready to prune it."""
        settings = self._problem.settings
        tree = self.growing.finished(Stops(self._limits, settings.case_units, settings.scale_bits))
        tested = np.flatnonzero(np.isin(self._problem.used, tree.attribute))
        whole = self._part(None, self._problem.units, tested)
        if isinstance(self._engine, Holding):
            self._engine.hold(whole)
        else:
            self._engine.load(whole)
        return tree

    def kept(self) -> Kept:
        """What is done so far, for a checkpoint."""
        queue = self._queue
        depths, nodes = (np.array([getattr(b, x) for b in queue], np.int64) for x in ("depth", "node"))
        keys = np.array([b.key[0] for b in queue], np.uint64)
        tree = kept_tree(self.growing, Open(nodes, keys, depths))
        start = np.cumsum([0, *(len(b.attributes) for b in queue)], dtype=np.int64)
        attributes = np.concatenate([start[:0], *(b.attributes for b in queue)])
        return tree._replace(arrays=tree.arrays | {"open/first": start, "open/attributes": attributes})

    def _waiting(self, nodes: Open, begun: Kept) -> Iterator[Branch]:
        """The nodes that were to be grown below."""
        found = instances_at(self.growing, self._problem, nodes.node)
        start = np.searchsorted(found.node, np.arange(len(nodes.node) + 1))
        first, attributes = begun.arrays["open/first"], begun.arrays["open/attributes"]
        for i, (node, depth) in enumerate(zip(nodes.node.tolist(), nodes.depth.tolist(), strict=True)):
            here, may_test = slice(start[i], start[i + 1]), attributes[first[i] : first[i + 1]]
            yield Branch(node, depth, nodes.key[i : i + 1], found.case[here], found.units[here], may_test)

    def _grow(self, branch: Branch) -> None:
        """One level below a large branch, or all below a small one."""
        large = len(branch.case) > RANKED_ABOVE * self._sample
        if large or branch.node == 0:
            branch = branch._replace(attributes=self._ranked(branch))
        depth = self._limits.max_depth
        limits = Limits(max_depth=branch.depth + 1 if large else depth)
        part = self._part(branch.case, branch.units, branch.attributes, may_finish=not large)
        for _ in Grower(self._engine, part, self._whole, limits, self._start(branch)):
            pass
        test = self.growing.test_of(branch.node)
        if large and test is not None:
            self._queue.extend(self._branches(branch, test))

    def _start(self, branch: Branch) -> Start:
        node = Open(np.array([branch.node]), branch.key, np.array([branch.depth]))
        return Start(self.growing, node, np.zeros(len(branch.case), np.int64))

    def _branches(self, branch: Branch, test: Test) -> Iterator[Branch]:
        """The branches of a node that has been tested, without leaves."""
        values = self._problem.table.rows(test.attribute, branch.case)
        taken = branches_of_values(values, test.threshold, test.value_branch, 0, len(test.value_branch))
        start = np.array([0, test.n_children])
        slot, instance, units, _ = divide(start, np.zeros(len(taken), np.int64), taken, branch.units)
        case = branch.case[instance]
        is_open = ~self._leaves(self._class_units(slot, case, units, test.n_children))
        for b in np.flatnonzero(is_open).tolist():
            here, key = slot == b, branch_keys(branch.key, np.array([b]))
            yield Branch(test.first_child + b, branch.depth + 1, key, case[here], units[here], branch.attributes)

    def _varied_at(self, branch: Branch) -> Int64s:
        """The attributes that vary on the sample of a node; all of them if none does."""
        rows = sampled(branch.key, branch.case, self._sample)
        case, units, used = branch.case[rows], branch.units[rows], self._problem.used
        varies = [varies_enough(self._problem.table.rows(used[a], case), units) for a in branch.attributes]
        return branch.attributes[varies] if any(varies) else branch.attributes

    def _ranked(self, branch: Branch) -> Int64s:
        """The attributes that a node may test."""
        rows = sampled(branch.key, branch.case, self._sample)
        part = self._part(branch.case[rows], branch.units[rows], self._varied, may_finish=False)
        if not self._engine.load(part).open[0]:
            return branch.attributes[: self._count]
        return np.sort(self._varied[ranking(self._engine.score(0, 1), self._ratio)[: self._count]])

    def _part(self, case: Int64s | None, units: Int64s, chosen: Int64s, may_finish: bool = True) -> Problem:
        """Some of the cases, all if None, with some of the used attributes."""
        problem, attributes = self._problem, list(self._ignored)
        table, columns = problem.table, [None] * len(self._ignored)
        for a in (problem.used[k] for k in chosen):
            attributes[a] = table.schema.attributes[a]
            columns[a] = table.columns[a] if case is None else table.columns[a][case]
        schema = Schema(tuple(attributes), table.schema.classes, table.schema.target)
        averaged = problem.facts.averaged[chosen]
        facts = Facts(problem.facts.zero_bound[chosen], averaged | ~averaged.any())
        part = Table(schema, columns, table.classes if case is None else table.classes[case])
        return replace(problem, table=part, units=units, facts=facts, may_finish=problem.may_finish and may_finish)

    def _class_units(self, node: Int64s, case: Int64s, units: Int64s, n_nodes: int) -> Int64s:
        classes = self._problem.table.classes[case].astype(np.int64)
        return sums(node, classes, units, n_nodes, self._problem.settings.n_classes)

    def _leaves(self, class_units: Int64s) -> Bools:
        leaves: Bools = is_leaf(class_units.sum(1), class_units.max(1), self._problem.settings)
        return leaves


def varies_enough(values: npt.NDArray[Any], units: Int64s) -> bool:
    """Whether the variance of "has the most frequent value" is 0.01 or more, for known values with weights.

    Of a column of 0 and 1 that is the variance itself. It does not depend on the scale of the values.
    """
    known = values == values if values.dtype.kind == "f" else values >= 0
    weights = np.unique(values[known], return_inverse=True)[1]
    of_values = np.bincount(weights, weights=units[known], minlength=1)
    total, most = int(of_values.sum()), int(of_values.max())
    return total > 0 and most * (total - most) * LEAST_VARIANCE >= total * total


def ranking(candidates: Candidates, ratio: bool) -> Int64s:
    """Positions of attributes, the best first, by the candidates of one node.

    By the gain, or those that gain no less than the average of all that gain anything by the gain ratio first, as
    C4.5 chooses; of equals the one that stands first.
    """
    gain = np.where(candidates.possible[0], candidates.gain[0], 0)
    worth = gain.astype(np.float64)
    if ratio and (gain > 0).any():
        average = -(-sum(gain.tolist()) // int((gain > 0).sum()))  # rounded up; in int64 the sum might not fit
        worth = np.where(gain >= average, gain / np.maximum(candidates.split[0], 1), -1.0)
    order: Int64s = np.lexsort((-gain, -worth))
    return order
