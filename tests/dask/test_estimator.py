"""The estimator on Dask's collections gives what the estimator on one machine gives."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import c45gpu
from c45gpu.dask import C45Classifier
from c45gpu.errors import DataError, EngineError
from c45gpu.model.store import Model, model_bytes
from tests.dask.threads import client

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["client"]

IRIS = load_iris()


def bytes_of(classifier: Any) -> bytes:
    model: Model = classifier.model_
    return model_bytes(model)


def penguins() -> tuple[pd.DataFrame, pd.Series]:
    """Rows in an order that gives every partition other values, with categories, texts, truth values and nulls."""
    whole = pd.read_csv("examples/penguins.csv").sort_values(["island", "species"], ignore_index=True)
    whole["heavy"] = (whole["body_mass_g"] > 4000).astype("boolean").mask(whole["body_mass_g"].isna())
    whole["island"] = whole["island"].astype("category")
    whole["bill_depth_mm"] = whole["bill_depth_mm"].astype("float32")
    return whole.drop(columns="species"), whole["species"]


@pytest.fixture(scope="module")
def frames() -> tuple[pd.DataFrame, pd.Series]:
    return penguins()


def test_a_data_frame(client: Client, frames: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = frames
    whole = dd.from_pandas(X.assign(species=y), npartitions=5, sort=False)
    ours = C45Classifier(client).fit(whole.drop(columns="species"), whole["species"])
    single = c45gpu.C45Classifier().fit(X, y)
    assert bytes_of(ours) == bytes_of(single)
    np.testing.assert_array_equal(ours.classes_, single.classes_, strict=True)
    np.testing.assert_array_equal(ours.feature_names_in_, single.feature_names_in_, strict=True)
    assert ours.n_features_in_ == single.n_features_in_
    predicted, shares = ours.predict(whole.drop(columns="species")), ours.predict_proba(whole.drop(columns="species"))
    assert type(predicted).__name__ == "Series"  # of Dask's, not computed yet
    assert predicted.npartitions == 5
    pd.testing.assert_series_equal(predicted.compute(), pd.Series(single.predict(X), X.index, name="predicted"))
    expected = pd.DataFrame(single.predict_proba(X), X.index, single.classes_)
    pd.testing.assert_frame_equal(shares.compute(), expected)
    assert predicted.dtype == predicted.compute().dtype
    assert ours.score(whole.drop(columns="species"), whole["species"]) == single.score(X, y)
    assert ours.explain(X[:1]) == single.explain(X[:1])


def test_unknown_categories_are_those_of_all_partitions_in_the_order_in_which_they_appear(client: Client) -> None:
    whole = pd.DataFrame({"x": list("ccabbadd"), "n": np.arange(8.0), "y": [0, 1] * 4})
    frame = dd.from_pandas(whole, npartitions=4).astype({"x": "category"})
    assert not frame["x"].cat.known
    together = frame.compute()
    assert list(together["x"].cat.categories) == ["c", "a", "b", "d"]
    ours = C45Classifier(client, prune=False).fit(frame[["x", "n"]], frame["y"])
    assert bytes_of(ours) == bytes_of(c45gpu.C45Classifier(prune=False).fit(together[["x", "n"]], together["y"]))


@pytest.mark.parametrize("columns", [4, 1])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_an_array_cut_by_rows_and_columns(client: Client, columns: int, kind: str) -> None:
    order = np.random.default_rng(0).permutation(150)
    X, y = IRIS.data[order].astype(kind), IRIS.target[order]
    X[::7, 2] = np.nan
    rows = da.from_array(X, chunks=((50, 1, 99), columns))
    ours = C45Classifier(client, confidence=0.5).fit(rows, da.from_array(y, chunks=40))
    single = c45gpu.C45Classifier(confidence=0.5).fit(X, y)
    assert bytes_of(ours) == bytes_of(single)
    predicted, shares = ours.predict(rows), ours.predict_proba(rows)
    assert predicted.chunks == (rows.chunks[0],)
    assert (predicted.dtype, shares.dtype) == (np.int64, np.float64)
    np.testing.assert_array_equal(predicted.compute(), single.predict(X), strict=True)
    np.testing.assert_array_equal(shares.compute(), single.predict_proba(X), strict=True)
    assert ours.score(rows, da.from_array(y, chunks=40)) == single.score(X, y)
    assert ours.score(X, y) == single.score(X, y)
    np.testing.assert_array_equal(ours.predict(X), single.predict(X), strict=True)


def test_chunks_of_unknown_length(client: Client) -> None:
    X, y = da.from_array(IRIS.data, chunks=(40, -1)), da.from_array(IRIS.target, chunks=40)
    kept = X[:, 0] > 5
    here = IRIS.data[:, 0] > 5
    single = c45gpu.C45Classifier().fit(IRIS.data[here], IRIS.target[here])
    assert bytes_of(C45Classifier(client).fit(X[kept], y[kept])) == bytes_of(single)
    assert bytes_of(C45Classifier(client).fit(X[kept], IRIS.target[here])) == bytes_of(single)


def test_texts_in_an_array(client: Client) -> None:
    X = np.array([["b", 1.5], ["a", 2.5], ["c", None], [None, 0.5]] * 3, object)
    y = np.array(["no", "yes", "no", "yes"] * 3, object)
    ours = C45Classifier(client).fit(da.from_array(X, chunks=(3, 2)), da.from_array(y, chunks=3))
    assert bytes_of(ours) == bytes_of(c45gpu.C45Classifier().fit(X, y))
    assert ours.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("weights", "class_weight"),
    [
        (np.arange(150.0), None),
        (np.where(np.arange(150) < 60, 0.0, 1 / 90), None),
        (None, "balanced"),
        (None, {0: 2.0, 1: 0.5, 2: 1.0}),
        (np.linspace(0.5, 2, 150).astype("float32"), "balanced"),
    ],
    ids=["whole", "sums to 1", "balanced", "dictionary", "both"],
)
def test_weights(client: Client, weights: Any, class_weight: Any) -> None:
    X, y = IRIS.data[:140], IRIS.target[:140]
    weights = None if weights is None else weights[:140]
    lazy = None if weights is None else da.from_array(weights, chunks=60)
    rows = da.from_array(X, chunks=(60, 4)), da.from_array(y, chunks=60)
    ours = C45Classifier(client, class_weight=class_weight).fit(*rows, lazy)
    single = c45gpu.C45Classifier(class_weight=class_weight).fit(X, y, weights)
    assert bytes_of(ours) == bytes_of(single)
    assert ours.score(*rows, lazy) == pytest.approx(single.score(X, y, weights), rel=1e-12)
    assert bytes_of(C45Classifier(client, class_weight=class_weight).fit(X, y, weights)) == bytes_of(single)


def test_columns_named_categorical(client: Client) -> None:
    X = (IRIS.data * 2).round()
    frame = pd.DataFrame(X, columns=list("abcd"))
    for given, whole, lazy in (
        ([0, 2], X, da.from_array(X, chunks=(60, 4))),
        (["a"], frame, dd.from_pandas(frame, npartitions=3)),
    ):
        single = c45gpu.C45Classifier(categorical_features=given).fit(whole, IRIS.target)
        ours = C45Classifier(client, categorical_features=given).fit(lazy, IRIS.target)
        assert bytes_of(ours) == bytes_of(single)


def test_what_is_in_memory_is_sent(client: Client, frames: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = frames
    single = c45gpu.C45Classifier(costs={("Adelie", "Gentoo"): 5}).fit(X, y)
    ours = C45Classifier(client, costs={("Adelie", "Gentoo"): 5}).fit(X, y)
    assert bytes_of(ours) == bytes_of(single)
    np.testing.assert_array_equal(ours.predict(X), single.predict(X))


def test_a_narrow_column_of_a_data_set_has_the_partitions_of_the_others(
    client: Client, frames: tuple[pd.DataFrame, pd.Series], tmp_path: Path
) -> None:
    X, y = frames
    X.assign(species=y).to_parquet(tmp_path / "a.parquet", row_group_size=50)  # Dask would read y in fewer partitions
    whole = dd.read_parquet(tmp_path / "a.parquet", split_row_groups=True)
    here = whole.compute()
    ours = C45Classifier(client).fit(whole.drop(columns="species"), whole["species"])
    single = c45gpu.C45Classifier().fit(here.drop(columns="species"), here["species"])
    assert bytes_of(ours) == bytes_of(single)
    assert ours.score(whole.drop(columns="species"), whole["species"]) == single.score(X, y)


def test_features_in_another_order_are_refused_at_once(client: Client) -> None:
    frame = dd.from_pandas(pd.DataFrame({"x": np.arange(8.0), "z": np.ones(8), "y": [0, 1] * 4}), npartitions=2)
    ours = C45Classifier(client).fit(frame[["x", "z"]], frame["y"])
    with pytest.raises(
        DataError, match=r"Column 0 is 'z' where 'x' is due: give X\[list\(fitted.feature_names_in_\)\]"
    ):
        ours.predict(frame[["z", "x"]])


def test_an_empty_partition_says_nothing(client: Client) -> None:
    frame = pd.DataFrame({"x": list("abab"), "n": np.arange(4.0), "y": [0, 1, 0, 1]})
    lazy = dd.from_pandas(frame, npartitions=2)
    some = lazy[lazy["n"] >= 2]
    ours = C45Classifier(client, min_cases=1, prune=False).fit(some[["x", "n"]], some["y"])
    single = c45gpu.C45Classifier(min_cases=1, prune=False).fit(frame[2:][["x", "n"]], frame[2:]["y"])
    assert bytes_of(ours) == bytes_of(single)
    assert ours.predict(some[["x", "n"]]).compute().tolist() == [0, 1]
    assert ours.predict_proba(some[["x", "n"]]).compute().shape == (2, 2)
    assert ours.score(some[["x", "n"]], some["y"]) == 1.0
    none = lazy[lazy["n"] > 9]
    with pytest.raises(DataError, match="no partition has any cases: give at least one case"):
        C45Classifier(client).fit(none[["x", "n"]], none["y"])


def test_the_client_in_use_here_is_taken(client: Client) -> None:
    classifier = C45Classifier().fit(da.from_array(IRIS.data, chunks=(75, 4)), da.from_array(IRIS.target, chunks=75))
    assert classifier.client is None
    assert bytes_of(classifier) == bytes_of(c45gpu.C45Classifier().fit(IRIS.data, IRIS.target))


def test_without_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    def none() -> None:
        raise ValueError("No global client found")

    monkeypatch.setattr(distributed, "get_client", none)
    with pytest.raises(
        EngineError, match=r"there is no Dask client: make one, client = distributed\.Client\(ADDRESS\)"
    ):
        C45Classifier().fit(IRIS.data, IRIS.target)


def test_parameters_pickle_and_clone(client: Client) -> None:
    classifier = C45Classifier(client, min_cases=5, prune="pep")
    parameters = classifier.get_params()
    assert parameters == {**c45gpu.C45Classifier(min_cases=5, prune="pep").get_params(), "client": client}
    assert list(inspect.signature(C45Classifier).parameters)[:2] == ["client", "criterion"]
    twin = clone(classifier)
    assert twin.get_params() == parameters
    assert twin is not classifier
    X = da.from_array(IRIS.data, chunks=(75, 4))
    classifier.fit(X, da.from_array(IRIS.target, chunks=75))
    assert not hasattr(clone(classifier), "model_")
    classifier.predict(X).compute()
    again = pickle.loads(pickle.dumps(classifier))
    assert again.client is None
    assert bytes_of(again) == bytes_of(classifier)
    np.testing.assert_array_equal(again.predict(IRIS.data), classifier.predict(IRIS.data))
    np.testing.assert_array_equal(again.set_params(client=client).predict(X).compute(), classifier.predict(IRIS.data))


def test_an_unknown_parameter() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'minimum'"):
        C45Classifier(minimum=3)


def test_the_model_goes_to_every_worker_once(client: Client) -> None:
    X = da.from_array(IRIS.data, chunks=(75, 4))
    classifier = C45Classifier(client).fit(X, IRIS.target)
    sent = classifier.on_workers()
    assert classifier.on_workers() is sent
    assert set(client.who_has([sent])[sent.key]) == set(client.nthreads())


@pytest.mark.parametrize(
    ("rows", "y", "message"),
    [
        (IRIS.data, da.zeros(149, chunks=75), "y has 149 rows, X has 150: give one for each case"),
        (IRIS.data, np.zeros(149), r"y has the shape \(149,\), X has 150 rows: give one for each case"),
        (IRIS.data, da.zeros((150, 1), chunks=75), "y has 2 dimensions where one is due"),
        (np.full((150, 1), "x", object), da.zeros(150) * np.nan, r"partition \d: y\[0\] is missing: give every case"),
        (np.zeros(150), da.zeros(150), "X is no Dask array of shape"),
    ],
    ids=["longer", "longer in memory", "wide", "missing", "one dimension"],
)
def test_what_does_not_go_together(client: Client, rows: Any, y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        C45Classifier(client).fit(da.from_array(rows, chunks=75), y)


def test_partitions_that_do_not_go_together(client: Client) -> None:
    frame = dd.from_pandas(pd.DataFrame({"x": np.arange(8.0), "y": [0, 1] * 4}), npartitions=4)
    with pytest.raises(DataError, match="y has 2 partitions, X has 4: give it the partitions of X, such as a column"):
        C45Classifier(client).fit(frame[["x"]], frame["y"].repartition(npartitions=2))
    with pytest.raises(DataError, match=r"partition \d: y has \d labels for \d cases: give it the partitions of X"):
        C45Classifier(client).fit(frame[["x"]], frame["y"].map_partitions(lambda y: y[1:]))


def test_labels_that_are_no_classes(client: Client) -> None:
    with pytest.raises(ValueError, match="Unknown label type"):
        C45Classifier(client).fit(da.from_array(IRIS.data, chunks=(75, 4)), np.linspace(0.1, 0.9, 150))
