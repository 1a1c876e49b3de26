"""Windowing on the command line and in the estimator."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from c45gpu import C45Classifier, load
from c45gpu.cli import main
from c45gpu.errors import OptionError

IRIS = load_iris()


def test_the_trials_are_printed_before_the_tree(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(examples / "penguins"), "-t", "3"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Trial 1:\n\n  Cycle   Size")
    assert "\nTrial 3:\n" in out
    assert "\nTrial 4:\n" not in out
    assert out.index("   <<\n") < out.index("Decision Tree:\n")


@pytest.mark.parametrize("options", [["-t", "10"], ["-w", "68"], ["-i", "13"], ["--trials=10", "--seed=0"]], ids=str)
def test_any_letter_of_windowing_asks_for_ten_trials(
    examples: Path, tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.c45"
    assert main(["train", str(examples / "penguins"), "-o", str(path), *options]) == 0
    windowed, spelled = capsys.readouterr().out, ["-t", "10", "-w", "68", "-i", "13", "--seed", "0"]
    assert len(load(path).record["trials"]) == 10
    assert main(["train", str(examples / "penguins"), *spelled]) == 0
    assert capsys.readouterr().out == windowed


def test_seed_and_windows_are_among_the_options_of_the_document(
    examples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    letters = ["-t", "2", "-w", "50", "-i", "9", "--seed", "7"]
    assert main(["train", str(examples / "penguins"), *letters, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["options"] == letters
    assert [trial["cycles"][0]["window"] for trial in document["trials"]] == [50, 50]
    assert main(["train", str(examples / "penguins"), "--json"]) == 0
    assert "trials" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("letter", ["-t", "-w", "-i"])
def test_batch_and_windows_exclude_each_other(examples: Path, letter: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(examples / "penguins"), "-b", letter, "5"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"error: -b (all cases at once) and {letter} (windows) exclude each other: give one of them\n"


def test_batch_is_what_happens_anyway(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(examples / "penguins"), "-b"]) == 0
    batch = capsys.readouterr().out
    assert main(["train", str(examples / "penguins")]) == 0
    assert capsys.readouterr().out == batch


def test_the_estimator_learns_from_windows_too() -> None:
    classifier = C45Classifier(n_trials=np.int64(3), initial_window=30, random_state=5).fit(IRIS.data, IRIS.target)
    trials = classifier.model_.record["trials"]
    assert [trial["cycles"][0]["window"] for trial in trials] == [30, 30, 30]
    assert classifier.model_.options["random_state"] == 5
    assert classifier.tree_.class_weights[0].tolist() == [50, 50, 50]
    assert classifier.unpruned_tree_.weight[0] < 150
    assert classifier.score(IRIS.data, IRIS.target) > 0.95


def test_the_estimators_chance_is_given_as_scikit_learn_has_it() -> None:
    def cycles(random_state: object) -> object:
        return C45Classifier(n_trials=1, random_state=random_state).fit(IRIS.data, IRIS.target).model_.record

    assert cycles(None) == cycles(0) == cycles(None)
    drawn = int(np.random.RandomState(3).randint(np.iinfo(np.int32).max))
    assert cycles(np.random.RandomState(3)) == cycles(drawn) != cycles(0)
    with pytest.raises(OptionError, match="random_state=-1"):
        cycles(-1)
