"""Model files of every version that was released: they load for ever, and predict what they predicted then."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from c45gpu.model.tree import SUBSET
from c45gpu.rules.rule import RuleSet
from tests.golden.keep import KEPT, answers, read

FILES = sorted(KEPT.glob("*/*.c45"))


def test_files_are_kept_of_every_kind() -> None:
    first = {path.stem for path in FILES if path.parent.name == "0.1.0"}
    assert first == {"golf", "penguins", "groups", "soft", "costs", "rules"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_kept_model_predicts_what_it_did(path: Path) -> None:
    learned = read(path)
    document = json.loads(path.with_suffix(".json").read_text("utf-8"))
    found = answers(learned, document["cases"])
    assert found["classes"] == document["classes"]
    np.testing.assert_array_equal(found["probabilities"], document["probabilities"])
    has = {
        "groups": not isinstance(learned, RuleSet) and bool((learned.pruned.kind == SUBSET).any()),
        "soft": not isinstance(learned, RuleSet) and learned.soft is not None,
        "costs": not isinstance(learned, RuleSet) and learned.costs is not None,
        "rules": isinstance(learned, RuleSet),
    }
    assert has.get(path.stem, True)
