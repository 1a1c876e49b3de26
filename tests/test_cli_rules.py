"""``c45gpu rules``: from data, from a model, from a rule list; what it prints, saves and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from c45gpu import load_rules
from c45gpu.cli import main

GOLF = """sunny,85,false,no\nsunny,90,true,no\novercast,78,false,yes\nrain,96,false,yes\nrain,80,false,yes
rain,70,true,no\novercast,65,true,yes\nsunny,95,false,no\nsunny,70,false,yes\nrain,80,false,yes
sunny,70,true,yes\novercast,90,true,yes\novercast,75,false,yes\nrain,80,true,no\n"""
GOLF_NAMES = "yes, no.\noutlook: sunny, overcast, rain.\nhumidity: continuous.\nwindy: true, false.\n"


@pytest.fixture
def golf(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with golf as a stem, as CSV, as a model and as a rule list."""
    (tmp_path / "golf.names").write_text(GOLF_NAMES)
    (tmp_path / "golf.data").write_text(GOLF)
    (tmp_path / "golf.test").write_text("sunny,60,true,yes\nsunny,99,?,yes\n")
    (tmp_path / "golf.csv").write_text("outlook,humidity,windy,play\n" + GOLF)
    assert main(["train", str(tmp_path / "golf"), "-o", str(tmp_path / "golf.c45")]) == 0
    assert main(["rules", str(tmp_path / "golf"), "-o", str(tmp_path / "golf.rules")]) == 0
    capsys.readouterr()
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["rules", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], code: int, *arguments: object) -> str:
    assert main(["rules", *map(str, arguments)]) == code
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.splitlines()[-1]


def test_from_data_and_from_a_model_the_same(golf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, golf / "golf")
    assert text == printed(capsys, golf / "golf.c45", "--data", golf / "golf.data")
    assert text == printed(capsys, "-f", golf / "golf")
    assert "class no  [63.0%]" in printed(capsys, golf / "golf.csv", "--target", "play")
    assert text.startswith("Rule ")
    assert "Evaluation on training data (14 items):\n\nRule  Size  Error  Used  Wrong\t          Advantage\n" in text
    assert "\nTested 14, errors 0 (0.0%)   <<\n" in text


def test_test_cases(golf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, golf / "golf", "-u")
    assert "Evaluation on test data (2 items):" in text
    assert "Tested 2, errors 1 (50.0%)   <<" in text
    assert text == printed(capsys, golf / "golf", "--test", golf / "golf.test")


def test_a_rule_list_prints_and_is_tried(golf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, golf / "golf.rules")
    assert text == str(load_rules(golf / "golf.rules")) + "\n"
    text = printed(capsys, golf / "golf.rules", "--data", golf / "golf.test")
    assert "Tested 2, errors 1 (50.0%)   <<" in text


def test_exports(golf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = load_rules(golf / "golf.rules")
    for source in ("golf", "golf.rules"):
        assert printed(capsys, golf / source, "--export", "sql") == rules.to_sql() + "\n"
        assert printed(capsys, golf / source, "--export", "python") == rules.to_python()
        assert printed(capsys, golf / source, "--export", "text") == rules.to_text()


def test_json(golf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document: dict[str, Any] = json.loads(printed(capsys, golf / "golf", "--json", "-u"))
    assert document["classes"] == ["yes", "no"]
    first = document["rules"]["rules"][0]
    assert first["conditions"][0] == {"att": 0, "op": "=", "value": 2}
    assert (first["cls"], round(first["error"], 3), first["covered"], first["wrong"]) == (0, 0.293, 4.0, 0.0)
    assert {"op": ">", "att": 1, "cut": 75.0} in [c for r in document["rules"]["rules"] for c in r["conditions"]]
    assert document["test_pred_rules"] == [0, 1]
    again = json.loads(printed(capsys, golf / "golf.rules", "--json", "--data", golf / "golf.test"))
    assert again == document


def test_options_show(golf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "[73.7%]" in printed(capsys, golf / "golf", "-c", "40")
    assert printed(capsys, golf / "golf", "-r", "0.01") != printed(capsys, golf / "golf")


def test_refusals(golf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--data is missing" in refused(capsys, 2, golf / "golf.c45")
    assert "leave out what is for training" in refused(
        capsys, 2, golf / "golf.c45", "--data", golf / "golf.data", "-m", 3
    )
    assert "--data is for a model" in refused(capsys, 2, golf / "golf", "--data", golf / "golf.data")
    assert "a rule list is made already" in refused(capsys, 2, golf / "golf.rules", "-o", golf / "x")
    assert "--export and --json exclude each other" in refused(capsys, 2, golf / "golf", "--export", "sql", "--json")
    assert "redundancy=0.0 will not do" in refused(capsys, 2, golf / "golf", "-r", "0")
    assert "there is no such file" in refused(capsys, 1, golf / "nothing")
    assert main(["show", str(golf / "golf.rules")]) == 1
    assert "this file holds a rule list: give one that holds a model" in capsys.readouterr().err
