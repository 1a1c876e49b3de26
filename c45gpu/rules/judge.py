"""How a list of rules does on cases whose classes are known."""

from __future__ import annotations

import numpy as np

from c45gpu.data.table import Table
from c45gpu.errors import DataError
from c45gpu.induction.options import Options
from c45gpu.kernels.cover import Lists, open_cover, weighed_cases
from c45gpu.rules.cases import RuleCases, rule_cases
from c45gpu.rules.derive import Round
from c45gpu.rules.order import RulesInUse
from c45gpu.rules.rule import RuleSet
from c45gpu.rules.use import arrays_of


def judged(rules: RuleSet, table: Table) -> tuple[Round, RuleCases]:
    """What the rules say of cases, held against their classes.

    Parameters
    ----------
    rules : RuleSet
    table : Table
        Cases without a class are left out.

    Returns
    -------
    round : Round
        It drops no rule.
    cases : RuleCases
        Those that count.

    Raises
    ------
    DataError
        When no case has a class.
    """
    known = table.take(table.classes >= 0)
    if not known.n_cases:
        raise DataError("no case has a class: there is nothing to hold the rules against")
    cases = rule_cases(known, Options(compat=rules.options.get("compat")))
    cover = open_cover(weighed_cases(cases.table, cases.units))
    try:
        conditions, start = arrays_of(rules)
        bitmaps = cover.intersections(cover.bitmaps(conditions), Lists(start, np.arange(len(conditions.sign))))
    finally:
        cover.close()
    labels = np.array([rule.label for rule in rules.rules], np.int64)
    in_use = RulesInUse(labels, rules.default, bitmaps, cases.table.classes, cases.units, rules.schema.n_classes)
    return Round(rules.rules, in_use.use(), None), cases
