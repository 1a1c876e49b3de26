"""From a table and options to what an engine is given: weights in units, and the numbers that scoring needs."""

from __future__ import annotations

import math

import numpy as np

from c45gpu.choose import Facts, Settings
from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.errors import DataError
from c45gpu.formulas import (
    EPSILON,
    MANY_VALUES,
    MINIMUM_SIDE,
    RELEASE_8_GAP,
    TOTAL_BITS,
    scale_bits_for,
    unit_bits_for,
)
from c45gpu.grouping import GROUPS, NO_GROUPS, ONE_VALUE
from c45gpu.induction.options import Options
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.measures import CHI2, ENTROPY, GINI, bound_of_zero

MEASURES = {"gain_ratio": ENTROPY, "gain": ENTROPY, "gini": GINI, "chi2": CHI2}
MOST_CLASSES = 2**15 - 1  # a number of a class fits into 16 bits with a sign, and a node has a weight for each
LEAST_TOTAL = 2.0**-9  # of all weights, in cases: a case then has less than 2^62 units


def pose(table: Table, options: Options) -> Problem:
    """The problem of growing a tree on a table.

    Raises
    ------
    DataError
        Without a case of positive weight, without a class, with too many classes, or with a weight that is negative,
        not finite or too large.
    """
    table = prepared(table, options)
    require_cases(table.n_cases)
    unit_bits = unit_bits_of(*_total(table), table.has_unknown())
    table = counting(table, unit_bits)
    units = units_of(table, unit_bits)
    return posed(table, units, unit_bits, int(units.sum()), options)


def posed(table: Table, units: Int64s, unit_bits: int, total_units: int, options: Options) -> Problem:
    """The problem of cases that are :func:`prepared` and weighed.

    Parameters
    ----------
    table : Table
        The cases, or some of them, or none: of what it holds only the schema matters here.
    units : ndarray of int64, shape (n_cases,)
    unit_bits, total_units : int
        Of all cases.
    options : Options
    """
    settings = _settings(options, table.schema.n_classes, unit_bits, total_units)
    grouping = GROUPS if options.group_values else ONE_VALUE if options.binary_splits else NO_GROUPS
    facts = _facts(table.schema, total_units / settings.case_units, settings.measure, grouping)
    may_finish = options.max_features is None and grouping == NO_GROUPS
    return Problem(table, units, settings, facts, may_finish, grouping, placed=options.prune == "ebp")


def prepared(table: Table, options: Options, first: int = 0) -> Table:
    """The cases to learn from, as the options have them read; `first` is the number of the first one, for messages.

    Raises
    ------
    DataError
        With too many classes, without a class, or with a weight that is negative or not finite.
    """
    table = _positive(table.as_release8() if options.compat == "r8" else table, first)
    if bool((table.classes < 0).any()):
        raise DataError(f"case {first + int((table.classes < 0).argmax()) + 1} has no class: leave such cases out")
    if table.schema.n_classes > MOST_CLASSES:
        raise DataError(
            f"the class {table.schema.target!r} has {table.schema.n_classes} values, the most is {MOST_CLASSES}: is it "
            "a number or a key? Name another column, or put its values into groups"
        )
    return table


def require_cases(n_cases: int) -> None:
    """See that there are cases."""
    if n_cases == 0:
        raise DataError("there are no cases to learn from: give at least one with a weight above 0")


def _settings(options: Options, n_classes: int, unit_bits: int, total_units: int) -> Settings:
    def in_units(cases: int) -> int:
        return min(cases << unit_bits, 1 << TOTAL_BITS)  # more than all is as good as any more

    scale_bits, measure = scale_bits_for(total_units), MEASURES[options.criterion]
    return Settings(
        ratio=options.criterion == "gain_ratio",
        n_classes=n_classes,
        min_units=in_units(max(options.min_cases, options.min_samples_leaf)),
        cap_units=in_units(MINIMUM_SIDE),
        case_units=1 << unit_bits,
        scale_bits=scale_bits,
        scale=2.0**scale_bits,
        gap=RELEASE_8_GAP if options.compat == "r8" else 0.0,
        measure=measure,
        pays=options.threshold_cost and measure == ENTROPY,
        boundaries=options.cut_points == "class_boundaries",
        least_worth=options.min_gain_ratio if options.min_gain_ratio > 0 else -EPSILON,
        split_units=in_units(options.min_samples_split) if options.min_samples_split > 2 else 0,
        leaf_units=in_units(options.min_samples_leaf) if options.min_samples_leaf > 1 else 0,
    )


def _positive(table: Table, first: int) -> Table:
    weights = table.weights
    if weights is None:
        return table
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        case = int(wrong.argmax())
        raise DataError(f"case {first + case + 1} has the weight {weights[case]}: weights are finite and not negative")
    return table if bool((weights > 0).all()) else table.take(weights > 0)


def counting(table: Table, unit_bits: int) -> Table:
    """Without the cases that have no unit: they would change no weight, but where cuts can be.

    Some weights are so small beside the others; engines that add up weights by value do not see such cases.
    """
    if table.weights is None:
        return table
    units = units_of(table, unit_bits)
    return table if units.all() else table.take(units > 0)


def units_of(table: Table, unit_bits: int) -> Int64s:
    """The cases' weights in units of 2^-unit_bits."""
    if table.weights is None:
        return np.broadcast_to(np.int64(1 << unit_bits), table.n_cases)  # takes no memory
    return np.rint(np.ldexp(table.weights, unit_bits)).astype(np.int64)


def _total(table: Table) -> tuple[float, bool]:
    """The total weight, and whether all weights are whole; neither depends on the order of cases."""
    weights = table.weights
    if weights is None:
        return float(table.n_cases), True
    whole = bool((weights == np.floor(weights)).all())
    return float(weights.sum()) if whole else math.fsum(weights), whole


def unit_bits_of(total: float, whole: bool, unknown: bool) -> int:
    """Bits of a unit for cases of a total weight, given whether all weights are whole, and whether a value is unknown.

    Raises
    ------
    DataError
        When the total is too large or too small.
    """
    if total >= 2.0 ** (TOTAL_BITS - 1):
        raise DataError(f"the weights add up to {total:.3g}: scale them so that they stay below 2^{TOTAL_BITS - 1}")
    if 0 < total < LEAST_TOTAL:
        raise DataError(f"the weights add up to {total:.3g}: scale them so that they add up to {LEAST_TOTAL} or more")
    return unit_bits_for(total, whole and not unknown)


def _facts(schema: Schema, total: float, measure: int, grouping: int) -> Facts:
    used = [schema.attributes[a] for a in schema.used]
    n_values = np.array([len(a.values) for a in used], np.int64)
    discrete = np.array([a.kind == "discrete" for a in used], np.bool_)
    many = n_values >= MANY_VALUES * total
    branches = np.where(discrete & ((grouping != ONE_VALUE) | (n_values <= 2)), n_values, 2)
    bounds = [bound_of_zero(measure, schema.n_classes, int(b)) for b in branches]
    return Facts(np.array(bounds, np.int64), ~many | many.all() | (grouping == GROUPS))
