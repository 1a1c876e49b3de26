"""Data frames of every library give the same model, byte for byte; what does not fit a model is told by its name."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from c45gpu import C45Classifier, C45Rules, save
from c45gpu.errors import DataError

UNKNOWN_AT = 5
COLOURS = ["blue", "green", "red", "violet"]


def rows() -> dict[str, list[Any]]:
    """A column of each kind, None where a value is unknown; violet is a colour of which there is none."""
    chance = np.random.default_rng(3)
    n = 90
    columns: dict[str, list[Any]] = {
        "colour": chance.choice(COLOURS[:3], n).tolist(),
        "note": chance.choice(["", "a, b", 'say "x"', "two\nlines"], n).tolist(),
        "size": chance.normal(size=n).round(2).tolist(),
        "count": chance.integers(0, 9, n).tolist(),
        "member": chance.choice([True, False], n).tolist(),
        "day": (np.datetime64("2020-01-01", "us") + chance.integers(0, 99, n) * np.timedelta64(1, "D")).tolist(),
    }
    for number, column in enumerate(columns.values()):
        column[UNKNOWN_AT + number :: 17] = [None] * len(column[UNKNOWN_AT + number :: 17])
    return columns


def labels() -> list[str]:
    found = rows()
    return [
        "p" if (s or 0) + (c or 0) / 9 + (k == "red") > 0.8 else "q"
        for k, s, c in zip(found["colour"], found["size"], found["count"], strict=True)
    ]


def of_pandas(**kinds: str) -> pd.DataFrame:
    columns = rows()
    frame = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in columns.items()})
    plain = {"size": "float64", "count": "float64", "day": "datetime64[us]"}
    return frame.astype({**plain, **kinds})


def with_categories(**kinds: str) -> pd.DataFrame:
    frame = of_pandas(**kinds)
    frame["colour"] = pd.Categorical(rows()["colour"], categories=COLOURS)
    return frame


def of_arrow() -> pa.Table:
    return pa.table(rows())


class Stream:
    """Something that only exports an Arrow stream."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


UNDECLARED: dict[str, Callable[[], Any]] = {
    "pandas objects": of_pandas,
    "pandas str": lambda: of_pandas(colour="str", note="str"),
    "pandas string": lambda: of_pandas(colour="string", note="string", member="boolean", size="Float64", count="Int64"),
    "pandas on arrow": lambda: of_arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "pandas in another order of rows' labels": lambda: of_pandas().set_index(np.arange(90)[::-1]),
    "polars": lambda: pl.DataFrame(rows()),
    "polars with NaN": lambda: pl.DataFrame(rows()).with_columns(pl.col("size").fill_null(float("nan"))),
    "polars Categorical": lambda: pl.DataFrame(rows()).with_columns(pl.col("colour", "note").cast(pl.Categorical)),
    "pyarrow": of_arrow,
    "pyarrow in chunks": lambda: pa.concat_tables([of_arrow()[:7], of_arrow()[7:60], of_arrow()[60:]]),
    "pyarrow dictionary": lambda: of_arrow().set_column(0, "colour", of_arrow()["colour"].dictionary_encode()),
    "a stream": lambda: Stream(of_arrow()),
}
DECLARED: dict[str, Callable[[], Any]] = {
    "pandas categories": with_categories,
    "pandas categories beside strings": lambda: with_categories(note="string"),
    "polars Enum": lambda: pl.DataFrame(rows()).with_columns(pl.col("colour").cast(pl.Enum(COLOURS))),
    "pyarrow ordered": lambda: of_arrow().set_column(
        0,
        "colour",
        pa.DictionaryArray.from_arrays(
            pa.array([None if c is None else COLOURS.index(c) for c in rows()["colour"]]), COLOURS, ordered=True
        ),
    ),
}


def model_bytes(frame: Any, y: Any, path: Path) -> bytes:
    save(C45Classifier(min_cases=3).fit(frame, y).model_, path)
    return path.read_bytes()


@pytest.mark.parametrize("made", UNDECLARED)
def test_every_library_gives_the_same_bytes(tmp_path: Path, made: str) -> None:
    expected = model_bytes(of_pandas(), labels(), tmp_path / "expected.c45")
    assert model_bytes(UNDECLARED[made](), labels(), tmp_path / "found.c45") == expected


@pytest.mark.parametrize("made", DECLARED)
def test_declared_categories_give_the_same_bytes_too(tmp_path: Path, made: str) -> None:
    expected = model_bytes(with_categories(), labels(), tmp_path / "expected.c45")
    assert expected != model_bytes(of_pandas(), labels(), tmp_path / "undeclared.c45")
    assert model_bytes(DECLARED[made](), labels(), tmp_path / "found.c45") == expected


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(labels()),
        pd.Series(labels(), dtype="string"),
        pd.Series(labels()).astype("category"),
        pl.Series(labels()),
        pl.Series(labels(), dtype=pl.Enum(["q", "p"])),
        pa.array(labels()),
        np.array(labels()),
    ],
    ids=lambda y: str(type(y)),
)
def test_labels_may_be_of_any_library(tmp_path: Path, y: Any) -> None:
    expected = model_bytes(of_pandas(), labels(), tmp_path / "expected.c45")
    assert model_bytes(of_pandas(), y, tmp_path / "found.c45") == expected


def test_labels_that_are_nullable_numbers_stay_whole() -> None:
    y = pd.Series([1, 2] * 45, dtype="Int64")
    assert C45Classifier().fit(of_pandas(), y).model_.schema.classes == ("1", "2")


