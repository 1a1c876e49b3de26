"""One tree of LightGBM with as many leaves as it allows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bench.peers.peer import ArrayPeer, Shape
from bench.rows import Column, Rows

MOST_LEAVES = 131_072  # LightGBM's own limit
HISTOGRAM_POOL_MB = 1_024  # without a limit, 10,000 rows of 28 columns with this many leaves take 15 GB


class Cases(NamedTuple):
    """LightGBM's own data set to train on, the matrix to predict, and how many rows and classes they have."""

    dataset: Any
    matrix: Column
    n_rows: int
    n_classes: int


class LightGBM(ArrayPeer):
    """One round of boosting; with more than two classes LightGBM grows one tree for each class."""

    name = "lightgbm"
    module = "lightgbm"
    distribution = "lightgbm"
    note = "one round, 255 bins, up to 131,072 leaves of one row; categories; one tree for each class if more than two"

    def open(self, threads: int) -> None:
        """Import it."""
        import lightgbm  # noqa: F401

    def read(self, rows: Rows, threads: int) -> Cases:
        """A Dataset, binned."""
        from lightgbm import Dataset

        discrete = [a for a, kind in enumerate(rows.kinds) if kind == "discrete"]
        n_rows, classes, n_classes = rows.n_rows, rows.classes, len(rows.class_names)
        matrix = rows.take_matrix(np.float32)
        dataset = Dataset(
            matrix, classes, categorical_feature=discrete, params=self._options(n_rows, n_classes, threads)
        )
        return Cases(dataset.construct(), matrix, n_rows, n_classes)

    def train(self, cases: Cases, threads: int) -> Any:
        """One round."""
        from lightgbm import train

        return train(self._options(cases.n_rows, cases.n_classes, threads), cases.dataset, 1)

    def predict(self, model: Any, cases: Cases) -> Column:
        """The likelier class."""
        probabilities = model.predict(cases.matrix)
        return np.asarray(probabilities.argmax(1) if cases.n_classes > 2 else probabilities > 0.5, np.int32)

    def shape(self, model: Any) -> Shape:
        """From the printed model; leaves of all trees together, depth of the deepest."""
        frame = model.trees_to_dataframe()
        leaves = frame[frame["left_child"].isna()]
        return Shape(len(leaves), int(leaves["node_depth"].max()) - 1)

    def _options(self, n_rows: int, n_classes: int, threads: int) -> dict[str, Any]:
        objective = {"objective": "binary"} if n_classes == 2 else {"objective": "multiclass", "num_class": n_classes}
        return {
            **objective,
            "num_leaves": max(2, min(MOST_LEAVES, n_rows)),
            "min_data_in_leaf": 1,
            "min_sum_hessian_in_leaf": 0.0,
            "feature_pre_filter": False,
            "learning_rate": 1.0,
            "histogram_pool_size": HISTOGRAM_POOL_MB,
            "num_threads": threads,
            "verbose": -1,
        }
