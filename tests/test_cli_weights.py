"""``--class-weight``, and ``c45gpu path``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from c45gpu import C45Classifier, load
from c45gpu.cli import main
from c45gpu.data.frames import read_file

ROWS = "x,class\n" + "".join(f"{x},{'yes' if x > 7 else 'no'}\n" for x in range(10)) + "3,yes\n4,yes\n"


@pytest.fixture
def cases(tmp_path: Path) -> str:
    path = tmp_path / "cases.csv"
    path.write_text(ROWS)
    return str(path)


def weights_of(model: Path) -> list[float]:
    root: list[float] = load(model).unpruned.class_weights[0].tolist()
    return root


@pytest.mark.parametrize(
    ("given", "expected"),
    [(["yes=2.5"], [8, 10]), (["yes=2", "no=0.5"], [4, 8]), (["balanced"], [6, 6]), (["no=0"], [4])],
    ids=str,
)
def test_classes_weigh_what_is_asked_for(cases: str, tmp_path: Path, given: list[str], expected: list[float]) -> None:
    model = tmp_path / "m.c45"
    letters = [word for part in given for word in ("--class-weight", part)]
    assert main(["train", cases, "--target", "class", "-o", str(model), *letters]) == 0
    assert [weight for weight in weights_of(model) if weight] == pytest.approx(expected)


def test_as_the_estimators_class_weight(cases: str, tmp_path: Path) -> None:
    model, table = tmp_path / "m.c45", read_file(cases, target="class")
    assert main(["train", cases, "--target", "class", "-o", str(model), "--class-weight", "balanced"]) == 0
    labels = np.array(table.schema.classes)[table.classes]
    classifier = C45Classifier(class_weight="balanced").fit(table.column(0)[:, None], labels)
    assert load(model).pruned.equals(classifier.tree_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("maybe=2", "class weight of 'maybe': the classes are no, yes"),
        ("yes=-1", "class weight of 'yes' is -1.0: give a number, 0 or more"),
        ("yes=much", "class weight 'yes=much': write balanced, alone, or CLASS=WEIGHT for each class"),
        ("2", "class weight '2': write balanced, alone, or CLASS=WEIGHT for each class"),
    ],
)
def test_what_is_no_weight_of_a_class_is_refused(
    cases: str, capsys: pytest.CaptureFixture[str], given: str, message: str
) -> None:
    assert main(["train", cases, "--target", "class", "--class-weight", given]) == 2
    assert message in capsys.readouterr().err


def test_the_path_of_pruning(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stem = str(examples / "penguins")
    assert main(["path", stem, "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)
    assert len(steps) > 1
    assert [step["nodes"] for step in steps] == sorted(step["nodes"] for step in steps)
    assert main(["path", stem]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["confidence", "nodes", "leaves"]
    assert [line.split()[1:] for line in lines] == [[str(step["nodes"]), str(step["leaves"])] for step in steps]


def test_each_confidence_of_the_path_gives_its_tree(examples: Path) -> None:
    frame = pd.read_csv(examples / "penguins.csv")
    x, y = frame.drop(columns="species"), frame["species"]
    found = C45Classifier().pruning_path(x, y)
    for confidence, nodes in zip(found.confidences, found.sizes, strict=True):
        assert C45Classifier(confidence=float(confidence)).fit(x, y).tree_.n_nodes == nodes
