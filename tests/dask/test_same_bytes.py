"""A cluster of any number of workers grows and prunes the tree of one machine, byte for byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from c45gpu.dask import held, placed
from c45gpu.dask.peers import Place
from c45gpu.dask.rows import RowParts
from c45gpu.dask.train import patience, train_on
from c45gpu.data.c45files import read_stem
from c45gpu.data.frames import read_file
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import DataError, EngineError, OptionError
from c45gpu.induction.options import Options
from c45gpu.induction.warm import tables
from tests.conftest import GOLDEN
from tests.dask.here import assert_same, rows_on, thirds
from tests.strategies import Asked, Sample, asked, larger_samples, samples

SETS = [  # and by how many workers
    ("r8_golf", 5),
    ("r8_vote", 2),
    ("r8_vote", 5),
    ("r8_labor-neg", 3),
    ("sk_iris", 1),
    ("sk_iris", 5),
    ("penguins", 2),
    ("penguins", 3),
    ("jb_german", 2),
    ("jb_german", 3),
]
SMALL = [0, 10, 50, None]
OPTIONS: list[dict[str, Any]] = [
    {"group_values": True},
    {"binary_splits": True},
    {"criterion": "gini"},
    {"compat": "r8", "criterion": "gain"},
    {"max_features": 2, "random_state": 3},
    {"max_depth": 3, "max_leaf_nodes": 7},
    {"significance": 0.2},
    {"prune": "pep"},
    {"subtree_raising": False, "min_samples_leaf": 4},
]


@pytest.fixture(params=["by one", "by rows"])
def pruning(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have trees pruned by one worker, and by all where no value is unknown."""
    monkeypatch.setattr(placed, "LITTLE", 1 << 30 if request.param == "by one" else 0)


@pytest.mark.usefixtures("pruning")
@pytest.mark.parametrize(("name", "workers"), SETS)
def test_sets_that_c45_is_shown_with(clients: dict[int, Client], tmp_path: Path, name: str, workers: int) -> None:
    if not (GOLDEN / "sets" / f"{name}.names").is_file():
        pytest.skip("the golden sets are not here")
    table, _ = read_stem(GOLDEN / "sets" / name)
    assert_same(clients[workers], table, Options(), tmp_path, engine="reference", small=SMALL[workers % 4])


@pytest.mark.parametrize("options", OPTIONS)
def test_options(clients: dict[int, Client], tmp_path: Path, examples: Path, options: dict[str, Any]) -> None:
    table = read_file(examples / "penguins.csv", target="species")
    assert_same(clients[2], table, Options(**options), tmp_path, small=20)


@pytest.mark.parametrize("weighted", [False, True])
def test_costs(clients: dict[int, Client], tmp_path: Path, weighted: bool) -> None:
    chance = np.random.default_rng(1)
    table = two_classes(chance, 0.1 + chance.random(300) if weighted else None)
    assert_same(clients[3], table, Options(), tmp_path, costs=[[0, 1], [7, 0]], small=30)


@pytest.mark.usefixtures("pruning")
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sample=samples() | larger_samples(),
    question=asked(),
    workers=st.sampled_from([1, 2, 3, 5]),
    small=st.sampled_from([0, 3, 10, None]),
)
def test_any_table(
    clients: dict[int, Client], tmp_path: Path, sample: Sample, question: Asked, workers: int, small: int | None
) -> None:
    assert_same(clients[workers], sample.table, question.options, tmp_path, engine="reference", small=small)


@pytest.mark.usefixtures("pruning")
@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("engine", ["cpu"])
def test_the_cpu_engine_on_each_worker(clients: dict[int, Client], tmp_path: Path, engine: str, unknown: bool) -> None:
    table = two_classes(np.random.default_rng(2), None, 2000, unknown)
    for small in (0, 100):
        assert_same(clients[2], table, Options(), tmp_path, engine=engine, small=small)


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("engine", ["cpu"])
def test_lists_and_codes_of_all_kinds(clients: dict[int, Client], tmp_path: Path, engine: str, workers: int) -> None:
    for table in list(tables())[::2]:  # those without unknown values
        assert_same(clients[workers], table.take(np.arange(3000)), Options(), tmp_path, engine=engine, small=400)


