"""What the migration page names is there: options of the command line, parameters of the estimators, functions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import c45gpu.exchange
from c45gpu import C45Classifier, C45Rules
from c45gpu.cli import main

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "migration.md").read_text("utf-8")
OURS = {"C4.5": 1, "C5.0": 2, "J48": 1, "DecisionTreeClassifier": 1, "cuML": 1}  # the column of each table, from 0


def named() -> list[str]:
    """Everything between backticks in the columns that say what is here."""
    found, column = [], None
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            column = None
        elif column is None:
            column = OURS[cells[0]]
        elif not cells[0].startswith("---"):
            found += re.findall(r"`([^`]+)`", cells[column])
    return found


@pytest.fixture(scope="module")
def known() -> set[str]:
    return {*C45Classifier().get_params(), *C45Rules().get_params()}


def test_every_parameter_is_one(known: set[str]) -> None:
    parameters = {name for text in named() for name in re.findall(r"^(\w+)=", text)}
    assert len(parameters) > 20
    assert parameters <= known | {"engine"}


def test_every_option_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("train", "predict", "rules"):
        assert main([command, "--help"]) == 0
    told = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", capsys.readouterr().out))
    options = {option for text in named() for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text)}
    assert len(options) > 20
    assert options <= told


def test_every_function_is_there() -> None:
    functions = re.findall(r"`c45gpu\.exchange\.(\w+)`", PAGE)
    assert functions == ["to_sklearn"]
    assert all(callable(getattr(c45gpu.exchange, name)) for name in functions)
