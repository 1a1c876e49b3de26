"""Model files of a version, kept for ever: ``python -m tests.golden.keep`` writes those of this version, once.

Each lies in ``models/VERSION`` beside a document with cases and what the model makes of them. No later version may
change them: `tests/model/test_kept_models.py` loads every one, whatever the version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import c45gpu
from c45gpu.data.frames import from_frame, read_file
from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.predict import class_frequencies, predicted_classes
from c45gpu.model.store import Model, load, save
from c45gpu.rules.derive import derive_from_model
from c45gpu.rules.rule import RuleSet
from c45gpu.rules.store import load_rules, save_rules

KEPT = Path(__file__).with_name("models")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EVERY = 9  # of the penguins so many are asked about: 39 of them, two with unknown values
GOLF = """sunny 85 85 no; sunny 80 90 yes; overcast 83 78 no; rain 70 96 no; rain 68 80 no; rain 65 70 yes;
overcast 64 65 yes; sunny 72 95 no; sunny 69 70 no; rain 75 80 no; sunny 75 70 yes; overcast 72 90 yes;
overcast 81 75 no; rain 71 80 yes"""
PLAY = list("nnyyynynyyyyyn")


def made() -> Iterator[tuple[str, Model | RuleSet, pa.Table]]:
    """Names, what was learned, and cases to ask about."""
    golf = pa.table(dict(zip(["outlook", "temperature", "humidity", "windy"], _golf(), strict=True)))
    yield "golf", train(from_frame(golf, PLAY)), golf
    penguins = read_file(EXAMPLES / "penguins.csv", target="species")
    asked = _asked(penguins)
    model = train(penguins)
    yield "penguins", model, asked
    yield "soft", train(penguins, Options(soft_thresholds=True)), asked
    yield "costs", train(penguins, costs=[[0, 1, 9], [2, 0, 1], [1, 5, 0]]), asked
    yield "rules", derive_from_model(model, penguins).rule_set, asked
    colours = pa.table({"colour": list("rgbywk") * 6, "size": [float(i * i % 11) for i in range(36)]})
    warm = [
        "warm" if colour in "ry" else "cold" if size < 8 else "hot"
        for colour, size in zip(*_lists(colours), strict=True)
    ]
    yield "groups", train(from_frame(colours, warm), Options(group_values=True)), colours


def answers(learned: Model | RuleSet, cases: dict[str, list[Any]]) -> dict[str, Any]:
    """What is made of some cases: classes and probabilities, exactly."""
    table = from_frame(pa.table(cases), schema=learned.schema)
    if isinstance(learned, RuleSet):
        classes, parts = learned.predict(table), learned.predict_proba(table)
    else:
        parts = class_frequencies(learned.pruned, table, learned.soft)
        classes = predicted_classes(parts, learned.costs)
    return {"classes": [learned.schema.classes[c] for c in classes], "probabilities": parts.tolist()}


def read(path: Path) -> Model | RuleSet:
    """A kept file, of either kind."""
    return load_rules(path) if path.stem == "rules" else load(path)


def _golf() -> list[list[Any]]:
    rows = [row.split() for row in GOLF.split(";")]
    outlook, temperature, humidity, windy = map(list, zip(*rows, strict=True))
    return [outlook, [float(t) for t in temperature], [float(h) for h in humidity], windy]


def _lists(table: pa.Table) -> list[list[Any]]:
    return [column.to_pylist() for column in table.columns]


def _asked(table: Table) -> pa.Table:
    some = table.take(np.arange(0, table.n_cases, EVERY))
    return pa.table({a.name: _values(some, number) for number, a in enumerate(some.schema.attributes)})


def _values(table: Table, attribute: int) -> list[Any]:
    schema: Schema = table.schema
    column = table.column(attribute).tolist()
    if schema.attributes[attribute].kind == "continuous":
        return [None if value != value else value for value in column]
    values = [*schema.attributes[attribute].values, None]
    return [values[value] for value in column]


def keep(folder: Path) -> None:
    """Write the files of this version.

    Raises
    ------
    FileExistsError
        When they are there: what is kept does not change.
    """
    folder.mkdir(parents=True)
    for name, learned, asked in made():
        (save_rules if isinstance(learned, RuleSet) else save)(learned, folder / f"{name}.c45")
        cases = asked.to_pydict()
        document = {"cases": cases, **answers(learned, cases)}
        (folder / f"{name}.json").write_text(json.dumps(document) + "\n", "utf-8")


if __name__ == "__main__":
    keep(KEPT / c45gpu.__version__)
