"""Learning when mistakes have costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.errors import ModelError
from c45gpu.induction.costs import class_factors, scaled
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.evaluate import evaluate
from c45gpu.model.predict import class_frequencies
from c45gpu.model.store import Model, load, save
from c45gpu.model.validate import validate_tree
from tests.strategies import Sample, larger_samples, sample

COSTS = np.array([[0.0, 1.0], [7.0, 0.0]])


def two_classes(n_cases: int = 300, unknown: float = 0.0) -> Sample:
    chance = np.random.default_rng(7)
    x, y = chance.random((2, n_cases)).round(2)
    rare = ((x > 0.6) & (y > 0.4)) ^ (chance.random(n_cases) < 0.15)
    values = [[None if chance.random() < unknown else v for v in column] for column in (x.tolist(), y.tolist())]
    return sample([("continuous", 0, v) for v in values], 2, rare.astype(int).tolist(), None)


def cost_of(model: Model, cases: Sample, costs: np.ndarray) -> float:
    frequencies = class_frequencies(model.pruned, cases.table)
    found = evaluate(model.pruned, cases.table.classes, frequencies, cases.table.weights, model.costs)
    return float((found.confusion * costs).sum())


def test_factors_are_in_proportion_to_costs_and_keep_the_total() -> None:
    table = two_classes().table
    factors = class_factors(table, COSTS)
    assert factors[1] / factors[0] == pytest.approx(7, rel=1e-5)
    assert (np.bincount(table.classes) * factors).sum() == pytest.approx(table.n_cases, rel=1e-5)
    weights = scaled(table, factors).weights
    assert weights is not None
    assert weights.tolist() == factors[table.classes].tolist()


@pytest.mark.parametrize(
    "costs", [[[0, 1], [0, 0]], [[0, 1, 1], [1, 0, 5], [1, 1, 0]]], ids=["a free mistake", "three"]
)
def test_only_two_classes_are_scaled_and_only_if_either_costs(costs: list[list[float]]) -> None:
    cases = sample([("continuous", 0, [1, 2, 3])], len(costs), [0, 1, 1], None)
    assert class_factors(cases.table, np.array(costs, float)).tolist() == [1] * len(costs)


def test_equal_costs_change_nothing() -> None:
    cases = two_classes()
    plain, even = train(cases.table), train(cases.table, costs=[[0, 4], [4, 0]])
    assert even.unpruned.kind.tolist() == plain.unpruned.kind.tolist()
    assert even.unpruned.threshold.tobytes() == plain.unpruned.threshold.tobytes()
    assert even.unpruned.errors.tolist() == plain.unpruned.errors.tolist()
    assert even.pruned.class_weights.tolist() == plain.pruned.class_weights.tolist()


@pytest.mark.parametrize("unknown", [0.0, 0.1])
def test_mistakes_that_cost_more_are_made_less(unknown: float) -> None:
    cases = two_classes(unknown=unknown)
    plain, costly = train(cases.table), train(cases.table, costs=COSTS)
    assert cost_of(costly, cases, COSTS) < cost_of(plain, cases, COSTS)
    validate_tree(costly.unpruned, cases.table.schema)
    validate_tree(costly.pruned, cases.table.schema)
    assert (costly.pruned.label == 1).sum() > (costly.pruned.class_weights.argmax(1) == 1).sum()


def test_weights_of_the_trees_are_those_of_the_cases() -> None:
    model = train(two_classes().table, costs=COSTS)
    for tree in (model.unpruned, model.pruned):
        assert (tree.class_weights % 1 == 0).all()
        assert tree.weight[tree.weight > 0].tolist() == tree.class_weights.sum(1)[tree.weight > 0].tolist()
    assert model.record["weight"] == 300
    right = model.unpruned.class_weights[np.arange(model.unpruned.n_nodes), model.unpruned.label]
    leaves = model.unpruned.kind == 0
    assert model.unpruned.errors[0] == (model.unpruned.weight - right)[leaves].sum()


def test_the_tree_is_that_of_the_scaled_weights() -> None:
    cases = two_classes()
    model = train(cases.table, costs=COSTS)
    other = train(scaled(cases.table, class_factors(cases.table, COSTS)))
    assert model.pruned.threshold.tobytes() == other.pruned.threshold.tobytes()
    assert model.pruned.threshold.tobytes() != train(cases.table).pruned.threshold.tobytes()


@given(cases=larger_samples(), seed=st.integers(0, 99))
def test_every_label_costs_least(cases: Sample, seed: int) -> None:
    n = cases.table.schema.n_classes
    costs = np.random.default_rng(seed).integers(0, 9, (n, n)).astype(float) * (1 - np.eye(n))
    model = train(cases.table, Options(), "reference", costs=costs)
    for tree in (model.unpruned, model.pruned):
        expected = tree.class_weights @ costs
        chosen = expected[np.arange(tree.n_nodes), tree.label]
        np.testing.assert_allclose(chosen, expected.min(1), rtol=1e-9, atol=1e-9)


def test_engines_agree() -> None:
    table = two_classes(900, 0.05).table
    reference, cpu = (train(table, engine=engine, costs=COSTS) for engine in ("reference", "cpu"))
    assert reference.pruned.equals(cpu.pruned)
    assert reference.unpruned.equals(cpu.unpruned)


# ---------------------------------------------------------------- the model file
def test_costs_are_saved(tmp_path: Path) -> None:
    model = train(two_classes().table, costs=COSTS)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.costs is not None
    assert loaded.costs.tolist() == COSTS.tolist()
    save(replace(model, costs=None), tmp_path / "m")
    assert load(tmp_path / "m").costs is None


def test_costs_that_are_none_are_a_damage(tmp_path: Path) -> None:
    save(replace(train(two_classes().table), costs=-COSTS), tmp_path / "m")
    with pytest.raises(ModelError, match="damaged"):
        load(tmp_path / "m")
