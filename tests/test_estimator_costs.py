"""Class weights, costs and Laplace's probabilities of C45Classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score
from sklearn.utils.class_weight import compute_class_weight

from c45gpu import C45Classifier
from c45gpu.errors import OptionError

X, NUMBERS = make_classification(600, 6, weights=[0.9], flip_y=0.05, random_state=0)
Y = np.array(["fine", "fraud"])[NUMBERS]


def test_class_weights_multiply_sample_weights() -> None:
    weight = 1.0 + np.arange(len(Y)) % 3
    named = C45Classifier(class_weight={"fraud": 5}).fit(X, Y, sample_weight=weight)
    by_hand = C45Classifier().fit(X, Y, sample_weight=weight * np.where(Y == "fraud", 5, 1))
    assert named.tree_.equals(by_hand.tree_)
    assert not named.tree_.equals(C45Classifier().fit(X, Y, sample_weight=weight).tree_)


def test_balanced_classes_weigh_the_same_at_the_root() -> None:
    classifier = C45Classifier(class_weight="balanced").fit(X, Y)
    factors = compute_class_weight("balanced", classes=classifier.classes_, y=Y)
    by_hand = C45Classifier(class_weight=dict(zip(["fine", "fraud"], factors, strict=True))).fit(X, Y)
    assert classifier.tree_.equals(by_hand.tree_)
    assert classifier.tree_.class_weights[0].tolist() == pytest.approx([300, 300])
    plain = C45Classifier().fit(X, Y)
    recalls = [recall_score(Y, c.predict(X), pos_label="fraud") for c in (plain, classifier)]
    assert recalls[1] > recalls[0]


def test_class_weights_act_inside_the_gain_ratio() -> None:
    """Where the rare class decides the first test, its weight moves the test."""
    roots = {C45Classifier(class_weight={"fraud": w}, max_depth=1).fit(X, Y).tree_.threshold[0] for w in (1, 8)}
    assert len(roots) == 2


def test_costs_by_matrix_and_by_labels() -> None:
    by_labels = C45Classifier(costs={("fraud", "fine"): 20}).fit(X, Y)
    by_matrix = C45Classifier(costs=[[0, 1], [20, 0]]).fit(X, Y)
    assert by_labels.tree_.equals(by_matrix.tree_)
    assert by_labels.model_.costs is not None
    probabilities = by_labels.predict_proba(X)
    cheaper = np.where(probabilities[:, 1] * 20 > probabilities[:, 0], "fraud", "fine")
    assert (by_labels.predict(X) == cheaper).all()
    plain = C45Classifier().fit(X, Y)
    assert recall_score(Y, by_labels.predict(X), pos_label="fraud") > recall_score(
        Y, plain.predict(X), pos_label="fraud"
    )


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ({("fraud", "fun"): 2}, r"costs of \('fraud', 'fun'\)"),
        ({"fraud": 2}, "costs of 'fraud'"),
        ([[0, 1, 1]] * 3, "not numbers in 2 rows and columns"),
        ({("fraud", "fine"): -1}, "it costs -1.0 to take class 1 for class 0"),
    ],
    ids=str,
)
def test_costs_are_checked_when_fitting(costs: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        C45Classifier(costs=costs).fit(X, Y)


def test_laplace_draws_probabilities_to_the_middle() -> None:
    plain, smooth = (C45Classifier(laplace=on).fit(X, Y) for on in (False, True))
    assert plain.tree_.equals(smooth.tree_)
    p, q = plain.predict_proba(X)[:, 0], smooth.predict_proba(X)[:, 0]
    assert (abs(q - 0.5) < abs(p - 0.5))[p != 0.5].all()
    assert (plain.predict(X) == smooth.predict(X)).all()
    assert ((q > 0) & (q < 1)).all()
