"""What scikit-learn's users ask of a fitted tree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.exceptions import NotFittedError

from c45gpu import C45Classifier, C45Rules, train
from c45gpu.errors import OptionError
from c45gpu.induction.options import Options
from c45gpu.model.importance import gains, importances
from c45gpu.model.predict import class_frequencies
from c45gpu.model.tree import LEAF
from tests.golden_trees import inner, leaf, tree_of
from tests.strategies import Sample, larger_samples, sample

IRIS = load_iris()
SCHEMA = sample([("discrete", 2, [0, 1]), ("discrete", 2, [0, 1])], 2, [0, 1], None).table.schema


@pytest.fixture(scope="module")
def penguins(examples: Path) -> pd.DataFrame:
    return pd.read_csv(examples / "penguins.csv")


def test_gains_by_hand() -> None:
    tree = tree_of(inner("discrete", 1, inner("discrete", 0, leaf(4, 0), leaf(0, 4)), leaf(8, 0)), SCHEMA)
    at_root = 16 * 0.8112781244591328 - 8  # H(1/4) = 0.811...; below are 8 cases with one bit each, and 8 with none
    assert gains(tree).tolist() == pytest.approx([at_root, 8, 0, 0, 0])
    assert importances(tree, 3).tolist() == pytest.approx([8 / (8 + at_root), at_root / (8 + at_root), 0])
    assert importances(tree, 3, "count").tolist() == [0.5, 0.5, 0]


def test_a_leaf_gives_no_feature_any_importance() -> None:
    tree = C45Classifier().fit([[1.0], [2.0]], ["a", "a"])
    assert tree.feature_importances_.tolist() == [0.0]
    assert (tree.get_depth(), tree.get_n_leaves(), tree.apply([[5.0]]).tolist()) == (0, 1, [0])


def test_another_importance_is_refused() -> None:
    with pytest.raises(OptionError, match="importance 'weight': give 'gain' or 'count'"):
        C45Classifier().fit(IRIS.data, IRIS.target).importances("weight")  # type: ignore[arg-type]


@given(larger_samples())
def test_no_test_gains_less_than_nothing_and_all_gain_what_the_leaves_lack(cases: Sample) -> None:
    tree = train(cases.table, Options(min_cases=1), "reference").unpruned
    gained = gains(tree)
    assert (gained >= 0).all()
    assert (gained[tree.kind == LEAF] == 0).all()
    assert importances(tree, len(cases.table.schema.attributes)).sum() == pytest.approx(float(gained.sum() > 0))


def test_iris_is_known_by_its_petals() -> None:
    tree = C45Classifier().fit(IRIS.data, IRIS.target)
    assert tree.feature_importances_[[2, 3]].sum() > 0.95
    assert tree.importances("count").sum() == pytest.approx(1)
    assert tree.get_depth() == tree.tree_.depth
    assert tree.get_n_leaves() == tree.tree_.n_leaves


def test_leaves_and_paths_of_samples_with_unknown_values(penguins: pd.DataFrame) -> None:
    x, y = penguins.drop(columns="species"), penguins["species"]
    classifier = C45Classifier().fit(x, y)
    tree, weights = classifier.tree_, classifier.leaf_weights(x)
    assert weights.shape == (len(x), tree.n_nodes)
    assert weights.sum(axis=1) == pytest.approx(1)
    assert (np.diff(weights.indptr) > 1).sum() > 0  # some samples are in several leaves
    assert (tree.kind[weights.indices] == LEAF).all()
    assert (tree.kind[classifier.apply(x)] == LEAF).all()
    assert classifier.apply(x).tolist() == np.asarray(weights.argmax(axis=1)).ravel().tolist()
    parts = tree.class_weights / tree.weight[:, None]
    assert weights @ parts == pytest.approx(classifier.predict_proba(x))


def test_a_path_has_every_node_above_a_leaf_once(penguins: pd.DataFrame) -> None:
    x, y = penguins.drop(columns="species"), penguins["species"]
    classifier = C45Classifier().fit(x, y)
    tree, path = classifier.tree_, classifier.decision_path(x).toarray()
    assert set(np.unique(path)) == {0, 1}
    assert (path[:, 0] == 1).all()
    assert (path[:, tree.kind == LEAF] == (classifier.leaf_weights(x).toarray()[:, tree.kind == LEAF] > 0)).all()
    for node in range(1, tree.n_nodes):
        assert (path[:, node] <= path[:, tree.parent[node]]).all()
    for node in np.flatnonzero(tree.kind != LEAF):
        assert (path[:, node] <= path[:, tree.branches(node)].max(axis=1)).all()


def test_soft_thresholds_hold_for_leaves_too() -> None:
    soft = C45Classifier(soft_thresholds=True).fit(IRIS.data, IRIS.target)
    tree = soft.tree_
    assert (np.diff(soft.leaf_weights(IRIS.data).indptr) > 1).any()
    parts = tree.class_weights / tree.weight[:, None]
    assert soft.leaf_weights(IRIS.data) @ parts == pytest.approx(soft.predict_proba(IRIS.data))


def test_what_is_not_fitted_says_so() -> None:
    for ask in ("apply", "decision_path", "leaf_weights", "predict"):
        with pytest.raises(NotFittedError):
            getattr(C45Classifier(), ask)(IRIS.data)
    with pytest.raises(NotFittedError):
        C45Classifier().get_depth()


def test_rules_tell_of_the_tree_that_they_come_from() -> None:
    rules = C45Rules().fit(IRIS.data, IRIS.target)
    assert rules.get_n_leaves() == rules.model_.unpruned.n_leaves
    assert class_frequencies(rules.tree_, rules._asked_about(IRIS.data)).shape == (150, 3)


def test_weights_that_sum_to_1_are_parts_of_all_samples() -> None:
    parts = np.full(150, 1 / 150)
    assert C45Classifier().fit(IRIS.data, IRIS.target, parts).get_n_leaves() == 5
    parts[:50] = 0
    some = C45Classifier().fit(IRIS.data, IRIS.target, parts / parts.sum())
    assert some.tree_.weight[0] == pytest.approx(100)
    assert C45Classifier().fit(IRIS.data[:1], IRIS.target[:1], [1]).tree_.weight[0] == 1


@pytest.mark.parametrize(
    "ensemble",
    [
        BaggingClassifier(C45Classifier(engine="reference"), n_estimators=5, random_state=0),
        AdaBoostClassifier(C45Classifier(engine="reference", max_depth=2), n_estimators=5, random_state=0),
        CalibratedClassifierCV(C45Classifier(engine="reference"), cv=3),
    ],
    ids=lambda e: type(e).__name__,
)
def test_ensembles_take_it(ensemble: object) -> None:
    fitted = ensemble.fit(IRIS.data, IRIS.target)  # type: ignore[attr-defined]
    assert fitted.score(IRIS.data, IRIS.target) > 0.93
