"""What must be known of all rows before any of them is sent: the parts are looked at where they are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.induction.costs import scaled
from c45gpu.induction.options import Options
from c45gpu.induction.problem import prepared, require_cases, unit_bits_of, units_of

Floats = npt.NDArray[np.float64]

SAMPLE = 4096  # values of a column that tell whether it has many
MANY_VALUES = 255  # as the engines see it
LIST_COST, CODE_COST = 4.0, 1.0  # of an attribute with many values, and one with few, to score and to move


class Survey(NamedTuple):
    """Facts about a part.

    Attributes
    ----------
    n_cases : int
    weight : Fraction
        Of all cases, exact.
    whole, alike, unknown : bool
        All weights are whole; all are 1; some value is unknown.
    costs : ndarray of float64, shape (n_used,)
        What each attribute will take of an engine's time, for a case.
    types : list of dtype
        Of the column of each used attribute.
    """

    n_cases: int
    weight: Fraction
    whole: bool
    alike: bool
    unknown: bool
    costs: Floats
    types: list[np.dtype[Any]]


def class_weights(part: Table, before: Floats) -> Floats:
    """The weight of each class, added up one case after the other to what was before: the same in any parts."""
    weights = np.ones(part.n_cases) if part.weights is None else part.weights
    classes = np.arange(len(before))
    return np.bincount(np.append(classes, part.classes), np.append(before, weights), len(before)).astype(np.float64)


def made_ready(part: Table, options: Options, first: int, factors: Floats | None) -> Table:
    """A part as it is learned from; its first row is number `first` of all."""
    return prepared(part if factors is None else scaled(part, factors), options, first)


def surveyed(part: Table) -> Survey:
    """Look at a part."""
    weights = part.weights
    whole = weights is None or bool((weights == np.floor(weights)).all())
    total = Fraction(part.n_cases) if weights is None else exact_sum(weights)
    costs = [LIST_COST if _many(part, a) else CODE_COST for a in part.schema.used]
    types = [part.column(a).dtype for a in part.schema.used]
    return Survey(part.n_cases, total, whole, weights is None, part.has_unknown(), np.array(costs), types)


def exact_sum(weights: Floats) -> Fraction:
    """The sum of weights without rounding, in any order."""
    mantissa, exponent = np.frexp(weights)
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    total = Fraction(0)
    for e in np.unique(exponent).tolist():
        here = digits[exponent == e]
        count = (int((here >> 32).sum()) << 32) + int((here & 0xFFFFFFFF).sum())
        total += Fraction(count) * Fraction(2) ** (e - 53)
    return total


def unit_bits(surveys: list[Survey]) -> int:
    """Bits of a unit of weight, as :func:`c45gpu.induction.problem.pose` has them.

    Raises
    ------
    DataError
        When there is no case, or the weights are too large or too small.
    """
    require_cases(sum(survey.n_cases for survey in surveys))
    total = float(sum((survey.weight for survey in surveys), Fraction(0)))
    return unit_bits_of(total, all(survey.whole for survey in surveys), any(survey.unknown for survey in surveys))


def counted(part: Table, bits: int) -> tuple[int, int]:
    """How many cases a part has, and how many units."""
    return part.n_cases, int(units_of(part, bits).sum())


def without_cases(schema: Schema) -> Table:
    """A table that has a schema and no case."""
    types: dict[str, type] = {"continuous": np.float64, "discrete": np.int32}
    columns: list[npt.NDArray[Any] | None] = [
        None if x.kind == "ignored" else np.zeros(0, types[x.kind]) for x in schema.attributes
    ]
    return Table(schema, columns, np.zeros(0, np.int32))


def _many(part: Table, attribute: int) -> bool:
    """Whether a column has many values, as far as some of them tell."""
    if part.schema.attributes[attribute].kind == "discrete":
        return False
    values = part.rows(attribute, np.arange(0, part.n_cases, max(1, part.n_cases // SAMPLE)))
    return len(np.unique(values[~np.isnan(values)])) > MANY_VALUES
