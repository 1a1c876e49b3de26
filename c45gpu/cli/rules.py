"""``c45gpu rules``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from c45gpu.cli.cases import Columns, cases_with, stem_of, table_for, training_table
from c45gpu.cli.learning import Learning, Stopping
from c45gpu.cli.screen import Loudness, note, speak
from c45gpu.cli.train import Unseen, one_source
from c45gpu.cli.training import trained
from c45gpu.errors import OptionError

if TYPE_CHECKING:
    from c45gpu.data.table import Table
    from c45gpu.rules.derive import Derivation
    from c45gpu.rules.rule import Rule, RuleSet

Export = Literal["sql", "python", "text"]


def rules(
    source: str | None = None,
    /,
    *,
    stem: Annotated[str | None, Parameter(name="-f")] = None,
    data: str | None = None,
    columns: Columns | None = None,
    learning: Learning | None = None,
    unseen: Unseen | None = None,
    redundancy: Annotated[float, Parameter(name=("--redundancy", "-r"))] = 1.0,
    output: Annotated[str | None, Parameter(name=("--output", "-o"))] = None,
    export: Export | None = None,
    engine: str = "auto",
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
    loudness: Loudness | None = None,
) -> None:
    """Make production rules of a tree, print them and how they do.

    Parameters
    ----------
    source : str
        What to train on (the stem of .names and .data files, or a CSV, ARFF or Parquet file), or a model that c45gpu
        saved, or a rule list that it saved.
    stem : str
        The original's letter for SOURCE.
    data : str
        The training cases of a model. With a rule list: cases to see how it does.
    columns : Columns
        How to read a file whose columns have names.
    learning : Learning
        What the learner is asked to do; not with a model or a rule list, which say it themselves.
    unseen : Unseen
        Cases that the rules are not made from.
    redundancy : float
        By how much attributes tell the same as others; more makes long rules cheaper.
    output : str
        Save the rule list in this file.
    export : {"sql", "python", "text"}
        Print the rules in this form, and nothing else.
    engine : str
        What grows the tree; c45gpu info lists the engines. The rules do not depend on it.
    as_json : bool
        Print one JSON document.
    loudness : Loudness
        What is told beside the result.
    """
    speak(loudness)
    if export is not None and as_json:
        raise OptionError("--export and --json exclude each other: give one of them")
    where = one_source(source, stem)
    test_path, kind = (unseen or Unseen()).path(where), _kind_of(where)
    if kind == "rule list":
        _refuse(learning, columns, output)
        _show(where, test_path or data, export, as_json)
        return
    if kind == "model":
        made = _from_model(where, data, redundancy, learning, columns)
    else:
        made = _from_data(where, data, columns or Columns(), learning or Learning(), redundancy, engine)
    if output is not None:
        made.rule_set.save(output)
        note(f"the rule list is saved in {output}")
    if export is not None:
        _export(made.rule_set, export)
        return
    _print(made, None if test_path is None else _cases_for(made.rule_set, test_path), as_json)


def _kind_of(source: str) -> str | None:
    """What a file holds that c45gpu saved; None for data."""
    if stem_of(source) is not None or not Path(source).is_file():
        return None
    with open(source, "rb") as stream:
        if stream.read(2) != b"PK":
            return None
    from c45gpu.model.sealed import kind_of

    return kind_of(source)


def _refuse(learning: Learning | None, columns: Columns | None, output: str | None) -> None:
    if learning is not None or columns is not None or output is not None:
        raise OptionError("a rule list is made already: leave out -o and what is for training")


def _from_model(
    source: str, data: str | None, redundancy: float, learning: Learning | None, columns: Columns | None
) -> Derivation:
    from c45gpu.model.store import load
    from c45gpu.rules.derive import derive_from_model

    if data is None:
        raise OptionError(f"--data is missing: {source} is a model, name the cases that it was trained on")
    if learning is not None or columns is not None:
        raise OptionError(f"{source} is a model and says how it was trained: leave out what is for training")
    model = load(source)
    return derive_from_model(model, table_for(model, data), redundancy=redundancy)


def _from_data(
    source: str, data: str | None, columns: Columns, learning: Learning, redundancy: float, engine: str
) -> Derivation:
    if data is not None:
        raise OptionError(f"--data is for a model: {source} names the training cases already")
    from c45gpu.rules.derive import derive_from_model

    options, table = learning.options(Stopping()), training_table(source, columns)
    return derive_from_model(trained(table, options, engine), table, redundancy=redundancy)


def _cases_for(rule_set: RuleSet, path: str) -> Table:
    """Cases with the attributes of the rules."""
    return cases_with(rule_set.schema, path, "unknown")


def _show(source: str, path: str | None, export: Export | None, as_json: bool) -> None:
    from c45gpu.rules.store import load_rules

    kept = load_rules(source)
    if export is not None:
        _export(kept, export)
        return
    table = None if path is None else _cases_for(kept, path)
    if as_json:
        print(json.dumps(_document(kept, table)))
        return
    print(str(kept))
    if table is not None:
        _print_use(kept, table, path or "")


def _export(rule_set: RuleSet, export: Export) -> None:
    form = {"sql": rule_set.to_sql, "python": rule_set.to_python, "text": rule_set.to_text}[export]
    print(form().removesuffix("\n"))


def _print(made: Derivation, test: Table | None, as_json: bool) -> None:
    if as_json:
        print(json.dumps(_document(made.rule_set, test)))
        return
    from c45gpu.rules.text import rules_text, use_text

    print(rules_text(made.rule_set.schema, made.final, made.rule_set.default) + "\n")
    print(use_text(made.rounds, made.cases), end="")
    if test is not None:
        _print_use(made.rule_set, test, "test data")


def _print_use(rule_set: RuleSet, table: Table, name: str) -> None:
    from c45gpu.rules.judge import judged
    from c45gpu.rules.text import use_text

    one, cases = judged(rule_set, table)
    print(use_text([one], cases, data=name), end="")


def _document(rule_set: RuleSet, test: Table | None) -> dict[str, Any]:
    """The rules as the golden files have them, with what is known besides."""
    attributes = [{"name": a.name, "type": a.kind, "values": list(a.values)} for a in rule_set.schema.attributes]
    rules = {"default": rule_set.default, "rules": [_plain(rule) for rule in rule_set.rules]}
    whole = {"classes": list(rule_set.schema.classes), "attributes": attributes, "rules": rules}
    return whole if test is None else {**whole, "test_pred_rules": rule_set.predict(test).tolist()}


def _plain(rule: Rule) -> dict[str, Any]:
    conditions = []
    for c in rule.conditions:
        values = [code + 1 for code in c.values]
        given: dict[str, Any] = {"cut": c.threshold} if c.threshold is not None else {"values": values}
        conditions.append({"att": c.attribute, "op": c.sign, **({"value": values[0]} if c.sign == "=" else given)})
    numbers = {"number": rule.number, "cls": rule.label, "error": rule.error}
    return {**numbers, "covered": rule.covered, "wrong": rule.wrong, "conditions": conditions}
