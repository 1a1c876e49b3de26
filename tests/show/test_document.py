from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c45gpu.data.schema import Attribute, Schema
from c45gpu.model.evaluate import evaluate
from c45gpu.model.predict import class_frequencies
from c45gpu.model.store import Model
from c45gpu.show.document import Judged, document, write_json
from tests.golden_trees import chain, empty_leaf, inner, leaf, preorder, read_golden, tree_of
from tests.model.test_predict import read_test_cases

SCHEMA = Schema(
    (
        Attribute("size", "continuous"),
        Attribute("farbe", "discrete", ("rot", "grün", 'a "b"')),
        Attribute("note", "ignored"),
        Attribute("shape", "discrete", ("round", "flat"), capacity=7),
    ),
    ("no", "yes"),
)
GROUPS = inner("subset", 1, leaf(1.0, 0.0), leaf(0.0, 1.0), subsets=[[1], [2, 3]])
ROOT = inner("discrete", 3, inner("threshold", 0, GROUPS, leaf(0.1, 0.2), cut=0.1), empty_leaf(1, 1.1, 1.2))


def model(root: dict[str, Any], pruned: dict[str, Any], schema: Schema = SCHEMA) -> Model:
    return Model(schema, tree_of(root, schema), tree_of(pruned, schema), {}, {})


def written(whole: dict[str, Any]) -> str:
    stream = io.StringIO()
    write_json(whole, stream)
    return stream.getvalue()


def test_all_fields_of_a_model() -> None:
    whole = json.loads(written(document(model(ROOT, leaf(1.0, 1.25)), ["-m", "1"])))
    assert list(whole) == ["classes", "attributes", "options", "unpruned", "pruned"]
    assert whole["classes"] == ["no", "yes"]
    assert whole["options"] == ["-m", "1"]
    assert whole["attributes"] == [
        {"name": "size", "type": "continuous"},
        {"name": "farbe", "type": "discrete", "values": ["rot", "grün", 'a "b"']},
        {"name": "note", "type": "ignore"},
        {"name": "shape", "type": "discrete-n", "max": 7, "values": ["round", "flat"]},
    ]
    assert whole["pruned"] == leaf(1.0, 1.25)


def test_every_node_comes_back() -> None:
    whole = json.loads(written(document(model(ROOT, GROUPS), [])))
    for name, root in (("unpruned", ROOT), ("pruned", GROUPS)):
        assert len(preorder(whole[name])) == len(preorder(root))
        for ours, given in zip(preorder(whole[name]), preorder(root), strict=True):
            bounds = {"lower": given["cut"], "upper": given["cut"]} if "cut" in given else {}
            names = {"att_name": SCHEMA.attributes[given["att"]].name} if "att" in given else {}
            expected = given | bounds | names
            assert {**ours, "branches": None} == {**expected, "branches": None}
            assert ("branches" in ours) == ("branches" in given)


def test_reals_come_back_in_every_bit() -> None:
    cut, weight = float(np.nextafter(0.1, 1)), 2 / 3
    root = inner("threshold", 0, leaf(weight, 0.0), leaf(0.0, 1e-300), cut=cut)
    whole = json.loads(written(document(model(root, root), [])))
    assert whole["unpruned"]["cut"] == cut
    assert whole["unpruned"]["branches"][0]["items"] == weight
    assert whole["unpruned"]["branches"][1]["dist"] == [0.0, 1e-300]


@pytest.mark.parametrize("name", ["r8_labor-neg", "r8_vote", "jb_auto_imports.s", "r8_golf.gs", "wk_breast-cancer"])
def test_trees_of_the_golden_folder_come_back(golden: Path, name: str) -> None:
    given = read_golden(golden / "sets" / f"{name}.json")
    ours = Model(given.schema, given.unpruned, given.pruned, {}, {})
    whole = json.loads(written(document(ours, given.document["options"])))
    assert whole["attributes"] == given.document["attributes"]
    for tree in ("unpruned", "pruned"):
        assert tree_of(whole[tree], given.schema).equals(getattr(given, tree))


def test_what_the_trees_say_of_cases(golden: Path) -> None:
    schema, unpruned, pruned, given = read_golden(golden / "sets" / "r8_labor-neg.json")
    cases = read_test_cases(golden / "sets" / "r8_labor-neg.test", schema)
    frequencies = [class_frequencies(tree, cases) for tree in (unpruned, pruned)]
    evaluations = [evaluate(t, cases.classes, f) for t, f in zip((unpruned, pruned), frequencies, strict=True)]
    judged = Judged(*evaluations, *frequencies)
    whole = json.loads(written(document(Model(schema, unpruned, pruned, {}, {}), [], train=judged, test=judged)))
    (row,) = whole["test"]
    (expected,) = given["test"]
    assert whole["train"] == whole["test"]
    assert list(row) == ["size_before", "errors_before", "size_after", "errors_after", "estimate_pct"]
    assert f"{row.pop('estimate_pct'):.1f}" == expected["estimate_pct"]
    assert row == {name: expected[name] for name in row}
    for name in ("test_pred_unpruned", "test_pred_pruned"):
        assert whole[name] == given[name]
    assert np.array_equal(whole["test_classsum_pruned"], frequencies[1])


def test_a_deep_chain_is_written_in_full() -> None:
    schema, root = chain(5000)
    text = written(document(model(root, leaf(1.0, 1.0), schema), []))
    (line,) = (line for line in text.splitlines() if line.startswith('"unpruned": '))
    found, depth = [], -1
    for piece in re.findall(r'\{"type"[^{}]*?(?=, "branches"|\})|\}', line):  # what a node says of itself, or its end
        depth += -1 if piece == "}" else 1
        found += [] if piece == "}" else [(depth, json.loads(piece + "}"))]
    assert depth == -1
    depths = [depth for _, depth in tree_of(root, schema).walk()]
    assert [depth for depth, _ in found] == depths
    for (_, ours), given in zip(found, preorder(root), strict=True):
        assert (ours["type"], ours["items"], ours.get("cut")) == (given["type"], given["items"], given.get("cut"))
