"""Tables with names that are hard to quote, and rules made on them."""

from __future__ import annotations

import math

import numpy as np

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.rules.derive import Derivation, derive
from c45gpu.rules.rule import Condition, Rule, RuleSet

SCHEMA = Schema(
    (
        Attribute('size "in" cm', "continuous"),
        Attribute("it's\na colour", "discrete", ("re'd", 'gre"en', "bl\nue", "\\", "{0}")),
        Attribute("left out", "ignored"),
        Attribute("weight; DROP TABLE x --", "continuous"),
    ),
    ("it's so", 'not "so"', "may\nbe"),
)


def a_table(n_cases: int, *, seed: int = 0, number: type = np.float64, noise: float = 0.1) -> Table:
    """Cases whose classes follow rules, with noise; a tenth of all values unknown."""
    chance = np.random.default_rng(seed)
    size = np.round(chance.normal(0, 3, n_cases), 2).astype(number)
    weight = chance.choice([-999.0, 0.0, 0.1, 0.7, 5.0], n_cases).astype(number)
    colour = chance.integers(0, 5, n_cases).astype(np.int32)
    classes = np.where(size > 1.5, 0, np.where(np.isin(colour, [0, 2]), 1, np.where(weight > 0.1, 2, 0)))
    classes = np.where(chance.random(n_cases) < noise, chance.integers(0, 3, n_cases), classes)
    for column, unknown in ((size, math.nan), (weight, math.nan), (colour, -1)):
        column[chance.random(n_cases) < 0.1] = unknown
    return Table(SCHEMA, [size, colour, None, weight], classes.astype(np.int32))


def made_on(table: Table, options: Options | None = None) -> Derivation:
    """Rules of the unpruned tree of a table."""
    return derive(train(table, options, "reference").unpruned, table, options)


def by_hand(*rules: tuple[int, float, tuple[Condition, ...]], default: int = 1) -> RuleSet:
    """A list of rules from classes, errors and conditions."""
    numbered = [Rule(i, conditions, label, error, 4, 1) for i, (label, error, conditions) in enumerate(rules, 1)]
    return RuleSet(SCHEMA, tuple(numbered), default, (6.0, 3.0, 1.0), (0.0, 1.0, 0.0), {"compat": None}, {})
