"""Trees side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from c45gpu import C45Classifier, save
from c45gpu.cli import main
from c45gpu.data.arrays import from_arrays
from c45gpu.data.schema import Attribute, Schema
from c45gpu.errors import OptionError
from c45gpu.exchange import Comparison, Difference, compare, read_sklearn
from c45gpu.model.predict import class_frequencies
from c45gpu.model.store import Model
from tests.exchange.made import deep_model, made, random_model
from tests.golden_trees import Node, inner, leaf

SCHEMA = Schema(
    (
        Attribute("outlook", "discrete", ("sunny", "overcast", "rain")),
        Attribute("humidity", "continuous"),
        Attribute("windy", "discrete", ("true", "false")),
    ),
    ("yes", "no"),
)


def yes(weight: float = 2.0, wrong: float = 0.0) -> Node:
    return leaf(weight, wrong)


def no(weight: float = 3.0) -> Node:
    return leaf(0.0, weight)


def golf(humid: Node, overcast: Node, rain: Node) -> Model:
    return made(inner("discrete", 0, humid, overcast, rain), SCHEMA)


def humid(cut: float, below: Node | None = None) -> Node:
    return inner("threshold", 1, below or yes(), no(), cut=cut)


def windy() -> Node:
    return inner("discrete", 2, no(), yes())


@pytest.mark.parametrize("seed", range(4))
def test_a_tree_is_like_itself(seed: int) -> None:
    model = random_model(seed)
    n = model.pruned.n_nodes
    assert compare(model, model) == Comparison((n, n), n, 0, ())


def test_every_kind_of_difference() -> None:
    one = golf(humid(75.0), yes(4.0), windy())
    other = golf(humid(76.5, windy()), no(), no())
    found = compare(one, other)
    assert found.nodes == (8, 8)
    assert found.same == 2  # the test of outlook, and the leaf above the threshold
    assert found.differences == (
        Difference("threshold", "outlook = sunny", "humidity <= 75.0 (3 nodes)", "humidity <= 76.5 (5 nodes)"),
        Difference("test", "outlook = sunny, humidity <= 75.0", "yes (2)", "windy by 2 branches (3 nodes)"),
        Difference("class", "outlook = overcast", "yes (4)", "no (3)"),
        Difference("test", "outlook = rain", "windy by 2 branches (3 nodes)", "no (3)"),
    )
    assert str(found).splitlines() == [
        "nodes: 8 | 8, 2 of them the same",
        "outlook = sunny: humidity <= 75.0 (3 nodes) | humidity <= 76.5 (5 nodes)",
        "outlook = sunny, humidity <= 75.0: yes (2) | windy by 2 branches (3 nodes)",
        "outlook = overcast: yes (4) | no (3)",
        "outlook = rain: windy by 2 branches (3 nodes) | no (3)",
    ]


def test_another_test_at_the_root() -> None:
    (difference,) = compare(made(humid(1.0), SCHEMA), made(windy(), SCHEMA)).differences
    assert (difference.kind, difference.where) == ("test", "the root")


def test_weights() -> None:
    found = compare(golf(humid(75.0), yes(), no()), golf(humid(75.0), yes(5.0, 1.0), no()))
    assert (found.same, found.reweighted, found.differences) == (6, 1, ())
    assert str(found) == "nodes: 6 | 6, 6 of them the same\nleaves of the same class with other weights: 1"


def test_schemas_in_another_order() -> None:
    one = golf(humid(75.0), yes(), windy())
    outlook, humidity, wind = SCHEMA.attributes
    turned = Schema(
        (replace(wind, values=("false", "true")), humidity, Attribute("new", "continuous"), outlook), ("no", "yes")
    )

    def turn(node: Node) -> Node:
        branches = [turn(branch) for branch in node.get("branches", [])]
        place = {0: 3, 1: 1, 2: 0}
        if node.get("att") == 2:
            branches.reverse()
        swapped = node | {"leaf": 1 - node["leaf"], "dist": node["dist"][::-1]}
        return swapped | {"att": place[node["att"]], "branches": branches} if branches else swapped

    root = inner("discrete", 0, humid(75.0), yes(), windy())
    assert compare(one, made(turn(root), turned)) == Comparison((8, 8), 8, 0, ())


def test_groups_of_values() -> None:
    one = made(inner("subset", 0, yes(), no(), subsets=[[1, 3], [2]]), SCHEMA)
    values = made(inner("discrete", 0, yes(), no(), yes()), SCHEMA)
    found = compare(one, values)
    assert found.same == 1
    assert [(d.kind, d.one, d.other) for d in found.differences] == [
        ("branch", "outlook in {sunny, rain}", ""),
        ("branch", "", "outlook = sunny"),
        ("branch", "", "outlook = rain"),
    ]
    assert str(found).endswith("the root: nothing | outlook = rain")
    apart = made(inner("subset", 0, yes(), no(), subsets=[[1, 2], [3]]), SCHEMA)
    other = made(inner("subset", 0, yes(), no(), subsets=[[1], [2, 3]]), SCHEMA)
    assert [d.kind for d in compare(apart, other).differences] == ["test"]


def test_deep_trees() -> None:
    one, other = deep_model(), deep_model(4000)
    found = compare(one, other)
    assert found.nodes == (10_001, 8_001)
    assert (found.same, len(found.differences)) == (8000, 1)


def test_against_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    theirs = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, y)
    ours = C45Classifier().fit(X, y)
    found = compare(ours, theirs)
    assert found.nodes == (ours.tree_.n_nodes, theirs.tree_.node_count)
    assert {d.kind for d in found.differences} <= {"threshold", "test", "class"}
    assert found.same + len(found.differences) >= 3
    itself = compare(theirs, theirs)
    assert itself.same == theirs.tree_.node_count


@pytest.mark.parametrize("how", [{}, {"max_leaf_nodes": 6}, {"class_weight": {0: 2.0, 1: 0.5, 2: 1.0}}])
def test_a_tree_of_scikit_learn_as_a_model(how: dict[str, Any]) -> None:
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    theirs = DecisionTreeClassifier(random_state=0, min_samples_leaf=3, **how).fit(X, y)
    model = read_sklearn(theirs)
    found = class_frequencies(model.pruned, from_arrays(X, schema=model.schema))
    np.testing.assert_allclose(found, theirs.predict_proba(X), rtol=0, atol=1e-12)
    assert [a.name for a in model.schema.attributes] == ["x0", "x1", "x2", "x3"]


def test_what_holds_no_tree() -> None:
    for nothing in (DecisionTreeClassifier(), None, "x"):
        with pytest.raises(OptionError, match="holds no tree of scikit-learn"):
            read_sklearn(nothing)
        with pytest.raises(OptionError, match="holds no tree"):
            compare(nothing, nothing)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = golf(humid(75.0), yes(), no()), golf(humid(75.0), yes(), yes())
    save(one, tmp_path / "one.c45")
    save(other, tmp_path / "other.c45")
    paths = [str(tmp_path / "one.c45"), str(tmp_path / "other.c45")]
    assert main(["compare", *paths]) == 0
    assert capsys.readouterr().out == f"{compare(one, other)}\n"
    assert main(["compare", *paths, "--unpruned", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    wanted = {"kind": "class", "where": "outlook = rain", "one": "no (3)", "other": "yes (2)"}
    assert document == {"nodes": [6, 6], "same": 5, "reweighted": 0, "differences": [wanted]}
