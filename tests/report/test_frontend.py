"""The front end's own tests, and its arithmetic held against the package's; skipped where there is no Node."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c45gpu import Options, train
from c45gpu.data.c45files import read_cases, read_names
from c45gpu.data.table import Table
from c45gpu.model.predict import class_frequencies, predicted_classes
from c45gpu.model.store import Model
from tests.report.made import document_of, every_kind

FRONTEND = Path(__file__).resolve().parents[2] / "frontend"
OLDEST_NODE = 20
FOLLOWING = """
import { readFileSync } from "node:fs";
import { classOf, frequenciesOf, sharesOf, valueOf } from "./src/follow.js";
import { Tree } from "./src/tree.js";

const { report, cases } = JSON.parse(readFileSync(0, "utf8"));
const tree = new Tree(report.trees.pruned);
const read = (texts) => texts.map((text, a) => valueOf(text, report.attributes[a], report.release8));
const told = cases.map(read).map((values) => frequenciesOf(tree, sharesOf(tree, values), report.classes.length));
console.log(JSON.stringify(told.map((frequencies) => [frequencies, classOf(frequencies, report.costs)])));
"""


def node(*arguments: str, given: str = "") -> str:
    """What Node prints."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed, the front end cannot be run by itself")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if int(re.match(r"v(\d+)", version)[1]) < OLDEST_NODE:  # type: ignore[index]
        pytest.skip(f"node is {version.strip()}, the front end's tests need v{OLDEST_NODE}")
    done = subprocess.run(
        [program, *arguments], input=given, capture_output=True, encoding="utf-8", cwd=FRONTEND, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_front_end() -> None:
    assert re.search(r"^# pass [1-9]", node("--test", "--test-reporter=tap"), re.MULTILINE) is not None


def followed(model: Model, table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Class frequencies and classes of cases by the front end, their values typed as a person would."""
    columns = [typed(model, table, a) for a in range(len(model.schema.attributes))]
    given: dict[str, Any] = {"report": document_of(model), "cases": list(zip(*columns, strict=True))}
    told = json.loads(node("--input-type=module", "--eval", FOLLOWING, given=json.dumps(given)))
    return np.array([frequencies for frequencies, _ in told]), np.array([label for _, label in told])


def typed(model: Model, table: Table, a: int) -> list[str]:
    """The values of an attribute as texts; nothing where they are unknown."""
    attribute = model.schema.attributes[a]
    if attribute.kind == "ignored":
        return [""] * table.n_cases
    values = table.column(a).tolist()
    if attribute.kind == "continuous":
        return ["" if value != value else repr(value) for value in values]
    return [attribute.values[code] if code >= 0 else "" for code in values]


def test_following_says_what_predict_says(examples: Path) -> None:
    table = read_cases(examples / "penguins.data", read_names(examples / "penguins.names"))
    model = train(table, costs=[[0, 1, 4], [2, 0, 1], [1, 1, 0]])
    frequencies, classes = followed(model, table)
    expected = class_frequencies(model.pruned, table)
    assert np.array_equal(frequencies, expected)
    assert np.array_equal(classes, predicted_classes(expected, model.costs))


@pytest.mark.parametrize("asked", [{"group_values": True}, {"binary_splits": True}, {"compat": "r8"}], ids=str)
def test_following_every_kind_of_test(asked: dict[str, Any], examples: Path) -> None:
    table = read_cases(examples / "penguins.data", read_names(examples / "penguins.names"))
    model = train(table, Options(min_cases=1, confidence=0.9, **asked))
    frequencies, _ = followed(model, table)
    as_trained = table.as_release8() if model.options["compat"] else table
    assert np.array_equal(frequencies, class_frequencies(model.pruned, as_trained))


def test_values_without_a_branch_divide_the_case() -> None:
    model = every_kind()
    values, sizes = np.repeat(np.arange(-1, 5, dtype=np.int32), 3), np.tile([np.nan, 0.1, 0.2], 6)
    table = Table(model.schema, [values, sizes], np.zeros(18, np.int32))
    assert np.array_equal(followed(model, table)[0], class_frequencies(model.pruned, table))
