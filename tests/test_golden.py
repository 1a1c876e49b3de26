"""The golden runner: it says equal where trees are equal, and different where they are not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.golden.__main__ import excepted, main
from tests.golden.files import GoldenFile


def last_line(text: str) -> str:
    return text.splitlines()[-1]


def changed_copy(golden: Path, folder: Path, change: Any) -> list[str]:
    """A folder with golf alone and its golden document changed; returns the runner's arguments."""
    (folder / "sets").mkdir()
    for suffix in (".names", ".data", ".json"):
        shutil.copy(golden / "sets" / f"r8_golf{suffix}", folder / "sets")
    path = folder / "sets" / "r8_golf.json"
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), "utf-8")
    return [str(folder), "--compare", str(golden / "compare.py")]


def test_verdicts_are_counted_by_kind(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    only = "r8_golf,t01_missing_discrete,t32_illegal_value,ml_Zoo,ml_PimaIndiansDiabetes2.g,rd126"
    assert main([str(golden), "--only", only]) == 0
    printed = capsys.readouterr().out
    assert "t01_missing_discrete | equal | equal | equal\n" in printed
    assert "r8_golf.p | equal | equal | -\n" in printed
    assert "r8_golf.t3 | skipped | - | - | made with -t\n" in printed
    assert "(1 of 1 differences are chains)" in printed
    assert last_line(printed) == "equal 11, tie 1, limit 1, different 1, deliberate 1, skipped 1"


def test_options_and_processes(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(golden), "--only", "r8_golf,sk_iris", "--options=-m 1", "--jobs", "2"]) == 0
    assert capsys.readouterr().out == (
        "r8_golf.m1 | equal | equal | -\nsk_iris.m1 | equal | equal | equal\n"
        "equal 2, tie 0, limit 0, different 0, deliberate 0, skipped 0\n"
    )


@pytest.mark.parametrize("tree", ["unpruned", "pruned"])
def test_another_tree_is_different(golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], tree: str) -> None:
    def relabel(document: dict[str, Any]) -> None:
        document[tree]["branches"][1]["leaf"] = 1 - document[tree]["branches"][1]["leaf"]

    assert main(changed_copy(golden, tmp_path, relabel)) == 1
    printed = capsys.readouterr()
    assert last_line(printed.out) == "equal 0, tie 0, limit 0, different 1, deliberate 0, skipped 0"
    assert printed.err == "not explained in golden_exceptions.md: r8_golf\n"


def test_another_bound_is_different(golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without -p bounds are the thresholds themselves."""

    def move(document: dict[str, Any]) -> None:
        document["pruned"]["branches"][0]["upper"] += 0.01

    assert main(changed_copy(golden, tmp_path, move)) == 1
    assert "upper bound of humidity <= 75: 75.01, ours 75" in capsys.readouterr().out


def test_another_prediction_is_different(golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def predict(document: dict[str, Any]) -> None:
        n_cases = len((golden / "sets" / "r8_golf.data").read_text("latin-1").splitlines())
        document["test_pred_unpruned"] = document["test_pred_pruned"] = [0] * n_cases

    given = changed_copy(golden, tmp_path, predict)
    shutil.copy(golden / "sets" / "r8_golf.data", tmp_path / "sets" / "r8_golf.test")
    assert main(given) == 1
    assert "test_pred_pruned: 5 of 14 differ" in capsys.readouterr().out


def test_nothing_to_do_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "no golden file there" in capsys.readouterr().err


def test_every_exception_is_a_golden_file(golden: Path) -> None:
    for name in excepted():
        assert list(golden.glob(f"*/{name}.json")), name


def test_an_option_without_meaning_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"stem": "x", "options": ["-q"]}), "utf-8")
    with pytest.raises(ValueError, match="no meaning is known for -q"):
        GoldenFile(path).learner_options()
