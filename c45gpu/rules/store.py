"""Rule lists in the project's file format (see :mod:`c45gpu.model.sealed`): all of them is in the header."""

from __future__ import annotations

from os import PathLike
from typing import Any, Final

from c45gpu.data.schema import Schema
from c45gpu.model.sealed import (
    FORMAT_NAME,
    FORMAT_NUMBER,
    MALFORMED,
    damaged,
    opened,
    read_sealed,
    sealed,
    write_sealed,
)
from c45gpu.model.store import schema_of
from c45gpu.rules.rule import Condition, Rule, RuleSet

RULES: Final = "rule list"  # the kind of the file

_KIND_OF: Final = {"<=": "continuous", ">": "continuous", "=": "discrete", "in": "discrete"}


def save_rules(rules: RuleSet, path: str | PathLike[str]) -> None:
    """Write a rule file; it appears under its name when it is complete.

    Parameters
    ----------
    rules : RuleSet
    path : str or os.PathLike

    Raises
    ------
    ModelError
        When the file cannot be written.
    """
    write_sealed(rules_bytes(rules), path, "the rule list is")


def load_rules(path: str | PathLike[str]) -> RuleSet:
    """Read a rule file.

    Parameters
    ----------
    path : str or os.PathLike
        A file that :meth:`RuleSet.save` wrote.

    Returns
    -------
    RuleSet
        Equal to the one that was saved.

    Raises
    ------
    ModelError
        When the file is missing, damaged, foreign, from a newer version, or holds something else than rules.
    """
    return read_sealed(path, _rules_of)


def rules_bytes(rules: RuleSet) -> bytes:
    """The content of a rule file; equal bytes for equal rules."""
    header = {
        "format": FORMAT_NAME,
        "format_number": FORMAT_NUMBER,
        "kind": RULES,
        "schema": rules.schema.to_dict(),
        "rules": [_rule_document(rule) for rule in rules.rules],
        "default": rules.default,
        "class_weights": list(rules.class_weights),
        "uncovered": list(rules.uncovered),
        "options": rules.options,
        "record": rules.record,
    }
    return sealed(header, {})


def _rule_document(rule: Rule) -> dict[str, Any]:
    numbers = {"number": rule.number, "label": rule.label, "error": rule.error}
    conditions = [
        {
            "attribute": c.attribute,
            "sign": c.sign,
            "threshold": None if c.threshold is None else c.threshold.hex(),  # may be infinite
            "values": list(c.values),
        }
        for c in rule.conditions
    ]
    return {**numbers, "covered": rule.covered, "wrong": rule.wrong, "conditions": conditions}


def _rules_of(content: bytes) -> RuleSet:
    header, _ = opened(content, RULES)
    try:
        schema = schema_of(header["schema"])
        rules = tuple(_rule_of(document, schema) for document in header["rules"])
        weights, uncovered = (tuple(map(float, header[name])) for name in ("class_weights", "uncovered"))
        default = _number(header["default"], schema.n_classes)
        if not len(weights) == len(uncovered) == schema.n_classes:
            raise ValueError("there is not a weight for each class")
        return RuleSet(schema, rules, default, weights, uncovered, dict(header["options"]), dict(header["record"]))
    except MALFORMED as fault:
        raise damaged(str(fault)) from fault


def _rule_of(document: dict[str, Any], schema: Schema) -> Rule:
    conditions = tuple(_condition_of(condition, schema) for condition in document["conditions"])
    error, covered, wrong = (float(document[name]) for name in ("error", "covered", "wrong"))
    if not conditions or not 0 <= error <= 1:
        raise ValueError("a rule has no conditions, or an error that is none")
    return Rule(
        int(document["number"]), conditions, _number(document["label"], schema.n_classes), error, covered, wrong
    )


def _condition_of(document: dict[str, Any], schema: Schema) -> Condition:
    number, sign = _number(document["attribute"], len(schema.attributes)), document["sign"]
    attribute = schema.attributes[number]
    if _KIND_OF[sign] != attribute.kind:
        raise ValueError(f"{sign!r} is no condition on {attribute.name!r}")
    values = tuple(_number(code, len(attribute.values)) for code in document["values"])
    if attribute.kind == "continuous":
        return Condition(number, sign, float.fromhex(document["threshold"]))
    if sign == "=" and len(values) != 1:
        raise ValueError(f"'=' compares {attribute.name!r} with {len(values)} values")
    return Condition(number, sign, None, values)


def _number(value: Any, stop: int) -> int:
    """A whole number from 0 on and below `stop`."""
    if not isinstance(value, int) or not 0 <= value < stop:
        raise ValueError(f"{value!r} is no number below {stop}")
    return value
