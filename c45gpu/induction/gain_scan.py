"""How every cut of an attribute does among the training cases at a node: what a learner sees, for people to see."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.choose import net_gain, worth
from c45gpu.data.table import Table
from c45gpu.errors import OptionError
from c45gpu.formulas import EPSILON, information_of
from c45gpu.induction.costs import class_factors, scaled
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.prunings import held_out
from c45gpu.induction.scan import AtNode, groups_at, thresholds_of
from c45gpu.kernels.descend import Placement
from c45gpu.kernels.level import Candidates, Problem
from c45gpu.kernels.reference_score import Information, ScoredCuts, score_continuous, scored_cuts
from c45gpu.measures import ENTROPY
from c45gpu.model.store import Model
from c45gpu.model.tree import THRESHOLD, Tree

Floats = npt.NDArray[np.float64]
NO_FILTER: Final = -np.inf  # an average gain that every test has
LARGE_GAIN: Final = 64.0  # bits
NONE: Final = -1


class GainScan(NamedTuple):
    """The cuts of a continuous attribute at a node, from the lowest to the highest.

    Parameters
    ----------
    attribute : int
        Its number.
    thresholds : ndarray of float64, shape (k,)
        Of all cuts between neighbouring values, also of those too close to an end to be tried.
    gain : ndarray of float64, shape (k,)
        In bits for a case, before the cost; by another measure what that counts in.
    ratio : ndarray of float64, shape (k,)
        The gain less the cost, divided by the split information; NaN where the cost eats all of the gain, and by other
        measures than information.
    cost : float
        What a cut pays for its choice among those that are tried, in bits: log2(tries) / cases.
    tried : ndarray of bool, shape (k,)
        Whether a cut is far enough from both ends to be tried.
    best : int
        Which of the cuts the attribute would be tested at; -1 where it cannot be.
    chosen : int
        Which one the node tests; -1 where it tests none of this attribute.
    values : ndarray of float64, shape (n,)
        Known values of the attribute at the node, ascending.
    classes : ndarray of int64, shape (n,)
        The classes of the cases that they belong to.
    """

    attribute: int
    thresholds: Floats
    gain: Floats
    ratio: Floats
    cost: float
    tried: npt.NDArray[np.bool_]
    best: int
    chosen: int
    values: Floats
    classes: npt.NDArray[np.int64]


def gain_scan(model: Model, table: Table, attribute: int, node: int = 0, *, unpruned: bool = False) -> GainScan:
    """Every cut of a continuous attribute among the training cases at a node.

    Parameters
    ----------
    model : Model
        What was trained on the table.
    table : Table
        The training cases.
    attribute : int
        A number of the schema.
    node : int
        A node of the tree.
    unpruned : bool
        Of the tree as grown, not the pruned one. Where a branch was raised, a node of the pruned tree has other cases
        than those that its test was chosen on.

    Returns
    -------
    GainScan
        Numbers are those of the engines.

    Raises
    ------
    OptionError
        When there is no such node, no case is at it, or the attribute is not continuous.
    """
    tree = model.unpruned if unpruned else model.pruned
    _require(tree, model, attribute, node)
    problem = _posed(model, table)
    at_node = AtNode(*Placement(problem, tree).cases_below(node))
    if not len(at_node.case):
        raise OptionError(f"no training case is at node {node}: give another node, or all training cases")
    ranks, distinct = problem.table.ranks(attribute)
    codes, classes = ranks[at_node.case], problem.table.classes[at_node.case].astype(np.int64)
    groups, weight = groups_at(problem, at_node, attribute), np.array([at_node.units.sum()])
    lenient = replace(problem, settings=problem.settings._replace(min_units=1, cap_units=1))
    cuts = scored_cuts(groups, weight, Information(lenient), distinct)
    found = Candidates.none(1, 1)
    score_continuous(found, 0, groups, weight, Information(problem), distinct)
    here = thresholds_of(problem, attribute, groups, cuts.code)
    tested = tree.kind[node] == THRESHOLD and tree.attribute[node] == attribute
    known = codes >= 0
    order = np.argsort(codes[known], kind="stable")
    return GainScan(
        attribute,
        here,
        *_judged(problem, attribute, int(weight[0]), cuts, int(found.tries[0, 0])),
        np.isin(cuts.code, scored_cuts(groups, weight, Information(problem), distinct).code),
        _where(cuts.code == found.cut[0, 0]) if found.possible[0, 0] else NONE,
        _where(here == tree.threshold[node]) if tested else NONE,
        distinct[codes[known][order]].astype(np.float64),
        classes[known][order],
    )


def _judged(
    problem: Problem, attribute: int, weight: int, cuts: ScoredCuts, tries: int
) -> tuple[Floats, Floats, float]:
    """Gains before the cost, gain ratios after it, and the cost, as the one judgement there is has them."""
    settings = problem.settings._replace(ratio=True)
    bound = int(problem.facts.zero_bound[problem.used.index(attribute)])
    gain, ratio = np.zeros(len(cuts.code)), np.full(len(cuts.code), np.nan)
    for i, (cut_gain, split) in enumerate(zip(cuts.gain.tolist(), cuts.split.tolist(), strict=True)):
        gain[i] = net_gain(weight, cut_gain, split, 0, bound, settings)
        net = net_gain(weight, cut_gain, split, tries, bound, settings)
        of_split = information_of(split, weight, settings.scale)
        value = worth(net, of_split, NO_FILTER, settings) if net > -EPSILON and settings.measure == ENTROPY else -1.0
        ratio[i] = value if value >= 0 else np.nan
    # the cost is what is taken off a gain that is large enough to pay for it: here one of 64 bits for each case
    large = int(LARGE_GAIN * weight * settings.scale)
    cost = 0.0
    if tries > 0 and settings.measure == ENTROPY:
        cost = LARGE_GAIN - float(net_gain(weight, large, 0, tries, bound, settings))
    return gain, ratio, cost


def _where(which: npt.NDArray[np.bool_]) -> int:
    found = np.flatnonzero(which)
    return int(found[0]) if len(found) else NONE


def _require(tree: Tree, model: Model, attribute: int, node: int) -> None:
    if not 0 <= node < tree.n_nodes:
        raise OptionError(f"node={node} will not do: the tree has nodes 0 to {tree.n_nodes - 1}")
    asked = model.schema.attributes[attribute]
    if asked.kind != "continuous":
        raise OptionError(f"attribute {asked.name!r} is {asked.kind} and has no thresholds: give a continuous one")


def _posed(model: Model, table: Table) -> Problem:
    """What the tree of a model was grown on."""
    options = Options(**model.options)
    if model.costs is not None:
        table = scaled(table, class_factors(table, model.costs))
    problem = pose(table, options)
    held = held_out(problem.table, options.held_out, options.random_state) if options.prune == "rep" else None
    return problem if held is None else pose(held.growing, options)
