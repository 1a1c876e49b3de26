"""Python, C and SQL are run, and say what the model says; no name can break out of its quotes."""

from __future__ import annotations

import ctypes
import math
import shutil
import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c45gpu import C45Classifier, C45Rules
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import DataError, OptionError
from c45gpu.exchange import to_c, to_python, to_sql
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.store import Model
from c45gpu.rules.export import sql_name
from tests.exchange.made import (
    MODELS,
    as_values,
    cases,
    class_names,
    deep_model,
    made,
    probabilities,
    trained,
    with_most_common,
)
from tests.golden_trees import inner, leaf

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler (cc, gcc or clang)")

model_of_each_kind = pytest.mark.parametrize("kind", MODELS)


def run_python(source: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), space)
    return space


def as_mappings(table: Table) -> list[dict[str, Any]]:
    names = [a.name for a in table.schema.attributes]
    return [dict(zip(names, row, strict=True)) for row in as_values(table)]


@model_of_each_kind
def test_python_gives_the_same_bits(kind: str) -> None:
    model = MODELS[kind]()
    table = cases(beside=model.pruned)
    space = run_python(to_python(model, name="asked"))
    rows, wanted = as_mappings(table), probabilities(model, table)
    found = np.array([space["asked_proba"](row) for row in rows])
    assert found.tobytes() == wanted.tobytes()
    assert [space["asked"](row) for row in rows[:1000]] == class_names(model, wanted)[:1000]
    assert space["asked_classes"] == model.schema.classes


def test_python_takes_unknown_values_in_every_guise() -> None:
    model = trained(min_cases=1)
    proba = run_python(to_python(model))["classify_proba"]
    size, colour, _, weight, flag = (a.name for a in model.schema.attributes)
    nothing = proba({})
    for value in (None, math.nan, np.float32(math.nan)):
        assert proba({size: value, weight: value}) == nothing
    for value in (None, math.nan, "a value that nobody saw"):
        assert proba({colour: value, flag: value}) == nothing
    assert proba({size: np.float32(0.1)}) == proba({size: float(np.float32(0.1))})


def test_python_names_values_as_training_does() -> None:
    numbers = np.array([1.0, 2.0, 3.5])
    classifier = C45Classifier(min_cases=1, categorical_features=[0]).fit(np.tile(numbers, 9)[:, None], list("abc") * 9)
    classify = run_python(to_python(classifier))["classify"]
    for number in (float, np.float32, np.float64):
        assert [classify({"x0": number(x)}) for x in numbers] == ["a", "b", "c"]
    assert [classify({"x0": number(2)}) for number in (int, np.int8, str)] == ["b"] * 3
    truths = np.array([True, False] * 9, object)
    classify = run_python(to_python(C45Classifier().fit(truths[:, None], list("ab") * 9)))["classify"]
    assert [classify({"x0": x}) for x in (True, np.False_, "True", False)] == ["a", "b", "a", "b"]


@pytest.mark.parametrize("name", ["", "1x", "a b", "class", "f(): pass\ndef g"])
def test_names_that_no_function_can_have(name: str) -> None:
    for export in (to_python, to_c):
        with pytest.raises(OptionError, match="give a name that a"):
            export(deep_model(1), name=name if name != "class" or export is to_python else "switch")


class Compiled:
    """The functions of an exported C file."""

    def __init__(self, source: str, folder: Path) -> None:
        assert COMPILER is not None
        (folder / "tree.c").write_text(source, "ascii")
        strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O2", "-fPIC", "-shared"]
        subprocess.run([COMPILER, *strict, "-o", folder / "tree.so", folder / "tree.c", "-lm"], check=True)
        self.library = ctypes.CDLL(str(folder / "tree.so"))
        self.library.classify_code.restype = ctypes.c_double

    def texts(self, what: str, n: int) -> list[str]:
        return [text.decode() for text in (ctypes.c_char_p * n).in_dll(self.library, f"classify_{what}")]

    def code(self, attribute: int, value: str) -> float:
        return float(self.library.classify_code(attribute, value.encode()))

    def proba(self, X: np.ndarray, n_classes: int) -> np.ndarray:
        found = np.empty((len(X), n_classes))
        at, to = X.ctypes.data, found.ctypes.data
        for i in range(len(X)):
            row, out = at + i * X.strides[0], to + i * found.strides[0]
            self.library.classify_proba(ctypes.c_void_p(row), ctypes.c_void_p(out))
        return found

    def classes(self, X: np.ndarray) -> list[int]:
        at = X.ctypes.data
        return [self.library.classify(ctypes.c_void_p(at + i * X.strides[0])) for i in range(len(X))]


