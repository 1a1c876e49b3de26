"""Prediction with soft thresholds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.table import Table
from c45gpu.errors import ModelError
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.predict import class_frequencies
from c45gpu.model.soft import SoftThresholds, low_shares
from tests.golden_trees import inner, leaf, tree_of
from tests.strategies import Sample, larger_samples, sample

NAN = float("nan")


def heights(*values: float | None) -> Table:
    return sample([("continuous", 0, list(values))], 2, [0] * len(values), None).table


SCHEMA = heights(1.0).schema
TREE = tree_of(inner("threshold", 0, leaf(8.0, 0.0), leaf(0.0, 24.0), cut=5.0), SCHEMA)


def of(lower: float, upper: float) -> SoftThresholds:
    return SoftThresholds(np.array([lower, NAN, NAN]), np.array([upper, NAN, NAN]))


def low_part(soft: SoftThresholds, *values: float | None) -> list[float]:
    return class_frequencies(TREE, heights(*values), soft)[:, 0].tolist()


def test_the_part_falls_from_the_lower_bound_to_the_upper() -> None:
    assert low_part(of(4, 9), 3, 4, 4.5, 5, 7, 9, 10) == [1, 1, 0.75, 0.5, 0.25, 0, 0]


def test_an_unknown_value_takes_both_branches_by_their_weight() -> None:
    assert low_part(of(4, 9), None) == [0.25]


def test_bounds_without_width_are_the_threshold() -> None:
    assert low_part(of(5, 5), 4.9, 5, 5.1) == [1, 1, 0]
    assert low_part(of(5, 9), 5, 7, 9) == [1, 0.25, 0]
    assert low_part(of(4, 5), 4, 4.5, 5, 6) == [1, 0.75, 0, 0]


def test_parts_multiply_down_the_tree() -> None:
    below = inner("threshold", 0, leaf(2.0, 0.0), leaf(0.0, 4.0), cut=4.0)
    tree = tree_of(inner("threshold", 0, below, leaf(8.0, 0.0), cut=5.0), SCHEMA)
    soft = SoftThresholds(np.array([3.0, 2.0, NAN, NAN, NAN]), np.array([7.0, 8.0, NAN, NAN, NAN]))
    (frequencies,) = class_frequencies(tree, heights(4.5), soft).tolist()
    low, low_below = 1 - 1.5 / 2 / 2, 3.5 / 4 / 2
    assert frequencies == pytest.approx([low * low_below + (1 - low), low * (1 - low_below)], rel=1e-15)


@given(cases=larger_samples())
def test_thresholds_that_are_their_own_bounds_change_nothing(cases: Sample) -> None:
    tree = train(cases.table, Options(prune="none"), "reference").unpruned
    hard = SoftThresholds(tree.threshold, tree.threshold)
    hard.check(tree)
    assert class_frequencies(tree, cases.table, hard).tobytes() == class_frequencies(tree, cases.table).tobytes()


@given(cases=larger_samples(), width=st.floats(0, 5))
def test_frequencies_sum_to_one(cases: Sample, width: float) -> None:
    tree = train(cases.table, Options(prune="none"), "reference").unpruned
    soft = SoftThresholds(tree.threshold - width, tree.threshold + width)
    np.testing.assert_allclose(class_frequencies(tree, cases.table, soft).sum(1), 1, rtol=1e-12)


@given(st.floats(-10, 10), st.floats(0, 5), st.floats(0, 5), st.lists(st.floats(-20, 20), min_size=2, max_size=9))
def test_the_part_never_rises(cut: float, down: float, up: float, values: list[float]) -> None:
    tree, soft = replace(TREE, threshold=np.array([cut, NAN, NAN])), of(cut - down, cut + up)
    table = heights(*sorted(values))
    shares = low_shares(tree, soft, table, np.zeros(len(values), np.int64), np.arange(len(values)))
    assert (np.diff(shares) <= 0).all()
    assert ((shares >= 0) & (shares <= 1)).all()


@pytest.mark.parametrize(
    ("soft", "words"),
    [
        (of(6, 9), "node 0 has bounds that do not enclose its threshold"),
        (of(NAN, 9), "node 0 has bounds that do not enclose its threshold"),
        (SoftThresholds(np.array([4.0, 1, NAN]), np.array([6.0, 1, NAN])), "node 1 has bounds"),
        (SoftThresholds(np.zeros(2), np.zeros(3)), r"lower is float64 of shape \(2,\)"),
        (SoftThresholds(np.zeros(3), np.zeros(3, np.float32)), "upper is float32"),
    ],
    ids=["low", "nan", "leaf", "short", "narrow"],
)
def test_what_are_no_bounds_is_refused(soft: SoftThresholds, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        soft.check(TREE)