@pytest.mark.parametrize("made", UNDECLARED | DECLARED)
def test_any_library_may_ask_a_model_of_another(made: str) -> None:
    fitted = C45Classifier(min_cases=3).fit(of_pandas(), labels())
    asked = (UNDECLARED | DECLARED)[made]()
    np.testing.assert_array_equal(fitted.predict_proba(asked), fitted.predict_proba(of_pandas()))


# -------------------------------------------------------------------------------------------------- what does not fit


@pytest.fixture(scope="module")
def fitted() -> C45Classifier:
    return C45Classifier().fit(of_pandas(), labels())


FRAME = of_pandas()


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME[["note", "colour", "size", "count", "member", "day"]], "Column 0 is 'note' where 'colour' is due"),
        (FRAME.drop(columns="size"), "now missing:\n- size\nColumn 2 is 'count' where 'size' is due"),
        (FRAME.rename(columns={"size": "length"}), "unseen at fit time:\n- length"),
        (FRAME.assign(more=1), "unseen at fit time:\n- more\nColumn 6 is 'more' where 'none' is due"),
        (pl.DataFrame(rows()).drop("size"), "now missing:\n- size\nColumn 2 is 'count' where 'size' is due"),
        (FRAME.assign(size="large"), "column 'size', row 0: 'large' is not a number, but the model knows"),
        (FRAME.assign(colour=1), "column 'colour': holds numbers (int64), but the model knows it with the values blue"),
        (FRAME.assign(colour=pd.Categorical([0] * 90)), "column 'colour': holds numbers (dictionary<values=int64"),
        (FRAME.assign(colour=[[1]] * 90), "column 'colour': has the type list<item: int64>"),
        (FRAME.assign(size=pd.arrays.SparseArray([0.0] * 90)), "column 'size' is sparse: make it dense"),
        (FRAME[:0], "0 cases with 6 attributes: give at least one"),
    ],
)  # fmt: skip
def test_a_frame_that_does_not_fit_is_refused_by_name(fitted: C45Classifier, frame: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        fitted.predict(frame)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.concat([FRAME, FRAME[["size"]]], axis=1), "two columns are named 'size': give each its own name"),
        (pa.Table.from_arrays([pa.array([1.0] * 90)] * 2, names=["x", "x"]), "two columns are named 'x'"),
        (FRAME[:0], "0 cases with 6 attributes"),
        (FRAME[[]], "90 cases with 0 attributes"),
        (FRAME.assign(z=1j), "column 'z' does not hold values of one type"),
    ],
)
def test_a_frame_that_is_none_is_refused(frame: Any, message: str) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        C45Classifier().fit(frame, labels()[: len(frame)])


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_sparse_matrices_are_refused_with_a_sentence(fitted: C45Classifier, kind: Any) -> None:
    X = kind(np.eye(6))
    with pytest.raises(TypeError, match=r"Sparse data was passed for X, but dense data is required\. Use '\.toarray"):
        C45Classifier().fit(X, list("ababab"))
    with pytest.raises(TypeError, match="Sparse data was passed"):
        fitted.predict(X)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (labels()[:5], "y has 5 labels for 90 samples"),
        (pd.Series([None, *labels()[1:]], dtype="string"), r"y\[0\] is missing: give every case a class"),
        (pd.Series([pd.NA, *[1, 2] * 44, 1], dtype="Int64"), "Input y contains NaN"),
    ],
)
def test_labels_that_do_not_fit_are_refused(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        C45Classifier().fit(of_pandas(), y)


def test_more_classes_than_fit_into_16_bits_are_refused() -> None:
    numbers = np.arange(40_000)
    with pytest.raises(
        DataError, match="the class 'class' has 40000 values, the most is 32767: is it a number or a key"
    ):
        C45Classifier().fit(numbers[:, None].astype(float), numbers)


# -------------------------------------------------------------------------------- categories that were not there before


def test_categories_may_change_between_fit_and_predict() -> None:
    """They are known by name: order and unused ones make no difference, new ones are unknown."""
    fitted = C45Classifier(min_cases=3).fit(with_categories()[["colour"]], labels())
    colours = rows()["colour"]
    turned = pd.DataFrame({"colour": pd.Categorical(colours, categories=["white", *COLOURS[::-1]])})
    assert (fitted.predict_proba(turned) == fitted.predict_proba(with_categories()[["colour"]])).all()
    new = pd.DataFrame({"colour": pd.Categorical(["white"])})
    assert (fitted.predict_proba(new) == fitted.predict_proba(pd.DataFrame({"colour": [None]}))).all()


def test_unseen_values_are_an_error_on_request() -> None:
    """Unknown ones are not."""
    fitted = C45Classifier(unseen="error").fit(of_pandas(), labels())
    assert fitted.predict(of_pandas()).shape == (90,)
    message = "column 'colour', row 0: 'white' is none of the values in training (blue, green, red)"
    with pytest.raises(DataError, match=re.escape(message)):
        fitted.predict(of_pandas().assign(colour="white"))
    by_position = C45Classifier(unseen="error").fit(of_pandas().to_numpy(object)[:, :2], labels())
    with pytest.raises(DataError, match="column 'x0', row 0: 'white'"):
        by_position.predict(np.array([["white", ""]], object))
    assert len(C45Rules().fit(of_pandas(), labels()).predict(of_pandas().assign(colour="white"))) == 90
