"""obliquetree's Classifier, with tests of one column only."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.peers.peer import Shape
from bench.peers.scikit_learn import Cases, FitPredict


class ObliqueTree(FitPredict):
    """Axis-parallel and without limit (its own limit of depth is 255)."""

    name = "obliquetree"
    module = "obliquetree"
    distribution = "obliquetree"
    note = "axis-parallel, gini, no limit, one thread; codes as numbers"
    dtype = np.float64

    def open(self, threads: int) -> None:
        """Import it."""
        import obliquetree  # noqa: F401

    def train(self, cases: Cases, threads: int) -> Any:
        """One fit."""
        from obliquetree import Classifier

        tree = Classifier(use_oblique=False, max_depth=-1, random_state=0)
        tree.fit(cases.values, cases.classes)
        return tree

    def shape(self, model: Any) -> Shape:
        """From the nested dictionaries of its state."""
        leaves, depth, level = 0, -1, [model.__getstate__()["tree"]]
        while level:
            depth += 1
            leaves += sum(node["is_leaf"] for node in level)
            level = [node[side] for node in level if not node["is_leaf"] for side in ("left", "right")]
        return Shape(leaves, depth)
