"""Weights of classes, which the weights of their cases are multiplied by."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.data.values import listed
from c45gpu.errors import OptionError

BALANCED: Final = "balanced"


def weighted_by_class(table: Table, given: dict[str, float] | str) -> Table:
    """The table with its cases weighted by their classes.

    Parameters
    ----------
    table : Table
        Training cases.
    given : dict of str to float, or "balanced"
        Weights by the class's name, 1 for those not named; or n / (C * n_c) for a class of n_c among n cases and C
        classes, so that all classes weigh the same.

    Returns
    -------
    Table

    Raises
    ------
    OptionError
        When a name is no class, or a weight is negative or not finite.
    """
    n_cases = np.bincount(table.classes, minlength=table.schema.n_classes)
    factors = factors_of(table.schema, n_cases, given)
    whole = np.ones(table.n_cases) if table.weights is None else table.weights
    return replace(table, weights=whole * factors[table.classes])


def factors_of(
    schema: Schema, n_cases: npt.NDArray[np.int64], given: dict[str, float] | str
) -> npt.NDArray[np.float64]:
    """What the weights of the cases of each class are multiplied by, shape (C,); see :func:`weighted_by_class`.

    Raises
    ------
    OptionError
        When a name is no class, or a weight is negative or not finite.
    """
    return balanced(n_cases) if isinstance(given, str) else _named(schema, given)


def class_weights_of_text(parts: tuple[str, ...]) -> dict[str, float] | str:
    """What ``balanced``, or ``CLASS=WEIGHT`` once or several times, asks for.

    Raises
    ------
    OptionError
        When it is neither.
    """
    if parts == (BALANCED,):
        return BALANCED
    weights = {}
    for part in parts:
        name, equals, number = part.rpartition("=")
        try:
            weights[name] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise OptionError(f"class weight {part!r}: write {BALANCED}, alone, or CLASS=WEIGHT for each class")
    return weights


def balanced(n_cases: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Factors that make classes of so many cases each weigh the same, and all of them what they weighed before."""
    present = n_cases > 0
    factors: npt.NDArray[np.float64] = n_cases.sum() / (present.sum() * np.maximum(n_cases, 1))
    return factors


def _named(schema: Schema, given: dict[str, float]) -> npt.NDArray[np.float64]:
    factors = np.ones(schema.n_classes)
    for name, weight in given.items():
        if name not in schema.classes:
            raise OptionError(f"class weight of {name!r}: the classes are {listed(schema.classes)}")
        if not (np.isfinite(weight) and weight >= 0):
            raise OptionError(f"class weight of {name!r} is {weight}: give a number, 0 or more")
        factors[schema.classes.index(name)] = weight
    return factors
