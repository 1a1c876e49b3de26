"""Soft thresholds on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from c45gpu.cli import main
from c45gpu.model.store import load


@pytest.fixture
def stem(tmp_path: Path) -> str:
    """Every sum above 50 is late, and so are a few others."""
    rows = [f"{x},{'late' if x > 50 or x % 17 == 0 else 'early'}\n" for x in range(100)]
    (tmp_path / "loans.names").write_text("early, late.\nsum: continuous.\n")
    (tmp_path / "loans.data").write_text("".join(rows))
    return str(tmp_path / "loans")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_bounds_stand_behind_thresholds(stem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tmp_path / "m")
    plain, soft = run(capsys, "train", stem), run(capsys, "train", stem, "-p", "-o", model)
    bounds = load(model).soft
    assert bounds is not None
    behind = f"sum <= 50 [{bounds.lower[0]:g},{bounds.upper[0]:g}] : early (51.0/"
    assert behind in soft
    assert "[" not in plain
    assert soft.startswith(plain.split("Simplified")[0].split("\nEvaluation")[0])  # the tree as grown has none
    assert behind in run(capsys, "show", model)
    assert "[" not in run(capsys, "show", model, "--unpruned")
    assert run(capsys, "train", stem, "--soft-thresholds") == soft


def test_bounds_are_in_the_document(stem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tmp_path / "m")
    document = json.loads(run(capsys, "train", stem, "-p", "--json", "-o", model))
    bounds = load(model).soft
    assert bounds is not None
    assert document["options"] == ["-p"]
    assert (document["pruned"]["lower"], document["pruned"]["upper"]) == (bounds.lower[0], bounds.upper[0])
    assert document["unpruned"]["lower"] == document["unpruned"]["upper"] == 50


def test_predictions_are_soft_where_asked(stem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, hard = str(tmp_path / "m"), str(tmp_path / "hard")
    run(capsys, "train", stem, "-p", "-o", model)
    run(capsys, "train", stem, "-o", hard)
    (tmp_path / "at.csv").write_text("sum\n50\n")
    early = [
        float(run(capsys, "predict", model, str(tmp_path / "at.csv"), "--proba", *flags).split()[1].split(",")[0])
        for flags in ((), ("-p",))
    ]
    assert early == [48 / 51, 24 / 51]
    assert main(["predict", hard, f"{stem}.data", "-p"]) == 2
    assert "has no soft thresholds: train it with -p, or leave -p out here" in capsys.readouterr().err
