"""Rule files: the same rules come back, equal rules are equal bytes, and nothing else is taken for rules."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from c45gpu import load, load_rules, save, train
from c45gpu.errors import ModelError
from c45gpu.model.sealed import FORMAT_NUMBER, sealed
from c45gpu.rules.rule import Condition, RuleSet
from c45gpu.rules.store import rules_bytes
from tests.rules.made import a_table, by_hand, made_on

Change = Callable[[dict[str, Any]], Any]


def the_rules() -> RuleSet:
    return made_on(a_table(300)).rule_set


def header_of(rules: RuleSet, path: Path) -> dict[str, Any]:
    import zipfile

    rules.save(path)
    return dict(json.loads(zipfile.ZipFile(path).read("header.json")))


def test_round_trip(tmp_path: Path) -> None:
    rules, path = the_rules(), tmp_path / "x.rules"
    rules.save(path)
    again = load_rules(path)
    assert again == rules
    assert path.read_bytes() == rules_bytes(again)
    assert again.predict(a_table(50, seed=3)).tolist() == rules.predict(a_table(50, seed=3)).tolist()


def test_infinite_thresholds_and_odd_names_come_back(tmp_path: Path) -> None:
    rules = by_hand(
        (0, 0.1, (Condition(0, ">", -math.inf), Condition(1, "in", None, (0, 4)))), (2, 0, (Condition(3, "<=", 0.1),))
    )
    rules.save(tmp_path / "x")
    assert load_rules(tmp_path / "x") == rules


def test_another_kind_of_file_is_told_apart(tmp_path: Path) -> None:
    the_rules().save(tmp_path / "rules")
    save(train(a_table(300)), tmp_path / "model")
    with pytest.raises(ModelError, match=r"rules: this file holds a rule list: give one that holds a model$"):
        load(tmp_path / "rules")
    with pytest.raises(ModelError, match=r"model: this file holds a model: give one that holds a rule list$"):
        load_rules(tmp_path / "model")
    (tmp_path / "text").write_text("no rules")
    with pytest.raises(ModelError, match="this is no model file"):
        load_rules(tmp_path / "text")
    with pytest.raises(ModelError, match="the rule list is not saved"):
        the_rules().save(tmp_path / "no folder" / "x")


def test_a_flipped_bit_is_seen(tmp_path: Path) -> None:
    rules, path = the_rules(), tmp_path / "x"
    content = rules_bytes(rules)
    for at in range(100, len(content), len(content) // 40):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(ModelError):
            load_rules(path)


FAULTS: list[Change] = [
    lambda h: h.update(default=3),
    lambda h: h.update(default=True) or h.update(default="1"),
    lambda h: h.update(class_weights=[1.0]),
    lambda h: h["rules"][0].update(label=-1),
    lambda h: h["rules"][0].update(error=1.5),
    lambda h: h["rules"][0].update(conditions=[]),
    lambda h: h["rules"][0]["conditions"][0].update(attribute=4),
    lambda h: h["rules"][0]["conditions"][0].update(sign="<"),
    lambda h: h["rules"][0]["conditions"][0].update(sign="in"),
    lambda h: h["rules"][0]["conditions"][0].update(threshold="x"),
    lambda h: h["rules"][1]["conditions"][0].update(values=[5]),
    lambda h: h["rules"][1]["conditions"][0].update(values=[0, 1]),
    lambda h: h.pop("rules"),
    lambda h: h.pop("uncovered"),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_sealed_file_that_holds_no_rules(tmp_path: Path, fault: Change) -> None:
    rules = by_hand((0, 0.1, (Condition(0, ">", 1.0),)), (2, 0.2, (Condition(1, "=", None, (1,)),)))
    header = header_of(rules, tmp_path / "x")
    fault(header)
    (tmp_path / "x").write_bytes(sealed(header, {}))
    with pytest.raises(ModelError, match="x: the model file is damaged"):
        load_rules(tmp_path / "x")


def test_a_newer_format(tmp_path: Path) -> None:
    header = header_of(replace(the_rules(), record={}), tmp_path / "x")
    header["format_number"] = FORMAT_NUMBER + 1
    (tmp_path / "x").write_bytes(sealed(header, {}))
    with pytest.raises(ModelError, match="install a newer c45gpu"):
        load_rules(tmp_path / "x")
