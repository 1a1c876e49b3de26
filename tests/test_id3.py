"""ID3 as an estimator: the gain, discrete features only, nothing unknown, nothing pruned."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from c45gpu import C45Classifier, EqualWidthDiscretizer, ID3Classifier, Options, train
from c45gpu.errors import DataError, OptionError
from c45gpu.model.tree import DISCRETE, LEAF
from tests.strategies import Column, sample

EXCUSED = {
    "check_class_weight_classifiers": "its features are continuous",
    "check_classifiers_one_label_sample_weights": "its features are continuous",
    "check_sample_weight_equivalence_on_dense_data": "its features are continuous",
}
WEATHER = """outlook humidity windy temperature play
sunny high False hot no
sunny high True hot no
overcast high False hot yes
rain high False mild yes
rain normal False cool yes
rain normal True cool no
overcast normal True cool yes
sunny high False mild no
sunny normal False cool yes
rain normal False mild yes
sunny normal True mild yes
overcast high True mild yes
overcast normal False hot yes
rain high True mild no
"""
GOLF = pd.read_csv(StringIO(WEATHER), sep=" ")
PLAY = GOLF.pop("play").to_numpy()


@parametrize_with_checks([ID3Classifier()], expected_failed_checks=lambda estimator: EXCUSED)
def test_scikit_learn_is_content(estimator: ID3Classifier, check: Callable[[ID3Classifier], None]) -> None:
    check(estimator)


def test_quinlans_example() -> None:
    tree = ID3Classifier().fit(GOLF, PLAY).tree_
    assert tree.attribute.tolist() == [0, -1, 2, -1, -1, 1, -1, -1]  # outlook; windy if it rains, humidity if sunny
    assert tree.errors[0] == 0


def test_the_gain_decides_not_the_gain_ratio() -> None:
    many: Column = ("discrete", 7, [0, 1, 2, 3, 4, 5, 6] * 2)
    two: Column = ("discrete", 2, [0, 0, 0, 1, 1, 1, 1] * 2)
    classes = [0, 0, 0, 1, 1, 0, 1] * 2
    X = np.array([[f"v{v}" for v in column[2]] for column in (many, two)], object).T
    assert ID3Classifier().fit(X, classes).tree_.attribute[0] == 0
    by_ratio = train(sample([many, two], 2, classes, None).table, Options(min_cases=1, prune="none"))
    assert by_ratio.unpruned.attribute[0] == 1


def test_nothing_is_pruned() -> None:
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, (60, 4)), random.integers(0, 2, 60)
    classifier = ID3Classifier().fit(X, y)
    assert classifier.tree_.equals(classifier.unpruned_tree_)
    pruned = C45Classifier("gain", min_cases=1, categorical_features=[0, 1, 2, 3]).fit(X, y)
    assert classifier.tree_.equals(pruned.unpruned_tree_)
    assert pruned.tree_.n_nodes < classifier.tree_.n_nodes


def test_whole_numbers_are_values() -> None:
    X = np.array([[5.0], [-1], [7], [5]])
    tree = ID3Classifier().fit(X, [0, 1, 0, 0]).tree_
    assert tree.kind.tolist() == [DISCRETE, LEAF, LEAF, LEAF]


@pytest.mark.parametrize("frame", [False, True])
def test_continuous_features_are_refused_with_a_way_out(frame: bool) -> None:
    iris = load_iris(as_frame=frame)
    with pytest.raises(DataError, match=r"is continuous \(it has the value 5.1\) and ID3 takes .* make bins first"):
        ID3Classifier().fit(iris.data, iris.target)
    pipeline = make_pipeline(EqualWidthDiscretizer(), ID3Classifier()).fit(iris.data, iris.target)
    assert pipeline.score(iris.data, iris.target) > 0.9


@pytest.mark.parametrize("missing", [None, np.nan])
@pytest.mark.parametrize("frame", [False, True])
def test_unknown_values_are_refused(missing: Any, frame: bool) -> None:
    X = GOLF if frame else GOLF.to_numpy(object)
    holed = X.copy()
    if frame:
        holed.loc[3, "outlook"] = missing
    else:
        holed[3, 0] = missing
    with pytest.raises(DataError, match="NaN or None in sample 4, and ID3 has no unknown values"):
        ID3Classifier().fit(holed, PLAY)
    classifier = ID3Classifier().fit(X, PLAY)
    with pytest.raises(DataError, match="sample 4"):
        classifier.predict(holed)


def test_a_new_value_is_answered_for_by_all_branches() -> None:
    classifier = ID3Classifier().fit(GOLF[["outlook"]], PLAY)
    (answer,) = classifier.predict_proba(pd.DataFrame({"outlook": ["fog"]})).tolist()
    assert answer == pytest.approx([5 / 14, 9 / 14])


def test_parameters() -> None:
    assert set(ID3Classifier().get_params()) == {
        "max_depth",
        "min_samples_split",
        "min_samples_leaf",
        "class_weight",
        "engine",
    }
    assert clone(ID3Classifier(max_depth=1)).fit(GOLF, PLAY).tree_.depth == 1
    with pytest.raises(OptionError, match="max_depth=0"):
        ID3Classifier(max_depth=0).fit(GOLF, PLAY)
