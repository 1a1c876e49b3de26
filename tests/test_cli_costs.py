"""Costs and Laplace's probabilities on the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from c45gpu.cli import main
from c45gpu.model.store import load


@pytest.fixture
def stem(tmp_path: Path) -> str:
    """Loans: bad ones are rare, and of those above 50 every fourth is bad."""
    rows = [f"{x},{'bad' if x > 50 and x % 4 == 0 else 'good'}\n" for x in range(100)]
    (tmp_path / "loans.names").write_text("good, bad.\nsum: continuous.\n")
    (tmp_path / "loans.data").write_text("".join(rows))
    return str(tmp_path / "loans")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    assert main(list(arguments)) == 0
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_costs_beside_the_names_are_used(stem: str, capsys: pytest.CaptureFixture[str]) -> None:
    plain, _ = run(capsys, "train", stem)
    assert "cost" not in plain
    Path(f"{stem}.costs").write_text("good, bad: 10\n")
    out, err = run(capsys, "train", stem)
    assert "sum <= 51 : good (52.0)" in out
    assert "sum > 51 : bad (48.0/" in out
    assert "\tMean cost of a case: 0.36 before pruning, 0.36 after\n" in out
    assert err.endswith(f"costs of mistakes are read from {stem}.costs\n")
    ignored, _ = run(capsys, "train", stem, "--ignore-costs")
    assert ignored == plain


def test_costs_of_a_file_that_is_named(stem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(f"{stem}.costs").write_text("good, bad: 10\n")
    (tmp_path / "other").write_text("good, bad: 1\n")
    assert run(capsys, "train", stem, "--costs", str(tmp_path / "other"))[0] != run(capsys, "train", stem)[0]
    assert main(["train", stem, "--costs", "x", "--ignore-costs"]) == 2
    assert "--costs and --ignore-costs exclude each other" in capsys.readouterr().err
    (tmp_path / "other").write_text("\nbad: 1\n")
    assert main(["train", stem, "--costs", str(tmp_path / "other")]) == 1
    assert f"{tmp_path / 'other'}:2: 'bad' does not begin an entry" in capsys.readouterr().err


def test_a_model_keeps_its_costs(stem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(f"{stem}.costs").write_text("good, bad: 10\n")
    model = str(tmp_path / "m")
    Path(f"{stem}.test").write_text("10,good\n60,good\n")
    document = json.loads(run(capsys, "train", stem, "--json", "-u", "-o", model)[0])
    assert document["costs"] == [[0, 1], [10, 0]]
    assert (document["train"][0]["cost_before"], document["train"][0]["cost_after"]) == (0.36, 0.36)
    assert document["test"][0]["cost_after"] == 0.5
    assert document["test_pred_pruned"] == [0, 1]
    assert document["pruned"]["branches"][1]["leaf"] == 1
    assert run(capsys, "predict", model, f"{stem}.test")[0] == "good\nbad\n"
    assert "Mean cost of a case: 0.5 before pruning, 0.5 after" in run(capsys, "evaluate", model, f"{stem}.test")[0]
    assert json.loads(run(capsys, "evaluate", model, f"{stem}.test", "--json")[0])["pruned"]["cost"] == 0.5
    assert load(model).record["weight"] == 100


def test_laplace_probabilities(stem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tmp_path / "m")
    run(capsys, "train", stem, "-o", model, "--prune", "none")
    probabilities = {}
    for flags in ((), ("--laplace",)):
        out, _ = run(capsys, "predict", model, f"{stem}.data", "--proba", *flags)
        names, *rows = csv.reader(io.StringIO(out))
        assert names == ["good", "bad"]
        probabilities[flags] = np.array(rows, float)
    assert load(model).pruned.class_weights.tolist() == [[88, 12]]
    assert probabilities[()][0].tolist() == [0.88, 0.12]
    assert probabilities[("--laplace",)][0].tolist() == pytest.approx([89 / 102, 13 / 102], rel=1e-15)
