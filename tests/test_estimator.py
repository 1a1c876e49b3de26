"""C45Classifier, as scikit-learn's users meet it."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import c45gpu
from c45gpu import C45Classifier, Options, load, save, train
from c45gpu.data.frames import read_file
from c45gpu.errors import OptionError

IRIS = load_iris()


@pytest.fixture(scope="module")
def penguins(examples: Path) -> pd.DataFrame:
    return pd.read_csv(examples / "penguins.csv")


def test_default_parameters() -> None:
    """Those of the options, and a few of its own."""
    options = {**Options().to_dict(), "prune": True, "random_state": None}
    own = {"categorical_features": "from_dtype", "engine": "auto"}
    own |= {"class_weight": None, "costs": None, "laplace": False, "unseen": "unknown"}
    own |= {"checkpoint": None, "checkpoint_every": "5min"}
    assert C45Classifier().get_params() == options | own


def test_iris_from_arrays() -> None:
    classifier = C45Classifier().fit(IRIS.data, IRIS.target)
    assert classifier.classes_.tolist() == [0, 1, 2]
    assert classifier.n_features_in_ == 4
    assert classifier.predict(IRIS.data).dtype == IRIS.target.dtype
    assert classifier.score(IRIS.data, IRIS.target) == 147 / 150
    probabilities = classifier.predict_proba(IRIS.data)
    assert probabilities.shape == (150, 3)
    np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-12)
    assert (classifier.classes_[probabilities.argmax(1)] == classifier.predict(IRIS.data)).all()


def test_labels_keep_their_type() -> None:
    names = IRIS.target_names[IRIS.target]
    classifier = C45Classifier().fit(IRIS.data, names)
    assert classifier.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert set(classifier.predict(IRIS.data)) == set(names)
    assert classifier.tree_.equals(C45Classifier().fit(IRIS.data, IRIS.target).tree_)


def test_a_frame_gives_the_tree_of_its_file(penguins: pd.DataFrame, examples: Path) -> None:
    classifier = C45Classifier().fit(penguins.drop(columns="species"), penguins["species"])
    model = train(read_file(examples / "penguins.csv", target="species"))
    assert classifier.feature_names_in_.tolist() == penguins.columns.drop("species").tolist()
    assert classifier.tree_.equals(model.pruned)
    assert classifier.unpruned_tree_.equals(model.unpruned)
    assert not classifier.tree_.equals(classifier.unpruned_tree_)


@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_texts_are_discrete_however_they_are_held(penguins: pd.DataFrame, kind: str) -> None:
    texts = {"island": kind, "sex": kind}
    plain = C45Classifier().fit(penguins.drop(columns="species"), penguins["species"])
    held = C45Classifier().fit(penguins.drop(columns="species").astype(texts), penguins["species"])
    assert held.tree_.equals(plain.tree_)
    assert [a.kind for a in held.model_.schema.attributes].count("discrete") == 2


def test_an_array_of_objects_gives_the_tree_of_the_frame(penguins: pd.DataFrame) -> None:
    X, y = penguins.drop(columns="species"), penguins["species"]
    of_frame = C45Classifier().fit(X, y)
    of_objects = C45Classifier().fit(X.to_numpy(object), y.to_numpy(object))
    assert of_objects.tree_.equals(of_frame.tree_)
    np.testing.assert_array_equal(of_objects.predict_proba(X.to_numpy(object)), of_frame.predict_proba(X))


def test_unknown_and_unseen_values_go_down_every_branch() -> None:
    X = pd.DataFrame({"colour": list("rrrggbbbbb"), "n": range(10)})
    y = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 2])
    classifier = C45Classifier(categorical_features=["colour"]).fit(X[["colour"]], y)
    asked = pd.DataFrame({"colour": ["g", None, "violet"]})
    assert classifier.predict_proba(asked).tolist() == [[0, 1, 0], [0.3, 0.2, 0.5], [0.3, 0.2, 0.5]]
    assert classifier.predict(asked).tolist() == [1, 2, 2]


@pytest.mark.parametrize("chosen", [[1], [False, True], np.array([False, True])], ids=str)
def test_categorical_features_of_an_array(chosen: object) -> None:
    X = np.array([[1, 1], [2, 2], [3, 3], [4, 1], [5, 2], [6, 3]] * 3, float)
    y = (X[:, 1] == 2).astype(int)
    assert C45Classifier().fit(X, y).tree_.kind[0] == c45gpu.model.tree.THRESHOLD
    named = C45Classifier(categorical_features=chosen).fit(X, y)
    assert named.tree_.kind[0] == c45gpu.model.tree.DISCRETE
    assert named.score(X, y) == 1


def test_weights_are_as_good_as_copies() -> None:
    weight = np.arange(150) % 3
    weighted = C45Classifier().fit(IRIS.data, IRIS.target, sample_weight=weight)
    copied = C45Classifier().fit(np.repeat(IRIS.data, weight, axis=0), np.repeat(IRIS.target, weight))
    assert weighted.tree_.equals(copied.tree_)


@pytest.mark.parametrize(("given", "name"), [(True, "ebp"), (False, "none"), ("pep", "pep"), ("none", "none")])
def test_prune_says_how(given: bool | str, name: str) -> None:
    classifier = C45Classifier(prune=given).fit(IRIS.data[:, :2], IRIS.target)
    assert classifier.model_.options["prune"] == name
    assert classifier.tree_.equals(classifier.unpruned_tree_) == (name == "none")


@pytest.mark.parametrize(
    "parameters",
    [
        {"criterion": "entropy"},
        {"min_cases": 0},
        {"min_cases": 2.5},
        {"confidence": "much"},
        {"prune": "x"},
        {"compat": "r7"},
    ],
    ids=str,
)
def test_parameters_are_checked_when_fitting(parameters: dict[str, object]) -> None:
    with pytest.raises(OptionError, match=next(iter(parameters))):
        C45Classifier(**parameters).fit(IRIS.data, IRIS.target)


def test_numpy_numbers_are_numbers() -> None:
    plain = C45Classifier(min_cases=5, confidence=0.5).fit(IRIS.data, IRIS.target)
    other = C45Classifier(min_cases=np.int32(5), confidence=np.float32(0.5)).fit(IRIS.data, IRIS.target)
    assert other.tree_.equals(plain.tree_)
    assert other.model_.options == Options(min_cases=5, confidence=0.5).to_dict()


def test_compat_holds_for_prediction_too() -> None:
    X = np.array([[-999.0], [1], [2], [3], [-999], [4]] * 3)
    y = np.array([0, 0, 0, 1, 1, 1] * 3)
    classifier = C45Classifier(compat="r8").fit(X, y)
    assert classifier.predict_proba([[-999]]).tolist() == classifier.predict_proba([[np.nan]]).tolist()
    plain = C45Classifier().fit(X, y)
    assert plain.predict_proba([[-999]]).tolist() != plain.predict_proba([[np.nan]]).tolist()


def test_an_unfitted_classifier_says_so() -> None:
    with pytest.raises(NotFittedError):
        C45Classifier().predict(IRIS.data)
    assert not hasattr(C45Classifier(), "tree_")


def test_it_works_with_the_tools_of_scikit_learn() -> None:
    search = GridSearchCV(C45Classifier(), {"min_cases": np.arange(1, 4), "confidence": [0.1, 0.25]}, cv=3)
    assert search.fit(IRIS.data, IRIS.target).best_score_ > 0.9
    assert cross_val_score(make_pipeline(StandardScaler(), C45Classifier()), IRIS.data, IRIS.target).min() > 0.8
    assert clone(C45Classifier(min_cases=7)).min_cases == 7


def test_a_pickled_classifier_predicts_the_same() -> None:
    classifier = C45Classifier().fit(IRIS.data, IRIS.target)
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict_proba(IRIS.data), classifier.predict_proba(IRIS.data))


def test_a_classifier_is_saved_as_a_model(tmp_path: Path) -> None:
    classifier = C45Classifier().fit(IRIS.data, IRIS.target)
    save(classifier.model_, tmp_path / "iris.c45")
    assert load(tmp_path / "iris.c45").pruned.equals(classifier.tree_)


# ---------------------------------------------------------------- weights of classes
def test_class_weights_are_weights_of_samples() -> None:
    X, y = load_iris(return_X_y=True)
    one = C45Classifier(class_weight={1: 3.0}).fit(X, y)
    other = C45Classifier().fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    assert one.tree_.equals(other.tree_)
    assert not one.tree_.equals(C45Classifier().fit(X, y).tree_)


def test_balanced_classes_weigh_the_same_and_multiply_the_samples_weights() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[:110], y[:110]
    whole = C45Classifier(class_weight="balanced").fit(X, y).unpruned_tree_.class_weights[0]
    assert whole.tolist() == pytest.approx([110 / 3] * 3, rel=1e-9)
    doubled = C45Classifier(class_weight="balanced").fit(X, y, sample_weight=np.full(110, 2.0))
    assert doubled.unpruned_tree_.class_weights[0].tolist() == pytest.approx([220 / 3] * 3, rel=1e-9)
