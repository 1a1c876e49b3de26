"""Iris by ID3 and C4.5, Wisconsin diagnostic with three ways to prune, and what pruning does to depth on 20 tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_gaussian_quantiles,
    make_moons,
)
from sklearn.pipeline import make_pipeline

from bench.data import train_and_held_out
from bench.measure import ROOT
from bench.sources.fold import Array, Figure, Make, five_folds, judged, seventy_thirty
from c45gpu import C45Classifier, EqualWidthDiscretizer, ID3Classifier

ROWS: Final = 2_000  # of a table that is made
Found = dict[str, Any]

IRIS: Final[dict[str, Make]] = {
    "ID3, 3 bins": lambda: make_pipeline(EqualWidthDiscretizer(3), ID3Classifier()),
    "C4.5": C45Classifier,
}
IRIS_ARTICLE: Final = {"ID3, 3 bins": "96 / 89 %, 5, 15", "C4.5": "98 / 93 %, 4, 11"}

CANCER: Final[dict[str, Make]] = {
    "unpruned": lambda: C45Classifier(min_cases=1, prune=False),
    "pre-pruned": lambda: C45Classifier(max_depth=5, min_samples_split=20, min_samples_leaf=5, prune=False),
    "post-pruned": C45Classifier,
}
CANCER_ARTICLE: Final = {
    "unpruned": "99.8 / 92.3 %, 18; F1 0.921; 320 / 1.8 ms",
    "pre-pruned": "96.1 / 94.7 %, 9; F1 0.947; 150 / 0.9 ms",
    "post-pruned": "95.2 / 95.6 %, 7; F1 0.958; 280 / 0.7 ms",
}


def iris() -> Found:
    """ID3 and C4.5, on five folds and on 70/30 splits."""
    return _each(IRIS, *load_iris(return_X_y=True), average="macro")


def cancer() -> Found:
    """Unpruned, pre-pruned and post-pruned."""
    return _each(CANCER, *load_breast_cancer(return_X_y=True), average="binary")


def _each(makes: dict[str, Make], X: Array, y: Array, average: str) -> Found:
    return {
        name: {
            "5-fold": judged(make, X, y, five_folds(y), average),
            "70/30": judged(make, X, y, seventy_thirty(y), average),
        }
        for name, make in makes.items()
    }


def depths() -> Found:
    """For each table depth, nodes and accuracy before and after pruning, on five folds of one seed."""
    return {name: _before_and_after(X, y, categorical) for name, X, y, categorical in tables()}


def _before_and_after(X: Array, y: Array, categorical: list[int]) -> dict[str, list[float]]:
    rows = []
    for train, test in list(five_folds(y))[:5]:
        before = C45Classifier(categorical_features=categorical, prune=False).fit(X[train], y[train])
        after = C45Classifier(categorical_features=categorical).fit(X[train], y[train])
        rows.append([_facts(before, X[test], y[test]), _facts(after, X[test], y[test])])
    means = np.mean(rows, axis=0)
    return {"before": means[0].tolist(), "after": means[1].tolist()}


def _facts(classifier: C45Classifier, X: Array, y: Array) -> list[float]:
    return [float(classifier.tree_.depth), float(classifier.tree_.n_nodes), float(classifier.score(X, y))]


def tables() -> Iterator[tuple[str, Array, Array, list[int]]]:
    """Twenty tables: a name, features, classes, and which features are discrete."""
    import pandas as pd

    loaders: tuple[tuple[str, Callable[..., Any]], ...] = (
        ("iris", load_iris),
        ("wine", load_wine),
        ("breast_cancer", load_breast_cancer),
        ("digits", load_digits),
    )
    for name, loader in loaders:
        yield name, *loader(return_X_y=True), []
    yield "moons", *make_moons(ROWS, noise=0.3, random_state=0), []
    yield "quantiles", *make_gaussian_quantiles(n_samples=ROWS, n_features=5, n_classes=3, random_state=0), []
    penguins = pd.read_csv(ROOT / "examples" / "penguins.csv")
    classes = penguins.pop("species").to_numpy()
    texts = [j for j, name in enumerate(penguins) if not pd.api.types.is_numeric_dtype(penguins[name])]
    yield "penguins", penguins.to_numpy(object), classes, texts
    for name in ("mc", *(f"agr{function}" for function in range(1, 11)), "cov", "wide"):
        rows, _ = train_and_held_out(name, ROWS, held_out=1)
        discrete = [j for j, values in enumerate(rows.values) if values]
        yield name, np.column_stack(rows.columns), rows.classes, discrete


def shorter(found: Found, which: int = 0) -> Figure:
    """By which share pruning makes trees shallower (0) or smaller (1)."""
    pairs = [(table["before"][which], table["after"][which]) for table in found.values()]
    return Figure.of([1 - after / before for before, after in pairs])
