"""Treelite, scikit-learn and SHAP, which have two branches and no fractions of a case."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import export_graphviz, export_text

from c45gpu import C45Classifier
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import DataError, OptionError
from c45gpu.exchange import encode, to_shap, to_sklearn, to_treelite
from c45gpu.exchange.two_way import intervals_of_codes, two_way
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.store import Model
from tests.exchange.made import MODELS, SCHEMA, cases, deep_model, made, trained, with_most_common
from tests.golden_trees import Node, inner, leaf

model_of_each_kind = pytest.mark.parametrize("kind", MODELS)


def wanted_of(model: Model, table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities with most common branches, and where an unknown value was asked for."""
    reached, unknown = with_most_common(model, table)
    return leaf_probabilities(model.pruned)[reached], unknown


@model_of_each_kind
def test_treelite(kind: str) -> None:
    treelite = pytest.importorskip("treelite", reason="treelite is not installed")
    model = MODELS[kind]()
    table = cases(beside=model.pruned)
    X, (wanted, unknown) = encode(model, table), wanted_of(model, table)
    found = treelite.gtil.predict(to_treelite(model, unknown="most_common"), X)[:, 0]
    assert found.tobytes() == wanted.tobytes()
    wanted[unknown] = np.nan
    found = treelite.gtil.predict(to_treelite(model), X)[:, 0]
    np.testing.assert_array_equal(found, wanted, strict=True)


def as_float32(table: Table) -> Table:
    """Finite values that float32 can hold, for scikit-learn rounds to it and refuses infinities."""
    columns = [c if c is None or c.dtype.kind == "i" else c.astype(np.float32) for c in table.columns]
    finite = ~np.isinf(columns[0]) & ~np.isinf(columns[3])
    return replace(table, columns=columns).take(finite)


@model_of_each_kind
def test_scikit_learn(kind: str) -> None:
    model = MODELS[kind]()
    table = as_float32(cases(beside=model.pruned))
    classifier = to_sklearn(model, unknown="most_common")
    X, (wanted, _) = encode(model, table), wanted_of(model, table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that X has no names of columns
        assert classifier.predict_proba(X).tobytes() == wanted.tobytes()
        assert classifier.predict(X[:50]).tolist() == [SCHEMA.classes[c] for c in wanted[:50].argmax(axis=1)]
    tree = classifier.tree_
    assert classifier.get_n_leaves() == (tree.children_left < 0).sum()
    assert (tree.max_depth > 0) == (tree.node_count > 1)
    parents = np.flatnonzero(tree.children_left >= 0)
    below = tree.weighted_n_node_samples[tree.children_left] + tree.weighted_n_node_samples[tree.children_right]
    assert tree.weighted_n_node_samples[parents].tolist() == below[parents].tolist()


def test_scikit_learn_draws_it() -> None:
    model = trained(min_cases=1)
    classifier = to_sklearn(model, unknown="most_common")
    assert export_text(classifier).count("class:") == classifier.get_n_leaves()
    assert export_graphviz(classifier, feature_names=[f"x{i}" for i in range(5)]).startswith("digraph Tree")


@pytest.mark.filterwarnings("ignore")  # fonts that are not there, and names of columns
def test_dtreeviz_draws_it() -> None:
    dtreeviz = pytest.importorskip("dtreeviz", reason="the extra exchange-test installs it")
    iris = load_iris()
    fitted = C45Classifier(engine="reference").fit(iris.data, iris.target)
    classifier = to_sklearn(fitted, unknown="most_common")
    names = {"feature_names": iris.feature_names, "target_name": "iris", "class_names": list(iris.target_names)}
    drawn = dtreeviz.model(classifier, X_train=iris.data, y_train=iris.target, **names)
    assert drawn.explain_prediction_path(iris.data[100]) == "1.7 <= petal width (cm) \n"
    assert drawn.shadow_tree.nnodes() == classifier.tree_.node_count
    drawn.ctree_leaf_distributions()


def test_scikit_learn_keeps_labels() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]] * 3)
    classifier = C45Classifier().fit(X, [7, 7, 3, 3] * 3)
    assert to_sklearn(classifier, unknown="most_common").classes_.tolist() == [3, 7]


