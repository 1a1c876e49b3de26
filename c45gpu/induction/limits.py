"""Where growing stops before C4.5 would: by depth, by significance, by leaves; and which attributes a node may see.

What a node tests does not depend on what is below it. So a tree that stops early is the full tree with some of its
tests taken back, whether an engine grew further or not: every engine gives the same.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.digest import mixed
from c45gpu.formulas import q_log_q
from c45gpu.induction.options import Options, n_features
from c45gpu.kernels.level import Bools, Int64s
from c45gpu.measures import CHI2, CHI2_SCALE, term
from c45gpu.model.growing import Nodes
from c45gpu.model.tree import LEAF, ranges

Keys = npt.NDArray[np.uint64]


class Limits(NamedTuple):
    """What the options say about stopping; None where nothing.

    Attributes
    ----------
    max_depth, max_leaf_nodes : int or None
    significance : float or None
    n_features : int or None
        So many attributes are looked at in a node.
    seed : int
        Of drawing them.
    """

    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    significance: float | None = None
    n_features: int | None = None
    seed: int = 0

    @classmethod
    def of(cls, options: Options, n_used: int) -> Limits:
        """The limits for a problem with so many used attributes."""
        drawn = None if options.max_features is None else n_features(options.max_features, n_used)
        return cls(options.max_depth, options.max_leaf_nodes, options.significance, drawn, options.random_state)


# ---------------------------------------------------------------- attributes drawn for a node
def root_key(seed: int) -> Keys:
    """The key of the root; shape (1,)."""
    return mixed(np.array([seed], np.uint64))


def branch_keys(parent: Keys, branch: Int64s) -> Keys:
    """The keys of nodes that are these branches of their parents: a node's key depends on its path only."""
    return mixed(parent + branch.astype(np.uint64) + np.uint64(1))


def drawn(keys: Keys, n_used: int, count: int) -> Bools:
    """Which of the used attributes are drawn for each node, so many of them; shape (nodes, n_used)."""
    lots = mixed(keys[:, None] ^ (np.arange(1, n_used + 1, dtype=np.uint64) << np.uint64(32))[None])
    first = np.argsort(lots, axis=1, kind="stable")[:, :count]
    chosen = np.zeros(lots.shape, np.bool_)
    np.put_along_axis(chosen, first, True, axis=1)
    return chosen


def sampled(key: Keys, cases: Int64s, count: int) -> Int64s:
    """Positions of so many of the cases, drawn for a node, in ascending order; all where there are no more."""
    if len(cases) <= count:
        return np.arange(len(cases))
    lots = mixed(key ^ mixed(cases.astype(np.uint64)))
    chosen: Int64s = np.sort(np.argpartition(lots, count)[:count])  # different cases have different lots
    return chosen


# ---------------------------------------------------------------- tests taken back
class Stops:
    """Takes tests of a tree as grown back, for :meth:`c45gpu.model.growing.GrowingTree.finished`.

    Parameters
    ----------
    limits : Limits
    case_units : int
        Units of weight in one case.
    scale_bits : int
        Of information.
    """

    def __init__(self, limits: Limits, case_units: int, scale_bits: int) -> None:
        self._limits, self._case_units, self._scale_bits = limits, case_units, scale_bits

    def __call__(self, grown: Nodes, levels: list[Int64s]) -> None:
        """Make leaves of the nodes at which growing should have stopped."""
        if self._limits.max_depth is not None:
            for level in levels[self._limits.max_depth :]:
                _make_leaves(grown, level)
        if self._limits.significance is not None:
            for level in levels:
                self._take_back_insignificant(grown, level[grown["kind"][level] != LEAF], self._limits.significance)
        if self._limits.max_leaf_nodes is not None:
            _make_leaves(grown, self._left_out(grown, self._limits.max_leaf_nodes))

    def _take_back_insignificant(self, grown: Nodes, nodes: Int64s, level: float) -> None:
        """Pearson's test of the branches that hold cases and the classes that they hold, a divided case in parts."""
        from scipy.special import chdtri

        children, parent = _held_children(grown, nodes)
        units = grown["class_units"][children]
        totals = np.zeros((len(nodes), units.shape[1]), np.int64)
        np.add.at(totals, parent, units)
        terms = term(units, units.sum(1)[:, None], totals[parent], CHI2, 0.0).astype(np.int64)
        sums = np.zeros(len(nodes), np.int64)
        np.add.at(sums, parent, terms.sum(1))
        statistic = (sums / CHI2_SCALE - 1.0) * (totals.sum(1) / self._case_units)
        freedom = (np.bincount(parent, minlength=len(nodes)) - 1) * ((totals > 0).sum(1) - 1)
        _make_leaves(grown, nodes[statistic < chdtri(np.maximum(freedom, 1), level)])

    def _left_out(self, grown: Nodes, most: int) -> Int64s:
        """Inner nodes whose tests are not made when the tests that tell most are made first."""
        rank = _order_of_paths(grown)
        out = np.ones(len(grown["kind"]), np.bool_)
        leaves, heap = 1, [(0, 0, 0)]
        while heap:
            _, _, node = heapq.heappop(heap)
            here = np.array([node])
            children, _ = _held_children(grown, here)
            if grown["kind"][node] == LEAF or leaves + len(children) - 1 > most:
                continue
            leaves += len(children) - 1
            out[node] = False
            inner = children[grown["kind"][children] != LEAF]
            for child, gain in zip(inner.tolist(), self._gains(grown, inner).tolist(), strict=True):
                heapq.heappush(heap, (-gain, int(rank[child]), child))
        return np.flatnonzero(out & (grown["kind"] != LEAF))

    def _gains(self, grown: Nodes, nodes: Int64s) -> Int64s:
        """Information that the tests of nodes gain."""
        children, parent = _held_children(grown, nodes)
        totals = np.zeros((len(nodes), grown["class_units"].shape[1]), np.int64)
        np.add.at(totals, parent, grown["class_units"][children])
        gains = self._information(totals)
        np.subtract.at(gains, parent, self._information(grown["class_units"][children]))
        return gains

    def _information(self, class_units: Int64s) -> Int64s:
        h: Int64s = q_log_q(class_units.sum(1), self._scale_bits) - q_log_q(class_units, self._scale_bits).sum(1)
        return h


def _make_leaves(grown: Nodes, nodes: Int64s) -> None:
    grown["kind"][nodes], grown["attribute"][nodes], grown["threshold"][nodes] = LEAF, -1, np.nan
    grown["n_children"][nodes] = 0


def _held_children(grown: Nodes, nodes: Int64s) -> tuple[Int64s, Int64s]:
    """The children of nodes that hold cases, and the position of the parent of each."""
    first, n = grown["first_child"][nodes], grown["n_children"][nodes]
    children, parent = ranges(first, first + n), np.repeat(np.arange(len(nodes)), n)
    held = grown["held"][children]
    return children[held], parent[held]


def _order_of_paths(grown: Nodes) -> Int64s:
    """A rank for each node that depends on its path only: by depth, then by the parent's rank and the branch."""
    rank, nodes, done = np.zeros(len(grown["kind"]), np.int64), np.zeros(1, np.int64), 0
    while len(nodes):
        rank[nodes] = done + np.arange(len(nodes))
        done += len(nodes)
        first = grown["first_child"][nodes]
        nodes = ranges(first, first + grown["n_children"][nodes])
    return rank
