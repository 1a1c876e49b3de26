"""The engine in plain NumPy: short, slow, right. All open nodes at once, one attribute after the other.

    instances of the open nodes, in the order of the nodes

    case    3 5 9 | 0 1 2 7 8 | ...
    units   1 1 1 | 1 1 1 1 1 | ...
            ^start[0]  ^start[1]

How they are scored is in :mod:`c45gpu.kernels.reference_score`, how pruning sends them in
:mod:`c45gpu.kernels.descend`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from c45gpu.choose import Facts, choose, is_leaf
from c45gpu.data.table import Floats, Table
from c45gpu.kernels.descend import Placement, divide, sums
from c45gpu.kernels.engine import PlacedCases
from c45gpu.kernels.level import (
    ELSEWHERE,
    Bools,
    Candidates,
    Children,
    Frontier,
    Instances,
    Int64s,
    Problem,
    Splits,
    Taken,
)
from c45gpu.kernels.reference_score import Information, group, score_continuous, score_discrete
from c45gpu.model.predict import class_frequencies
from c45gpu.model.tree import Tree, ranges


class ReferenceEngine:
    """See :class:`c45gpu.kernels.engine.Engine`."""

    name = "reference"

    def load(self, problem: Problem) -> Frontier:
        """Take the cases of a problem; the frontier is its root."""
        table = problem.table
        self._problem = problem
        self._classes = table.classes.astype(np.int64)
        self._information = Information(problem)
        continuous = [table.schema.attributes[a].kind == "continuous" for a in problem.used]
        self._continuous = np.array(continuous, np.bool_)
        coded = [table.ranks(a)[0] if c else table.column(a) for a, c in zip(problem.used, continuous, strict=True)]
        self._codes = np.array(coded, np.int64).reshape(len(coded), table.n_cases)
        self._n_values = np.array([len(table.schema.attributes[a].values) for a in problem.used], np.int64)
        return self._open(np.arange(table.n_cases), problem.units, np.zeros(table.n_cases, np.int64), 1)

    def distinct(self, attribute: int) -> Floats:
        """Sorted distinct values of the whole column of a continuous attribute."""
        return self._problem.table.ranks(self._problem.used[attribute])[1]

    def score(self, first: int, stop: int) -> Candidates:
        """The best test of every attribute for the open nodes first..stop-1."""
        candidates = Candidates.none(stop - first, len(self._codes))
        here = slice(self._start[first], self._start[stop])
        case, units = self._case[here], self._units[here]
        node = np.repeat(np.arange(stop - first), np.diff(self._start[first : stop + 1]))
        weight = self._weight[first:stop]
        for a, codes in enumerate(self._codes):
            groups = group(node, codes[case], self._classes[case], units, self._problem.settings.n_classes)
            if self._continuous[a]:
                score_continuous(candidates, a, groups, weight, self._information, self.distinct(a))
            else:
                score_discrete(candidates, a, groups, weight, self._information)
        return candidates

    def split(self, splits: Splits) -> Children:
        """Send the cases of open nodes down the branches."""
        here, split = self._here(splits.node)
        taken = self._taken(splits, here, split)
        n_branches = splits.n_branches(np.where(self._continuous, 2, self._n_values))
        start = np.concatenate([[0], np.cumsum(n_branches)])
        slot, instance, units, _ = divide(start, split, taken.branch, self._units[here])
        held, node = np.unique(slot, return_inverse=True)
        frontier = self._open(self._case[here][instance], units, node, len(held))
        parent = np.searchsorted(start, held, side="right") - 1
        return Children(frontier, parent, held - start[parent], taken.below, taken.above)

    def instances(self, nodes: Int64s) -> Instances:
        """The instances of some open nodes."""
        here, _ = self._here(nodes)
        return Instances(self._case[here], self._units[here], np.cumsum([0, *np.diff(self._start)[nodes]]))

    def taken(self, splits: Splits) -> Taken:
        """Which branches the cases would take by some splits."""
        return self._taken(splits, *self._here(splits.node))

    def _here(self, nodes: Int64s) -> tuple[Int64s, Int64s]:
        """The instances at some nodes, and which of these each is at."""
        return ranges(self._start[nodes], self._start[nodes + 1]), np.repeat(
            np.arange(len(nodes)), np.diff(self._start)[nodes]
        )

    def _taken(self, splits: Splits, here: Int64s, split: Int64s) -> Taken:
        """Which branch each instance takes by the test of its split."""
        own = splits.attribute[split] != ELSEWHERE
        code = np.empty(len(split), np.int64)
        code[own] = self._codes[splits.attribute[split[own]], self._case[here[own]]]
        code[~own] = np.arange(len(split))[~own] - np.searchsorted(split, split[~own])  # the range is by instance
        continuous = np.append(self._continuous, False)[splits.attribute]
        branch = np.where(continuous[split] & (code >= 0), code > splits.cut[split], code)
        mapped = (np.diff(splits.group_start) > 0)[split] & (code >= 0)
        branch[mapped] = splits.group_branch[splits.group_start[split[mapped]] + code[mapped]]
        below, above = _neighbours(len(splits), split, code, branch, continuous)
        return Taken(branch.astype(np.int32), below, above)

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        """Units of the known cases of each value and class of a discrete attribute at open nodes."""
        here = slice(self._start[first], self._start[stop])
        case, units, n_values = self._case[here], self._units[here], int(self._n_values[attribute])
        node = np.repeat(np.arange(stop - first), np.diff(self._start[first : stop + 1]))
        code = self._codes[attribute, case]
        known = code >= 0
        row, n_classes = node * n_values + code, self._problem.settings.n_classes
        found = sums(row[known], self._classes[case[known]], units[known], (stop - first) * n_values, n_classes)
        return found.reshape(stop - first, n_values, n_classes)

    def choose(self, candidates: Candidates, weight: Int64s) -> Int64s:
        """What :func:`c45gpu.choose.choose` says for each node."""
        facts = Facts(*(x.tolist() for x in self._problem.facts))
        net = [0.0] * len(facts.averaged)
        columns = [x.tolist() for x in (candidates.gain, candidates.split, candidates.tries, candidates.possible)]
        rows = zip(weight.tolist(), zip(*columns, strict=True), strict=True)
        return np.array([choose(w, row, facts, self._problem.settings, net) for w, row in rows], np.int64)

    def place(self, tree: Tree) -> PlacedCases:
        """Send all training cases down a tree, to prune it."""
        return Placement(self._problem, tree)

    def route(self, tree: Tree, table: Table) -> npt.NDArray[np.float64]:
        """Class frequencies of cases to be predicted."""
        return class_frequencies(tree, table)

    def hold(self, problem: Problem) -> None:
        """Take the cases of a problem that is only to be placed."""
        self._problem = problem

    def close(self) -> None:
        """Let go of everything."""
        self.__dict__.clear()

    def _open(self, case: Int64s, units: Int64s, node: Int64s, n_nodes: int) -> Frontier:
        """Instances in the order of their nodes become the open nodes, but for those of leaves."""
        settings = self._problem.settings
        class_weights = sums(node, self._classes[case], units, n_nodes, settings.n_classes)
        weight = class_weights.sum(1)
        is_open = ~is_leaf(weight, class_weights.max(1), settings)
        stays = is_open[node]
        self._case, self._units, self._weight = case[stays], units[stays], weight[is_open]
        instances = np.bincount(node, minlength=n_nodes)[is_open]
        self._start = np.concatenate([[0], np.cumsum(instances)])
        return Frontier(class_weights, is_open)


def _neighbours(k: int, split: Int64s, code: Int64s, branch: Int64s, continuous: Bools) -> tuple[Int64s, Int64s]:
    """For each split on a continuous attribute the greatest code of its low branch and the least of its high one."""
    below, above = np.full(k, -1, np.int64), np.full(k, np.iinfo(np.int64).max)
    asked = continuous[split]
    low, high = asked & (branch == 0), asked & (branch == 1)
    np.maximum.at(below, split[low], code[low])
    np.minimum.at(above, split[high], code[high])
    above[~continuous] = -1
    return below, above
