"""A model and what it says of cases, as one JSON document.

{"classes": ["good", "bad"],
 "attributes": [{"name": "duration", "type": "continuous"}, ...],
 "options": ["-m", "1"],                                      as given
 "unpruned": node, "pruned": node,
 "costs": [[0, 5], [1, 0]],                                   of a class (row) taken for another, if there are any
 "train": [{"size_before", "errors_before", "size_after", "errors_after", "estimate_pct"}],
                                                              and with costs "cost_before", "cost_after" of a case
 "test": ...,                                                 likewise, of the test cases
 "test_pred_unpruned": [0, ...], "test_pred_pruned": [0, ...],
 "test_classsum_pruned": [[0.75, 0.25], ...],
 "trials": [...], "training": {...}}                          added by the command: windows, how it was trained

node = {"type": "leaf" | "threshold" | "discrete" | "subset", "leaf": class number, "items": weight of the training
        cases, "errors", "dist": weight for each class, and unless it is a leaf "att", "att_name", for a threshold
        "cut", "lower", "upper", for a subset "subsets" (value numbers from 1 for each branch), "branches": [node, ...]}
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TextIO

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Attribute, Schema
from c45gpu.model.evaluate import Evaluation
from c45gpu.model.predict import predicted_classes
from c45gpu.model.soft import SoftThresholds
from c45gpu.model.store import Model
from c45gpu.model.tree import DISCRETE, LEAF, SUBSET, THRESHOLD, Tree

_TYPE_OF_KIND: Final = {LEAF: "leaf", DISCRETE: "discrete", THRESHOLD: "threshold", SUBSET: "subset"}


@dataclass(frozen=True, eq=False)
class SchemaTree:
    """A tree in a document, with the names it needs; :func:`write_json` writes it as nested nodes."""

    tree: Tree
    schema: Schema
    soft: SoftThresholds | None = None


@dataclass(frozen=True, eq=False)
class Judged:
    """What both trees of a model say of the same cases.

    Parameters
    ----------
    before, after : Evaluation
        Of the tree as grown and of the pruned tree.
    frequencies_before, frequencies_after : ndarray of float64, shape (n_cases, C)
        Class frequencies of the cases.
    """

    before: Evaluation
    after: Evaluation
    frequencies_before: npt.NDArray[np.float64]
    frequencies_after: npt.NDArray[np.float64]


def document(
    model: Model, options_as_given: Sequence[str], *, train: Judged | None = None, test: Judged | None = None
) -> dict[str, Any]:
    """What ``--json`` prints; its fields are listed at the top of this module.

    Parameters
    ----------
    model : Model
    options_as_given : sequence of str
        Options of the command line, in the user's order.
    train, test : Judged, optional
        The training and the test cases. What is not given has no fields in the document.

    Returns
    -------
    dict
        For :func:`write_json`: plain values, but for the trees, which may be too deep to nest in memory.
    """
    whole: dict[str, Any] = {
        "classes": list(model.schema.classes),
        "attributes": [attribute_facts(attribute) for attribute in model.schema.attributes],
        "options": list(options_as_given),
        "unpruned": SchemaTree(model.unpruned, model.schema),
        "pruned": SchemaTree(model.pruned, model.schema, model.soft),
    }
    if model.costs is not None:
        whole["costs"] = model.costs.tolist()
    if train is not None:
        whole["train"] = [_evaluation(train)]
    if test is not None:
        whole["test"] = [_evaluation(test)]
        whole["test_pred_unpruned"] = predicted_classes(test.frequencies_before, model.costs).tolist()
        whole["test_pred_pruned"] = predicted_classes(test.frequencies_after, model.costs).tolist()
        whole["test_classsum_pruned"] = test.frequencies_after.tolist()
    return whole


def write_json(document: Mapping[str, Any], stream: TextIO) -> None:
    """Write a document of :func:`document`, with one line for each of its fields.

    Numbers are the shortest decimals that give the same float64. A tree is written node by node, however deep it is;
    readers that recurse have limits of their own (Python's `json` reads trees of a few hundred levels).

    Parameters
    ----------
    document : mapping
    stream : text stream
    """
    separator = "{"
    for name, value in document.items():
        stream.write(f"{separator}\n{json.dumps(name)}: ")
        if isinstance(value, SchemaTree):
            stream.writelines(_nodes(value.tree, value.schema, value.soft))
        else:
            json.dump(value, stream, allow_nan=False)
        separator = ","
    stream.write("\n}\n")


def attribute_facts(attribute: Attribute) -> dict[str, Any]:
    """An attribute in a document."""
    if attribute.kind == "continuous":
        return {"name": attribute.name, "type": "continuous"}
    if attribute.kind == "ignored":
        return {"name": attribute.name, "type": "ignore"}
    if attribute.capacity is None:
        return {"name": attribute.name, "type": "discrete", "values": list(attribute.values)}
    return {
        "name": attribute.name, "type": "discrete-n", "max": attribute.capacity, "values": list(attribute.values)
    }  # fmt: skip


def evaluation_facts(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as plain values; None where a ratio has no denominator."""
    ratios = {name: getattr(evaluation, name).tolist() for name in ("precision", "recall", "f1")}
    return {
        "size": evaluation.size,
        "cases": evaluation.n_cases,
        "errors": evaluation.errors,
        "accuracy": _or_none(evaluation.accuracy),
        "macro_f1": _or_none(evaluation.macro_f1),
        **({} if evaluation.cost is None else {"cost": evaluation.cost}),
        **{name: [_or_none(value) for value in values] for name, values in ratios.items()},
        "confusion": evaluation.confusion.tolist(),
    }


def _evaluation(judged: Judged) -> dict[str, float]:
    before, after = judged.before.cost, judged.after.cost
    costs = {} if before is None or after is None else {"cost_before": before, "cost_after": after}
    return {
        "size_before": judged.before.size,
        "errors_before": judged.before.errors,
        "size_after": judged.after.size,
        "errors_after": judged.after.errors,
        "estimate_pct": judged.after.estimate,
        **costs,
    }


def _nodes(tree: Tree, schema: Schema, soft: SoftThresholds | None) -> Iterator[str]:
    """The text of each node in preorder, with the brackets that close behind it."""
    is_leaf = (tree.kind == LEAF).tolist()
    closing = np.bincount(tree.end[tree.kind != LEAF], minlength=tree.n_nodes + 1).tolist()
    for node in range(tree.n_nodes):
        text = json.dumps(_fields(tree, schema, soft, node), allow_nan=False)
        if not is_leaf[node]:
            yield text[:-1] + ', "branches": ['
        else:
            closed = closing[node + 1]
            yield text + "]}" * closed + ("," if node + 1 < tree.n_nodes else "")


def _fields(tree: Tree, schema: Schema, soft: SoftThresholds | None, node: int) -> dict[str, Any]:
    kind = int(tree.kind[node])
    values: dict[str, Any] = {
        "type": _TYPE_OF_KIND[kind],
        "leaf": int(tree.label[node]),
        "items": float(tree.weight[node]),
        "errors": float(tree.errors[node]),
        "dist": tree.class_weights[node].tolist(),
    }
    if kind != LEAF:
        attribute = int(tree.attribute[node])
        values |= {"att": attribute, "att_name": schema.attributes[attribute].name}
    if kind == THRESHOLD:
        cut = float(tree.threshold[node])
        lower, upper = (cut, cut) if soft is None else (float(soft.lower[node]), float(soft.upper[node]))
        values |= {"cut": cut, "lower": lower, "upper": upper}
    if kind == SUBSET:
        of_value, branches = tree.value_map(node), range(len(tree.branches(node)))
        values["subsets"] = [(np.flatnonzero(of_value == b) + 1).tolist() for b in branches]
    return values


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
