from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from c45gpu import train
from c45gpu.data.c45files import read_cases, read_names
from c45gpu.data.table import Table
from c45gpu.model.evaluate import evaluate
from c45gpu.model.predict import class_frequencies
from c45gpu.model.soft import SoftThresholds
from c45gpu.model.tree import LEAF, THRESHOLD, Tree
from c45gpu.report.columns import cases_at_nodes, tree_columns
from c45gpu.rules.derive import derive_from_model
from tests.report.made import NASTY, bushy, document_of, every_kind


@pytest.fixture(scope="module")
def penguins(examples: Path) -> Table:
    return read_cases(examples / "penguins.data", read_names(examples / "penguins.names"))


def class_weights_in(columns: dict[str, list[float]], n_classes: int) -> np.ndarray:
    """The matrix that sparse class weights stand for."""
    matrix = np.zeros((len(columns["count"]), n_classes))
    matrix[np.repeat(np.arange(len(matrix)), columns["count"]), columns["number"]] = columns["weight"]
    return matrix


def test_columns_hold_the_whole_tree() -> None:
    model = every_kind()
    tree, columns = model.pruned, tree_columns(model.pruned)
    assert columns["kind"] == [2, 1, 0, 0, 0, 3, 0, 0]
    assert columns["branches"] == [2, 3, 0, 0, 0, 2, 0, 0]
    assert columns["attribute"] == [1, 0, -1, -1, -1, 0, -1, -1]
    assert columns["threshold"] == [0.1]
    assert columns["maps"] == [0, [1, 0, 1, -1, 0]]
    assert columns["weight"] == [6.75, 4.5, 3, 1.5, 0, 2.25, 2, 0.25]
    empty = class_weights_in(columns["classes"], tree.n_classes)[4]
    assert not empty.any()
    filled = tree.weight > 0
    assert np.array_equal(class_weights_in(columns["classes"], tree.n_classes)[filled], tree.class_weights[filled])


def test_infinities_have_javascript_names() -> None:
    tree = every_kind().pruned
    endless = replace(tree, threshold=np.where(tree.kind == THRESHOLD, -np.inf, np.nan))
    assert tree_columns(endless)["threshold"] == ["-Infinity"]


def test_soft_thresholds_come_with_the_pruned_tree() -> None:
    model = every_kind()
    by_threshold = model.pruned.kind == THRESHOLD
    soft = SoftThresholds(np.where(by_threshold, 0.05, np.nan), np.where(by_threshold, 0.5, np.nan))
    columns = document_of(replace(model, soft=soft))["trees"]["pruned"]
    assert (columns["lower"], columns["upper"]) == ([0.05], [0.5])


def test_cases_at_nodes_sum_up_and_agree_with_training(penguins: Table) -> None:
    tree = train(penguins).unpruned
    at_nodes = cases_at_nodes(tree, penguins)
    assert np.allclose(at_nodes, np.where(tree.weight[:, None] > 0, tree.class_weights, 0), atol=1e-9)
    nobody = replace(penguins, classes=np.full(penguins.n_cases, -1, np.int32))
    assert not cases_at_nodes(tree, nobody).any()


def test_weights_of_cases_count(penguins: Table) -> None:
    tree = train(penguins).pruned
    doubled = replace(penguins, weights=np.full(penguins.n_cases, 2.0))
    assert np.array_equal(cases_at_nodes(tree, doubled), 2 * cases_at_nodes(tree, penguins))


def test_what_it_says_of_cases(penguins: Table) -> None:
    model = train(penguins)
    cases = document_of(model, penguins)["cases"]
    assert (cases["name"], cases["n"], cases["training"]) == ("cases", 344, True)
    verdict = evaluate(model.pruned, penguins.classes, class_frequencies(model.pruned, penguins))
    facts = cases["evaluation"]["pruned"]
    assert facts["errors"] == verdict.errors
    true, given, weights = facts["confusion"]
    matrix = np.zeros((3, 3))
    matrix[true, given] = weights
    assert np.array_equal(matrix, verdict.confusion)
    fewer = penguins.take(np.arange(300))
    others = document_of(model, fewer)["cases"]
    assert others["training"] is False
    at_nodes = class_weights_in(others["at_nodes"]["pruned"], 3)
    assert np.array_equal(at_nodes, cases_at_nodes(model.pruned, fewer))
    assert "at_nodes" not in cases


