"""Groups of values on the command line and in the estimator."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from c45gpu import C45Classifier, load
from c45gpu.cli import main
from c45gpu.errors import OptionError
from c45gpu.induction.options import Options
from c45gpu.model.tree import SUBSET

NAMES = "no, yes.\nx: a, b, c, d, e.\ny: continuous.\n"
CASES = ["a,1,no", "b,1,no", "c,1,yes", "d,1,yes"] * 5
EXCLUDED = (
    "group_values and binary_splits exclude each other, as both say which values share a branch: give one of them"
)


@pytest.fixture
def stem(tmp_path: Path) -> str:
    (tmp_path / "letters.names").write_text(NAMES, "utf-8")
    (tmp_path / "letters.data").write_text("\n".join(CASES) + "\n", "utf-8")
    return str(tmp_path / "letters")


@pytest.mark.parametrize("letter", ["-s", "--group-values"])
def test_groups_are_printed_and_saved(
    stem: str, letter: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.c45"
    assert main(["train", stem, letter, "-o", str(path)]) == 0
    out = capsys.readouterr().out
    assert "x in {a,b}: no (10.0)\nx in {c,d}: yes (10.0)\nx = e: no (0.0)\n" in out
    model = load(path)
    assert model.pruned.kind[0] == SUBSET
    assert model.pruned.value_map(0).tolist() == [0, 0, 1, 1, 2]
    assert main(["show", str(path)]) == 0
    assert "x in {a,b}: no (10.0/1.3)\nx in {c,d}: yes (10.0/1.3)\nx = e: no (0.0)\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "subsets"), [(["-s"], [[1, 2], [3, 4], [5]]), (["--binary-splits"], [[1], [2, 3, 4, 5]])], ids=str
)
def test_the_document_has_subsets_and_the_options_as_given(
    stem: str, given: list[str], subsets: list[list[int]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", stem, *given, "--json", "--prune", "none", "-m", "1"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(given) <= set(document["options"])
    assert document["unpruned"]["type"] == "subset"
    assert document["unpruned"]["subsets"] == subsets


def test_both_at_once_are_refused(stem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", stem, "-s", "--binary-splits"]) == 2
    assert capsys.readouterr() == ("", f"error: {EXCLUDED}\n")
    with pytest.raises(OptionError, match=EXCLUDED):
        Options(group_values=True, binary_splits=True)
    with pytest.raises(OptionError, match="group_values=1 will not do: give True or False"):
        Options(group_values=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["group_values", "binary_splits"])
def test_the_estimator_groups_too(option: str) -> None:
    x = np.array([case.split(",")[:1] for case in CASES], object)
    labels = [case.split(",")[2] for case in CASES]
    tree = C45Classifier(min_cases=1, categorical_features=[0], **{option: True}).fit(x, labels).unpruned_tree_
    assert tree.kind[0] == SUBSET
    assert len(tree.branches(0)) == 2
    assert SUBSET not in C45Classifier(categorical_features=[0]).fit(x, labels).unpruned_tree_.kind
