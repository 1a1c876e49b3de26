"""The discretisers, as scikit-learn's users meet them, and MDL against a slow oracle."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from c45gpu import (
    C45Classifier,
    EqualFrequencyDiscretizer,
    EqualWidthDiscretizer,
    MDLDiscretizer,
    Options,
    TreeDiscretizer,
)
from c45gpu.errors import OptionError
from c45gpu.induction.mdl import mdl_cuts
from c45gpu.induction.train import train
from c45gpu.induction.tree_cuts import best_thresholds
from c45gpu.kernels.engine import available
from c45gpu.model.tree import LEAF
from tests.kernels.seeded import table_of

IRIS = load_iris()
ALL = [EqualWidthDiscretizer, EqualFrequencyDiscretizer, TreeDiscretizer, MDLDiscretizer]
ENGINES = [name for name, reason in available().items() if reason is None]


@parametrize_with_checks([kind() for kind in ALL] + [MDLDiscretizer(encode="onehot-dense")])
def test_scikit_learn_is_content(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize(
    ("kind", "strategy", "n_bins"),
    [(EqualWidthDiscretizer, "uniform", 3), (EqualFrequencyDiscretizer, "quantile", 5)],
)
@pytest.mark.parametrize("number", [np.float64, np.float32])
def test_bins_of_one_kind_are_scikit_learns(kind: Any, strategy: Any, n_bins: int, number: Any) -> None:
    X = IRIS.data.astype(number)
    ours = kind()
    theirs = KBinsDiscretizer(
        n_bins, encode="ordinal", strategy=strategy, quantile_method="averaged_inverted_cdf", subsample=None
    )
    assert ours.fit_transform(X).tolist() == theirs.fit_transform(X).tolist()
    assert [edges.tolist() for edges in ours.bin_edges_] == [edges.tolist() for edges in theirs.bin_edges_]


def test_equal_width_and_frequency_by_hand() -> None:
    X = np.array([[0.0], [1], [2], [3], [4], [5], [6], [20], [25], [30]])
    assert EqualWidthDiscretizer(3).fit(X).bin_edges_[0].tolist() == [0, 10, 20, 30]
    assert EqualWidthDiscretizer(3).fit_transform(X).ravel().tolist() == [0] * 7 + [2] * 3
    assert EqualFrequencyDiscretizer(2).fit_transform(X).ravel().tolist() == [0] * 5 + [1] * 5
    assert EqualFrequencyDiscretizer(5).fit(X).n_bins_.tolist() == [5]


@pytest.mark.filterwarnings("error")
def test_bins_that_cannot_be_told_apart_are_joined() -> None:
    X = np.array([[1.0]] * 18 + [[2], [3]])
    assert EqualFrequencyDiscretizer(4).fit(X).n_bins_.tolist() == [1]
    assert EqualWidthDiscretizer().fit(np.ones((5, 1))).bin_edges_[0].tolist() == [-np.inf, np.inf]


@pytest.mark.parametrize("kind", ALL)
def test_unknown_values_stay_unknown_and_take_no_part(kind: Any) -> None:
    X, y = IRIS.data.copy(), IRIS.target
    X[::7, 0], X[:, 1] = np.nan, np.nan
    bins = kind().fit(X, y)
    known = ~np.isnan(X[:, 0])
    alone = kind().fit(X[known][:, [0]], y[known])
    assert bins.bin_edges_[0].tolist() == alone.bin_edges_[0].tolist()
    assert bins.n_bins_[1] == 1
    assert (np.isnan(bins.transform(X)) == np.isnan(X)).all()
    one_hot = kind(encode="onehot-dense").fit(X, y)
    assert (one_hot.transform(X)[:, : one_hot.n_bins_[0]].sum(1) == known).all()


@pytest.mark.parametrize("kind", ALL)
def test_one_column_for_each_bin(kind: Any) -> None:
    ordinal, one_hot = kind(), kind(encode="onehot-dense")
    bins = ordinal.fit_transform(IRIS.data, IRIS.target)
    columns = one_hot.fit_transform(IRIS.data, IRIS.target)
    assert columns.shape == (150, one_hot.n_bins_.sum())
    starts = np.cumsum(one_hot.n_bins_) - one_hot.n_bins_
    assert (columns[np.arange(150)[:, None], starts + bins.astype(int)] == 1).all()
    assert (columns.sum(1) == 4).all()


@pytest.mark.parametrize("kind", ALL)
def test_frames_in_and_out(kind: Any) -> None:
    X = pd.DataFrame(IRIS.data[:, :2], columns=["length", "width"])
    framed = kind().set_output(transform="pandas").fit_transform(X, IRIS.target)
    assert framed.columns.tolist() == ["length", "width"]
    assert framed.to_numpy().tolist() == kind().fit_transform(X.to_numpy(), IRIS.target).tolist()
    one_hot = kind(encode="onehot-dense").fit(X, IRIS.target)
    names = [f"{name}_{i}" for name, n in zip(X.columns, one_hot.n_bins_, strict=True) for i in range(n)]
    assert one_hot.get_feature_names_out().tolist() == names


@pytest.mark.parametrize(
    ("bins", "name"),
    [
        (EqualWidthDiscretizer(1), "n_bins=1"),
        (EqualFrequencyDiscretizer(2.5), "n_bins=2.5"),  # type: ignore[arg-type]
        (TreeDiscretizer(True), "max_bins=True"),
        (TreeDiscretizer(min_cases=0), "min_cases=0"),
        (MDLDiscretizer(encode="onehot"), "encode='onehot'"),  # type: ignore[arg-type]
    ],
)
def test_parameters_are_checked_when_fitting(bins: Any, name: str) -> None:
    with pytest.raises(OptionError, match=f"{name} will not do: give "):
        bins.fit(IRIS.data, IRIS.target)


def test_they_work_with_the_tools_of_scikit_learn() -> None:
    names = IRIS.target_names[IRIS.target]
    pipeline = make_pipeline(MDLDiscretizer(), C45Classifier(categorical_features=[0, 1, 2, 3])).fit(IRIS.data, names)
    assert pipeline.score(IRIS.data, names) > 0.9
    bins = pickle.loads(pickle.dumps(TreeDiscretizer(np.int64(4), min_cases=np.int64(3)).fit(IRIS.data, names)))
    assert clone(bins).max_bins == 4
    assert bins.transform(IRIS.data).max() <= 3


@pytest.mark.parametrize("engine", ENGINES)
def test_bins_of_a_tree_by_hand(engine: str) -> None:
    X = np.arange(12.0)[:, None]
    y = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 0, 0]
    # cut after 4: 5 of class 0 below; then after 7, and after 9
    edges = [TreeDiscretizer(n, engine=engine).fit(X, y).bin_edges_[0].tolist() for n in (2, 3, 4, 9)]
    assert edges[0] == [-np.inf, 4, np.inf]
    assert edges[1] == [-np.inf, 4, 7, np.inf]
    assert edges[2] == edges[3] == [-np.inf, 4, 7, 9, np.inf]
    assert TreeDiscretizer(4).fit(X, y).transform([[4], [4.5], [7], [9], [99]]).ravel().tolist() == [0, 1, 1, 2, 3]


def test_a_tree_is_cut_where_it_gains_most() -> None:
    chance = np.random.default_rng(1)
    values = chance.integers(0, 500, 800)
    classes = chance.integers(0, 3, 25)[values // 20]
    tree = train(table_of([values.astype(float)], classes, 3), Options(prune="none", min_cases=1)).unpruned
    rows = [tuple(map(int, weights)) for weights in tree.class_weights]

    def gain(node: int) -> float:
        return information(rows[node]) - sum(information(rows[b]) for b in tree.branches(node))

    found: list[float] = []
    waiting = [0]
    while waiting:
        node = max(waiting, key=gain)
        waiting += [int(b) for b in tree.branches(node) if tree.kind[b] != LEAF]
        waiting.remove(node)
        found.append(float(tree.threshold[node]))
        assert best_thresholds(tree, len(found)) == sorted(found)
    assert len(found) == (tree.kind != LEAF).sum() > 10


def information(weights: Sequence[int]) -> float:
    total = sum(weights)
    return total * math.log2(total) - sum(w * math.log2(w) for w in weights if w)


def test_enough_bins_are_those_of_the_whole_tree() -> None:
    bins = TreeDiscretizer(100).fit(IRIS.data[:, [2]], IRIS.target)
    tree = train(table_of([IRIS.data[:, 2]], IRIS.target, 3), Options(prune="none")).unpruned
    assert bins.bin_edges_[0][1:-1].tolist() == sorted(tree.threshold[tree.kind != LEAF].tolist())


@pytest.mark.parametrize(
    ("values", "classes", "cuts"),
    [
        # gain 1 bit against (log2(7) + log2(7) - 2) / 8 = 0.45
        ([1, 2, 3, 4, 5, 6, 7, 8], "aaaabbbb", [4.5]),
        # 1 against (log2(1) + log2(7) - 2) / 2 = 0.40
        ([1, 2], "ab", [1.5]),
        # 0.25 against (log2(2) + log2(7) - (2 * 0.918 - 2)) / 3 = 1.32
        ([1, 2, 3], "aba", []),
        # two cuts, the second within what the first leaves
        (range(30), "a" * 10 + "b" * 10 + "c" * 10, [9.5, 19.5]),
        (range(150), ("a" * 30 + "b" * 30) * 2 + "a" * 30, [29.5, 59.5, 89.5, 119.5]),
        # equal values are never parted
        ([1, 1, 1, 1, 1, 1], "aaabbb", []),
        ([1, 1, 1, 1, 2, 2, 2, 2], "aaaabbbb", [1.5]),
        ([5, 5, 5], "aaa", []),
        ([], "", []),
    ],
)
def test_mdl_by_hand(values: Sequence[float], classes: str, cuts: list[float]) -> None:
    numbers = np.array([ord(c) - ord("a") for c in classes], np.int32)
    assert mdl_cuts(np.array(values, float), numbers) == cuts


def test_mdl_on_iris() -> None:
    edges = [edges[1:-1].round(6).tolist() for edges in MDLDiscretizer().fit(IRIS.data, IRIS.target).bin_edges_]
    assert edges == [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]


def test_a_cut_never_reaches_the_upper_value() -> None:
    low = math.nextafter(1, 2)
    high = math.nextafter(low, 2)
    assert low / 2 + high / 2 == high
    X = np.array([[low]] * 10 + [[high]] * 10)
    bins = MDLDiscretizer().fit(X, [0] * 10 + [1] * 10)
    assert bins.transform([[low], [high]]).ravel().tolist() == [0, 1]
    huge = MDLDiscretizer().fit(np.array([[1e308]] * 10 + [[1.7e308]] * 10), [0] * 10 + [1] * 10)
    assert huge.bin_edges_[0][1] == pytest.approx(1.35e308)


def test_very_many_cuts_do_not_recurse() -> None:
    n = 6000
    classes = np.repeat(np.arange(n // 4), 4)
    cuts = mdl_cuts(np.arange(n, dtype=float), classes)
    assert cuts == (np.arange(4, n, 4) - 0.5).tolist()


class Doubtful(Exception):
    """Whether a cut is worth it is a matter of rounding."""


def slow_mdl(values: Sequence[float], classes: Sequence[int]) -> list[float]:
    """Fayyad and Irani's cuts in plain Python; entropies are compared as rational numbers."""
    pairs = sorted(zip(values, classes, strict=True))
    k, n = len(set(classes)), len(pairs)
    best: tuple[Fraction, int] | None = None
    for i in range(1, n):
        if pairs[i - 1][0] == pairs[i][0] or not is_boundary(pairs, i):
            continue
        inner = power(c for _, c in pairs[:i]) * power(c for _, c in pairs[i:])
        if best is None or inner < best[0]:
            best = inner, i
    if best is None:
        return []
    i = best[1]
    low, high = [c for _, c in pairs[:i]], [c for _, c in pairs[i:]]
    entropies = [entropy(x) for x in (classes, low, high)]
    gain = entropies[0] - (len(low) * entropies[1] + len(high) * entropies[2]) / n
    delta = math.log2(3**k - 2) - (k * entropies[0] - len(set(low)) * entropies[1] - len(set(high)) * entropies[2])
    limit = (math.log2(n - 1) + delta) / n
    if abs(gain - limit) < 1e-9:
        raise Doubtful
    if gain < limit:
        return []
    below, above = ([v for v, _ in part] for part in (pairs[:i], pairs[i:]))
    return [*slow_mdl(below, low), (below[-1] + above[0]) / 2, *slow_mdl(above, high)]


