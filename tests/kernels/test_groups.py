"""Tests on groups of values in every engine: what they tell the host, and the trees that come of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import DataError
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.train import train
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Splits
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.tree import DISCRETE, SUBSET, THRESHOLD
from tests.kernels.seeded import TABLES, on_cpu, reference_model, same, table_of

GROUPED, ONE_VALUE = Options(group_values=True), Options(binary_splits=True)
BOTH = pytest.mark.parametrize("options", [GROUPED, ONE_VALUE], ids=["groups", "one value"])
SEVERAL = ["3 classes", "60 classes", "around a byte of values", "whole weights", "fractional weights"]
SEVERAL += ["unknown values", "unknown values and weights", "unknown among many values"]


def engines() -> Iterator[Engine]:
    yield ReferenceEngine()
    yield CpuEngine(2)
    try:
        from tests.kernels.cuda_here import emulated_engine
    except pytest.skip.Exception:
        return
    yield emulated_engine()


def small_table(unknown: bool, weights: bool, n_values: int = 5) -> Table:
    chance, n = np.random.default_rng(3), 60
    code = chance.integers(0, n_values, n)
    classes = np.where(chance.random(n) < 0.2, chance.integers(0, 3, n), code % 3)
    if unknown:
        code[::7] = -1
    table = table_of([(code, n_values + 1), chance.random(n), (chance.integers(0, 2, n), 2)], classes, 3)
    return replace(table, weights=chance.choice([0.5, 1.0, 3.0], n)) if weights else table


@pytest.mark.usefixtures("kernels")
@BOTH
@pytest.mark.parametrize("name", SEVERAL)
def test_the_cpu_engine_grows_the_same_trees(name: str, options: Options) -> None:
    expected = reference_model(name, options)
    assert same(on_cpu(TABLES[name](), options), expected)
    assert (expected.unpruned.kind == SUBSET).any()


@pytest.mark.usefixtures("kernels")
@BOTH
@pytest.mark.parametrize("criterion", ["gain", "gini", "chi2"])
def test_by_any_criterion(criterion: Any, options: Options) -> None:
    asked = options.with_changes(criterion=criterion)
    assert same(on_cpu(TABLES["unknown values"](), asked), reference_model("unknown values", asked))


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("n_values", [5, 300])
@pytest.mark.parametrize(("unknown", "weights"), [(False, False), (True, False), (False, True), (True, True)])
def test_tables_are_the_class_weights_of_known_cases_by_value(unknown: bool, weights: bool, n_values: int) -> None:
    table = small_table(unknown, weights, n_values)
    problem = pose(table, GROUPED)
    expected = np.zeros((1, n_values + 1, 3), np.int64)
    known = table.column(0) >= 0
    np.add.at(expected, (0, table.column(0)[known], table.classes[known]), problem.units[known])
    for engine in engines():
        engine.load(problem)
        assert engine.tables(0, 0, 1).tolist() == expected.tolist()
        engine.close()


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(("unknown", "weights"), [(False, False), (True, True)])
def test_a_split_follows_the_map_of_its_groups(unknown: bool, weights: bool) -> None:
    table = small_table(unknown, weights)
    branch_of = np.array([1, 0, 1, 2, 0, 3], np.int32)
    splits = Splits(np.zeros(1, np.int64), np.zeros(1, np.int64), np.full(1, -1), np.array([0, 6]), branch_of)
    assert splits.n_branches(np.array([6, 2, 2])).tolist() == [4]
    units = pose(table, GROUPED).units
    for engine in engines():
        engine.load(pose(table, GROUPED))
        children = engine.split(splits)
        assert children.branch.tolist() == [0, 1, 2]  # the last branch is of a value that no case has
        for b, found in enumerate(children.frontier.class_weights.sum(1)):
            here = np.isin(table.column(0), np.flatnonzero(branch_of == b))
            assert found >= units[here].sum()
            assert unknown or found == units[here].sum()
        assert children.frontier.class_weights.sum() == units.sum()
        engine.close()


def test_the_branches_of_splits_with_and_without_groups() -> None:
    three = np.arange(3)
    splits = Splits(three, np.array([1, 0, 1]), three, np.array([0, 0, 0, 4]), np.array([0, 1, 1, 2], np.int32))
    assert splits.n_branches(np.array([2, 9])).tolist() == [9, 2, 3]
    assert Splits(three, np.array([1, 0, 1]), three).n_branches(np.array([2, 9])).tolist() == [9, 2, 9]


@BOTH
def test_only_attributes_of_more_than_two_values_are_grouped(options: Options) -> None:
    tree = reference_model("3 classes", options).unpruned
    n_values = np.array([len(a.values) for a in TABLES["3 classes"]().schema.attributes] + [0])
    assert set(tree.kind[n_values[tree.attribute] > 2].tolist()) == {SUBSET}
    assert DISCRETE not in tree.kind
    assert THRESHOLD in tree.kind


def test_one_value_stands_against_all_others_and_may_be_followed_by_another() -> None:
    tree = reference_model("only codes", ONE_VALUE).unpruned
    nodes = np.flatnonzero(tree.kind == SUBSET)
    for node in nodes.tolist():
        assert (tree.value_map(node) == 0).sum() == 1
        assert set(tree.value_map(node).tolist()) == {0, 1}
    assert any(tree.attribute[tree.parent[node]] == tree.attribute[node] for node in nodes[1:].tolist())


def test_all_attributes_count_towards_the_average_gain_of_groups() -> None:
    schema = Schema((Attribute("many", "discrete", tuple("abcdef")), Attribute("x", "continuous")), ("no", "yes"))
    table = Table(schema, [np.arange(12, dtype=np.int32) % 6, np.arange(12.0)], np.arange(12, dtype=np.int32) % 2)
    assert pose(table, Options()).facts.averaged.tolist() == [False, True]
    assert pose(table, GROUPED).facts.averaged.tolist() == [True, True]
    assert pose(table, ONE_VALUE).facts.averaged.tolist() == [False, True]


def test_attributes_of_very_many_values_are_refused_by_name() -> None:
    with pytest.raises(DataError, match=r"attribute 'a1' has 100000 values, .* ignore it, or take binary_splits"):
        train(TABLES["100,000 values"](), GROUPED, "reference")


@pytest.mark.usefixtures("kernels")
def test_one_of_very_many_values() -> None:
    assert same(on_cpu(TABLES["100,000 values"](), ONE_VALUE), reference_model("100,000 values", ONE_VALUE))


@BOTH
@pytest.mark.parametrize("prune", ["ebp", "pep", "interval", "rep", "none"])
def test_with_every_pruning(options: Options, prune: Any) -> None:
    model = reference_model("unknown values", options.with_changes(prune=prune))
    assert model.pruned.n_nodes <= model.unpruned.n_nodes


@pytest.mark.usefixtures("kernels")
@BOTH
def test_every_engine_predicts_from_groups(options: Options) -> None:
    table = small_table(True, True)
    tree = train(table, options, "reference").unpruned
    assert (tree.kind == SUBSET).any()
    expected = ReferenceEngine().route(tree, table).tolist()
    for engine in engines():
        assert engine.route(tree, table).tolist() == expected
        engine.close()
