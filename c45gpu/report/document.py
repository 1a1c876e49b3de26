"""What a report tells of a model, as one JSON document; the front end in ``frontend/`` reads it.

{"title", "version", "target", "classes": [name, ...], "attributes": [{"name", "type", "values"}, ...],
 "costs": [[0, 5], [1, 0]],                   if mistakes have costs
 "release8": true,                            if cases are read as the original reads them
 "trees": {"pruned": tree, "unpruned": tree}, the latter where it is another; see c45gpu.report.columns
 "importances": {"pruned": [...]},            of each attribute, by tree
 "options": {...}, "record": {...},           of the model file
 "training": {...},                           if it is known how it was trained: see c45gpu.induction.record
 "cases": {"name", "n", "training",           if there are cases
           "at_nodes": {"pruned": classes},   unless they are the training cases
           "evaluation": {"pruned": facts}, "scans": {"pruned": {node: scan}}},    see c45gpu.report.gains
 "rules": [{"conditions": [{"attribute", "above" or "below" or "values"}, ...], "label", "confidence", "covered",
            "wrong"}, ...], "default": class}   if these are the training cases, and not too many
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from c45gpu.data.table import Table
from c45gpu.errors import DataError
from c45gpu.model.evaluate import Evaluation
from c45gpu.model.importance import importances
from c45gpu.model.store import Model
from c45gpu.model.tree import Tree
from c45gpu.report.columns import cases_at_nodes, class_columns, numbers, tree_columns
from c45gpu.report.gains import scans_of
from c45gpu.rules.derive import derive_from_model
from c45gpu.rules.rule import Condition, Rule
from c45gpu.show.document import Judged, attribute_facts, evaluation_facts
from c45gpu.show.verdict import as_trained, judged

IMPORTANCE_DIGITS: Final = 6
MOST_FOR_RULES: Final = 1 << 21  # cases times leaves: each leaf makes a rule that all cases are held against


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases to be shown in a report.

    Parameters
    ----------
    table : Table
        Read as the model's training data were.
    judged : Judged
        What both trees say of them.
    name : str
        Where they come from.
    """

    table: Table
    judged: Judged
    name: str

    @classmethod
    def of(cls, model: Model, table: Table, name: str) -> Cases:
        """The cases of a table.

        Raises
        ------
        DataError
            When none has a class.
        """
        cases = cls(as_trained(model, table), judged(model, table), name)
        if not cases.judged.after.n_cases:
            raise DataError("no case has a class: there is nothing to hold the model against", name)
        return cases


def report_document(
    model: Model, cases: Cases | None, title: str, training: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Everything that a report shows; its fields are listed at the top of this module.

    Parameters
    ----------
    model : Model
    cases : Cases or None
    title : str
    training : dict, optional
        How the model was trained.

    Returns
    -------
    dict
        Plain values.
    """
    from c45gpu import __version__

    schema, trees = model.schema, different_trees(model)
    whole: dict[str, Any] = {
        "title": title,
        "version": __version__,
        "target": schema.target,
        "classes": list(schema.classes),
        "attributes": [attribute_facts(attribute) for attribute in schema.attributes],
        "trees": {name: tree_columns(tree, model.soft if name == "pruned" else None) for name, tree in trees.items()},
        "importances": {name: _importances(model, tree) for name, tree in trees.items()},
        "options": model.options,
        "record": model.record,
    }
    if training is not None:
        whole["training"] = training
    if model.costs is not None:
        whole["costs"] = model.costs.tolist()
    if model.options.get("compat") == "r8":
        whole["release8"] = True
    if cases is not None:
        whole["cases"] = _cases(model, cases, trees)
        if whole["cases"]["training"] and cases.table.n_cases * model.unpruned.n_leaves <= MOST_FOR_RULES:
            whole |= _rules(model, cases.table)
    return whole


def different_trees(model: Model) -> dict[str, Tree]:
    """The pruned tree, and the tree as grown where it is another."""
    trees = {"pruned": model.pruned}
    return trees if _same_tests(model) else {**trees, "unpruned": model.unpruned}


def is_training_data(model: Model, table: Table) -> bool:
    """Whether a table has as many cases as the model was trained on, and as many of each class."""
    if model.record.get("cases") != table.n_cases or bool((table.classes < 0).any()):
        return False
    weights = np.bincount(table.classes, table.weights, model.schema.n_classes)
    return bool(np.array_equal(weights, model.unpruned.class_weights[0]))


def _same_tests(model: Model) -> bool:
    """Whether pruning changed nothing but the estimates of errors, which are what the report then shows."""
    one, other = model.unpruned, model.pruned
    fields = ("kind", "attribute", "threshold", "branch", "value_branch", "label", "weight")
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name == "threshold") for name in fields
    )


def _importances(model: Model, tree: Tree) -> list[int | float | str]:
    return numbers(np.round(importances(tree, len(model.schema.attributes)), IMPORTANCE_DIGITS))


def _cases(model: Model, cases: Cases, trees: dict[str, Tree]) -> dict[str, Any]:
    verdicts = {"pruned": cases.judged.after, "unpruned": cases.judged.before}
    told: dict[str, Any] = {
        "name": cases.name,
        "n": cases.table.n_cases,
        "training": is_training_data(model, cases.table),
        "evaluation": {name: _evaluation(verdicts[name]) for name in trees},
    }
    if not told["training"]:  # the trees tell already where the training cases are
        told["at_nodes"] = {name: class_columns(cases_at_nodes(tree, cases.table)) for name, tree in trees.items()}
    told["scans"] = scans_of(model, cases.table, trees)
    return told


def _evaluation(evaluation: Evaluation) -> dict[str, Any]:
    """Facts of an evaluation, with the weights of its confusion matrix that are above 0: true class, given class."""
    true, given = np.nonzero(evaluation.confusion)
    cells = [true.tolist(), given.tolist(), numbers(evaluation.confusion[true, given])]
    return {**evaluation_facts(evaluation), "confusion": cells}


def _rules(model: Model, table: Table) -> dict[str, Any]:
    made = derive_from_model(model, table).rule_set
    return {"rules": [_rule(rule) for rule in made.rules], "default": made.default}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "conditions": [_condition(condition) for condition in rule.conditions],
        "label": rule.label,
        "confidence": rule.confidence,
        "covered": rule.covered,
        "wrong": rule.wrong,
    }


def _condition(condition: Condition) -> dict[str, Any]:
    if condition.threshold is None:
        return {"attribute": condition.attribute, "values": list(condition.values)}
    bound = "below" if condition.sign == "<=" else "above"
    return {"attribute": condition.attribute, bound: condition.threshold}