def as_numbers(table: Table) -> np.ndarray:
    """The table as C takes it."""
    columns = [np.full(table.n_cases, np.nan) if c is None else np.asarray(c, np.float64) for c in table.columns]
    return np.ascontiguousarray(np.stack(columns, axis=1))


@needs_compiler
@model_of_each_kind
def test_c_gives_the_same_bits(kind: str, tmp_path: Path) -> None:
    model = MODELS[kind]()
    table = cases(beside=model.pruned)
    compiled = Compiled(to_c(model), tmp_path)
    X, wanted = as_numbers(table), probabilities(model, table)
    assert compiled.proba(X, 3).tobytes() == wanted.tobytes()
    assert compiled.classes(X) == wanted.argmax(axis=1).tolist()
    attributes = model.schema.attributes
    assert compiled.texts("classes", 3) == list(model.schema.classes)
    assert compiled.texts("attributes", len(attributes)) == [a.name for a in attributes]
    for number, attribute in enumerate(attributes):
        assert [compiled.code(number, value) for value in attribute.values] == [*range(len(attribute.values))]
        assert math.isnan(compiled.code(number, "no such value"))


def test_c_cannot_say_nul() -> None:
    schema = Schema((Attribute("a\0b", "continuous"),), ("no", "yes"))
    with pytest.raises(DataError, match="holds the character NUL"):
        to_c(made(leaf(1.0, 2.0), schema))


@needs_compiler
def test_deep_trees_in_python_and_c(tmp_path: Path) -> None:
    model = deep_model()
    heights = np.array([0.0, 4999.0, 5000.0, np.nan, 2500.5])
    wanted = probabilities(model, Table(model.schema, [heights], np.full(5, -1, np.int32)))
    proba = run_python(to_python(model))["classify_proba"]
    assert np.array([proba({"height": height}) for height in heights]).tobytes() == wanted.tobytes()
    assert Compiled(to_c(model), tmp_path).proba(heights[:, None], 2).tobytes() == wanted.tobytes()


def ask_sqlite(expression: str, table: Table) -> list[Any]:
    names = ", ".join(sql_name(a.name) for a in table.schema.attributes if a.name)
    with sqlite3.connect(":memory:") as database:
        columns = [a for a, attribute in enumerate(table.schema.attributes) if attribute.name]
        database.execute(f"CREATE TABLE x (number INTEGER, {names})")
        marks = ", ".join("?" * (len(columns) + 1))
        rows = [[number, *(row[a] for a in columns)] for number, row in enumerate(as_values(table))]
        database.executemany(f"INSERT INTO x VALUES ({marks})", rows)
        return [row[0] for row in database.execute(f"SELECT {expression} FROM x ORDER BY number")]


@model_of_each_kind
def test_sql_says_the_same_or_null(kind: str) -> None:
    model = named(MODELS[kind]())
    table = cases(beside=model.pruned)
    table = Table(model.schema, table.columns, table.classes)
    reached, unknown = with_most_common(model, table)
    per_leaf = leaf_probabilities(model.pruned)[reached]
    wanted = np.array(class_names(model, per_leaf), object)
    assert ask_sqlite(to_sql(model, unknown="most_common"), table) == wanted.tolist()
    asked_for = to_sql(model, unknown="most_common", probability_of="it's so")
    assert ask_sqlite(asked_for, table) == per_leaf[:, 0].tolist()
    wanted[unknown] = None
    assert ask_sqlite(to_sql(model), table) == wanted.tolist()
    whole = probabilities(model, table)
    assert per_leaf[~unknown].tobytes() == whole[~unknown].tobytes()


