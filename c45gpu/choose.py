"""The candidates of one node -> its test: average gain, gain ratio, ties (specification section 4).

The order of tests is total: the greater worth wins, and of equals the attribute that stands first. :func:`choose` is
the only place that judges; the host calls it for a node, and an engine that finishes small nodes by itself compiles
the same source. No product feeds a sum in it, so it gives the same bits wherever it runs.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from c45gpu.formulas import EPSILON, information_of, least_side, log2_of
from c45gpu.measures import CHI2, gain_in_cases

NO_TEST: Final = -1  # choose() found no attribute worth a test
NO_AVERAGE: Final = 1e6  # the average gain where no attribute counts towards it
TOO_LIGHT: Final = 1 << 40  # more than any number of branches


class Settings(NamedTuple):
    """The numbers that scoring and choosing need, the same for every node of a run.

    Weights are in units, information in multiples of 2^-scale_bits.
    """

    ratio: bool  # the criterion is the gain ratio, not the gain
    n_classes: int
    min_units: int  # -m: two branches must have this weight
    cap_units: int  # no side of a cut must hold more than this: 25 cases
    case_units: int  # units of one case: 2**unit_bits
    scale_bits: int
    scale: float  # 2.0**scale_bits
    gap: float  # neighbouring values must differ by more than this for a cut between them
    measure: int = 0  # of c45gpu.measures: information, Gini impurity or chi-square
    pays: bool = True  # a cut pays log2(tries) / cases for the choice
    boundaries: bool = False  # no cut between values that all cases of one class have
    least_worth: float = -EPSILON  # a test must be worth this
    split_units: int = 0  # a node of less weight is a leaf
    leaf_units: int = 0  # a branch of a discrete test has this weight or none


class Facts(NamedTuple):
    """What :func:`choose` must know of each used attribute: one entry for each."""

    zero_bound: Any  # int64: a gain up to this is 0
    averaged: Any  # bool: it counts towards the average gain


def is_leaf(weight: Any, largest: Any, settings: Settings) -> Any:
    """Whether a node is not to be tested: one class only, or less than twice the least weight of a branch."""
    return (largest == weight) | (weight < 2 * settings.min_units) | (weight < settings.split_units)


def branch_counts(weight: Any, settings: Settings) -> Any:
    """What a branch of a discrete test counts towards the two of the least weight that a possible one has.

    One that is too light to be a leaf counts so much against it that no others make up for it.
    """
    return 1 * (weight >= settings.min_units) - TOO_LIGHT * ((weight > 0) & (weight < settings.leaf_units))


def cut_sides(known: Any, settings: Settings) -> Any:
    """The least weight of either side of a cut that is tried, and of one that may be taken.

    Where there is too little known weight for any, both are more than half of it.
    """
    side = least_side(known, settings.n_classes, settings.min_units, settings.cap_units)
    return side, max(side, settings.min_units)


def net_gain(weight: Any, gain: Any, split: Any, tries: Any, zero_bound: Any, settings: Settings) -> Any:
    """The gain of a possible test in bits, less what a continuous one pays for its choice of a cut.

    Returns -EPSILON where a cut does not gain more than log2(tries) / cases. `tries` is 0 for a discrete attribute.
    """
    if gain <= zero_bound:
        bits = 0.0
    elif settings.measure == CHI2:
        bits = gain_in_cases(gain, split, weight)
    else:
        bits = information_of(gain, weight, settings.scale)
    if tries == 0:
        return bits
    cost = log2_of(tries) / (weight / settings.case_units) if settings.pays else 0.0
    return bits - cost if bits > cost else -EPSILON


def worth(gain: Any, split_information: Any, average: Any, settings: Settings) -> Any:
    """What a test is worth by the criterion, -EPSILON if nothing."""
    if not settings.ratio:
        return gain if split_information > 0 and gain > -EPSILON else -EPSILON
    if gain >= average - EPSILON and split_information > EPSILON:
        return gain / split_information
    return -EPSILON


def choose(weight: Any, candidates: Any, facts: Facts, settings: Settings, net: Any) -> Any:
    """The attribute to test at a node.

    Parameters
    ----------
    weight : int
        Weight of the node's cases in units.
    candidates : tuple
        Four sequences with an entry for each used attribute: `gain` and `split` (information sums), `tries`,
        `possible`; see :class:`c45gpu.kernels.level.Candidates`.
    facts : Facts
    settings : Settings
    net : sequence of float
        Room for one number for each attribute; overwritten with their net gains in bits.

    Returns
    -------
    int
        The position of the attribute among the used ones, or :data:`NO_TEST`.
    """
    gain, split, tries, possible = candidates
    total, count = 0.0, 0
    for a in range(len(gain)):
        net[a] = -EPSILON
        if possible[a]:
            net[a] = net_gain(weight, gain[a], split[a], tries[a], facts.zero_bound[a], settings)
        if net[a] > -EPSILON and facts.averaged[a]:
            total += net[a]
            count += 1
    average = total / count if count > 0 else NO_AVERAGE
    best, chosen = -EPSILON, NO_TEST
    for a in range(len(gain)):
        if net[a] > -EPSILON:
            value = worth(net[a], information_of(split[a], weight, settings.scale), average, settings)
            if value > best and value >= settings.least_worth:
                best, chosen = value, a
    return chosen


SHARED: Final = (is_leaf, branch_counts, cut_sides, net_gain, worth, choose)
