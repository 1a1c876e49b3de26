"""Very wide tables with and without screen=, and class weights where one class is rare."""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

from bench.sources.fold import Array, Figure, seventy_thirty
from c45gpu import C45Classifier

WIDE_ROWS, WIDE_HELD_OUT = 10_000, 5_000
ENGINES: Final = {  # for each number of features the engines, and how many tables each gets
    100: (("cpu", 3), ("reference", 1)),
    500: (("cpu", 3), ("reference", 1)),
    2_000: (("cpu", 3),),
}
FRAUD_ROWS, FRAUD_SHARE = 20_000, 0.01

Found = dict[str, Any]


def wide(n_rows: int = WIDE_ROWS) -> Found:
    """For each width and engine the seconds and held-out accuracy of the whole table and of the screened one."""
    found: Found = {}
    for width, engines in ENGINES.items():
        for engine, n_tables in engines:
            runs = [_both(width, n_rows, engine, seed) for seed in range(n_tables)]
            found[f"{width} {engine}"] = {key: Figure.of([run[key] for run in runs]) for key in runs[0]}
    return found


def _both(width: int, n_rows: int, engine: str, seed: int) -> dict[str, float]:
    X, y = make_classification(
        n_rows + WIDE_HELD_OUT,
        width,
        n_informative=20,
        n_redundant=20,
        n_clusters_per_class=3,
        flip_y=0.02,
        random_state=seed,
    )
    X = X.astype(np.float32)
    found = {}
    for name, screen in (("whole", None), ("screened", "sqrt")):
        if engine == "cpu":  # compiled code is loaded before
            C45Classifier(screen=screen, engine=engine).fit(X[:5_000], y[:5_000])
        start = time.process_time()
        classifier = C45Classifier(screen=screen, engine=engine).fit(X[:n_rows], y[:n_rows])
        found[f"{name}_s"] = time.process_time() - start
        found[f"{name}_accuracy"] = float(classifier.score(X[n_rows:], y[n_rows:]))
    found["times"] = found["whole_s"] / found["screened_s"]
    found["lost"] = found["whole_accuracy"] - found["screened_accuracy"]
    return found


FRAUD: Final[dict[str, dict[str, Any]]] = {
    "no weights": {},
    "the rare class 10 times": {"class_weight": {1: 10.0}},
    "balanced": {"class_weight": "balanced"},
    "balanced, unpruned": {"class_weight": "balanced", "prune": False},
}


def fraud(n_rows: int = FRAUD_ROWS) -> Found:
    """Recall, precision, F1 and area under the curve for the rare class."""
    X, y = make_classification(
        n_rows,
        15,
        n_informative=8,
        n_redundant=2,
        weights=[1 - FRAUD_SHARE],
        flip_y=0.002,
        class_sep=1.2,
        random_state=0,
    )
    return {name: _judge_rare(given, X, y) for name, given in FRAUD.items()}


def _judge_rare(given: dict[str, Any], X: Array, y: Array) -> dict[str, Figure]:
    rows = []
    for train, test in seventy_thirty(y):
        classifier = C45Classifier(**given).fit(X[train], y[train])
        found, odds = classifier.predict(X[test]), classifier.predict_proba(X[test])[:, 1]
        scores = (recall_score, precision_score, f1_score)
        rows.append([*(float(score(y[test], found)) for score in scores), float(roc_auc_score(y[test], odds))])
    columns = zip(*rows, strict=True)
    return {name: Figure.of(list(x)) for name, x in zip(("recall", "precision", "f1", "auc"), columns, strict=True)}
