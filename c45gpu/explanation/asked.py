"""What a tree asks of cases on the way to a leaf."""

from __future__ import annotations

import numpy as np

from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.model.tree import Tree
from c45gpu.rules.paths import conditions_of
from c45gpu.rules.rule import Condition


class Asked:
    """A tree and cases, and what the tree asks of them."""

    def __init__(self, tree: Tree, schema: Schema, table: Table, labels: list[int]) -> None:
        self.tree, self.schema, self.table = tree, schema, table
        self.labels = labels  # the class that each node's cases are given

    def path(self, leaf: int) -> list[tuple[int, int, Condition]]:
        """From the root down: a node, the branch towards the leaf, and the condition of that branch."""
        steps, node = [], leaf
        while node:
            parent = int(self.tree.parent[node])
            branch = int(np.searchsorted(self.tree.branches(parent), node))
            steps.append((parent, branch, conditions_of(self.tree, parent)[branch]))
            node = parent
        return steps[::-1]

    def value(self, case: int, attribute: int) -> str | None:
        """A value in words, None where it is unknown."""
        value = self.table.column(attribute)[case]
        if value.dtype.kind == "f":
            return None if np.isnan(value) else str(value)
        values = self.schema.attributes[attribute].values
        return values[value] if 0 <= value < len(values) else None

    def holds(self, case: int, condition: Condition) -> bool:
        """Whether a condition holds; an unknown value satisfies none."""
        value = self.table.column(condition.attribute)[case]
        if condition.threshold is None:
            return int(value) in condition.values
        return bool(value <= condition.threshold if condition.sign == "<=" else value > condition.threshold)
