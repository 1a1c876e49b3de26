"""Prediction on all cores: the same class frequencies as on one, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.train import train
from c45gpu.kernels import cpu_route
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.model.predict import class_frequencies
from c45gpu.model.tree import Tree
from tests.golden_trees import chain, empty_leaf, inner, leaf, tree_of
from tests.kernels.seeded import TABLES, reference_model, with_unknown
from tests.strategies import Asked, Sample, asked, larger_samples, samples

pytestmark = pytest.mark.usefixtures("kernels")

NAMES = ["whole cases", "60 classes", "1,000 classes", "100,000 values", "unknown values", "strange float64"]


@pytest.fixture(scope="module")
def engine() -> Iterator[CpuEngine]:
    engine = CpuEngine(2)
    yield engine
    engine.close()


def assert_same(engine: CpuEngine, tree: Tree, table: Table) -> None:
    ours, theirs = engine.route(tree, table), class_frequencies(tree, table)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    assert ours.tobytes() == theirs.tobytes()


@given(sample=samples() | larger_samples(), others=samples() | larger_samples(), question=asked())
def test_any_table(engine: CpuEngine, sample: Sample, others: Sample, question: Asked) -> None:
    model = train(sample.table, question.options, "reference")
    assert_same(engine, model.pruned, sample.table)
    assert_same(engine, model.unpruned, reshaped(others.table, sample.table.schema))


def reshaped(table: Table, schema: Schema) -> Table:
    """Other cases under this schema: the numbers of any columns, codes beyond what is declared among them."""
    columns: list[Any] = []
    for a, attribute in enumerate(schema.attributes):
        given = table.columns[a % len(table.columns)]
        values = np.zeros(table.n_cases) if given is None else np.where(given < -5, 0, given).astype(np.float64)
        if attribute.kind == "discrete":
            columns.append(np.where(np.isnan(values), -1, np.clip(values, -1, 1000)).astype(np.int32))
        else:
            columns.append(None if attribute.kind == "ignored" else values)
    return Table(schema, columns, table.classes)


@pytest.mark.parametrize("unknown", [0.0, 0.02])
@pytest.mark.parametrize("name", NAMES)
def test_seeded_tables(engine: CpuEngine, name: str, unknown: float) -> None:
    table, model = TABLES[name](), reference_model(name)
    cases = with_unknown(table, unknown) if unknown else table
    assert_same(engine, model.pruned, cases)
    assert_same(engine, model.unpruned, cases.take(np.arange(0, cases.n_cases, 7)))


@pytest.mark.parametrize("threads", [1, 4])
def test_number_of_threads(threads: int) -> None:
    engine = CpuEngine(threads)
    assert_same(engine, reference_model("3 classes").unpruned, TABLES["3 classes"]())
    engine.close()


@pytest.mark.parametrize("rows", [1, 2, 1000])
def test_rows_at_a_time(engine: CpuEngine, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_route, "ROWS_AT_A_TIME", rows)
    assert_same(engine, reference_model("unknown values").unpruned, TABLES["unknown values"]().take(np.arange(2500)))


def test_no_case(engine: CpuEngine) -> None:
    table = TABLES["3 classes"]().take(np.arange(0))
    assert_same(engine, reference_model("3 classes").pruned, table)
    assert engine.route(reference_model("3 classes").pruned, table).shape == (0, 3)


SCHEMA = Schema(
    (Attribute("x", "continuous"), Attribute("colour", "discrete", ("red", "green", "blue"))), ("a", "b", "c")
)
COLOURS = inner("discrete", 1, leaf(3.0, 1.0, 0.0), empty_leaf(2, 4.0, 3.0, 1.0), leaf(1.0, 2.0, 1.0))
GROUPS = inner("subset", 1, leaf(3.0, 1.0, 0.0), COLOURS, subsets=[[3], [1]])
TREES = {
    "leaf": leaf(1.0, 2.0, 3.0),
    "empty root": empty_leaf(1, 1.0, 2.0, 3.0),
    "values": COLOURS,
    "groups of values": GROUPS,
    "threshold": inner("threshold", 0, GROUPS, deepcopy(COLOURS), cut=0.1),
    "threshold of an infinite value": inner("threshold", 0, COLOURS, leaf(1.0, 1.0, 0.0), cut=np.inf),
}


@pytest.mark.parametrize("number", [np.float32, np.float64])
@pytest.mark.parametrize("name", TREES)
def test_trees_by_hand(engine: CpuEngine, name: str, number: type[np.floating[Any]]) -> None:
    numbers = np.array([0.1, np.nan, -np.inf, np.inf, -0.0, np.nextafter(0.1, 1), 5e-324], number)
    codes = np.array([-1, 0, 1, 2, 3, 1 << 23, (1 << 31) - 1], np.int32)  # those after 2 have no branch
    x, colour = (each.ravel() for each in np.meshgrid(numbers, codes))
    table = Table(SCHEMA, [x, colour], np.full(len(x), -1, np.int32))
    assert_same(engine, tree_of(TREES[name], SCHEMA), table)


def test_code_that_float32_cannot_hold(engine: CpuEngine) -> None:
    code = (1 << 24) + 1
    root = inner("subset", 1, leaf(1.0, 0.0, 0.0), leaf(0.0, 1.0, 0.0), subsets=[[1], [2]])
    tree = with_value_map(tree_of(root, SCHEMA), code)
    table = Table(SCHEMA, [np.zeros(2, np.float32), np.array([code - 1, code], np.int32)], np.full(2, -1, np.int32))
    assert engine.route(tree, table).tolist() == [[1, 0, 0], [0, 1, 0]]


def with_value_map(tree: Tree, code: int) -> Tree:
    """The value map of the root made longer: this code takes the second branch, all before it the first."""
    values = np.zeros(code + 1, np.int32)
    values[code] = 1
    return replace(tree, value_start=np.array([0, code + 1, code + 1, code + 1]), value_branch=values)


@pytest.mark.parametrize("unknown", [0.0, 1.0])
def test_a_tree_5000_deep(engine: CpuEngine, unknown: float) -> None:
    schema, root = chain(5000)
    heights = np.where(np.random.default_rng(0).random(300) < unknown, np.nan, np.linspace(-1, 5001, 300))
    assert_same(engine, tree_of(root, schema), Table(schema, [heights], np.full(300, -1, np.int32)))