def test_cases_of_less_than_half_a_unit(clients: dict[int, Client], tmp_path: Path) -> None:
    chance = np.random.default_rng(9)
    table = two_classes(chance, chance.choice(np.array([1e6, 3e6, 1e-30]), 600), 600)
    assert_same(clients[2], table, Options(), tmp_path, engine="cpu", small=50)


@pytest.mark.parametrize("workers", [1, 3])
def test_pruning_starts_from_the_whole_order_of_leaves(
    clients: dict[int, Client], monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    left, found = held._order_left, list[Any]()

    def noting(grown: Place) -> Any:
        found.append(left(grown))
        return found[-1]

    monkeypatch.setattr(held, "_order_left", noting)
    table = two_classes(np.random.default_rng(8), None, 2000)
    train_on(clients[workers], rows_on(clients[workers], table, thirds(table)), engine="cpu", small=200)
    assert [sorted(order.tolist()) for order in found] == [list(range(2000))]


def test_who_prunes_may_use_what_waits_for_it_on_its_machine() -> None:
    workers = {"tcp://10.0.0.1:40": 2, "tcp://10.0.0.1:41": 3, "tcp://10.0.0.2:40": 4}
    assert placed.threads_of_host(workers, "tcp://10.0.0.1:41") == 5
    assert placed.threads_of_host(workers, "tcp://10.0.0.2:40") == 4


@pytest.mark.parametrize("options", [{"n_trials": 2}, {"screen": 2}, {"soft_thresholds": True}, {"prune": "rep"}])
def test_what_needs_all_cases_in_one_place_is_refused(clients: dict[int, Client], options: dict[str, Any]) -> None:
    table = two_classes(np.random.default_rng(3), None)
    with pytest.raises(OptionError, match="not to be had on a cluster"):
        train_on(clients[1], rows_on(clients[1], table, []), Options(**options))


def test_nothing_to_learn_from(clients: dict[int, Client]) -> None:
    table = two_classes(np.random.default_rng(4), None)
    with pytest.raises(DataError, match="there are no cases"):
        train_on(clients[2], rows_on(clients[2], table.take(np.arange(0)), []))
    broken = replace(table, classes=np.where(np.arange(300) == 250, -1, table.classes).astype(np.int32))
    with pytest.raises(DataError, match="case 251 has no class"):
        train_on(clients[2], rows_on(clients[2], broken, thirds(broken)))


def test_an_engine_that_is_none(clients: dict[int, Client]) -> None:
    table = two_classes(np.random.default_rng(5), None)
    with pytest.raises(EngineError, match="there is no engine"):
        train_on(clients[1], rows_on(clients[1], table, []), engine="magic")


def test_more_data_are_waited_for_longer() -> None:
    schema = two_classes(np.random.default_rng(6), None).schema
    assert patience(RowParts(schema, [], [1000]), 1) == pytest.approx(600.004)
    assert patience(RowParts(schema, [], [10**9, 10**9]), 4) == pytest.approx(600 + 2000)


def two_classes(chance: np.random.Generator, weights: np.ndarray | None, n: int = 300, unknown: bool = False) -> Table:
    """Numbers, codes and noise."""
    numbers = chance.normal(size=(3, n)).astype(np.float32)
    codes = chance.integers(0, 4, n).astype(np.int32)
    classes = ((numbers[0] > 0.3) ^ (codes == 2) ^ (chance.random(n) < 0.15)).astype(np.int32)
    if unknown:
        numbers[1, ::9], codes[::11] = np.nan, -1
    attributes = [Attribute(f"x{i}", "continuous") for i in range(3)] + [Attribute("c", "discrete", tuple("abcd"))]
    return Table(Schema(tuple(attributes), ("no", "yes")), [*numbers, codes], classes, weights)
