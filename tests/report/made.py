"""Models whose reports are tested."""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.model.store import Model
from c45gpu.model.tree import LEAF, THRESHOLD, Tree
from c45gpu.report import report_html
from c45gpu.report.document import Cases, report_document
from tests.golden_trees import empty_leaf, inner, leaf, tree_of

NASTY = ["</script><script>alert(1)</script>", 'a "b"', "it's", "two\nlines", "<!--", "größe & Co", "日本語\u2028"]


def nasty_schema() -> Schema:
    """Names that would break a careless page."""
    values = tuple(NASTY[:5])
    return Schema((Attribute(NASTY[0], "discrete", values), Attribute(NASTY[5], "continuous")), tuple(NASTY[1:]))


def document_of(model: Model, table: Table | None = None) -> dict[str, Any]:
    return report_document(model, None if table is None else Cases.of(model, table, "cases"), "title")


def html_of(model: Model, table: Table | None = None, title: str = "title") -> str:
    return report_html(model, table, title=title)


def bushy(depth: int, seed: int = 0) -> Model:
    """A model whose trees are full binary ones with thresholds; the pruned one lacks its last level."""
    schema = Schema(tuple(Attribute(f"attribute {a}", "continuous") for a in range(20)), ("no", "yes", "maybe"))
    return Model(schema, full_tree(depth, seed), full_tree(depth - 1, seed), {}, {"cases": 2 << depth})


def full_tree(depth: int, seed: int) -> Tree:
    """All paths have `depth` tests; three cases are at each leaf."""
    n = (2 << depth) - 1
    level = np.zeros(n, np.int64)
    parent = np.zeros(n, np.int64)
    above: list[int] = []
    for node in range(n):  # preorder: a node is one level below the last that lacks a branch
        if above:
            parent[node] = above[-1]
            level[node] = level[above[-1]] + 1
            if parent[node] != node - 1:
                above.pop()
        if level[node] < depth:
            above.append(node)
    leaf = level == depth
    branch = np.argsort(parent[1:], kind="stable") + 1
    start = np.concatenate([[0], np.cumsum(np.where(leaf, 0, 2))])
    random = np.random.default_rng(seed)
    class_weights = np.zeros((n, 3))
    class_weights[leaf] = np.eye(3)[random.integers(0, 3, int(leaf.sum()))] * 2 + [1.0, 0.0, 0.0]
    for node in range(n - 1, 0, -1):
        class_weights[parent[node]] += class_weights[node]
    kind = np.where(leaf, LEAF, THRESHOLD).astype(np.int8)
    return Tree(
        kind,
        np.where(leaf, -1, random.integers(0, 20, n)).astype(np.int32),
        np.where(leaf, np.nan, random.normal(size=n)),
        start,
        branch,
        np.zeros(n + 1, np.int64),
        np.zeros(0, np.int32),
        class_weights.argmax(1).astype(np.int32),
        class_weights.sum(1),
        class_weights.sum(1) - class_weights.max(1),
        class_weights,
    )


def every_kind() -> Model:
    """Each kind of test, values without a branch, an empty branch, and names of each nasty sort."""
    schema = nasty_schema()
    named = [[weight * (c == at) for c in range(schema.n_classes)] for at, weight in enumerate((3.0, 1.5, 2.0, 0.25))]
    below = [sum(weights) for weights in zip(*named[:2], strict=True)]
    by_value = inner("discrete", 0, leaf(*named[0]), leaf(*named[1]), empty_leaf(0, *below))
    by_group = inner("subset", 0, leaf(*named[2]), leaf(*named[3]), subsets=[[2, 5], [1, 3]])
    tree = tree_of(inner("threshold", 1, by_value, by_group, cut=0.1), schema)
    return Model(schema, tree, tree, {"confidence": 0.25}, {"cases": 7})
