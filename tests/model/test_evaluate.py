from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, precision_score, recall_score

from c45gpu.model.evaluate import evaluate
from c45gpu.model.predict import class_frequencies
from tests.golden_trees import chain, inner, leaf, read_golden, tree_of
from tests.model.test_predict import read_test_cases

SCHEMA, _ = chain(1)
TREE = tree_of(inner("threshold", 0, leaf(3.0, 1.0, 0.0), leaf(0.0, 2.0, 2.0), cut=1.0) | {"errors": 2.0}, SCHEMA)

TRUE = np.array([0, 0, 0, 1, 1, 2, -1])
FREQUENCIES = np.eye(3)[[0, 0, 1, 1, 2, 1, 0]]


def test_confusion_and_what_follows_from_it() -> None:
    seen = evaluate(TREE, TRUE, FREQUENCIES)
    assert seen.confusion.tolist() == [[2, 1, 0], [0, 1, 1], [0, 1, 0]]
    assert (seen.size, seen.n_cases, seen.weight, seen.errors) == (3, 6, 6, 3)
    assert (seen.accuracy, seen.error_percent) == (0.5, 50)
    assert seen.precision.tolist() == [1, 1 / 3, 0]
    assert seen.recall.tolist() == [2 / 3, 1 / 2, 0]
    assert seen.f1.tolist() == [4 / 5, 2 / 5, 0]
    assert seen.macro_f1 == pytest.approx(0.4)


def test_weights_count() -> None:
    seen = evaluate(TREE, TRUE, FREQUENCIES, np.array([1, 0.5, 2, 1, 1, 1, 100.0]))
    assert seen.confusion.tolist() == [[1.5, 2, 0], [0, 1, 1], [0, 1, 0]]
    assert (seen.n_cases, seen.weight, seen.errors) == (6, 6.5, 4)


def test_the_estimate_is_of_the_tree() -> None:
    assert evaluate(TREE, TRUE, FREQUENCIES).estimate == 25


def test_no_cases() -> None:
    seen = evaluate(TREE, np.array([-1]), FREQUENCIES[:1])
    assert (seen.n_cases, seen.errors, seen.error_percent) == (0, 0, 0)
    assert np.isnan([seen.accuracy, seen.macro_f1, *seen.precision, *seen.recall]).all()


def test_a_class_that_nobody_has_or_gets_does_not_lower_macro_f1() -> None:
    seen = evaluate(TREE, np.array([0, 1]), np.eye(3)[[0, 1]])
    assert np.isnan(seen.f1[2])
    assert seen.macro_f1 == 1


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 4)), min_size=1, max_size=20))
def test_figures_are_those_of_scikit_learn(cases: list[tuple[int, int, int]]) -> None:
    true, predicted, weights = (np.array(column) for column in zip(*cases, strict=True))
    seen = evaluate(TREE, true, np.eye(3)[predicted], weights.astype(float))
    assert (
        seen.confusion.tolist() == confusion_matrix(true, predicted, sample_weight=weights, labels=[0, 1, 2]).tolist()
    )
    assert seen.accuracy == pytest.approx(accuracy_score(true, predicted, sample_weight=weights))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        assert seen.macro_f1 == pytest.approx(f1_score(true, predicted, sample_weight=weights, average="macro"))
        for ours, theirs in ((seen.precision, precision_score), (seen.recall, recall_score)):
            expected = theirs(
                true, predicted, sample_weight=weights, average=None, labels=[0, 1, 2], zero_division=np.nan
            )
            np.testing.assert_allclose(ours, expected)


@pytest.mark.parametrize("name", ["r8_labor-neg", "r8_vote", "jb_auto_imports.s", "sk_iris"])
def test_the_originals_trees_are_judged_as_the_original_does(golden: Path, name: str) -> None:
    schema, unpruned, pruned, document = read_golden(golden / "sets" / f"{name}.json")
    (answer,) = document["test"]
    cases = read_test_cases(golden / "sets" / f"{name.partition('.')[0]}.test", schema)
    before, after = (evaluate(t, cases.classes, class_frequencies(t, cases)) for t in (unpruned, pruned))
    assert (before.size, before.errors) == (answer["size_before"], answer["errors_before"])
    assert (after.size, after.errors) == (answer["size_after"], answer["errors_after"])
    assert f"{after.estimate:.1f}" == answer["estimate_pct"]
    assert after.confusion.tolist() == document["test_confusion"]
