"""What a test on each attribute would gain at nodes of a tree: the numbers that C4.5 chooses by, to be looked at.

Cases go down the tree as they do when it grows, with unknown values divided in units, so at the nodes of a tree as
grown its own training cases give back the tests that it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.choose import NO_AVERAGE, NO_TEST, Facts, choose, is_leaf, net_gain, worth
from c45gpu.data.table import Table
from c45gpu.formulas import EPSILON, information_of
from c45gpu.grouping import NO_GROUPS
from c45gpu.induction.cuts import thresholds
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.kernels.descend import divide, sums
from c45gpu.kernels.level import Candidates, Int64s, Problem
from c45gpu.kernels.reference_score import (
    Groups,
    Information,
    group,
    score_continuous,
    score_discrete,
    scored_cuts,
)
from c45gpu.measures import CHI2
from c45gpu.model.route import branches_taken
from c45gpu.model.tree import LEAF, Tree, ranges

Float64s = npt.NDArray[np.float64]


class AtNode(NamedTuple):
    """The cases at one node, and what they weigh there in units."""

    case: Int64s
    units: Int64s


class Curve(NamedTuple):
    """Every threshold of an attribute that is tried at a node, ascending, and what it gains before it pays."""

    thresholds: Float64s
    gains: Float64s


@dataclass(frozen=True, eq=False)
class Scan:
    """The best test of each used attribute at one node.

    Parameters
    ----------
    gain : ndarray of float64, shape (n_used,)
        What it gains in bits for a case, less what a threshold pays for the choice; NaN where there is no test, or one
        that does not gain what it pays.
    split : ndarray of float64, shape (n_used,)
        Its split information in bits; NaN where the criterion has none.
    worth : ndarray of float64, shape (n_used,)
        By the criterion, -0.001 or less if nothing.
    threshold : ndarray of float64, shape (n_used,)
        NaN for a discrete attribute.
    average : float or None
        The average gain that a test must have to compete by its ratio; None where that is not asked, or not known.
    chosen : int or None
        The attribute, by its schema number, that C4.5 would test; None where there is none. Where values share branches
        (`group_values`, `binary_splits`), discrete attributes are not scanned, so it is not known.
    """

    gain: Float64s
    split: Float64s
    worth: Float64s
    threshold: Float64s
    average: float | None
    chosen: int | None


def groups_at(problem: Problem, at_node: AtNode, attribute: int) -> Groups:
    """The cases at a node, grouped by their values of an attribute, a schema number."""
    table = problem.table
    continuous = table.schema.attributes[attribute].kind == "continuous"
    code = (table.ranks(attribute)[0] if continuous else table.column(attribute))[at_node.case].astype(np.int64)
    classes = table.classes[at_node.case].astype(np.int64)
    return group(np.zeros(len(code), np.int64), code, classes, at_node.units, problem.settings.n_classes)


def thresholds_of(problem: Problem, attribute: int, groups: Groups, cuts: Int64s) -> Float64s:
    """The thresholds of cuts of a continuous attribute, each named by the code of the group below it."""
    below = np.searchsorted(groups.code, cuts)
    return thresholds(problem.table.ranks(attribute)[1], cuts, groups.code[below + 1], problem.settings.gap > 0)


class Scanner:
    """Scans nodes of trees with the cases of a table.

    Parameters
    ----------
    table : Table
        Cases with classes.
    options : Options
        The learner's.

    Raises
    ------
    DataError
        When there is nothing to learn from in the table.
    """

    def __init__(self, table: Table, options: Options) -> None:
        self.problem = pose(table, options)
        self._information = Information(self.problem)

    @property
    def used(self) -> tuple[int, ...]:
        """Schema numbers of the attributes that are scanned."""
        return self.problem.used

    def cases(self, tree: Tree, nodes: Int64s) -> Iterator[tuple[int, AtNode]]:
        """The cases at some nodes of a tree that may be tested at all, a depth at a time.

        Parameters
        ----------
        tree : Tree
        nodes : ndarray of int64
            With each node also all that are above it.
        """
        wanted = np.zeros(tree.n_nodes, np.bool_)
        wanted[nodes] = True
        n_cases = self.problem.table.n_cases
        node, case, units = np.zeros(n_cases, np.int64), np.arange(n_cases), np.asarray(self.problem.units)
        while len(node):
            here = wanted[node]
            node, case, units = node[here], case[here], units[here]
            present, first = np.unique(node, return_index=True)
            for number, start, stop in zip(present.tolist(), first, [*first, len(node)][1:], strict=True):
                at_node = AtNode(case[start:stop], units[start:stop])
                if self._may_be_tested(at_node):
                    yield number, at_node
            inner = tree.kind[node] != LEAF
            node, case, units = self._down(tree, node[inner], case[inner], units[inner])

    def scan(self, at_node: AtNode) -> Scan:
        """The best test of each used attribute for the cases at a node."""
        problem = self.problem
        weight = np.array([int(at_node.units.sum())])
        candidates = Candidates.none(1, len(self.used))
        threshold = np.full(len(self.used), np.nan)
        for a, attribute in enumerate(self.used):
            groups = groups_at(problem, at_node, attribute)
            if problem.table.schema.attributes[attribute].kind == "continuous":
                distinct = problem.table.ranks(attribute)[1]
                score_continuous(candidates, a, groups, weight, self._information, distinct)
                if candidates.possible[0, a]:
                    threshold[a] = thresholds_of(problem, attribute, groups, candidates.cut[:, a])[0]
            elif problem.grouping == NO_GROUPS:
                score_discrete(candidates, a, groups, weight, self._information)
        return self._told(candidates, int(weight[0]), threshold)

    def curve(self, at_node: AtNode, attribute: int) -> Curve:
        """The gain over all thresholds of a continuous attribute that are tried on the cases at a node.

        Parameters
        ----------
        at_node : AtNode
        attribute : int
            Its schema number.
        """
        groups, weight = groups_at(self.problem, at_node, attribute), np.array([int(at_node.units.sum())])
        cuts = scored_cuts(groups, weight, self._information, self.problem.table.ranks(attribute)[1])
        bound = int(self.problem.facts.zero_bound[self.used.index(attribute)])
        gains = [
            max(net_gain(int(weight[0]), gain, split, 0, bound, self.problem.settings), 0.0)
            for gain, split in zip(cuts.gain.tolist(), cuts.split.tolist(), strict=True)
        ]
        return Curve(thresholds_of(self.problem, attribute, groups, cuts.code), np.array(gains, np.float64))

    def _may_be_tested(self, at_node: AtNode) -> bool:
        class_weights = sums(
            np.zeros(len(at_node.case), np.int64),
            self.problem.table.classes[at_node.case].astype(np.int64),
            at_node.units,
            1,
            self.problem.settings.n_classes,
        )[0]
        return not is_leaf(class_weights.sum(), class_weights.max(), self.problem.settings)

    def _down(self, tree: Tree, node: Int64s, case: Int64s, units: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Cases at inner nodes, in the order of these, one level further down."""
        nodes = np.unique(node)
        taken = branches_taken(tree, self.problem.table, node, case)
        first, stop = tree.branch_start[nodes], tree.branch_start[nodes + 1]
        start = np.concatenate([[0], np.cumsum(stop - first)])
        slot, instance, units, _ = divide(start, np.searchsorted(nodes, node), taken, units)
        return tree.branch[ranges(first, stop)][slot], case[instance], units

    def _told(self, candidates: Candidates, weight: int, threshold: Float64s) -> Scan:
        facts, settings = Facts(*(x.tolist() for x in self.problem.facts)), self.problem.settings
        net = [0.0] * len(self.used)
        arrays = (candidates.gain, candidates.split, candidates.tries, candidates.possible)
        row = tuple(x[0].tolist() for x in arrays)
        chosen = choose(weight, row, facts, settings, net)
        averaged = [gain for gain, counts in zip(net, facts.averaged, strict=True) if counts and gain > -EPSILON]
        average = sum(averaged) / len(averaged) if averaged else NO_AVERAGE
        complete = self.problem.grouping == NO_GROUPS
        bits = [information_of(split, weight, settings.scale) for split in row[1]]
        gains = np.array(net)
        gains[gains <= -EPSILON] = np.nan
        worths = [worth(gain, split, average, settings) for gain, split in zip(net, bits, strict=True)]
        return Scan(
            gains,
            np.where(np.isnan(gains) | (settings.measure == CHI2), np.nan, bits),
            np.where(np.isnan(gains), -EPSILON, worths),
            threshold,
            average if settings.ratio and averaged and complete else None,
            self.used[chosen] if chosen != NO_TEST and complete else None,
        )
