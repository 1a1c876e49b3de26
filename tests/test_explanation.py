"""Explanations agree with the predictions that they explain, and the changes that they name do change the class."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c45gpu import C45Classifier, C45Rules, explain, save
from c45gpu.cli import main
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.explanation import Change
from c45gpu.model.predict import class_frequencies
from c45gpu.model.store import Model
from tests.exchange.made import MODELS, cases, class_names, deep_model, made, probabilities
from tests.golden_trees import empty_leaf, inner, leaf

SCHEMA = Schema(
    (
        Attribute("outlook", "discrete", ("sunny", "overcast", "rain")),
        Attribute("humidity", "continuous"),
        Attribute("windy", "discrete", ("true", "false")),
    ),
    ("yes", "no"),
)


def golf() -> Model:
    humid = inner("threshold", 1, leaf(2.0, 0.0), leaf(0.0, 3.0), cut=75.0)
    windy = inner("discrete", 2, leaf(1.0, 2.0), leaf(3.0, 0.0))
    return made(inner("discrete", 0, humid, empty_leaf(0, 6.0, 5.0), windy), SCHEMA)


def table(*rows: tuple[int, float, int]) -> Table:
    outlook, humidity, windy = zip(*rows, strict=True)
    columns = [np.array(outlook, np.int32), np.array(humidity), np.array(windy, np.int32)]
    return Table(SCHEMA, columns, np.full(len(rows), -1, np.int32))


def test_a_path_in_words() -> None:
    (why,) = explain(golf(), table((0, 90.5, 0)))
    assert str(why) == (
        "no (no 100.0%)\n"
        "  outlook = sunny (it is sunny)\n"
        "  humidity > 75.0 (it is 90.5)\n"
        "  so no: of 3 training cases there 0 were of another class\n"
        "  it would be yes if humidity <= 75.0 (it is 90.5)"
    )


def test_a_case_that_divides() -> None:
    (why,) = explain(golf(), table((2, 1.0, -1)))
    assert str(why) == (
        "yes (yes 66.7%, no 33.3%)\n"
        "  50.0% of the case:\n"
        "    outlook = rain (it is rain)\n"
        "    windy = true (it is unknown: 50.0% go this way)\n"
        "    so no: of 3 training cases there 1 were of another class\n"
        "  50.0% of the case:\n"
        "    outlook = rain (it is rain)\n"
        "    windy = false (it is unknown: 50.0% go this way)\n"
        "    so yes: of 3 training cases there 0 were of another class\n"
        "  it would be no if windy = true (it is unknown)"
    )
    (why,) = explain(golf(), table((2, 1.0, 1)))
    assert why.change == Change("no", ("windy = true (it is false)",))
    (why,) = explain(golf(), table((1, 1.0, 1)))
    assert why.change == Change("no", ("outlook = sunny (it is overcast)", "humidity > 75.0 (it is 1.0)"))
    (why,) = explain(golf(), table((1, 1.0, 0)))
    assert why.change == Change("no", ("outlook = rain (it is overcast)",))


def test_a_leaf_without_cases() -> None:
    (why,) = explain(golf(), table((1, 1.0, 0)))
    assert str(why).splitlines()[1:3] == [
        "  outlook = overcast (it is overcast)",
        "  so yes: no training case was there",
    ]
    assert why.reached[0].weights == {}


def test_some_of_many_leaves() -> None:
    (why,) = explain(golf(), table((-1, np.nan, -1)), leaves=2)
    assert (len(why.reached), why.others) == (2, 2)
    assert "  45.5% of the case: 2 more leaves" in str(why).splitlines()
    assert [step.decided for step in why.reached[0].steps] == [False, False]


def test_a_value_without_a_branch() -> None:
    groups = inner("subset", 0, leaf(2.0, 0.0), leaf(0.0, 1.0), subsets=[[1], [2]])
    (why,) = explain(made(groups, SCHEMA), table((2, 1.0, 0)))
    assert "    outlook = sunny (it is rain, which has no branch: 66.7% go this way)" in str(why).splitlines()


def test_one_leaf() -> None:
    (why,) = explain(made(leaf(1.0, 3.0), SCHEMA), table((0, 1.0, 0)))
    assert str(why) == "no (no 75.0%, yes 25.0%)\n  so no: of 4 training cases there 1 were of another class"
    assert why.change is None


@pytest.mark.parametrize("kind", MODELS)
def test_they_agree_with_the_predictions(kind: str) -> None:
    model = MODELS[kind]()
    asked = cases(200, beside=model.pruned)
    wanted = probabilities(model, asked)
    explained = explain(model, asked, leaves=1000)
    assert [why.label for why in explained] == class_names(model, wanted)
    for why, row in zip(explained, wanted, strict=True):
        assert list(why.probabilities.values()) == row.tolist()
        assert why.others == 0
        assert sum(reached.share for reached in why.reached) == pytest.approx(1.0, abs=1e-12)
        for reached in why.reached:
            assert reached.share == (reached.steps[-1].share if reached.steps else 1.0)


def changed(model: Model, asked: Table, case: int, change: Change) -> Table:
    """A case as the change would have it."""
    one = asked.take(np.array([case]))
    columns: list[Any] = list(one.columns)
    for condition in change.conditions:
        a = next(a for a in model.schema.used if condition.startswith(model.schema.attributes[a].name + " "))
        attribute = model.schema.attributes[a]
        said = condition[len(attribute.name) + 1 : condition.rindex(" (it is ")]
        if attribute.kind == "discrete":
            value = said[2:] if said.startswith("= ") else said[4:-1].split(", ")[0]
            columns[a] = np.array([attribute.code_of[value]], np.int32)
            continue
        above, below = re.search(r"> (\S+)", said), re.search(r"<= (\S+)", said)
        columns[a] = np.array([float(below[1]) if below else float(np.nextafter(float(above[1]), np.inf))])
    return Table(asked.schema, columns, one.classes)


@pytest.mark.parametrize("kind", ["trained", "random", "another"])
def test_the_change_changes_the_class(kind: str) -> None:
    model = plainly_named(MODELS[kind]())
    asked = cases(300, beside=model.pruned)
    asked = Table(model.schema, asked.columns, asked.classes)
    explained = explain(model, asked)
    told = [(case, why) for case, why in enumerate(explained) if why.change is not None]
    assert len(told) > 250
    for case, why in told:
        after = class_frequencies(model.pruned, changed(model, asked, case, why.change))
        assert why.change.label == model.schema.classes[int(after.argmax())] != why.label


def plainly_named(model: Model) -> Model:
    """Names that a test can find in a sentence."""
    attributes = [
        Attribute(f"a{i}", a.kind, tuple(f"v{v}" for v in range(len(a.values))))
        for i, a in enumerate(model.schema.attributes)
    ]
    schema = Schema(tuple(attributes), model.schema.classes)
    return Model(schema, model.unpruned, model.pruned, model.options, model.record)


def test_a_deep_tree() -> None:
    model = deep_model()
    heights = Table(model.schema, [np.array([2500.5, np.nan])], np.full(2, -1, np.int32))
    one, divided = explain(model, heights)
    assert len(one.reached[0].steps) == 2502
    assert one.change == Change("high", ("height > 4999.0 (it is 2500.5)",))
    assert divided.others == 4996


def test_the_tree_as_grown() -> None:
    model = golf()
    grown = Model(SCHEMA, model.pruned, made(leaf(9.0, 5.0), SCHEMA).pruned, {"compat": None}, {})
    asked = table((0, 90.0, 0))
    assert [why.label for why in explain(grown, asked)] == ["yes"]
    assert [why.label for why in explain(grown, asked, unpruned=True)] == ["no"]


def test_estimators() -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"size": [1.0, 2.0, 8.0, 9.0] * 4, "colour": ["red", "blue", "red", None] * 4})
    y = ["small", "small", "large", "large"] * 4
    classifier = C45Classifier().fit(X, y)
    assert [why.label for why in classifier.explain(X[:4])] == ["small", "small", "large", "large"]
    assert str(classifier.explain(X[2:3])[0]).splitlines()[1] == "  size > 2.0 (it is 8.0)"
    rules = C45Rules().fit(X, y)
    said = rules.explain(X[:4])
    assert all(sentence.startswith(("if size ", "otherwise ")) for sentence in said)
    assert [label in sentence for label, sentence in zip(rules.predict(X[:4]), said, strict=True)] == [True] * 4


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, asked = golf(), table((0, 90.5, 0), (2, 1.0, -1))
    save(model, tmp_path / "golf.c45")
    (tmp_path / "golf.data").write_text("sunny, 90.5, true, ?\nrain, 1, ?, ?\n")
    command = ["predict", str(tmp_path / "golf.c45"), str(tmp_path / "golf.data"), "--explain"]
    assert main(command) == 0
    first, second = explain(model, asked)
    assert capsys.readouterr().out == f"case 1: {first}\n\ncase 2: {second}\n"
    assert main([*command, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["classes"] == ["yes", "no"]
    assert document["explanations"] == json.loads(json.dumps([first.to_dict(), second.to_dict()]))
    assert main([*command, "--proba"]) == 2
    assert "leave out --proba, --laplace and -p" in capsys.readouterr().err
