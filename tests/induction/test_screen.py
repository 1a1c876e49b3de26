"""Very wide tables: which attributes a node may test, and that no engine changes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c45gpu import C45Classifier
from c45gpu.cli import main
from c45gpu.errors import OptionError
from c45gpu.induction import screen
from c45gpu.induction.grow import Grower
from c45gpu.induction.limits import root_key, sampled
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.progress import Progress
from c45gpu.induction.screen import ScreenedGrower, ranking, varies_enough
from c45gpu.induction.train import train
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Candidates
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.tree import LEAF, SUBSET, Tree
from tests.strategies import Asked, Column, Sample, asked, larger_samples, sample


def screened(cases: Sample, options: Options, engine: Engine | None = None, among: int = 5) -> Tree:
    """Grown with samples of a few cases, so that many nodes are ranked."""
    grower = ScreenedGrower(engine or ReferenceEngine(), pose(cases.table, options), options, sample=among)
    for _ in grower:
        pass
    return grower.tree


def plainly(cases: Sample, options: Options) -> Tree:
    grower = Grower(ReferenceEngine(), pose(cases.table, options))
    for _ in grower:
        pass
    return grower.tree


def wide(n_cases: int = 400, n_attributes: int = 30, noise: float = 0.0) -> Sample:
    """Two attributes tell the class, the others nothing."""
    random = np.random.default_rng(5)
    values = random.normal(size=(n_attributes, n_cases))
    classes = (values[3] > 0) & (values[17] > -0.3)
    classes ^= random.random(n_cases) < noise
    return sample([("continuous", 0, row.tolist()) for row in values], 2, classes.astype(int).tolist(), None)


# ---------------------------------------------------------------- which attributes
@settings(max_examples=30)
@given(cases=larger_samples(), question=asked(), among=st.integers(1, 12), seed=st.integers(0, 9))
def test_all_attributes_are_no_screen(cases: Sample, question: Asked, among: int, seed: int) -> None:
    options = question.options.with_changes(screen=1.0, max_depth=None, random_state=seed)
    with mock.patch.object(screen, "varies_enough", return_value=True):
        assert screened(cases, options, among=among).equals(plainly(cases, options))


def test_what_tells_is_found() -> None:
    tree = screened(wide(), Options(screen="sqrt"), among=80)
    assert set(tree.attribute.tolist()) == {-1, 3, 17}
    assert tree.errors[0] == 0


def test_no_more_attributes_than_asked_are_tested_below_a_ranked_node() -> None:
    for count in (1, 2, 4):
        tree = screened(wide(noise=0.2), Options(screen=count, min_cases=1, threshold_cost=False), among=400)
        assert len(set(tree.attribute[tree.kind != LEAF].tolist())) == count


def test_large_branches_are_ranked_anew() -> None:
    tree = screened(wide(noise=0.2), Options(screen=1, min_cases=1, threshold_cost=False), among=40)
    assert len(set(tree.attribute[tree.kind != LEAF].tolist())) > 1


def test_an_attribute_that_hardly_varies_is_not_tested() -> None:
    rare: Column = ("discrete", 2, [1] + [0] * 199)
    telling: Column = ("continuous", 0, [float(i % 7) for i in range(200)])
    classes = [1] + [int(i % 7 > 3) for i in range(1, 200)]
    options = Options(screen=2, min_cases=1, threshold_cost=False)
    assert set(plainly(sample([rare, telling], 2, classes, None), options).attribute.tolist()) == {-1, 0, 1}
    assert set(screened(sample([rare, telling], 2, classes, None), options).attribute.tolist()) == {-1, 1}


@pytest.mark.parametrize(
    ("values", "units", "varies"),
    [
        (np.array([0] * 98 + [1] * 2), np.ones(100, np.int64), True),  # 0.98 * 0.02
        (np.array([0] * 99 + [1]), np.ones(100, np.int64), False),  # 0.99 * 0.01
        (np.array([0, 1]), np.array([99, 1]), False),
        (np.array([0.0] * 50 + [1e-9] * 50), np.ones(100, np.int64), True),
        (np.array([-1] * 97 + [0, 1, 1]), np.ones(100, np.int64), True),  # of three known ones
        (np.array([np.nan, np.nan]), np.ones(2, np.int64), False),
        (np.array([7.0] * 9), np.ones(9, np.int64), False),
    ],
)
def test_variance(values: Any, units: Any, varies: bool) -> None:
    assert varies_enough(values, units) is varies


def test_ranking_is_by_gain_ratio_among_those_that_gain_the_average() -> None:
    candidates = Candidates.none(1, 6)
    candidates.gain[0] = [10, 40, 60, 2**61, 60, 5]
    candidates.split[0] = [1, 100, 200, 1, 200, 0]
    candidates.possible[0] = [True, True, True, False, True, True]
    assert ranking(candidates, ratio=True).tolist() == [1, 2, 4, 0, 5, 3]
    assert ranking(candidates, ratio=False).tolist() == [2, 4, 1, 0, 5, 3]


def test_sums_of_large_gains_do_not_overflow() -> None:
    candidates = Candidates.none(1, 9)
    candidates.gain[0], candidates.split[0], candidates.possible[0] = 2**61, 2**61, True
    candidates.gain[0, 0] = 1
    assert ranking(candidates, ratio=True).tolist() == [*range(1, 9), 0]


def test_samples_are_of_different_cases_and_differ_by_node() -> None:
    cases = np.arange(100, 1100)
    one, other = sampled(root_key(1), cases, 50), sampled(root_key(2), cases, 50)
    assert len(set(one.tolist())) == len(set(other.tolist())) == 50
    assert one.tolist() != other.tolist()
    assert sampled(root_key(1), cases[:50], 50).tolist() == list(range(50))


# ---------------------------------------------------------------- engines
@pytest.mark.parametrize("more", [{}, {"max_depth": 3}], ids=str)
@settings(max_examples=25)
@given(cases=larger_samples(), question=asked(), count=st.integers(1, 4))
def test_engines_agree(more: dict[str, Any], cases: Sample, question: Asked, count: int) -> None:
    options = question.options.with_changes(**{"screen": count} | more)
    assert screened(cases, options, CpuEngine(2)).equals(screened(cases, options))


@pytest.mark.parametrize("engine", ["reference", "cpu"])
def test_a_screened_tree_is_pruned_with_all_cases(engine: str) -> None:
    with mock.patch.object(screen, "SAMPLE", 50):
        model = train(wide(noise=0.2).table, Options(screen="sqrt", min_cases=1, threshold_cost=False), engine)
    assert model.pruned.n_nodes < model.unpruned.n_nodes
    assert model.pruned.weight[0] == model.unpruned.weight[0] == 400


class Own:
    """An engine of one's own, which has no more than it must have."""

    def __init__(self) -> None:
        self._engine = ReferenceEngine()

    def __getattr__(self, name: str) -> Any:
        if name not in dir(Engine):
            raise AttributeError(name)
        return getattr(self._engine, name)


