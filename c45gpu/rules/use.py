"""What a list of rules says of cases."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.kernels.cover import CROSSOVER_CASES, Conditions, holds
from c45gpu.kernels.level import Int32s, Int64s
from c45gpu.rules.paths import as_arrays
from c45gpu.rules.rule import RuleSet

AHEAD: Final = 1e-9  # by so much, at least, the class that is said is the likeliest


def first_rules(rules: RuleSet, table: Table) -> Int32s:
    """The rule that fires first for each case; see :meth:`c45gpu.rules.rule.RuleSet.fired`."""
    if rules.options.get("compat") == "r8":
        table = table.as_release8()
    conditions, start = arrays_of(rules)
    if table.n_cases < CROSSOVER_CASES or not len(conditions.sign):
        return match_in_numpy(table, conditions, start)
    from c45gpu.kernels.rule_match import match

    return match(table, conditions, start)


def arrays_of(rules: RuleSet) -> tuple[Conditions, Int64s]:
    """The conditions of all rules, one rule after the other, and where each rule starts."""
    conditions = tuple(condition for rule in rules.rules for condition in rule.conditions)
    return as_arrays(conditions), np.cumsum([0, *(len(rule.conditions) for rule in rules.rules)])


def match_in_numpy(table: Table, conditions: Conditions, start: Int64s) -> Int32s:
    """The same as :func:`c45gpu.kernels.rule_match.match`, a rule at a time on the cases that are left."""
    found = np.full(table.n_cases, -1, np.int32)
    left = np.arange(table.n_cases)
    for rule in range(len(start) - 1):
        hit = left
        for i in range(start[rule], start[rule + 1]):
            hit = hit[holds(table, conditions, i, hit)]
        found[hit] = rule
        left = left[found[left] < 0]
    return found


def probabilities(rules: RuleSet) -> npt.NDArray[np.float64]:
    """How likely each class is where each rule fires; the last row is for cases for which none does.

    Parameters
    ----------
    rules : RuleSet

    Returns
    -------
    ndarray of float64, shape (R + 1, C)
        The class of a rule gets the rule's confidence, which is one less its pessimistic error. The other classes
        share the rest as their training cases do. Where no rule fires, classes are as likely as they are frequent
        among the training cases for which none fires, or among all if one fires for each. If another class would then
        be as likely as the one that is said, that one is raised to just above it. Rows sum to 1.
    """
    frequent = np.array(rules.class_weights)
    left = np.array(rules.uncovered) if sum(rules.uncovered) > 0 else frequent
    rows = [_of_rule(frequent, rule.label, rule.confidence) for rule in rules.rules]
    rows.append(_led_by(rules.default, left / left.sum()))
    return np.stack(rows)


def _of_rule(frequent: npt.NDArray[np.float64], label: int, confidence: float) -> npt.NDArray[np.float64]:
    others = np.where(np.arange(len(frequent)) == label, 0.0, frequent)
    if not others.any():
        others = (np.arange(len(frequent)) != label).astype(np.float64)
    row = others * ((1.0 - confidence) / max(others.sum(), 1.0e-300))
    row[label] = confidence
    return _led_by(label, row / row.sum())


def _led_by(label: int, row: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """A distribution in which a class is the likeliest."""
    most = np.delete(row, label).max(initial=0.0)
    if row[label] <= most:
        row = row.copy()
        row[label] = most * (1.0 + AHEAD)
        row /= row.sum()
    return row
