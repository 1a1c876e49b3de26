"""Fitted estimators, alone and in a pipeline, kept by skops and joblib: they predict the same, to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from c45gpu import C45Classifier, C45Rules, ID3Classifier

ESTIMATORS = {
    "soft": C45Classifier(soft_thresholds=True),
    "costs": C45Classifier(costs=np.array([[0, 1, 9], [2, 0, 1], [1, 5, 0]]), laplace=True),
    "rules": C45Rules(),
    "pipeline": make_pipeline(FunctionTransformer(), C45Classifier(group_values=True)),
    "id3": ID3Classifier(),
}


@pytest.fixture(scope="module")
def penguins(examples: Path) -> pd.DataFrame:
    return pd.read_csv(examples / "penguins.csv").dropna()


def asked(penguins: pd.DataFrame, name: str) -> pd.DataFrame:
    return penguins[["island", "sex"]] if name == "id3" else penguins.drop(columns="species")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_joblib(penguins: pd.DataFrame, tmp_path: Path, name: str) -> None:
    X = asked(penguins, name)
    fitted = ESTIMATORS[name].fit(X, penguins["species"])
    joblib.dump(fitted, tmp_path / "kept.joblib")
    assert_same_answers(joblib.load(tmp_path / "kept.joblib"), fitted, X)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_skops(penguins: pd.DataFrame, tmp_path: Path, name: str) -> None:
    """Whoever loads the file has only types of c45gpu to trust."""
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    X = asked(penguins, name)
    fitted = ESTIMATORS[name].fit(X, penguins["species"])
    skops.dump(fitted, tmp_path / "kept.skops")
    trusted = skops.get_untrusted_types(file=tmp_path / "kept.skops")
    assert {kind.partition(".")[0] for kind in trusted} == {"c45gpu"}
    assert_same_answers(skops.load(tmp_path / "kept.skops", trusted=trusted), fitted, X)


def assert_same_answers(one: Any, other: Any, X: pd.DataFrame) -> None:
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.predict(X).tolist() == other.predict(X).tolist()
    assert str(one.get_params()) == str(other.get_params())
