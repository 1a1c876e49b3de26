"""One tree of XGBoost, exact or with bins, without a limit of depth."""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple

import numpy as np

from bench.peers.peer import ArrayPeer, Shape
from bench.rows import Column, Rows

DEPTH_OF_EXACT = 1_000  # the exact method refuses "no limit"


class Cases(NamedTuple):
    """XGBoost's own matrix and the number of classes."""

    matrix: Any
    n_classes: int


class XGBoost(ArrayPeer):
    """One round of boosting; with more than two classes XGBoost grows one tree for each class."""

    module = "xgboost"
    distribution = "xgboost-cpu"

    def __init__(self, method: Literal["exact", "hist"]) -> None:
        self.method, self.name = method, f"xgboost-{method}"
        kind = "codes as numbers" if method == "exact" else "256 bins; discrete columns as categories"
        self.note = f"one round, no regularisation, no limit; {kind}; one tree for each class if more than two"

    def version(self) -> str:
        """As the module says: two packages bring it."""
        import xgboost

        return str(xgboost.__version__)

    def open(self, threads: int) -> None:
        """Import it."""
        import xgboost  # noqa: F401

    def read(self, rows: Rows, threads: int) -> Cases:
        """A DMatrix."""
        from xgboost import DMatrix

        categories = self.method == "hist"
        types = ["c" if categories and kind == "discrete" else "q" for kind in rows.kinds]
        classes, n_classes = rows.classes, len(rows.class_names)
        matrix = rows.take_matrix(np.float32)
        return Cases(
            DMatrix(matrix, classes, nthread=threads, feature_types=types, enable_categorical=categories), n_classes
        )

    def train(self, cases: Cases, threads: int) -> Any:
        """One round."""
        from xgboost import train

        options: dict[str, Any] = {
            "tree_method": self.method,
            "max_depth": DEPTH_OF_EXACT if self.method == "exact" else 0,
            "max_bin": 256,
            "min_child_weight": 0,
            "lambda": 0,
            "eta": 1,
            "base_score": 0.5,
            "nthread": threads,
            "objective": "binary:logistic" if cases.n_classes == 2 else "multi:softprob",
        }
        if cases.n_classes > 2:
            options["num_class"] = cases.n_classes
        return train(options, cases.matrix, 1)

    def predict(self, model: Any, cases: Cases) -> Column:
        """The likelier class."""
        probabilities = model.predict(cases.matrix)
        return np.asarray(probabilities.argmax(1) if cases.n_classes > 2 else probabilities > 0.5, np.int32)

    def shape(self, model: Any) -> Shape:
        """From the saved model; leaves of all trees together, depth of the deepest."""
        trees = json.loads(model.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"]
        shapes = [shape_of_arrays(np.array(tree["left_children"]), np.array(tree["right_children"])) for tree in trees]
        return Shape(sum(leaves for leaves, _ in shapes), max(depth for _, depth in shapes))


def shape_of_arrays(left: Column, right: Column) -> tuple[int, int]:
    """Leaves and depth of a two-way tree; a leaf has negative branches."""
    leaves, depth, level = 0, -1, np.zeros(1, np.int64)
    while len(level):
        depth += 1
        inner = level[left[level] >= 0]
        leaves += len(level) - len(inner)
        level = np.concatenate([left[inner], right[inner]])
    return leaves, depth
