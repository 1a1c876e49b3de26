"""Exports are run, and say what the rules say; no name can break out of its quotes."""

from __future__ import annotations

import math
import sqlite3
from typing import Any

import numpy as np
import pytest

from c45gpu.data.table import Table
from c45gpu.errors import DataError, OptionError
from c45gpu.induction.options import Options
from c45gpu.model.unrounded import last_rounding_to
from c45gpu.rules.rule import Condition, RuleSet
from tests.rules.made import SCHEMA, a_table, by_hand, made_on

N_ROWS = 10_000
OPTIONS = [Options(), Options(compat="r8")]


def classes_of(rules: RuleSet, table: Table) -> list[str]:
    return [rules.schema.classes[c] for c in rules.predict(table)]


def as_values(table: Table) -> list[list[Any]]:
    """The rows, None where a value is unknown."""
    columns = []
    for attribute, column in zip(table.schema.attributes, table.columns, strict=True):
        if column is None:
            columns.append([None] * table.n_cases)
        elif attribute.kind == "discrete":
            columns.append([None if code < 0 else attribute.values[code] for code in column.tolist()])
        else:
            columns.append([None if value != value else value for value in column.tolist()])
    return [list(row) for row in zip(*columns, strict=True)]


def near_thresholds(table: Table, rules: RuleSet) -> Table:
    """The same cases with values on and beside the thresholds, as float64 and as float32 tell them apart."""
    for a in (0, 3):
        column = table.columns[a]
        assert column is not None
        cuts = [c.threshold for r in rules.rules for c in r.conditions if c.attribute == a and c.threshold is not None]
        beside = [f(cut) for cut in cuts for f in (float, lambda x: math.nextafter(x, 9), lambda x: x + 1e-8 * abs(x))]
        beside += [-999.0, -999.00001, -998.9999]
        column[: len(beside)] = beside
    return table


@pytest.mark.parametrize("options", OPTIONS)
def test_python_says_the_same(options: Options) -> None:
    rules = made_on(a_table(400), options).rule_set
    table = near_thresholds(a_table(N_ROWS, seed=7), rules)
    space: dict[str, Any] = {}
    exec(rules.to_python("of_case"), space)  # our own source
    names = [a.name for a in SCHEMA.attributes]
    rows = [dict(zip(names, row, strict=True)) for row in as_values(table)]
    wanted = classes_of(rules, table)
    assert [space["of_case"](row) for row in rows] == wanted
    assert len(set(wanted)) == 3
    with_nan = [{k: v for k, v in row.items() if v is not None} | {names[2]: math.nan} for row in rows[:100]]
    assert [space["of_case"](row) for row in with_nan] == wanted[:100]


@pytest.mark.parametrize("options", OPTIONS)
def test_sql_says_the_same(options: Options) -> None:
    rules = made_on(a_table(400), options).rule_set
    table = near_thresholds(a_table(N_ROWS, seed=7), rules)
    quoted = ['"' + a.name.replace('"', '""') + '"' for a in SCHEMA.attributes]
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE x (number INTEGER, {', '.join(quoted)})")
        rows = [[number, *row] for number, row in enumerate(as_values(table))]
        database.executemany("INSERT INTO x VALUES (?, ?, ?, ?, ?)", rows)
        found = database.execute(f"SELECT {rules.to_sql()} FROM x ORDER BY number").fetchall()
    assert [row[0] for row in found] == classes_of(rules, table)


def test_each_form_by_hand() -> None:
    conditions = (Condition(0, ">", 0.1), Condition(1, "in", None, (0, 2)))
    rules = by_hand((0, 0.25, conditions), (2, 0.5, (Condition(1, "=", None, (1,)), Condition(3, "<=", -5e-07))))
    assert rules.to_sql() == (
        "CASE\n"
        "  WHEN \"size \"\"in\"\" cm\" > 0.1 AND \"it's\na colour\" IN ('re''d', 'bl\nue') THEN 'it''s so'\n"
        "  WHEN \"it's\na colour\" = 'gre\"en' AND \"weight; DROP TABLE x --\" <= -5e-07 THEN 'may\nbe'\n"
        "  ELSE 'not \"so\"'\n"
        "END"
    )
    assert rules.to_text() == (
        "if size \"in\" cm > 0.1 and it's\na colour in {re'd, bl\nue} then it's so (75.0%)\n"
        "if it's\na colour = gre\"en and weight; DROP TABLE x -- <= -5e-07 then may\nbe (50.0%)\n"
        'otherwise not "so"\n'
    )
    assert rules.to_python().splitlines()[:2] == ["def classify(case):", "    a0 = case.get('size \"in\" cm')"]
    assert str(rules).startswith(
        "Rule 1:\n    \tsize \"in\" cm > 0.1\n    \tit's\na colour in {re'd, bl\nue}\n\t->  class"
    )


def test_infinite_thresholds() -> None:
    rules = by_hand((0, 0.1, (Condition(0, ">", -math.inf),)))
    space: dict[str, Any] = {}
    exec(rules.to_python(), space)
    assert [space["classify"]({SCHEMA.attributes[0].name: x}) for x in (-math.inf, 0.0, None)] == [
        'not "so"',
        "it's so",
        'not "so"',
    ]
    with pytest.raises(DataError, match="infinity, which SQL cannot say"):
        rules.to_sql()


@pytest.mark.parametrize("name", ["", "1x", "a b", "class", "f(): pass\ndef g"])
def test_names_that_no_function_can_have(name: str) -> None:
    with pytest.raises(OptionError, match="give a name that a Python function can have"):
        by_hand().to_python(name)


@pytest.mark.parametrize(
    "single", [0.0, 1.0, -999.0, 0.1, -0.7, 1e-45, -1e-45, 3e38, float(np.finfo(np.float32).max), -math.inf]
)
def test_the_last_number_that_rounds_to_a_float32(single: float) -> None:
    single = float(np.float32(single))
    last = last_rounding_to(single)
    with np.errstate(over="ignore"):
        assert float(np.float32(last)) == single
        assert float(np.float32(math.nextafter(last, math.inf))) > single
