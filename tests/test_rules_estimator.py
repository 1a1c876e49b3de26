"""C45Rules: scikit-learn is content with it, and it says what its rules say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from c45gpu import C45Rules
from c45gpu.data.frames import from_frame
from c45gpu.errors import OptionError


def test_labels_and_probabilities_are_those_of_the_rules() -> None:
    x, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    fitted = C45Rules(min_cases=1).fit(x, names)
    table = from_frame(x, schema=fitted.rules_.schema)
    assert fitted.predict(x).tolist() == fitted.classes_[fitted.rules_.predict(table)].tolist()
    proba = fitted.predict_proba(x)
    assert fitted.classes_[proba.argmax(axis=1)].tolist() == fitted.predict(x).tolist()
    first = fitted.rules_.rules[0]
    fires = fitted.rules_.fired(table) == 0
    assert fires.any()
    assert proba[fires, first.label] == pytest.approx(first.confidence)
    assert fitted.score(x, names) > 0.95


def test_prints_its_rules_once_it_has_some() -> None:
    x, y = load_iris(return_X_y=True, as_frame=True)
    estimator = C45Rules()
    assert str(estimator) == "C45Rules()"
    text = str(estimator.fit(x, y))
    assert text.startswith("Rule ")
    assert "petal width (cm) <= 0.6\n\t->  class 0  [97.3%]\n" in text


def test_texts_and_unknown_values() -> None:
    x = pd.DataFrame({"colour": ["red", "red", "blue", "blue", None] * 6, "size": [1.0, 2.0, 1.0, np.nan, 3.0] * 6})
    y = np.array([1, 1, 0, 0, 0] * 6)
    fitted = C45Rules().fit(x, y)
    assert fitted.predict(pd.DataFrame({"colour": ["red", "blue", "green"], "size": [np.nan, 1.0, 1.0]})).tolist()[
        :2
    ] == [1, 0]


def test_parameters_reach_the_rules() -> None:
    x, y = load_iris(return_X_y=True)
    changed = C45Rules("gain", min_cases=5, confidence=0.1, redundancy=3.0, compat="r8")
    options = clone(changed).fit(x, y).rules_.options
    given = ("gain", 5, 0.1, 3.0, "r8")
    assert tuple(options[n] for n in ("criterion", "min_cases", "confidence", "redundancy", "compat")) == given
    with pytest.raises(OptionError, match="redundancy"):
        C45Rules(redundancy=0).fit(x, y)


def test_engines_make_the_same_rules() -> None:
    x, y = load_iris(return_X_y=True)
    one, other = (C45Rules(engine=engine).fit(x, y).rules_ for engine in ("reference", "cpu"))
    assert one == other
