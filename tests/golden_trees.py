"""The original's trees, from the JSON of the golden folder, as trees of the package; and small trees made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c45gpu.data.schema import Attribute, Schema
from c45gpu.model.tree import DISCRETE, LEAF, SUBSET, THRESHOLD, Tree

KIND_OF_TYPE = {"leaf": LEAF, "discrete": DISCRETE, "threshold": THRESHOLD, "subset": SUBSET}

Node = dict[str, Any]


class Golden(NamedTuple):
    """A golden document: what it says as objects of the package, and the document itself."""

    schema: Schema
    unpruned: Tree
    pruned: Tree
    document: dict[str, Any]


def read_golden(path: Path) -> Golden:
    """A file of the golden folder."""
    document = json.loads(path.read_text("utf-8"))
    schema = schema_of(document)
    unpruned, pruned = (tree_of(document[name], schema, np.float32) for name in ("unpruned", "pruned"))
    return Golden(schema, unpruned, pruned, document)


def schema_of(document: dict[str, Any]) -> Schema:
    """The schema that a document's `attributes` and `classes` describe."""
    return Schema(tuple(map(_attribute, document["attributes"])), tuple(document["classes"]))


def tree_of(root: Node, schema: Schema, cuts: type = np.float64) -> Tree:
    """The tree of nested nodes in the format of the golden folder; the nesting may be deep.

    Cuts of golden files are decimals for a float32, so they need `cuts` to be that.
    """
    nodes = preorder(root)
    number = {id(node): i for i, node in enumerate(nodes)}
    branches = [[number[id(child)] for child in node.get("branches", [])] for node in nodes]
    value_maps = [value_map(node, schema) for node in nodes]
    return Tree(
        kind=np.array([KIND_OF_TYPE[node["type"]] for node in nodes], np.int8),
        attribute=np.array([node.get("att", -1) for node in nodes], np.int32),
        threshold=np.array([node.get("cut", np.nan) for node in nodes], cuts).astype(np.float64),
        branch_start=np.cumsum([0, *map(len, branches)], dtype=np.int64),
        branch=np.array([child for children in branches for child in children], np.int64),
        value_start=np.cumsum([0, *map(len, value_maps)], dtype=np.int64),
        value_branch=np.array([branch for values in value_maps for branch in values], np.int32),
        label=np.array([node["leaf"] for node in nodes], np.int32),
        weight=np.array([node["items"] for node in nodes], np.float64),
        errors=np.array([node["errors"] for node in nodes], np.float64),
        class_weights=np.array([node["dist"] for node in nodes], np.float64),
    )


def preorder(root: Node) -> list[Node]:
    """All nodes below a node, itself first, branches in their order."""
    nodes, pending = [], [root]
    while pending:
        nodes.append(pending.pop())
        pending += reversed(nodes[-1].get("branches", []))
    return nodes


def value_map(node: Node, schema: Schema) -> list[int]:
    """The branch of each value of the attribute that a node tests; empty where it tests no values."""
    if node["type"] == "discrete":
        return list(range(len(node["branches"])))
    if node["type"] != "subset":
        return []
    branch_of = {value - 1: branch for branch, values in enumerate(node["subsets"]) for value in values}
    return [branch_of.get(code, -1) for code in range(len(schema.attributes[node["att"]].values))]


def leaf(*class_weights: float, errors: float = 0.0, label: int | None = None) -> Node:
    """A leaf; of the heaviest class unless told otherwise."""
    heaviest = class_weights.index(max(class_weights)) if label is None else label
    dist = list(class_weights)
    return {"type": "leaf", "leaf": heaviest, "items": sum(class_weights), "errors": errors, "dist": dist}


def empty_leaf(label: int, *class_weights: float) -> Node:
    """A leaf without cases; the class weights are its parent's."""
    return {"type": "leaf", "leaf": label, "items": 0.0, "errors": 0.0, "dist": list(class_weights)}


def inner(kind: str, attribute: int, *branches: Node, **fields: Any) -> Node:
    """A node with branches: `cut` for a threshold, `subsets` for a subset. Weights are those of the branches."""
    filled = [branch["dist"] for branch in branches if branch["items"]]
    dist = [sum(weights) for weights in zip(*filled, strict=True)]
    node = {"type": kind, "leaf": dist.index(max(dist)), "items": sum(dist), "errors": 0.0, "dist": dist}
    return node | {"att": attribute, "branches": list(branches)} | fields


def chain(depth: int) -> tuple[Schema, Node]:
    """A tree of `depth` thresholds, one below the other: the value v leaves it at the threshold v."""
    node = leaf(0.0, 1.0)
    for cut in reversed(range(depth)):
        node = inner("threshold", 0, leaf(1.0, 0.0), node, cut=float(cut))
    return Schema((Attribute("height", "continuous"),), ("low", "high")), node


def _attribute(entry: dict[str, Any]) -> Attribute:
    if entry["type"] in ("continuous", "ignore"):
        return Attribute(entry["name"], "continuous" if entry["type"] == "continuous" else "ignored")
    return Attribute(entry["name"], "discrete", tuple(entry["values"]), entry.get("max"))
