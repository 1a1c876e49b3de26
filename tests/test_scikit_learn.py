"""scikit-learn's tools around `C45Classifier`, each with the real one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_iris
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  # makes the next import work
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    LearningCurveDisplay,
    cross_val_predict,
    cross_validate,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from c45gpu import C45Classifier

X, Y = load_iris(return_X_y=True, as_frame=True)
PETAL = "petal length (cm)"


def tree(**options: Any) -> C45Classifier:
    return C45Classifier(engine="reference", **options)


def mixed() -> pd.DataFrame:
    """The iris with a discrete feature that tells a class, and an unknown value in each column."""
    frame = X.assign(colour=pd.Categorical(Y.map({0: "red", 1: "green", 2: "green"})))
    for row, name in enumerate(frame.columns):
        frame.loc[row, name] = None
    return frame


def test_several_scores_are_cross_validated() -> None:
    names = ["accuracy", "f1_macro", "roc_auc_ovr", "neg_log_loss"]
    found = cross_validate(tree(), X, Y, cv=3, scoring=names, return_estimator=True, error_score="raise")
    assert min(found["test_accuracy"]) > 0.85
    assert min(found["test_roc_auc_ovr"]) > 0.9
    assert all(isinstance(fitted, C45Classifier) for fitted in found["estimator"])
    assert cross_val_predict(tree(), X, Y, cv=3, method="predict_proba").shape == (150, 3)


def test_parameters_are_searched_in_halves() -> None:
    search = HalvingGridSearchCV(tree(), {"min_cases": [1, 2, 60]}, cv=3, min_resources=60, random_state=0)
    search.fit(X, Y)
    assert search.best_params_["min_cases"] != 60
    assert search.best_estimator_.score(X, Y) > 0.9


@pytest.mark.parametrize(
    "around",
    [
        lambda: VotingClassifier([("one", tree()), ("two", tree(min_cases=5))], voting="soft"),
        lambda: StackingClassifier([("tree", tree())], LogisticRegression(), cv=3),
        lambda: OneVsRestClassifier(tree()),
        lambda: OneVsOneClassifier(tree()),
        lambda: RFE(tree(), n_features_to_select=2),
        lambda: make_pipeline(SelectFromModel(tree()), tree()),
    ],
    ids=["voting", "stacking", "one against the rest", "one against one", "elimination", "selection"],
)
def test_others_are_made_of_it(around: Any) -> None:
    assert around().fit(X, Y).score(X, Y) > 0.93


def test_importances_by_permutation_are_high_where_the_tree_looks() -> None:
    found = permutation_importance(tree().fit(X, Y), X, Y, n_repeats=2, random_state=0).importances_mean
    assert found.argmax() >= 2
    assert found[:2].tolist() == [0, 0]
    frame = mixed()
    assert permutation_importance(tree().fit(frame, Y), frame, Y, n_repeats=2, random_state=0).importances_mean[4] > 0


def test_partial_dependence_is_that_of_the_tree() -> None:
    fitted = tree().fit(X, Y)
    found = partial_dependence(fitted, X, [PETAL], custom_values={PETAL: np.array([1.0, 5.0])})["average"]
    wanted = [fitted.predict_proba(X.assign(**{PETAL: value})).mean(axis=0) for value in (1.0, 5.0)]
    np.testing.assert_allclose(found, np.array(wanted).T)


def test_columns_are_prepared_and_keep_their_names_and_kinds() -> None:
    prepared = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include="number")),
            ("others", "passthrough", ["colour"]),
        ],
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    whole = Pipeline([("prepared", prepared), ("tree", tree())])
    whole.fit(mixed(), Y)
    assert whole["tree"].feature_names_in_.tolist() == list(mixed().columns)
    assert whole["tree"].model_.schema.attributes[4].values == ("green", "red")
    assert whole.score(mixed(), Y) > 0.95
    assert clone(whole).set_params(tree__min_cases=3)["tree"].min_cases == 3


def test_weights_are_routed() -> None:
    weights = np.where(Y == 2, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = tree().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(asked, {"min_cases": [2]}, cv=3).fit(X, Y, sample_weight=weights)
        assert set(search.predict(X)) == {0, 1}
        without = GridSearchCV(tree(), {"min_cases": [2]}, cv=3).fit(X[Y < 2], Y[Y < 2])
        assert search.best_score_ == without.best_score_
        with pytest.raises(ValueError, match="sample_weight"):
            GridSearchCV(tree(), {"min_cases": [2]}, cv=3).fit(X, Y, sample_weight=weights)


def test_it_shows_itself_in_a_notebook() -> None:
    html = tree(min_cases=7)._repr_html_()
    assert "C45Classifier" in html
    assert "min_cases" in html
    assert "C45Classifier" in make_pipeline(StandardScaler(), tree())._repr_html_()


def test_arrays_of_the_standard_are_taken() -> None:
    strict = pytest.importorskip("array_api_strict", reason="the extra test installs it")
    fitted = tree().fit(strict.asarray(X.to_numpy()), strict.asarray(Y.to_numpy()))
    wanted = tree().fit(X.to_numpy(), Y.to_numpy())
    given = strict.asarray(X.to_numpy())
    np.testing.assert_array_equal(fitted.predict_proba(given), wanted.predict_proba(X.to_numpy()))
    assert fitted.score(given, strict.asarray(Y.to_numpy())) == wanted.score(X.to_numpy(), Y)


def test_a_learning_curve_is_drawn() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the curve is drawn by matplotlib")
    pyplot.switch_backend("agg")
    shown = LearningCurveDisplay.from_estimator(tree(), X, Y, train_sizes=[0.5, 1.0], cv=3, error_score="raise")
    assert shown.test_scores.shape == (2, 3)
