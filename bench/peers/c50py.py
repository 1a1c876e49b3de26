"""c50py's C5Classifier, default options."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bench.peers.peer import ArrayPeer, Shape
from bench.rows import Column, Rows


class Cases(NamedTuple):
    """A matrix, its classes, and which columns hold codes."""

    values: Column
    classes: Column
    discrete: list[int]


class C50Py(ArrayPeer):
    """C5.0 written in Python; subset tests on discrete columns."""

    name = "c50py"
    module = "c50py"
    distribution = "c50py"
    note = "default options; train prunes; one thread"

    def open(self, threads: int) -> None:
        """Import it."""
        import c50py  # noqa: F401

    def read(self, rows: Rows, threads: int) -> Cases:
        """One float64 matrix."""
        discrete = [a for a, kind in enumerate(rows.kinds) if kind == "discrete"]
        return Cases(rows.take_matrix(np.float64), rows.classes, discrete)

    def train(self, cases: Cases, threads: int) -> Any:
        """One fit, pruning included."""
        from c50py import C5Classifier

        return C5Classifier(categorical_features=cases.discrete).fit(cases.values, cases.classes)

    def predict(self, model: Any, cases: Cases) -> Column:
        """The model's own answer."""
        return np.asarray(model.predict(cases.values))

    def shape(self, model: Any) -> Shape:
        """By walking its node objects."""
        leaves, depth, level = 0, -1, [model.tree_]
        while level:
            depth += 1
            leaves += sum(node.is_leaf for node in level)
            level = [child for node in level if not node.is_leaf for child in node.children.values()]
        return Shape(leaves, depth)
