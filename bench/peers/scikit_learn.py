"""scikit-learn's DecisionTreeClassifier with entropy: as it comes, and pruned with a tuned ``ccp_alpha``."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from bench.peers.peer import ArrayPeer, Shape
from bench.rows import Column, Rows

ALPHAS_TRIED: Final = 8  # each is one more fit
KEPT_FOR_TUNING: Final = 0.2


class Cases(NamedTuple):
    """A matrix and its classes, for peers with `fit` and `predict`."""

    values: Column
    classes: Column


class FitPredict(ArrayPeer):
    """A peer with scikit-learn's interface, one matrix in and class codes out."""

    dtype: type[np.floating[Any]] = np.float32

    def read(self, rows: Rows, threads: int) -> Cases:
        """One row-major matrix."""
        return Cases(rows.take_matrix(self.dtype), rows.classes)

    def predict(self, model: Any, cases: Cases) -> Column:
        """The model's own answer."""
        return np.asarray(model.predict(cases.values))


class ScikitLearn(FitPredict):
    """As it comes, with entropy."""

    name = "sklearn"
    module = "sklearn"
    distribution = "scikit-learn"
    note = "criterion=entropy, no limit, one thread; codes as numbers"

    def open(self, threads: int) -> None:
        """Import it."""
        import sklearn.tree  # noqa: F401

    def train(self, cases: Cases, threads: int) -> Any:
        """One fit."""
        return _fit(cases, 0.0)

    def shape(self, model: Any) -> Shape:
        """From the fitted arrays."""
        return Shape(int(model.get_n_leaves()), int(model.get_depth()))


class ScikitLearnPruned(ScikitLearn):
    """Pruned by cost complexity, the strength found on rows kept back."""

    name = "sklearn-ccp"
    note = (
        f"as sklearn; prune: path on {1 - KEPT_FOR_TUNING:.0%} of the rows, {ALPHAS_TRIED} values of ccp_alpha tried "
        "on the rest, the least within one standard error of the best fitted again on all"
    )

    def prune(self, model: Any, cases: Cases, threads: int) -> Any:
        """Tune ``ccp_alpha`` and fit again."""
        cut = int(len(cases.classes) * (1 - KEPT_FOR_TUNING))
        grow, tune = (Cases(cases.values[part], cases.classes[part]) for part in (slice(cut), slice(cut, None)))
        path = _tree(0.0).cost_complexity_pruning_path(grow.values, grow.classes)
        alphas = np.quantile(path.ccp_alphas, 1 - np.logspace(0, -2, ALPHAS_TRIED))
        accuracy = np.array([_fit(grow, alpha).score(tune.values, tune.classes) for alpha in alphas])
        best = accuracy.max()
        enough = best - np.sqrt(best * (1 - best) / len(tune.classes))
        # the least of those: on all rows a strong one may cut where it did not on the part (Agrawal's function 2)
        return _fit(cases, alphas[int(np.argmax(accuracy >= enough))])


def _tree(alpha: float) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(criterion="entropy", random_state=0, ccp_alpha=alpha)


def _fit(cases: Cases, alpha: float) -> Any:
    return _tree(float(alpha)).fit(cases.values, cases.classes)