def test_one_tree_where_pruning_changed_nothing(penguins: Table) -> None:
    assert list(document_of(train(penguins))["trees"]) == ["pruned"]
    document = document_of(bushy(3))
    assert list(document["trees"]) == list(document["importances"]) == ["pruned", "unpruned"]


def test_a_single_leaf(penguins: Table) -> None:
    model = train(penguins.take(penguins.classes == 1))
    document = document_of(model, penguins)
    assert document["trees"]["pruned"]["kind"] == [0]
    assert document["trees"]["pruned"]["classes"] == {"count": [1], "number": [1], "weight": [68]}


def test_names_come_back_from_json() -> None:
    document = json.loads(json.dumps(document_of(every_kind())))
    assert document["classes"] == NASTY[1:]
    assert document["attributes"][0]["values"] == NASTY[:5]


def preorder_of(branches: list[int]) -> list[int]:
    """The parent of each node, from the numbers of branches alone."""
    parent, waiting = [], [[-1, 1]]
    for node, count in enumerate(branches):
        while not waiting[-1][1]:
            waiting.pop()
        waiting[-1][1] -= 1
        parent.append(waiting[-1][0])
        waiting.append([node, count])
    return parent


def test_numbers_of_branches_tell_the_structure() -> None:
    tree: Tree = bushy(6).unpruned
    assert preorder_of(tree_columns(tree)["branches"]) == tree.parent.tolist()


def test_rules_are_those_of_the_rules_command(penguins: Table) -> None:
    model = train(penguins)
    document, made = document_of(model, penguins), derive_from_model(model, penguins).rule_set
    assert [(rule["label"], rule["covered"]) for rule in document["rules"]] == [
        (r.label, r.covered) for r in made.rules
    ]
    assert document["default"] == made.default
    for told, rule in zip(document["rules"], made.rules, strict=True):
        for plain, condition in zip(told["conditions"], rule.conditions, strict=True):
            sign = {"below": "<=", "above": ">"}.get(next(reversed(plain)), condition.sign)
            assert (plain["attribute"], sign) == (condition.attribute, condition.sign)
            assert plain.get("values", []) == list(condition.values)
            assert plain.get("below", plain.get("above")) == condition.threshold


def test_no_rules_of_other_cases(penguins: Table) -> None:
    assert "rules" not in document_of(train(penguins), penguins.take(np.arange(300)))


def test_no_rules_where_they_would_be_dear(penguins: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("c45gpu.report.document.MOST_FOR_RULES", 100)
    assert "rules" not in document_of(train(penguins), penguins)


def test_scans_of_the_heaviest_nodes(penguins: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    model = train(penguins)
    scans = document_of(model, penguins)["cases"]["scans"]["pruned"]
    assert set(scans) >= {str(node) for node in np.flatnonzero(model.pruned.kind != LEAF)}
    first = scans["0"]["attributes"][0]
    assert (first["attribute"], first["threshold"]) == (int(model.pruned.attribute[0]), model.pruned.threshold[0])
    assert first["gain"] >= scans["0"]["average"]
    assert first["ratio"] == pytest.approx(first["gain"] / first["split"], rel=1e-4)
    assert max(first["curve"]["gains"]) >= first["gain"]
    monkeypatch.setattr("c45gpu.report.gains.MOST_NODES", 2)
    assert list(document_of(model, penguins)["cases"]["scans"]["pruned"]) == ["0", "1"]
    monkeypatch.setattr("c45gpu.report.gains.MOST_VALUES", 1)
    assert list(document_of(model, penguins)["cases"]["scans"]["pruned"]) == ["0"]


def test_a_curve_keeps_its_greatest_gain(penguins: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("c45gpu.report.gains.MOST_POINTS", 3)
    model = train(penguins)
    first = document_of(model, penguins)["cases"]["scans"]["pruned"]["0"]["attributes"][0]
    assert len(first["curve"]["gains"]) == 4
    assert model.pruned.threshold[0] in first["curve"]["thresholds"]


def test_cases_without_a_class_are_not_scanned(penguins: Table) -> None:
    model, classes = train(penguins), penguins.classes.copy()
    classes[::2] = -1
    some = replace(penguins, classes=classes)
    known = penguins.take(classes >= 0)
    assert document_of(model, some)["cases"]["scans"] == document_of(model, known)["cases"]["scans"]
