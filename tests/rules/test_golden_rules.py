"""The original's rules: the runner's verdicts, and its printed output line for line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from c45gpu.cli import main as command
from c45gpu.data.c45files import read_stem
from c45gpu.induction.options import Options
from c45gpu.rules.derive import derive
from c45gpu.rules.judge import judged
from c45gpu.rules.text import rules_text, use_text
from tests.golden.__main__ import main
from tests.golden.files import GoldenFile
from tests.golden_trees import read_golden


def test_verdicts_on_rules_are_counted_by_kind(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    only = "r8_golf,r8_vote,r8_monk2,t33_rules_opposite_duplicate,t30_crlf"
    assert main([str(golden), "--rules", "--only", only, "--jobs", "2"]) == 0
    printed = capsys.readouterr().out
    assert "r8_golf.s | equal | equal | -\n" in printed
    assert "t33_rules_opposite_duplicate | equal | deliberate | - | 3 rules, ours are 4\n" in printed
    assert "r8_monk2.m1 | equal | searched | - | " in printed
    assert "t30_crlf | - | - | - | the tree is a deliberate difference\n" in printed
    assert printed.splitlines()[-1] == "equal 8, searched 1, different 0, deliberate 1, skipped 25"


@pytest.mark.parametrize("what", ["label", "order", "error", "default"])
def test_other_rules_are_different(golden: Path, tmp_path: Path, what: str) -> None:
    (tmp_path / "sets").mkdir()
    for suffix in (".names", ".data", ".json"):
        shutil.copy(golden / "sets" / f"r8_golf{suffix}", tmp_path / "sets")
    path = tmp_path / "sets" / "r8_golf.json"
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    rules = document["rules"]["rules"]
    if what == "label":
        rules[1]["cls"] = 1
    elif what == "order":
        rules[0], rules[1] = rules[1], rules[0]
    elif what == "error":
        rules[2]["error"] += 0.002
    else:
        document["rules"]["default"] = 1
    path.write_text(json.dumps(document), "utf-8")
    assert main([str(tmp_path), "--rules", "--compare", str(golden / "compare.py")]) == 1


PRINTED = ["sets/r8_golf", "sets/r8_vote", "sets/r8_vote.m1", "sets/r8_labor-neg", "sets/penguins"]
PRINTED += ["sets/wk_weather_numeric", "tiny/t01_missing_discrete", "tiny/t08_one_class", "tiny/t25_discrete_n"]
GROUPED = ["sets/r8_golf.s", "sets/r8_vote.s", "tiny/t13_subset"]


@pytest.mark.parametrize("name", PRINTED)
def test_printed_as_the_original_does(golden: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    file = GoldenFile(golden / f"{name}.json")
    unseen = ["-u"] if "test" in file.answer else []
    assert command(["rules", str(file.stem), "--compat", "r8", *file.options, *unseen]) == 0
    assert capsys.readouterr().out.rstrip("\n") == printed_rules(file)


@pytest.mark.parametrize("name", GROUPED)
def test_groups_of_values_are_printed_as_the_original_does(golden: Path, name: str) -> None:
    file = GoldenFile(golden / f"{name}.json")
    table, test = read_stem(file.stem, compat="r8")
    made = derive(read_golden(file.path).unpruned, table, Options(compat="r8"))
    text = rules_text(table.schema, made.final, made.rule_set.default) + "\n\n" + use_text(made.rounds, made.cases)
    if test is not None:
        one, cases = judged(made.rule_set, test)
        text += use_text([one], cases, data="test data")
    assert " in {" in text
    assert text.rstrip("\n") == printed_rules(file)


def printed_rules(file: GoldenFile) -> str:
    """What the original printed, from the rules on."""
    return str(file.answer["rules_text"]).partition("Final rules from tree 0:\n\n")[2].rstrip("\n")