def is_boundary(pairs: Sequence[tuple[float, int]], i: int) -> bool:
    return len({c for v, c in pairs if v in (pairs[i - 1][0], pairs[i][0])}) > 1


def power(classes: Any) -> Fraction:
    """2 to the entropy of a set times its size."""
    counts = Counter(classes)
    return Fraction(counts.total() ** counts.total(), math.prod(n**n for n in counts.values()))


def entropy(classes: Sequence[int]) -> float:
    counts = Counter(classes)
    return -sum(n / len(classes) * math.log2(n / len(classes)) for n in counts.values())


@given(
    n_values=st.integers(1, 40),
    waves=st.sampled_from([0, 1, 3, 7]),
    n_classes=st.integers(1, 5),
    n=st.integers(1, 160),
    seed=st.integers(0, 2**32 - 1),
)
def test_mdl_is_what_a_slow_program_finds(n_values: int, waves: int, n_classes: int, n: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    values = chance.integers(0, n_values, n)
    noise = chance.integers(0, n_classes, n)
    classes = np.where(chance.random(n) < 0.1, noise, values * waves * n_classes // n_values % n_classes)
    try:
        expected = slow_mdl(values.tolist(), classes.tolist())
    except Doubtful:
        assume(False)
    assert mdl_cuts(values.astype(float), classes) == expected
    shuffled = chance.permutation(n)
    assert mdl_cuts(values[shuffled].astype(np.float32), classes[shuffled]) == expected
