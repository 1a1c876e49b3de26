"""How the reference engine scores one attribute at all open nodes.

Known cases are grouped by node and value. The class weights of the groups feed a discrete test at once, and a
continuous one through running sums over the groups of a node::

    node    0 0 0 | 1 1       groups in the order of nodes and values
    code    2 4 7 | 2 3
    cut     ^ ^     ^         a cut lies after every group but the last of a node
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c45gpu.choose import branch_counts
from c45gpu.data.table import Floats
from c45gpu.formulas import least_side, q_log_q
from c45gpu.kernels.descend import sums
from c45gpu.kernels.level import Bools, Candidates, Int64s, Problem
from c45gpu.measures import CHI2, ENTROPY, term

TABLE_UNITS = 1 << 24  # up to this total weight H is looked up: a table of 128 MB at most
GREATEST = np.iinfo(np.int64).max


class Groups(NamedTuple):
    """The known cases of each node and value: their node, their code, their class weights."""

    node: Int64s
    code: Int64s
    class_weights: Int64s


class Information:
    """H, the settings, and what every scoring starts from."""

    def __init__(self, problem: Problem) -> None:
        self.settings = problem.settings
        total = int(problem.units.sum())
        self._table = q_log_q(np.arange(total + 1), self.settings.scale_bits) if total < TABLE_UNITS else None

    def h(self, q: Int64s) -> Int64s:
        """H(q) = q * log2(q), elementwise; see :func:`c45gpu.formulas.q_log_q`."""
        values: Int64s = q_log_q(q, self.settings.scale_bits) if self._table is None else self._table[q]
        return values

    def inner(self, class_weights: Int64s, totals: Int64s) -> Int64s:
        """What is left to tell about the classes of a set of cases, one row each; `totals` are those of its node.

        By information H(sum of a row) - sum of H over the row, else less the :func:`c45gpu.measures.term` of each.
        """
        weight = class_weights.sum(1)
        if self.settings.measure == ENTROPY:
            inner: Int64s = self.h(weight) - self.h(class_weights).sum(1)
            return inner
        terms: Int64s = term(class_weights, weight[:, None], totals, self.settings.measure, self.settings.scale).astype(
            np.int64
        )
        left: Int64s = -terms.sum(1)
        return left

    def split(self, weight: Int64s, known: Int64s, branches: Int64s) -> Int64s:
        """Split information from the sum of H over the branches; by chi-square the known weight stands there."""
        return known if self.settings.measure == CHI2 else self.h(weight) - self.h(weight - known) - branches


def group(node: Int64s, code: Int64s, classes: Int64s, units: Int64s, n_classes: int) -> Groups:
    """Group instances by node and known code."""
    known = code >= 0
    node, code = node[known], code[known]
    width = int(code.max()) + 1 if len(code) else 1
    keys, inverse = np.unique(node * width + code, return_inverse=True)
    return Groups(keys // width, keys % width, sums(inverse, classes[known], units[known], len(keys), n_classes))


def score_discrete(candidates: Candidates, a: int, groups: Groups, weight: Int64s, information: Information) -> None:
    """Fill in the candidates of a discrete attribute; `weight` is that of each node."""
    m = len(weight)
    values, totals = groups.class_weights.sum(1), _totals(groups, m, information.settings.n_classes)
    inner = information.inner(groups.class_weights, totals[groups.node])
    candidates.gain[:, a] = information.inner(totals, totals) - _add(groups.node, inner, m)
    branches = _add(groups.node, information.h(values), m)
    candidates.split[:, a] = information.split(weight, totals.sum(1), branches)
    candidates.possible[:, a] = _add(groups.node, branch_counts(values, information.settings), m) >= 2


def score_continuous(
    candidates: Candidates, a: int, groups: Groups, weight: Int64s, information: Information, distinct: Floats
) -> None:
    """Fill in the candidates of a continuous attribute with the given sorted distinct values."""
    m, settings = len(weight), information.settings
    totals = _totals(groups, m, settings.n_classes)
    cuts = _cuts(groups, totals.sum(1), information, distinct)
    candidates.tries[:, a] = np.bincount(cuts.node, minlength=m)
    low_weight, high_weight = cuts.low.sum(1), cuts.high.sum(1)
    valid = cuts.take((low_weight >= settings.min_units) & (high_weight >= settings.min_units))
    gain = _gains(valid, totals, information)
    greatest = np.full(m, -GREATEST)
    np.maximum.at(greatest, valid.node, gain)
    best = gain == greatest[valid.node]
    nodes, first = np.unique(valid.node[best], return_index=True)  # of equal cuts the lowest
    chosen = np.flatnonzero(best)[first]
    candidates.possible[nodes, a] = True
    candidates.cut[nodes, a] = valid.code[chosen]
    candidates.gain[nodes, a] = gain[chosen]
    candidates.split[nodes, a] = _splits(valid.take(chosen), weight, totals, information)


class Cuts(NamedTuple):
    """Cuts of a continuous attribute: their node, the code of the value that each lies after, the two sides."""

    node: Int64s
    code: Int64s
    low: Int64s
    high: Int64s

    def take(self, which: Bools | Int64s) -> Cuts:
        """Some of them."""
        return Cuts(*(column[which] for column in self))


class ScoredCuts(NamedTuple):
    """Every cut that is tried at a node, with its information sums as in :class:`Candidates`."""

    code: Int64s
    gain: Int64s
    split: Int64s


def scored_cuts(groups: Groups, weight: Int64s, information: Information, distinct: Floats) -> ScoredCuts:
    """All that :func:`score_continuous` looks at in the groups of one node, whose weight is `weight[0]`."""
    totals = _totals(groups, 1, information.settings.n_classes)
    cuts = _cuts(groups, totals.sum(1), information, distinct)
    return ScoredCuts(cuts.code, _gains(cuts, totals, information), _splits(cuts, weight, totals, information))


def _gains(cuts: Cuts, totals: Int64s, information: Information) -> Int64s:
    here = totals[cuts.node]
    gains: Int64s = information.inner(totals, totals)[cuts.node]
    return gains - (information.inner(cuts.low, here) + information.inner(cuts.high, here))


def _splits(cuts: Cuts, weight: Int64s, totals: Int64s, information: Information) -> Int64s:
    sides = information.h(cuts.low.sum(1)) + information.h(cuts.high.sum(1))
    return information.split(weight[cuts.node], totals.sum(1)[cuts.node], sides)


def _cuts(groups: Groups, known: Int64s, information: Information, distinct: Floats) -> Cuts:
    """The cuts that are tried, with the class weights on both sides; `known` is the known weight of each node."""
    settings = information.settings
    running = np.cumsum(groups.class_weights, axis=0)
    followed = np.flatnonzero(groups.node[:-1] == groups.node[1:])
    if settings.gap > 0:
        followed = followed[_apart(distinct, groups.code[followed], groups.code[followed + 1], settings.gap)]
    if settings.boundaries:
        followed = followed[_on_boundary(groups.class_weights, followed, followed + 1)]
    node_first = np.searchsorted(groups.node, groups.node[followed])
    low = running[followed] - (running[node_first] - groups.class_weights[node_first])
    low_weight, total = low.sum(1), known[groups.node[followed]]
    side = least_side(total, settings.n_classes, settings.min_units, settings.cap_units)
    tried = (total >= 2 * settings.min_units) & (low_weight >= side) & (total - low_weight >= side)
    node_last = np.searchsorted(groups.node, groups.node[followed[tried]], side="right") - 1
    high = running[node_last] - running[followed[tried]]
    return Cuts(groups.node[followed[tried]], groups.code[followed[tried]], low[tried], high)


def _apart(distinct: Floats, below: Int64s, above: Int64s, gap: float) -> Bools:
    """Whether neighbouring values differ by more than a gap, in float64 as release 8 compares them."""
    values = distinct.astype(np.float64)
    apart: Bools = values[below] < values[above] - gap
    return apart


def _on_boundary(class_weights: Int64s, below: Int64s, above: Int64s) -> Bools:
    """Whether the cases of neighbouring values are of more than one class."""
    pure = (class_weights > 0).sum(1) == 1
    first = class_weights.argmax(1)
    boundary: Bools = ~(pure[below] & pure[above] & (first[below] == first[above]))
    return boundary


def _totals(groups: Groups, m: int, n_classes: int) -> Int64s:
    """Class weights of the known cases of each node."""
    totals = np.zeros((m, n_classes), np.int64)
    np.add.at(totals, groups.node, groups.class_weights)
    return totals


def _add(node: Int64s, amounts: Int64s, m: int) -> Int64s:
    total = np.zeros(m, np.int64)
    np.add.at(total, node, amounts)
    return total