def named(model: Model) -> Model:
    """The same with a name for each attribute: no column of a database is called nothing."""
    attributes = [Attribute(a.name or "flag", a.kind, a.values, a.capacity) for a in model.schema.attributes]
    schema = Schema(tuple(attributes), model.schema.classes)
    return replace(model, schema=schema)


def test_sql_by_hand() -> None:
    schema = Schema((Attribute('a "b"', "continuous"), Attribute("c", "discrete", ("d'e", "f", "g"))), ("h'i", "j"))
    below = inner("subset", 1, leaf(3.0, 0.0), leaf(0.0, 1.0), subsets=[[1, 3], [2]])
    inside = inner("threshold", 0, leaf(0.0, 1.0), below, cut=-5e-07)
    model = made(inner("threshold", 0, inside, leaf(0.0, 2.0), cut=1.5), schema)
    assert to_sql(model) == (
        "CASE\n"
        '  WHEN "a ""b""" <= -5e-07 THEN \'j\'\n'
        '  WHEN "a ""b""" > -5e-07 AND "a ""b""" <= 1.5 AND "c" IN (\'d\'\'e\', \'g\') THEN \'h\'\'i\'\n'
        '  WHEN "a ""b""" > -5e-07 AND "a ""b""" <= 1.5 AND "c" = \'f\' THEN \'j\'\n'
        '  WHEN "a ""b""" > 1.5 THEN \'j\'\n'
        "END"
    )
    (line,) = (line for line in to_sql(model, unknown="most_common").splitlines() if line.endswith("'h''i'"))
    name = '"a ""b"""'
    size, colour = f"{name} IS NULL OR {name} > -5e-07 AND {name} <= 1.5", '"c" IS NULL OR NOT "c" = \'f\''
    assert line == f"  WHEN ({size}) AND ({colour}) THEN 'h''i'"


def test_sql_refuses() -> None:
    schema = Schema((Attribute("a", "continuous"),), ("no", "yes"))
    model = made(inner("threshold", 0, leaf(1.0, 0.0), leaf(0.0, 1.0), cut=-math.inf), schema)
    with pytest.raises(DataError, match="'a' is compared with infinity, which SQL cannot say"):
        to_sql(model)
    with pytest.raises(OptionError, match="there is no class 'maybe': the classes are no, yes"):
        to_sql(made(leaf(1.0, 1.0), schema), probability_of="maybe")
    with pytest.raises(OptionError, match="unknown='guess' will not do"):
        to_sql(model, unknown="guess")  # type: ignore[arg-type]


def test_sql_of_a_deep_tree() -> None:
    model = deep_model()
    heights = np.array([0.0, 4999.0, 5000.0, np.nan, 2500.5])
    table = Table(model.schema, [heights], np.full(5, -1, np.int32))
    assert ask_sqlite(to_sql(model), table) == ["low", "low", "high", None, "low"]


def test_the_tree_as_grown() -> None:
    model = trained(min_cases=1)
    table = cases(500)
    assert model.unpruned.n_nodes > model.pruned.n_nodes
    proba = run_python(to_python(model, unpruned=True))["classify_proba"]
    found = np.array([proba(row) for row in as_mappings(table)])
    assert found.tobytes() == probabilities(model, table, unpruned=True).tobytes()


def test_what_holds_no_tree() -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20) > 9
    classifier = C45Classifier().fit(X, y)
    assert to_c(classifier) == to_c(classifier.model_)
    with pytest.raises(OptionError, match=r"export model\.rules_"):
        to_python(C45Rules().fit(X, y))
    for nothing in (C45Classifier(), "model.c45", None):
        with pytest.raises(OptionError, match="holds no tree: give a fitted C45Classifier"):
            to_python(nothing)
