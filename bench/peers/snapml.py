"""Snap ML's DecisionTreeClassifier, exact or with 256 bins."""

from __future__ import annotations

from typing import Any, Literal

from bench.peers.peer import Shape
from bench.peers.scikit_learn import Cases, FitPredict


class SnapML(FitPredict):
    """Gini is the only criterion that it has; it does not tell its leaves. An unknown value corrupts its heap."""

    module = "snapml"
    distribution = "snapml"
    takes_unknown = False

    def __init__(self, method: Literal["exact", "hist"]) -> None:
        self.method, self.name = method, f"snapml-{method}"
        self.note = "gini, no limit; codes as numbers" + (", 256 bins" if method == "hist" else "")

    def open(self, threads: int) -> None:
        """Import it."""
        import snapml  # noqa: F401

    def train(self, cases: Cases, threads: int) -> Any:
        """One fit."""
        from snapml import DecisionTreeClassifier

        tree = DecisionTreeClassifier(use_histograms=self.method == "hist", hist_nbins=256, n_jobs=threads)
        return tree.fit(cases.values, cases.classes)

    def shape(self, model: Any) -> Shape:
        """Not told."""
        return Shape(None, None)
