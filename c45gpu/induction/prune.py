"""Pruning: a grown tree -> a simpler one.

Error-based pruning (specification section 8) judges every node after its branches: as a leaf, as its largest branch
with all cases of the node, or as it is; the simpler wins unless it is worse by more than a tenth of an error. All
nodes of a depth are judged at once, the engine telling how the branch would do. A raised branch has new cases, so
its subtree is judged again, before anything above: that is a frame on a stack.

    frame = the nodes of some subtrees by depth           stack of frames, innermost last
    judge the deepest level; some branches are raised --> push a frame with their subtrees
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from c45gpu.formulas import SIMPLER_BY, extra_errors, least_rise
from c45gpu.induction.options import Options
from c45gpu.induction.prunings import interval_pruned, labels_of, pessimistically_pruned, subset
from c45gpu.kernels.engine import Changes, Engine, Pairs
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.model.possible import without_impossible_values
from c45gpu.model.tree import LEAF, Tree, ranges

Floats = npt.NDArray[np.float64]


def pruned(tree: Tree, engine: Engine, problem: Problem, options: Options) -> Tree:
    """The pruned tree by the method that the options name; the tree itself for "none"."""
    if options.prune == "ebp":
        simple = ErrorBasedPruning(tree, engine, problem, options.confidence, options.subtree_raising).run()
    elif options.prune == "pep":
        simple = pessimistically_pruned(tree, options.standard_errors)
    elif options.prune == "interval":
        simple = interval_pruned(tree, options.confidence)
    else:
        return tree
    return without_impossible_values(simple)


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
        self._least_rise = least_rise(confidence)
        self._case_units = problem.settings.case_units
        # The working tree shares these arrays: `kind` and `branch` change as branches are cut and raised.
        self._tree = replace(tree, kind=tree.kind.copy(), branch=tree.branch.copy(), label=tree.label.copy())
        self._depth = np.repeat(np.arange(len(tree.levels)), [len(level) for level in tree.levels])
        self._depth[np.concatenate(tree.levels)] = self._depth.copy()
        self._end = tree.end
        self._entry = np.full(tree.n_nodes, -1, np.int64)  # where tree.branch holds the node
        self._entry[tree.branch] = np.arange(len(tree.branch))
        self._alive = np.ones(tree.n_nodes, np.bool_)
        held = tree.weight > 0
        self._units = np.where(held[:, None], np.rint(tree.class_weights * self._case_units), 0).astype(np.int64)
        self._estimate = np.zeros(tree.n_nodes)
        self._known = np.zeros(0, np.int64)

    def run(self) -> Tree:
        """Prune, and return the pruned tree."""
        self._placed = self._engine.place(self._tree)
        self._known = self._placed.known(self._tree)
        stack = [self._frame(np.zeros(1, np.int64))]
        while stack:
            if not stack[-1]:
                stack.pop()
                continue
            raised = self._judge(stack[-1].pop())
            if len(raised):
                stack.append(self._frame(raised))
        return self._remaining()

    def _frame(self, roots: Int64s) -> list[Int64s]:
        """The living nodes of some subtrees, by depth, the deepest last."""
        nodes = ranges(roots, self._end[roots])
        nodes = nodes[self._alive[nodes]]
        nodes = nodes[np.argsort(self._depth[nodes], kind="stable")]
        return np.split(nodes, np.flatnonzero(np.diff(self._depth[nodes])) + 1)

    def _judge(self, nodes: Int64s) -> Int64s:
        """Decide about nodes of one depth, whose branches have been judged; returns the branches that were raised."""
        inner: Int64s = nodes[self._tree.kind[nodes] != LEAF]
        as_tree = self._add_branches(inner)
        self._relabel(nodes)
        self._estimate[nodes] = self._leaf_estimates(self._units[nodes])
        if not len(inner):
            return inner
        as_leaf = self._estimate[inner]
        if not self._raising:
            to_leaf = as_leaf <= as_tree + SIMPLER_BY
            self._estimate[inner[~to_leaf]] = as_tree[~to_leaf]
            self._cut(inner[to_leaf])
            return inner[:0]
        largest = self._largest_branches(inner)
        pairs = Pairs(inner, largest, self._allowed(as_leaf, as_tree, self._estimate[largest]))
        changes = self._changes(pairs)
        as_branch = self._branch_estimates(largest, changes)
        to_leaf = (as_leaf <= as_branch + SIMPLER_BY) & (as_leaf <= as_tree + SIMPLER_BY)
        to_branch = ~to_leaf & (as_branch <= as_tree + SIMPLER_BY)
        self._estimate[inner[~to_leaf]] = as_tree[~to_leaf]
        self._cut(inner[to_leaf])
        raised = Pairs(*(x[to_branch] for x in pairs))
        self._raise(raised, changes, to_branch)
        return raised.branch

    def _add_branches(self, inner: Int64s) -> Floats:
        """Bring the units of inner nodes up to date, and add up the estimates of their branches, in order."""
        first, stop = self._tree.branch_start[inner], self._tree.branch_start[inner + 1]
        branches = self._tree.branch[ranges(first, stop)]
        position = np.repeat(np.arange(len(inner)), stop - first)
        if len(inner):
            self._units[inner] = np.add.reduceat(self._units[branches], _starts(stop - first))
        # one after the other, as they come; reduceat would pair them up
        return np.bincount(position, weights=self._estimate[branches], minlength=len(inner)).astype(np.float64)

    def _relabel(self, nodes: Int64s) -> None:
        """The most frequent class; of equals the old label if it is one of them, else the first."""
        self._tree.label[nodes] = labels_of(self._units[nodes], self._tree.label[nodes])

    def _leaf_estimates(self, units: Int64s) -> Floats:
        """Estimated errors of leaves with these class weights; 0 for one without cases."""
        weight = units.sum(1)
        cases = np.where(weight > 0, weight, 1) / self._case_units
        errors = (weight - units.max(1)) / self._case_units
        return np.where(weight > 0, errors + extra_errors(cases, errors, self._confidence), 0.0)

    def _largest_branches(self, inner: Int64s) -> Int64s:
        """The branch that most of the known weight takes; of equals the last."""
        first, stop = self._tree.branch_start[inner], self._tree.branch_start[inner + 1]
        entry, starts = ranges(first, stop), _starts(stop - first)
        known = self._known[entry]
        greatest = known == np.repeat(np.maximum.reduceat(known, starts), stop - first)
        return self._tree.branch[np.maximum.reduceat(np.where(greatest, entry, -1), starts)]

    def _allowed(self, as_leaf: Floats, as_tree: Floats, as_branch: Floats) -> Int64s:
        """By how many units a branch's errors may rise before it is out, given what it is estimated at now.

        It is out when it is worse than the tree by more than a tenth of an error, or, where a leaf would do as well
        as the tree, when a leaf is not worse than it by more than that. Half an error more is room for rounding.
        """
        limit = as_tree + SIMPLER_BY
        limit = np.where(as_leaf <= limit, np.minimum(limit, as_leaf - SIMPLER_BY), limit)
        errors = limit - as_branch + 0.5
        if self._least_rise < 0.5 or self._case_units > 1:  # no telling how little a part of an error counts
            return np.where(errors < 0, -1, np.iinfo(np.int64).max)
        return np.ceil(errors / self._least_rise).astype(np.int64)

    def _changes(self, pairs: Pairs) -> Changes:
        """What sending all cases of the tops down the branches would change.

        A branch that is a leaf would have all that its top has; only about others the engine is asked.
        """
        at_leaf = self._tree.kind[pairs.branch] == LEAF
        leaves, others = np.flatnonzero(at_leaf), np.flatnonzero(~at_leaf)
        leaf = pairs.branch[leaves]
        whole = self._units[pairs.top[leaves]] - self._units[leaf]
        if not len(others):
            return Changes(np.zeros(len(leaves), np.bool_), leaves, leaf, whole)
        sent = self._placed.send(self._tree, self._units, Pairs(*(x[others] for x in pairs)))
        hopeless = np.zeros(len(at_leaf), np.bool_)
        hopeless[others] = sent.hopeless
        pair = np.concatenate([leaves, others[sent.pair]])
        order = np.argsort(pair, kind="stable")
        joined = np.concatenate([leaf, sent.leaf])[order], np.concatenate([whole, sent.units])[order]
        return Changes(hopeless, pair[order], *joined)

    def _branch_estimates(self, branches: Int64s, changes: Changes) -> Floats:
        """What the branches would be estimated at, if their leaves' class weights changed so."""
        estimate = np.where(changes.hopeless, np.inf, self._estimate[branches])
        new = self._leaf_estimates(self._units[changes.leaf] + changes.units)
        np.add.at(estimate, changes.pair, new - self._estimate[changes.leaf])
        return estimate

    def _cut(self, nodes: Int64s) -> None:
        self._placed.cut(nodes)
        self._tree.kind[nodes] = LEAF
        self._alive[ranges(nodes + 1, self._end[nodes])] = False

    def _raise(self, pairs: Pairs, changes: Changes, which: npt.NDArray[np.bool_]) -> None:
        """Put branches in the place of the nodes above them, with all of their cases."""
        if not len(pairs.top):
            return
        tops, branches = pairs.top, pairs.branch
        self._known = self._placed.raise_branches(self._tree, pairs)
        here = which[changes.pair]
        self._units[changes.leaf[here]] += changes.units[here]
        self._alive[ranges(tops, branches)] = False
        self._alive[ranges(self._end[branches], self._end[tops])] = False
        self._entry[branches] = self._entry[tops]
        below_root = branches[self._entry[branches] >= 0]
        self._tree.branch[self._entry[below_root]] = below_root

    def _remaining(self) -> Tree:
        """The living nodes as a tree; their old order is a preorder of it."""
        units = self._units[self._alive]
        weight = units.sum(1) / self._case_units
        tree = subset(replace(self._tree, errors=self._estimate), self._alive)
        class_weights = np.where(weight[:, None] > 0, units / self._case_units, tree.class_weights)
        return replace(tree, weight=weight, class_weights=class_weights)


def _starts(lengths: Int64s) -> Int64s:
    """Where ranges of these lengths start that lie one after the other."""
    return np.cumsum(lengths) - lengths
