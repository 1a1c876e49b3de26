"""Where growing stops, and which attributes a node may see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from c45gpu.errors import OptionError
from c45gpu.induction.limits import branch_keys, drawn, root_key
from c45gpu.induction.options import Options, n_features
from c45gpu.induction.train import train
from c45gpu.model.tree import LEAF, Tree
from tests.strategies import Sample, larger_samples, sample


def grow(cases: Sample, **options: object) -> Tree:
    return train(cases.table, Options(min_cases=1, prune="none", **options), "reference").unpruned  # type: ignore[arg-type]


def held_leaves(tree: Tree) -> int:
    return int(((tree.kind == LEAF) & (tree.weight > 0)).sum())


STEPS = sample([("continuous", 0, [float(i) for i in range(16)])], 4, [0] * 4 + [1] * 6 + [2] * 3 + [3] * 3, None)
PARTLY = {"threshold_cost": False}


# ---------------------------------------------------------------- depth and leaves
@given(cases=larger_samples(), depth=st.integers(1, 5))
def test_no_path_is_longer_than_asked(cases: Sample, depth: int) -> None:
    tree = grow(cases, max_depth=depth)
    assert tree.depth <= depth
    full = grow(cases)
    if full.depth <= depth:
        assert tree.equals(full)


@given(cases=larger_samples(), most=st.integers(2, 9))
def test_no_more_leaves_than_asked(cases: Sample, most: int) -> None:
    assert held_leaves(grow(cases, max_leaf_nodes=most)) <= most


def test_the_tests_that_tell_most_are_made_first() -> None:
    full = grow(STEPS, **PARTLY)
    sizes = [held_leaves(grow(STEPS, max_leaf_nodes=most, **PARTLY)) for most in (2, 3, 4, 5)]
    assert (held_leaves(full), sizes) == (4, [2, 3, 4, 4])
    three = grow(STEPS, max_leaf_nodes=3, **PARTLY)
    inner = full.kind != LEAF
    assert set(three.threshold[three.kind != LEAF].tolist()) < set(full.threshold[inner].tolist())


@pytest.mark.parametrize("few_first", [True, False])
def test_of_two_branches_that_may_be_tested_the_one_that_tells_more_is(few_first: bool) -> None:
    low, high = (2, 6) if few_first else (6, 2)  # cases of each class; below the root two classes are to be told apart
    classes = [c for c, n in ((0, low), (1, low), (2, high), (3, high)) for _ in range(n)]
    answers = [[c // 2 for c in classes], [int(c == 1) for c in classes], [int(c == 3) for c in classes]]
    tree = grow(sample([("discrete", 2, column) for column in answers], 4, classes, None), max_leaf_nodes=3)
    assert (tree.attribute[0], tree.n_leaves) == (0, 3)
    left, right = tree.branches(0).tolist()
    assert (tree.kind[left] == LEAF, tree.kind[right] == LEAF) == (few_first, not few_first)


# ---------------------------------------------------------------- significance
def test_a_test_is_made_if_it_is_significant() -> None:
    values = [0] * 20 + [1] * 20
    classes = [0] * 14 + [1] * 6 + [0] * 6 + [1] * 14
    cases = sample([("discrete", 2, values)], 2, classes, None)
    p = chi2_contingency([[14, 6], [6, 14]], correction=False).pvalue
    assert grow(cases, significance=p * 1.001).n_nodes == 3
    assert grow(cases, significance=p * 0.999).n_nodes == 1


def test_branches_without_cases_are_no_degrees_of_freedom() -> None:
    cases = sample([("discrete", 9, [3] * 20 + [5] * 20)], 2, [0] * 14 + [1] * 6 + [0] * 6 + [1] * 14, None)
    p = chi2_contingency([[14, 6], [6, 14]], correction=False).pvalue
    assert grow(cases, significance=p * 1.001).n_nodes == 10
    assert grow(cases, significance=p * 0.999).n_nodes == 1


# ---------------------------------------------------------------- attributes drawn
def test_as_many_are_drawn_as_asked_and_not_always_the_same() -> None:
    keys = branch_keys(np.repeat(root_key(5), 300), np.arange(300))
    seen = drawn(keys, 12, 4)
    assert (seen.sum(1) == 4).all()
    assert seen.sum(0).min() > 60  # 100 each are expected
    assert len({row.tobytes() for row in seen}) > 150


def test_a_seed_gives_one_draw() -> None:
    assert drawn(root_key(1), 50, 7).tolist() == drawn(root_key(1), 50, 7).tolist()
    assert drawn(root_key(1), 50, 7).tolist() != drawn(root_key(2), 50, 7).tolist()


@pytest.mark.parametrize(
    ("asked", "count"), [(None, 10), ("sqrt", 3), ("log2", 3), (0.25, 2), (0.01, 1), (1.0, 10), (4, 4), (99, 10)]
)
def test_how_many_are_asked_for(asked: object, count: int) -> None:
    assert n_features(asked, 10) == count  # type: ignore[arg-type]


@given(cases=larger_samples(), seed=st.integers(0, 9))
def test_all_features_is_no_limit(cases: Sample, seed: int) -> None:
    everything = grow(cases, max_features=1.0, random_state=seed)
    assert everything.equals(grow(cases))


# ---------------------------------------------------------------- what is asked for
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"max_depth": 0}, "max_depth=0 will not do: give a whole number from 1"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes=1 will not do"),
        ({"max_features": 0.0}, "max_features=0.0 will not do: give None, 'sqrt', 'log2'"),
        ({"max_features": "auto"}, "max_features='auto' will not do"),
        ({"significance": 0}, "significance=0 will not do: give a number above 0"),
        ({"held_out": 1.0}, "held_out=1.0 will not do: give a number above 0 and below 1"),
        ({"criterion": "entropy"}, "criterion='entropy' will not do: give 'gain_ratio', 'gain', 'gini' or 'chi2'"),
        ({"min_samples_split": True}, "min_samples_split=True will not do"),
        ({"threshold_cost": 1}, "threshold_cost=1 will not do: give True or False"),
        ({"standard_errors": -0.1}, "standard_errors=-0.1 will not do: give a number that is not negative"),
        ({"criterion": "gini", "min_gain_ratio": 0.1}, "min_gain_ratio=0.1 and criterion='gini' exclude each other"),
        ({"cut_points": "class_boundaries", "compat": "r8"}, "cut_points='class_boundaries' and compat='r8' exclude"),
        ({"prune": "interval", "confidence": 0.6}, "prune='interval' and confidence=0.6 exclude each other"),
        ({"n_trials": 3, "prune": "rep"}, "windowing and prune='rep' exclude each other"),
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError) as caught:
        Options(**wrong)  # type: ignore[arg-type]
    assert str(caught.value).startswith(words)
