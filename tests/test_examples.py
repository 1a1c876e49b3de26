"""The bundled data sets, and the original's tree on them."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from c45gpu.cli import main
from c45gpu.data.c45files import read_stem
from c45gpu.data.frames import read_file
from c45gpu.induction.train import train


def test_csv_and_data_hold_the_same_cases(examples: Path) -> None:
    with open(examples / "penguins.csv", newline="") as stream:
        header, *rows = csv.reader(stream)
    with open(examples / "penguins.data", newline="") as stream:
        records = list(csv.reader(stream))
    assert len(rows) == 344
    assert header[-1] == "species"
    assert [[value or "?" for value in row] for row in rows] == records


def test_csv_and_data_give_the_same_trees(examples: Path) -> None:
    of_data, _ = read_stem(examples / "penguins")
    of_csv = read_file(examples / "penguins.csv", target="species")
    assert of_csv.schema.classes == of_data.schema.classes
    assert [a.values for a in of_csv.schema.attributes] == [a.values for a in of_data.schema.attributes]
    one, other = train(of_data), train(of_csv)
    assert one.unpruned.equals(other.unpruned)
    assert one.pruned.equals(other.pruned)


def test_penguins_are_the_originals(
    examples: Path, golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", str(examples / "penguins"), "--compat", "r8", "--json"]) == 0
    ours = tmp_path / "ours.json"
    ours.write_text(capsys.readouterr().out)
    answer = golden / "sets" / "penguins.json"
    judge = [sys.executable, golden / "compare.py", answer, ours, examples / "penguins"]
    done = subprocess.run(judge, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["unpruned | equal", "pruned | equal"]
    (told,), (right,) = (json.loads(path.read_text("utf-8"))["train"] for path in (ours, answer))
    assert f"{told.pop('estimate_pct'):.1f}" == right["estimate_pct"]
    assert told == {name: right[name] for name in told}
