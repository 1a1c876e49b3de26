"""Fit and judge classifiers on splits of a table, and say the mean and the spread.

A *spread* is the standard deviation over the splits. Times are those of the processor, so that other work on the
machine hardly matters.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import mean, stdev
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

SEEDS: Final = range(5)  # of splits
TEST_SHARE: Final = 0.3

Make = Callable[[], Any]
Array = npt.NDArray[Any]


class Figure(NamedTuple):
    """A mean over splits, and the spread."""

    mean: float
    spread: float

    @classmethod
    def of(cls, values: list[float]) -> Figure:
        """Of one value or more."""
        return cls(mean(values), stdev(values) if len(values) > 1 else 0.0)

    def text(self, digits: int = 3, factor: float = 1.0) -> str:
        """As it stands in a table."""
        return f"{self.mean * factor:.{digits}f} ± {self.spread * factor:.{digits}f}"


def five_folds(y: Array) -> Iterator[tuple[Array, Array]]:
    """Rows to train on and to test with: stratified 5-fold cross-validation, once for each seed."""
    from sklearn.model_selection import StratifiedKFold

    for seed in SEEDS:
        yield from StratifiedKFold(5, shuffle=True, random_state=seed).split(y, y)


def seventy_thirty(y: Array) -> Iterator[tuple[Array, Array]]:
    """The same as a stratified 70/30 split for each seed."""
    from sklearn.model_selection import train_test_split

    for seed in SEEDS:
        parts = train_test_split(np.arange(len(y)), test_size=TEST_SHARE, stratify=y, random_state=seed)
        yield parts[0], parts[1]


def judged(make: Make, X: Array, y: Array, splits: Iterator[tuple[Array, Array]], average: str) -> dict[str, Figure]:
    """Accuracies on both parts, F1, depth, nodes, and times in seconds, each over all splits."""
    rows = [_once(make, X, y, train, test, average) for train, test in splits]
    return {name: Figure.of([row[name] for row in rows]) for name in rows[0]}


def _once(make: Make, X: Array, y: Array, train: Array, test: Array, average: str) -> dict[str, float]:
    from sklearn.metrics import f1_score

    start = time.process_time()
    classifier = make().fit(X[train], y[train])
    fitted = time.process_time()
    found = classifier.predict(X[test])
    predicted = time.process_time()
    tree = (classifier[-1] if hasattr(classifier, "steps") else classifier).tree_
    return {
        "train": float(classifier.score(X[train], y[train])),
        "test": float((found == y[test]).mean()),
        "f1": float(f1_score(y[test], found, average=average)),
        "depth": float(tree.depth),
        "nodes": float(tree.n_nodes),
        "fit_s": fitted - start,
        "predict_s": predicted - fitted,
    }
