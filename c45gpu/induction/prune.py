"""Pruning: a grown tree -> a simpler one.

Error-based pruning (specification section 8) judges every node after its branches: as a leaf, as its largest branch
with all cases of the node, or as it is; the simpler wins unless it is worse by more than a tenth of an error. All nodes
whose branches have been judged are judged at once, the engine telling how the branch would do. A raised branch has new
cases, so its subtree is judged again, before anything above::

    waiting     3 . 1 0 . 0      inner branches of a node that are to be judged yet
                      ^   ^      judged now; their parents wait for one less, or still, for a branch that was raised
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.estimates import SIMPLER_BY, extra_errors, least_rise, simplest, totals_and_greatest
from c45gpu.induction.options import Options
from c45gpu.induction.progress import NOBODY, Watch
from c45gpu.induction.prunings import interval_pruned, labels_of, pessimistically_pruned, subset
from c45gpu.kernels.engine import Changes, Engine, Judging, Pairs, Settling
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.model.possible import without_impossible_values
from c45gpu.model.tree import LEAF, Tree, ranges

Floats = npt.NDArray[np.float64]

AT_A_TIME = 1 << 13  # nodes whose estimates are taken at once: their numbers stay in a core's cache


def pruned(tree: Tree, engine: Engine, problem: Problem, options: Options, watch: Watch = NOBODY) -> Tree:
    """The pruned tree by the method that the options name; the tree itself for "none"."""
    watch.at("pruning")
    if options.prune == "ebp":
        simple = ErrorBasedPruning(tree, engine, problem, options.confidence, options.subtree_raising).run(watch)
    elif options.prune == "pep":
        simple = pessimistically_pruned(tree, options.standard_errors)
    elif options.prune == "interval":
        simple = interval_pruned(tree, options.confidence)
    else:
        return tree
    return without_impossible_values(simple)


class Begun(NamedTuple):
    """Subtrees that are to be judged: the nodes to begin with, and the roots of those that are done already."""

    ready: Int64s
    done: Int64s


class ErrorBasedPruning:
    """Quinlan's error-based pruning with subtree raising.

    Parameters
    ----------
    tree : Tree
        As grown.
    engine : Engine
        Has the problem loaded.
    problem : Problem
    confidence : float
    raising : bool
        Whether a branch may take the place of its parent.
    """

    def __init__(self, tree: Tree, engine: Engine, problem: Problem, confidence: float, raising: bool = True) -> None:
        self._engine, self._confidence, self._raising = engine, confidence, raising
        self._case_units = problem.settings.case_units
        least = least_rise(confidence)
        # There is no telling how little a part of an error counts.
        self._least_rise = least if least >= 0.5 and self._case_units == 1 else 0.0
        # The working tree shares these arrays: `kind` and `branch` change as branches are cut and raised.
        self._tree = replace(tree, kind=tree.kind.copy(), branch=tree.branch.copy(), label=tree.label.copy())
        self._root = 0
        self._entry = np.full(tree.n_nodes, -1, np.int64)  # where tree.branch holds the node
        self._entry[tree.branch] = np.arange(len(tree.branch))
        self._parent = np.repeat(np.arange(tree.n_nodes), np.diff(tree.branch_start))  # of entries
        self._waiting = np.zeros(tree.n_nodes, np.int64)
        held = tree.weight > 0
        self._units = np.where(held[:, None], np.rint(tree.class_weights * self._case_units), 0).astype(np.int64)
        self._estimate = np.zeros(tree.n_nodes)  # as a leaf, and from when a node is judged on as what it is then
        self._known = np.zeros(0, np.int64)

    def run(self, watch: Watch = NOBODY) -> Tree:
        """Prune, and return the pruned tree; `watch` is told how much of it is done."""
        self._placed = self._engine.place(self._tree)
        self._known = self._placed.known(self._tree)
        ready, judged = self._begin(np.zeros(1, np.int64)).ready, 0
        while len(ready):
            judged += len(ready)
            ready = self._judge(ready)
            if watch.stage is not None:
                watch.at("pruning", judged / (judged + len(ready) + np.count_nonzero(self._waiting)))
        return self._remaining()

    def _begin(self, roots: Int64s) -> Begun:
        """Have the engine prune below some nodes what it can; the inner nodes above wait for each other."""
        levels, little = self._tops(roots)
        at_once = self._settled(little)
        for level in reversed(levels):
            self._add_up(level[self._tree.kind[level] != LEAF])
        self._take_for_leaves(np.concatenate(levels))
        at_leaf = self._tree.kind[levels[0]] == LEAF
        n_little = len(roots) - len(levels[0])
        return Begun(self._ready(levels), np.concatenate([at_once[:n_little], levels[0][at_leaf]]))

    def _tops(self, roots: Int64s) -> tuple[list[Int64s], Int64s]:
        """Nodes that the host judges, by their distance from the roots, and others whose subtrees the engine prunes.

        Roots are the first of the others.
        """
        levels: list[Int64s] = []
        little, nodes = [], roots
        while len(nodes) or not levels:
            if isinstance(self._placed, Settling):
                is_little = self._placed.is_little(nodes)
                little.append(nodes[is_little])
                nodes = nodes[~is_little]
            levels.append(nodes)
            nodes = self._branches(nodes[self._tree.kind[nodes] != LEAF])
        return levels, np.concatenate([roots[:0], *little])

    def _settled(self, roots: Int64s) -> Int64s:
        """Have the engine prune some subtrees; returns the nodes that stand in the places of these then."""
        if not len(roots) or not isinstance(self._placed, Settling):
            return roots
        known = (self._tree, self._units, self._estimate, self._entry)
        judging = Judging(*known, self._confidence, self._least_rise, self._case_units, self._raising)
        now = self._placed.settle(roots, judging)
        self._root = int(now[roots == self._root].sum()) if self._root in roots else self._root
        return now

    def _ready(self, levels: list[Int64s]) -> Int64s:
        """Let the inner nodes of some levels wait for those below; returns the ones that wait for none."""
        inner: Int64s = np.concatenate(levels)
        inner = inner[self._tree.kind[inner] != LEAF]
        self._waiting[inner] = 0
        below = np.concatenate([inner[:0], *levels[1:]])
        np.add.at(self._waiting, self._parent[self._entry[below[self._tree.kind[below] != LEAF]]], 1)
        ready: Int64s = inner[self._waiting[inner] == 0]
        return ready

    def _awaited(self, judged: Int64s) -> Int64s:
        """The nodes that waited for nothing else than for these to be judged."""
        entry = self._entry[judged]
        parents = self._parent[entry[entry >= 0]]
        np.subtract.at(self._waiting, parents, 1)
        return np.unique(parents[self._waiting[parents] == 0])

    def _levels(self, roots: Int64s) -> list[Int64s]:
        """The nodes of some subtrees by their distance from the roots."""
        levels, nodes = [], roots
        while len(nodes):
            levels.append(nodes)
            nodes = self._branches(nodes[self._tree.kind[nodes] != LEAF])
        return levels

    def _branches(self, inner: Int64s) -> Int64s:
        """The branches of inner nodes, one node's after the other's."""
        branches: Int64s = self._tree.branch[ranges(self._tree.branch_start[inner], self._tree.branch_start[inner + 1])]
        return branches

    def _add_up(self, inner: Int64s) -> None:
        """Give inner nodes the class weights of their branches."""
        if len(inner):
            starts = _starts(self._tree.branch_start[inner + 1] - self._tree.branch_start[inner])
            self._units[inner] = np.add.reduceat(self._units[self._branches(inner)], starts)

    def _take_for_leaves(self, nodes: Int64s) -> None:
        """Give nodes the labels and estimates that they have as leaves."""
        for first in range(0, len(nodes), AT_A_TIME):
            some = nodes[first : first + AT_A_TIME]
            units = self._units[some]
            self._tree.label[some] = labels_of(units, self._tree.label[some])
            self._estimate[some] = self._leaf_estimates(units)

    def _judge(self, inner: Int64s) -> Int64s:
        """Decide about inner nodes whose branches have been judged; returns those to be judged next."""
        inner = np.sort(inner)  # engines are asked about tops in ascending order
        as_leaf = self._estimate[inner]
        as_tree, largest = self._judged_branches(inner)
        if not self._raising:
            self._settle(inner, simplest(as_leaf, as_tree, np.inf)[0], as_tree)
            return self._awaited(inner)
        pairs = Pairs(inner, largest, self._allowed(as_leaf, as_tree + SIMPLER_BY, self._estimate[largest]))
        changes = self._changes(pairs)
        to_leaf, to_branch = simplest(as_leaf, as_tree, self._branch_estimates(largest, changes))
        self._settle(inner, to_leaf, as_tree)
        raised = Pairs(*(x[to_branch] for x in pairs))
        if not len(raised.top):
            return self._awaited(inner)
        self._raise(raised, changes, to_branch)
        again = self._begin(raised.branch)  # nothing changes above: a branch has all that its top had
        return np.concatenate([self._awaited(np.concatenate([inner[~to_branch], again.done])), again.ready])

    def _judged_branches(self, inner: Int64s) -> tuple[Floats, Int64s]:
        """The sum of the branches' estimates, in order, and the branch that most of the known weight takes.

        Of equals the last. Most nodes have two branches, which whole arrays tell at less cost than ranges.
        """
        first, stop = self._tree.branch_start[inner], self._tree.branch_start[inner + 1]
        last = stop - 1
        estimate = self._estimate[self._tree.branch[first]] + self._estimate[self._tree.branch[last]]
        largest = self._tree.branch[np.where(self._known[first] > self._known[last], first, last)]
        many = np.flatnonzero(stop - first > 2)
        if len(many):
            length = (stop - first)[many]
            entry, starts, owner = ranges(first[many], stop[many]), _starts(length), np.repeat(many, length)
            known = self._known[entry]
            greatest = known == np.repeat(np.maximum.reduceat(known, starts), length)
            largest[many] = self._tree.branch[np.maximum.reduceat(np.where(greatest, entry, -1), starts)]
            # one after the other, as they come; reduceat would pair them up
            sums = np.bincount(owner, weights=self._estimate[self._tree.branch[entry]], minlength=len(inner))
            estimate[many] = sums[many]
        return estimate, largest

    def _settle(self, inner: Int64s, to_leaf: npt.NDArray[np.bool_], as_tree: Floats) -> None:
        """Make leaves of some nodes, and give the others the estimates of their branches."""
        self._cut(inner[to_leaf])
        self._estimate[inner[~to_leaf]] = as_tree[~to_leaf]

    def _leaf_estimates(self, units: Int64s) -> Floats:
        """Estimated errors of leaves with these class weights; 0 for one without cases."""
        weight, most = totals_and_greatest(units)
        cases, errors = np.maximum(weight, 1) / self._case_units, (weight - most) / self._case_units
        estimate: Floats = errors + extra_errors(cases, errors, self._confidence)
        estimate[weight == 0] = 0.0
        return estimate

    def _allowed(self, as_leaf: Floats, limit: Floats, as_branch: Floats) -> Int64s:
        """By how many units a branch's errors may rise before it is out, given what it is estimated at now.

        It is out when it is above the `limit`, that is worse than the tree by more than a tenth of an error, or, where
        a leaf would do as well as the tree, when a leaf is not worse than it by more than that. Half an error more is
        room for rounding.
        """
        limit = np.where(as_leaf <= limit, np.minimum(limit, as_leaf - SIMPLER_BY), limit)
        errors = limit - as_branch + 0.5
        if self._least_rise == 0:
            return np.where(errors < 0, -1, np.iinfo(np.int64).max)
        return np.ceil(errors / self._least_rise).astype(np.int64)

    def _changes(self, pairs: Pairs) -> Changes:
        """What sending all cases of the tops down the branches would change.

        A branch that is a leaf would have all that its top has; only about others the engine is asked. The rows of a
        pair are together, and in the order of leaves, but pairs are not in order.
        """
        at_leaf = self._tree.kind[pairs.branch] == LEAF
        hopeless = ~at_leaf & (pairs.allowed < 0)
        leaves, others = np.flatnonzero(at_leaf), np.flatnonzero(~(at_leaf | hopeless))
        leaf = pairs.branch[leaves]
        whole = self._units[pairs.top[leaves]] - self._units[leaf]
        if not len(others):
            return Changes(hopeless, leaves, leaf, whole)
        sent = self._placed.send(self._tree, self._units, Pairs(*(x[others] for x in pairs)))
        hopeless[others] = sent.hopeless
        joined = [leaves, others[sent.pair]], [leaf, sent.leaf], [whole, sent.units]
        return Changes(hopeless, *(np.concatenate(x) for x in joined))

    def _branch_estimates(self, branches: Int64s, changes: Changes) -> Floats:
        """What the branches would be estimated at, if their leaves' class weights changed so."""
        estimate = np.where(changes.hopeless, np.inf, self._estimate[branches])
        new = self._leaf_estimates(self._units[changes.leaf] + changes.units)
        np.add.at(estimate, changes.pair, new - self._estimate[changes.leaf])
        return estimate

    def _cut(self, nodes: Int64s) -> None:
        self._placed.cut(nodes)
        self._tree.kind[nodes] = LEAF

    def _raise(self, pairs: Pairs, changes: Changes, which: npt.NDArray[np.bool_]) -> None:
        """Put branches in the place of the nodes above them, with all of their cases."""
        tops, branches = pairs.top, pairs.branch
        self._known = self._placed.raise_branches(self._tree, pairs)
        here = which[changes.pair]
        self._units[changes.leaf[here]] += changes.units[here]
        self._entry[branches] = self._entry[tops]
        below_root = branches[self._entry[branches] >= 0]
        self._tree.branch[self._entry[below_root]] = below_root
        self._root = int(branches[tops == self._root].sum()) if self._root in tops else self._root

    def _remaining(self) -> Tree:
        """The living nodes as a tree; their old order is a preorder of it."""
        alive = np.zeros(self._tree.n_nodes, np.bool_)
        alive[np.concatenate(self._levels(np.array([self._root])))] = True
        units = self._units[alive]
        weight = totals_and_greatest(units)[0] / self._case_units
        tree = subset(replace(self._tree, errors=self._estimate), alive)
        class_weights = np.where(weight[:, None] > 0, units / self._case_units, tree.class_weights)
        return replace(tree, weight=weight, class_weights=class_weights)


def _starts(lengths: Int64s) -> Int64s:
    """Where ranges of these lengths start that lie one after the other."""
    return np.cumsum(lengths) - lengths