def test_an_engine_that_takes_cases_only_to_grow_is_given_them_to_prune() -> None:
    own: Any = Own()
    table, options = wide(noise=0.2).table, Options(screen="sqrt", min_cases=1, threshold_cost=False)
    with mock.patch.object(screen, "SAMPLE", 50), mock.patch.object(ReferenceEngine, "hold") as hold:
        model = train(table, options, own)
    assert hold.call_count == 0
    with mock.patch.object(screen, "SAMPLE", 50):
        expected = train(table, options, "reference")
    assert model.unpruned.equals(expected.unpruned)
    assert model.pruned.equals(expected.pruned)


@pytest.mark.parametrize("how", ["group_values", "binary_splits"])
@pytest.mark.parametrize("seed", range(2))
def test_engines_agree_about_groups_of_values(how: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    columns: list[Column] = [("discrete", 6, random.integers(0, 6, 200).tolist()) for _ in range(8)]
    classes = [int((a > 2) ^ (b > 3)) for a, b in zip(columns[0][2], columns[5][2], strict=True)]
    options = Options(screen=3, min_cases=1).with_changes(**{how: True})
    tree = screened(sample(columns, 2, classes, None), options, among=20)
    assert SUBSET in tree.kind
    assert screened(sample(columns, 2, classes, None), options, CpuEngine(2), among=20).equals(tree)


def test_windows_may_be_screened() -> None:
    model = train(wide().table, Options(screen=3, n_trials=2), "reference")
    assert len(set(model.unpruned.attribute.tolist()) - {-1}) <= 3 * 2


def test_every_step_is_told() -> None:
    seen: list[Progress] = []
    train(wide().table, Options(screen=3), "reference", seen.append)
    assert seen[-1].open_nodes == 0
    assert seen[-1].open_weight == 0.0


# ---------------------------------------------------------------- what is asked for
def test_the_command_and_the_estimator_ask_for_it(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(examples / "penguins"), "--screen", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["options"] == ["--screen", "2"]
    assert main(["train", str(examples / "penguins"), "--screen", "0"]) == 2
    assert "screen=0 will not do" in capsys.readouterr().err
    X, y = np.array(wide().table.columns).T, wide().table.classes
    assert set(C45Classifier(screen=np.int64(2)).fit(X, y).tree_.attribute.tolist()) == {-1, 3, 17}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"screen": 0}, "screen=0 will not do: give None, 'sqrt', 'log2', a whole number from 1, or a share"),
        ({"screen": True}, "screen=True will not do"),
        ({"screen": 1.5}, "screen=1.5 will not do"),
        (
            {"screen": "sqrt", "max_features": 3},
            "screen='sqrt' and max_features=3 exclude each other, as both say which",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError) as caught:
        Options(**wrong)
    assert str(caught.value).startswith(words)
