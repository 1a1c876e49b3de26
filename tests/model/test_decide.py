"""What leaves say: smoothed probabilities, and labels by cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from c45gpu.errors import OptionError
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.kernels.engine import open_engine
from c45gpu.model.decide import as_costs, errors_of_labels, smoothed, with_least_cost_labels
from c45gpu.model.predict import class_frequencies, leaf_probabilities, predicted_classes
from c45gpu.model.tree import LEAF
from c45gpu.model.validate import validate_tree
from tests.golden_trees import empty_leaf, inner, leaf, tree_of
from tests.strategies import Sample, larger_samples, sample

TABLE = sample([("discrete", 3, [0, 1, 2, None])], 3, [0, 1, 2, 0], None).table
ROOT = inner("discrete", 0, leaf(3.0, 1.0, 0.0), leaf(0.0, 0.0, 8.0), empty_leaf(2, 3.0, 1.0, 8.0))


def test_a_leaf_of_three_and_one_among_three_classes() -> None:
    probabilities = leaf_probabilities(smoothed(tree_of(ROOT, TABLE.schema)))
    np.testing.assert_allclose(probabilities[1], [4 / 7, 2 / 7, 1 / 7], rtol=1e-15)
    np.testing.assert_allclose(probabilities[2], [1 / 11, 1 / 11, 9 / 11], rtol=1e-15)
    assert probabilities[3].tolist() == [0, 0, 1]  # a leaf without cases stays with its label


def test_unknown_values_are_shared_as_ever() -> None:
    frequencies = class_frequencies(smoothed(tree_of(ROOT, TABLE.schema)), TABLE)
    both = np.array([4 / 7, 2 / 7, 1 / 7]) * 4 / 12 + np.array([1 / 11, 1 / 11, 9 / 11]) * 8 / 12
    np.testing.assert_allclose(frequencies[3], both, rtol=1e-14)


@given(cases=larger_samples())
def test_smoothing_keeps_all_but_the_leaves_and_their_most_frequent_class(cases: Sample) -> None:
    tree = train(cases.table, Options(prune="none"), "reference").unpruned
    smooth = smoothed(tree)
    validate_tree(smooth, cases.table.schema)
    inside = tree.kind != LEAF
    assert smooth.weight.tolist() == tree.weight.tolist()
    assert smooth.class_weights[inside].tolist() == tree.class_weights[inside].tolist()
    assert (leaf_probabilities(smooth)[~inside].argmax(1) == leaf_probabilities(tree)[~inside].argmax(1)).all()
    frequencies = class_frequencies(smooth, cases.table)
    np.testing.assert_allclose(frequencies.sum(1), 1, rtol=1e-12)


def test_the_cpu_engine_smooths_alike() -> None:
    chance = np.random.default_rng(0)
    x = [None if v > 0.9 else v for v in chance.random(500).round(2).tolist()]
    cases = sample([("continuous", 0, x)], 3, chance.integers(0, 3, 500).tolist(), None)
    smooth = smoothed(train(cases.table, Options(prune="none")).unpruned)
    engine = open_engine("cpu", 0)
    try:
        assert engine.route(smooth, cases.table).tobytes() == class_frequencies(smooth, cases.table).tobytes()
    finally:
        engine.close()


# ---------------------------------------------------------------- costs
def test_the_class_of_the_least_expected_cost() -> None:
    frequencies = np.array([[0.8, 0.2], [0.7, 0.3], [0.75, 0.25], [0.0, 1.0]])
    costs = np.array([[0.0, 1.0], [3.0, 0.0]])  # a case of the second class that is missed costs 3
    assert predicted_classes(frequencies).tolist() == [0, 0, 0, 1]
    assert predicted_classes(frequencies, costs).tolist() == [0, 1, 0, 1]  # 0.75 and 3 * 0.25 tie: the first
    assert predicted_classes(frequencies, 1 - np.eye(2)).tolist() == [0, 0, 0, 1]


def test_labels_follow_costs_and_errors_follow_labels() -> None:
    costs = as_costs([[0, 1, 1], [9, 0, 9], [1, 1, 0]], 3)
    tree = with_least_cost_labels(tree_of(ROOT, TABLE.schema), costs)
    assert tree.label.tolist() == [1, 1, 2, 1]
    assert errors_of_labels(tree).tolist() == [3, 3, 0, 0]


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([[0, 1]], "the costs are not numbers in 2 rows and columns"),
        ([[0, "much"], [1, 0]], "the costs are not numbers in 2 rows and columns"),
        ({"a": 1}, "the costs are not numbers in 2 rows and columns"),
        ([[0, -1], [1, 0]], "it costs -1.0 to take class 0 for class 1"),
        ([[0, 1], [np.nan, 0]], "it costs nan to take class 1 for class 0"),
        ([[0, 1], [1, 2]], "it costs 2.0 to take class 1 for itself"),
    ],
    ids=str,
)
def test_what_is_no_cost_is_refused(costs: Any, words: str) -> None:
    with pytest.raises(OptionError) as caught:
        as_costs(costs, 2)
    assert str(caught.value).startswith(words)
