"""The level loop: score, choose, split, add, until no node is open (specification section 4).

The engine answers with one candidate for each open node and attribute; the judgement is made here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from c45gpu.choose import NO_TEST
from c45gpu.data.table import Table
from c45gpu.induction.apart import load_apart
from c45gpu.induction.checkpoint import Kept
from c45gpu.induction.cuts import Cuts
from c45gpu.induction.groups import Groups, ragged
from c45gpu.induction.later import Later
from c45gpu.induction.limits import Keys, Limits, Stops, branch_keys, drawn, root_key
from c45gpu.induction.progress import Progress
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Children, Frontier, Int64s, Problem, Splits
from c45gpu.kernels.level_engine import GrownLevel, LevelEngine
from c45gpu.model.growing import GrowingTree, Growth
from c45gpu.model.tree import Tree

BATCH_BYTES = 64 << 20  # candidates of one batch: enough to keep an engine busy, little beside the data
CANDIDATE_BYTES = 33  # of one node and attribute


class Open(NamedTuple):
    """The open nodes of a tree that is being grown.

    Parameters
    ----------
    node : ndarray of int64, shape (m,)
        Their numbers.
    key : ndarray of uint64, shape (m,)
        Hashed from their paths.
    depth : ndarray of int64, shape (m,)
    """

    node: Int64s
    key: Keys
    depth: Int64s

    def taken(self, which: slice) -> Open:
        """Some of them."""
        return Open(self.node[which], self.key[which], self.depth[which])

    def joined(self, others: Open) -> Open:
        """These, then others."""
        key = np.concatenate([self.key, others.key])
        return Open(np.concatenate([self.node, others.node]), key, np.concatenate([self.depth, others.depth]))


def kept_tree(growing: GrowingTree, open_nodes: Open) -> Kept:
    """A tree that is being grown, and its open nodes, for a checkpoint."""
    nodes = {f"nodes/{name}": array for name, array in growing.nodes.items()}
    opened = {f"open/{name}": array for name, array in open_nodes._asdict().items()}
    return Kept({}, {**nodes, "values": growing.values, **opened})


def tree_of(kept: Kept, problem: Problem) -> tuple[GrowingTree, Open]:
    """The tree that a checkpoint keeps, and its open nodes."""
    nodes = {name.removeprefix("nodes/"): x for name, x in kept.arrays.items() if name.startswith("nodes/")}
    growing = GrowingTree.of(problem.table.schema, problem.settings.case_units, nodes, kept.arrays["values"])
    return growing, Open(*(kept.arrays[f"open/{name}"] for name in Open._fields))


class Beginning(Protocol):
    """Where growing begins, if not at the root of a tree of its own."""

    @property
    def growing(self) -> GrowingTree:
        """The tree."""

    @property
    def nodes(self) -> Open:
        """The nodes to grow below, all of the same depth."""

    def frontier(self, engine: Engine, problem: Problem) -> Frontier:
        """Have an engine load the cases of these nodes."""


class Start(NamedTuple):
    """A beginning at nodes whose cases are known.

    Attributes
    ----------
    growing : GrowingTree
    nodes : Open
    node_of_case : ndarray of int64, shape (n_cases,)
        At which of the nodes each case of the problem is.
    """

    growing: GrowingTree
    nodes: Open
    node_of_case: Int64s

    def frontier(self, engine: Engine, problem: Problem) -> Frontier:
        """Have an engine load the cases of these nodes."""
        return load_apart(engine, problem, self.node_of_case, len(self.nodes.node))


class Grower:
    """Grows one tree; iterate over it to let it grow level by level, then ask for the :attr:`tree`.

    Where the host has no say in the choice of tests, an engine that can takes each level by itself.

    Parameters
    ----------
    engine : Engine
    problem : Problem
    whole : Table, optional
        Where the problem's cases are a window of it: thresholds are values of its columns.
    limits : Limits, optional
        Where growing stops.
    at : Beginning, optional
        Nodes of a tree to grow below, instead of a tree of its own.
    """

    def __init__(
        self,
        engine: Engine,
        problem: Problem,
        whole: Table | None = None,
        limits: Limits | None = None,
        at: Beginning | None = None,
    ) -> None:
        self._engine, self._problem, self._limits = engine, problem, limits or Limits()
        self._used = np.array(problem.used, np.int64)
        self._groups, self._cuts = Groups(engine, problem), Cuts(engine, problem, whole)
        alone = problem.may_finish and self._limits.n_features is None
        self._levels = engine if alone and isinstance(engine, LevelEngine) else None
        self._later = None if self._levels is None else Later(self._levels, self._cuts)
        if at is None:
            frontier = engine.load(problem)
            self._growing = GrowingTree(problem.table.schema, problem.settings.case_units, frontier.class_weights)
            nodes = Open(np.zeros(1, np.int64), root_key(self._limits.seed), np.zeros(1, np.int64))
        else:
            self._growing, nodes = at.growing, at.nodes
            frontier = at.frontier(engine, problem)
        self._depth = int(nodes.depth.max(initial=0))
        self._advance(frontier, nodes.node, nodes.key)

    def __iter__(self) -> Iterator[Progress]:
        while len(self._open) and self._depth != self._limits.max_depth:
            if self._levels is None:
                splits = self._chosen()
                self._add(splits, self._engine.split(splits))
            else:
                self._add_level(self._levels.grow_level())
            self._depth += 1
            yield self._progress()
        self.settle()

    def settle(self) -> None:
        """Put what the engine kept for later into the tree."""
        if self._later is not None:
            self._later.put_into(self._growing)

    @property
    def growing(self) -> GrowingTree:
        """The tree as far as it is grown."""
        self.settle()
        return self._growing

    @property
    def n_nodes(self) -> int:
        """Nodes so far, but for those that the engine tells later."""
        return self._growing.n_nodes

    @property
    def open(self) -> Open:
        """The nodes that may be tested yet."""
        return Open(self._open, self._keys, np.full(len(self._open), self._depth))

    @property
    def tree(self) -> Tree:
        """The tree as grown, collapsed."""
        settings = self._problem.settings
        return self.growing.finished(Stops(self._limits, settings.case_units, settings.scale_bits))

    def kept(self) -> Kept:
        """What is done so far, for a checkpoint."""
        return kept_tree(self.growing, self.open)

    def _chosen(self) -> Splits:
        """The best test of each open node that has one."""
        node, attribute, cut, branches = [], [], [], []
        of_a_node = CANDIDATE_BYTES * max(1, len(self._problem.used)) + self._groups.bytes_of_a_node
        batch = max(1, BATCH_BYTES // of_a_node)
        weight = self._open_weights.sum(1)
        for first in range(0, len(self._open), batch):
            stop = min(first + batch, len(self._open))
            candidates = self._groups.put_in(self._engine.score(first, stop), first, weight[first:stop])
            if self._limits.n_features is not None:
                seen = drawn(self._keys[first:stop], len(self._used), self._limits.n_features)
                candidates = replace(candidates, possible=candidates.possible & seen)
            chosen = self._engine.choose(candidates, weight[first:stop])
            tested = np.flatnonzero(chosen != NO_TEST)
            node.append(first + tested)
            attribute.append(chosen[tested])
            cut.append(candidates.cut[tested, chosen[tested]])
            branches += self._groups.branches(tested, chosen[tested])
        return Splits(np.concatenate(node), np.concatenate(attribute), np.concatenate(cut), *ragged(branches))

    def _add(self, splits: Splits, children: Children) -> None:
        """Add the branches of the nodes that were split."""
        threshold = self._cuts.thresholds(splits.attribute, children.below, children.above)
        self._add_branches(splits, threshold, children.frontier, children.split, children.branch)

    def _add_level(self, grown: GrownLevel) -> None:
        """The same where the engine chose; what it tells later is noted before the next nodes are open."""
        tested, taken = self._open[grown.splits.node], self._open[grown.taken]
        if self._later is not None:
            self._later.note(tested, grown.splits.attribute, taken)
        no_thresholds = np.full(len(grown.splits), np.nan)
        self._add_branches(grown.splits, no_thresholds, grown.frontier, grown.split, grown.branch)

    def _add_branches(
        self, splits: Splits, threshold: npt.NDArray[np.float64], frontier: Frontier, split: Int64s, branch: Int64s
    ) -> None:
        k, m = len(splits), len(split)
        growth = Growth(
            parent=np.concatenate([-1 - self._open[splits.node], split]),
            branch=np.concatenate([np.zeros(k, np.int64), branch]),
            attribute=np.concatenate([self._used[splits.attribute], np.full(m, -1)]),
            threshold=np.concatenate([threshold, np.full(m, np.nan)]),
            class_units=np.concatenate([self._open_weights[splits.node], frontier.class_weights]),
            group_start=np.concatenate([splits.group_start, np.full(m, splits.group_start[-1])]),
            group_branch=splits.group_branch,
        )
        keys = branch_keys(self._keys[splits.node[split]], branch)
        self._advance(frontier, self._growing.add(growth)[k:], keys)

    def _advance(self, frontier: Frontier, nodes: Int64s, keys: Keys) -> None:
        """The frontier's nodes have these numbers; add what the engine finished, and go on with those that are open."""
        if frontier.finished is not None:
            self._growing.add(self._cuts.grafts(frontier.finished, nodes))
        self._open, self._open_weights = nodes[frontier.open], frontier.class_weights[frontier.open]
        self._keys = keys[frontier.open]

    def _progress(self) -> Progress:
        weight = int(self._open_weights.sum())
        return Progress(self._depth, self.n_nodes, len(self._open), weight / self._problem.settings.case_units)