@model_of_each_kind
def test_shap(kind: str) -> None:
    shap = pytest.importorskip("shap", reason="shap is not installed")
    model = MODELS[kind]()
    table = cases(500, beside=model.pruned)
    X, (wanted, _) = encode(model, table), wanted_of(model, table)
    explainer = shap.TreeExplainer(to_shap(model, unknown="most_common"))
    assert np.asarray(explainer.model.predict(X)).tobytes() == wanted.tobytes()
    values = explainer.shap_values(X)
    assert values.shape == (500, 5, 3)
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, wanted, rtol=0, atol=1e-12)
    asked = {a for a in model.pruned.attribute.tolist() if a >= 0}
    assert set(np.flatnonzero(np.abs(values).sum(axis=(0, 2)))) == asked


def test_deep_trees() -> None:
    model = deep_model()
    heights = np.array([[0.0], [4999.0], [5000.0], [2500.5]])
    wanted = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    found = to_sklearn(model, unknown="most_common").tree_.predict(heights.astype(np.float32))
    assert found.tolist() == wanted
    treelite = pytest.importorskip("treelite", reason="treelite is not installed")
    assert treelite.gtil.predict(to_treelite(model), heights)[:, 0].tolist() == wanted


def test_many_values_are_found_by_halving() -> None:
    values = tuple(f"v{i}" for i in range(1000))
    schema = Schema((Attribute("a", "discrete", values),), ("no", "yes"))
    tree = made(inner("discrete", 0, *(leaf(1.0 + i % 3, 1.0) for i in range(1000))), schema).pruned
    found = two_way(tree, lambda node: intervals_of_codes(tree, node, 1000), refuse=False)
    assert len(found.column) == 1999
    depth = np.zeros(1999, np.int64)
    for node in np.flatnonzero(found.column >= 0):
        depth[[found.low[node], found.high[node]]] = depth[node] + 1
    assert depth.max() == 10


def checkerboard(depth: int, n_values: int) -> Node:
    """Groups of values below groups of values, of which no two neighbours are in one."""
    if depth == 0:
        return leaf(1.0, 2.0)
    odd, even = [*range(1, n_values + 1, 2)], [*range(2, n_values + 1, 2)]
    return inner("subset", depth - 1, *(checkerboard(depth - 1, n_values) for _ in range(2)), subsets=[odd, even])


def test_what_would_be_repeated_too_often() -> None:
    values = tuple(f"v{i}" for i in range(40))
    schema = Schema(tuple(Attribute(f"a{i}", "discrete", values) for i in range(4)), ("no", "yes"))
    model = made(checkerboard(4, 40), schema)
    for export in (to_sklearn, to_shap):
        with pytest.raises(DataError, match="would have to be repeated too often: use another export"):
            export(model, unknown="most_common")


def test_encode_takes_frames_arrays_and_tables() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["x", "y", None, "x"], "b": [1.5, None, 2.0, 3.0]})
    classifier = C45Classifier().fit(frame, [0, 1, 0, 1])
    wanted = [[0.0, 1.5], [1.0, np.nan], [np.nan, 2.0], [0.0, 3.0]]
    np.testing.assert_array_equal(encode(classifier, frame), wanted)
    np.testing.assert_array_equal(encode(classifier.model_, frame.to_numpy()), wanted)
    release8 = trained(compat="r8")
    X = encode(release8, cases(beside=release8.pruned))
    assert not (X == -999).any()
    assert (X[~np.isnan(X)] == X[~np.isnan(X)].astype(np.float32)).all()
    assert np.isnan(X[:, 2]).all()


@pytest.mark.parametrize("given", [{"unknown": "refuse"}, {"unknown": "fractions"}])
def test_refusals(given: dict[str, Any]) -> None:
    model = made(leaf(1.0, 2.0, 3.0))
    for export in (to_sklearn, to_shap):
        with pytest.raises(OptionError, match="unknown='most_common'"):
            export(model, **given)
        with pytest.raises(TypeError, match="unknown"):
            export(model)
    with pytest.raises(OptionError, match="give 'refuse' or 'most_common'"):
        to_treelite(model, unknown="fractions")  # type: ignore[arg-type]
