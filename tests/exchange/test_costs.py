"""Exports of models whose mistakes have costs, with Laplace's probabilities, and with soft thresholds."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c45gpu import C45Classifier, explain
from c45gpu.errors import OptionError
from c45gpu.exchange import encode, to_c, to_onnx, to_pmml, to_python, to_shap, to_sklearn, to_sql
from c45gpu.model.predict import leaf_probabilities, predicted_classes
from c45gpu.model.store import Model
from tests.exchange.made import cases, probabilities, random_model, with_most_common
from tests.exchange.test_sources import Compiled, as_mappings, as_numbers, ask_sqlite, named, run_python

COSTS = np.array([[0.0, 1.0, 0.3], [7.0, 0.0, 1.5], [0.1, 4.0, 0.0]])


def costly() -> Model:
    return named(replace(random_model(6), costs=COSTS))


def wanted_of(model: Model, frequencies: np.ndarray) -> list[str]:
    classes = predicted_classes(frequencies, COSTS)
    assert (classes != frequencies.argmax(axis=1)).any()
    return [model.schema.classes[c] for c in classes]


def the_table(model: Model) -> Any:
    return replace(cases(2000, beside=model.pruned), schema=model.schema)


def test_python_and_c(tmp_path: Path) -> None:
    model = costly()
    table = the_table(model)
    wanted = wanted_of(model, probabilities(model, table))
    classify = run_python(to_python(model))["classify"]
    assert [classify(row) for row in as_mappings(table)] == wanted
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    found = Compiled(to_c(model), tmp_path).classes(as_numbers(table))
    assert [model.schema.classes[c] for c in found] == wanted


def test_sql() -> None:
    model = costly()
    table = the_table(model)
    reached, _ = with_most_common(model, table)
    wanted = wanted_of(model, leaf_probabilities(model.pruned)[reached])
    assert ask_sqlite(to_sql(model, unknown="most_common"), table) == wanted


def test_onnx() -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    from tests.exchange.test_onnx import asked, inputs_of

    model = costly()
    table = the_table(model)
    whole = probabilities(model, table)
    label, found = asked(to_onnx(model), table, inputs_of(model))
    assert (label, found.tobytes()) == (wanted_of(model, whole), whole.tobytes())
    reached, _ = with_most_common(model, table)
    wanted = wanted_of(model, leaf_probabilities(model.pruned)[reached])
    assert asked(to_onnx(model, unknown="most_common"), table, inputs_of(model))[0] == wanted


def test_explanations() -> None:
    model = costly()
    table = the_table(model).take(np.arange(100))
    wanted = [model.schema.classes[c] for c in predicted_classes(probabilities(model, table), COSTS)]
    assert [why.label for why in explain(model, table)] == wanted


def test_what_does_not_know_costs() -> None:
    model = costly()
    with pytest.raises(OptionError, match="does not know what mistakes cost: give unknown="):
        to_pmml(model)
    plain = replace(model, costs=None)
    scores = [
        re.findall("<Node id=[^>]* (score=[^>]*) recordCount", to_pmml(m, unknown="refuse")) for m in (model, plain)
    ]
    assert len(scores[0]) == len(scores[1]) == model.pruned.n_nodes
    assert scores[0] != scores[1]
    with pytest.raises(OptionError, match="scikit-learn's tree does not know what mistakes cost"):
        to_sklearn(model, unknown="most_common")
    assert to_shap(model, unknown="most_common")["trees"]


def fitted(**parameters: Any) -> tuple[C45Classifier, np.ndarray]:
    chance = np.random.default_rng(3)
    X = np.round(chance.normal(size=(400, 3)), 1)
    y = (X[:, 0] + X[:, 1] > chance.normal(size=400) / 3).astype(int)
    return C45Classifier(**parameters).fit(X, y), X


def test_laplace() -> None:
    classifier, X = fitted(laplace=True)
    proba = run_python(to_python(classifier))["classify_proba"]
    rows = [dict(zip(["x0", "x1", "x2"], row, strict=True)) for row in X.tolist()]
    assert np.array([proba(row) for row in rows]).tobytes() == classifier.predict_proba(X).tobytes()
    whole = np.array([list(why.probabilities.values()) for why in classifier.explain(X[:50])])
    assert whole.tobytes() == classifier.predict_proba(X[:50]).tobytes()


def test_soft_thresholds() -> None:
    classifier, X = fitted(soft_thresholds=True)
    for refused in (lambda: to_python(classifier), lambda: explain(classifier, X), lambda: classifier.explain(X)):
        with pytest.raises(OptionError, match="predicts by soft thresholds, which cannot be said here"):
            refused()
    hard = replace(classifier.model_, soft=None)
    assert to_python(classifier.model_) == to_python(hard)
    assert encode(classifier.model_, X).tobytes() == X.tobytes()
