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
from c45gpu.data.table import Floats, Table
from c45gpu.induction.apart import load_apart
from c45gpu.induction.checkpoint import Kept
from c45gpu.induction.groups import Groups, ragged
from c45gpu.induction.limits import Keys, Limits, Stops, branch_keys, drawn, root_key
from c45gpu.induction.progress import Progress
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Children, Frontier, Int64s, Problem, Splits, Subtrees
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

    Attributes
    ----------
    growing : GrowingTree
        The tree as far as it is grown.
    """

    def __init__(
        self,
        engine: Engine,
        problem: Problem,
        whole: Table | None = None,
        limits: Limits | None = None,
        at: Beginning | None = None,
    ) -> None:
        self._engine, self._problem, self._whole, self._limits = engine, problem, whole, limits or Limits()
        self._used = np.array(problem.used, np.int64)
        self._groups = Groups(engine, problem)
        if at is None:
            frontier = engine.load(problem)
            self.growing = GrowingTree(problem.table.schema, problem.settings.case_units, frontier.class_weights)
            nodes = Open(np.zeros(1, np.int64), root_key(self._limits.seed), np.zeros(1, np.int64))
        else:
            self.growing, nodes = at.growing, at.nodes
            frontier = at.frontier(engine, problem)
        self._depth = int(nodes.depth.max(initial=0))
        self._advance(frontier, nodes.node, nodes.key)

    def __iter__(self) -> Iterator[Progress]:
        while len(self._open) and self._depth != self._limits.max_depth:
            splits = self._chosen()
            children = self._engine.split(splits)
            self._add(splits, children)
            self._depth += 1
            yield self._progress()

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
                possible = candidates.possible.copy()
                possible[:, : len(self._used)] &= seen  # an engine that was told nodes apart has one column more
                candidates = replace(candidates, possible=possible)
            chosen = self._engine.choose(candidates, weight[first:stop])
            tested = np.flatnonzero(chosen != NO_TEST)
            node.append(first + tested)
            attribute.append(chosen[tested])
            cut.append(candidates.cut[tested, chosen[tested]])
            branches += self._groups.branches(tested, chosen[tested])
        return Splits(np.concatenate(node), np.concatenate(attribute), np.concatenate(cut), *ragged(branches))

    def _add(self, splits: Splits, children: Children) -> None:
        """Add the branches of the nodes that were split."""
        k, m = len(splits), len(children.split)
        growth = Growth(
            parent=np.concatenate([-1 - self._open[splits.node], children.split]),
            branch=np.concatenate([np.zeros(k, np.int64), children.branch]),
            attribute=np.concatenate([self._used[splits.attribute], np.full(m, -1)]),
            threshold=np.concatenate(
                [self._thresholds(splits.attribute, children.below, children.above), np.full(m, np.nan)]
            ),
            class_units=np.concatenate([self._open_weights[splits.node], children.frontier.class_weights]),
            group_start=np.concatenate([splits.group_start, np.full(m, splits.group_start[-1])]),
            group_branch=splits.group_branch,
        )
        keys = branch_keys(self._keys[splits.node[children.split]], children.branch)
        self._advance(children.frontier, self.growing.add(growth)[k:], keys)

    def _advance(self, frontier: Frontier, nodes: Int64s, keys: Keys) -> None:
        """The frontier's nodes have these numbers; add what the engine finished, and go on with those that are open."""
        if frontier.finished is not None:
            self._graft(frontier.finished, nodes)
        self._open, self._open_weights = nodes[frontier.open], frontier.class_weights[frontier.open]
        self._keys = keys[frontier.open]

    def _graft(self, subtrees: Subtrees, nodes: Int64s) -> None:
        parent, root = subtrees.parent.copy(), subtrees.parent < 0
        parent[root] = -1 - nodes[-1 - parent[root]]
        attribute, tested = subtrees.attribute.copy(), subtrees.attribute >= 0
        attribute[tested] = self._used[attribute[tested]]
        growth = Growth(
            parent=parent,
            branch=subtrees.branch,
            attribute=attribute,
            threshold=self._thresholds(subtrees.attribute, subtrees.below, subtrees.above),
            class_units=subtrees.class_weights,
        )
        self.growing.add(growth)

    def _thresholds(self, attribute: Int64s, below: Int64s, above: Int64s) -> npt.NDArray[np.float64]:
        """For each test on a continuous attribute its threshold, NaN for the others."""
        threshold = np.full(len(attribute), np.nan)
        continuous = below >= 0
        for a in np.unique(attribute[continuous]).tolist():
            here = continuous & (attribute == a)
            distinct, low, high = self._engine.distinct(a), below[here], above[here]
            if self._whole is not None:
                values, distinct = distinct, self._whole.distinct(int(self._used[a]))
                low, high = np.searchsorted(distinct, values[low]), np.searchsorted(distinct, values[high])
            threshold[here] = thresholds(distinct, low, high, self._release8)
        return threshold

    @property
    def _release8(self) -> bool:
        return self._problem.settings.gap > 0

    def _progress(self) -> Progress:
        weight = int(self._open_weights.sum())
        return Progress(self._depth, self.growing.n_nodes, len(self._open), weight / self._problem.settings.case_units)


def thresholds(distinct: Floats, below: Int64s, above: Int64s, release8: bool) -> npt.NDArray[np.float64]:
    """The threshold of each cut: the greatest value of the whole column that does not exceed the midpoint.

    Parameters
    ----------
    distinct : ndarray
        Sorted distinct values of the column.
    below, above : ndarray of int64
        Ranks of the values on both sides of each cut. The threshold never reaches the upper one.
    release8 : bool
        Take the midpoint in float32.

    Returns
    -------
    ndarray of float64
    """
    low, high = distinct[below].astype(np.float64), distinct[above].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        middle = np.where(np.isfinite(low + high), (low + high) / 2, low / 2 + high / 2)
        rounded = middle.astype(np.float32 if release8 else distinct.dtype)
    if not release8:  # the greatest number of the column's precision that is not above the midpoint finds the same rank
        rounded = np.where(rounded > middle, np.nextafter(rounded, distinct.dtype.type(-np.inf)), rounded)
    rank = np.searchsorted(distinct, rounded.astype(distinct.dtype), side="right") - 1
    return distinct[np.clip(rank, below, above - 1)].astype(np.float64)
