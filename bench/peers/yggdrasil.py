"""Yggdrasil Decision Forests' CART, default options."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bench.peers.peer import ArrayPeer, Shape
from bench.rows import Column, Rows

CLASS = "class"


class Cases(NamedTuple):
    """The columns by name, their kinds, and Yggdrasil's own data set."""

    columns: dict[str, Column]
    dataset: Any


class Yggdrasil(ArrayPeer):
    """At most 16 levels, at least 5 rows in a leaf, pruned on a tenth of the rows."""

    name = "ydf"
    module = "ydf"
    distribution = "ydf"
    note = "CART, default options: depth 16, 5 rows in a leaf, pruned on 10 % of the rows (in train)"

    def open(self, threads: int) -> None:
        """Import it."""
        import ydf  # noqa: F401

    def read(self, rows: Rows, threads: int) -> Cases:
        """A vertical data set; discrete columns are categories, named by their codes."""
        import ydf

        semantic = {"continuous": ydf.Semantic.NUMERICAL, "discrete": ydf.Semantic.CATEGORICAL}
        described = [
            ydf.Column(name, semantic[kind], min_vocab_frequency=1 if kind == "discrete" else None)
            for name, kind in zip(rows.names, rows.kinds, strict=True)
        ]
        described.append(ydf.Column(CLASS, ydf.Semantic.CATEGORICAL, min_vocab_frequency=1))
        columns = {name: _known(column) for name, column in zip(rows.names, rows.columns, strict=True)}
        dataset = ydf.create_vertical_dataset({**columns, CLASS: rows.classes}, columns=described)
        return Cases(columns, dataset)

    def train(self, cases: Cases, threads: int) -> Any:
        """One fit, pruning included."""
        import ydf

        return ydf.CartLearner(label=CLASS, num_threads=threads).train(cases.dataset, verbose=0)

    def predict(self, model: Any, cases: Cases) -> Column:
        """The likelier class; its labels are the codes as text, in an order of its own."""
        codes = np.array([int(label) for label in model.label_classes()], np.int32)
        probabilities = model.predict(cases.columns)
        likelier = (probabilities > 0.5).astype(int) if probabilities.ndim == 1 else probabilities.argmax(1)
        classes: Column = codes[likelier]
        return classes

    def shape(self, model: Any) -> Shape:
        """By walking its node objects."""
        leaves, depth, level = 0, -1, [model.get_tree(0).root]
        while level:
            depth += 1
            leaves += sum(node.is_leaf for node in level)
            level = [child for node in level if not node.is_leaf for child in (node.neg_child, node.pos_child)]
        return Shape(leaves, depth)


def _known(column: Column) -> Column:
    """A column as it is, but text if some of its codes are unknown: Yggdrasil has no unknown whole number."""
    if column.dtype.kind == "f" or (column >= 0).all():
        return column
    return np.where(column >= 0, column.astype(str), "")
