"""What a level sends: a bit for each case and worker, and the candidates."""

from __future__ import annotations

import numpy as np
import pytest
from distributed import Client

from c45gpu.dask.packed import pack, unpacked
from c45gpu.dask.together import LevelTraffic
from c45gpu.dask.train import train_on
from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.induction.grow import CANDIDATE_BYTES, Progress
from tests.dask.here import rows_on, thirds
from tests.dask.test_same_bytes import two_classes

CASES = 20_000
HEADER = 32  # bytes of a node, beside its cases
NODES = 100  # small ones, at most


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_level_sends_a_bit_for_each_case_and_its_candidates(
    clients: dict[int, Client], workers: int, unknown: bool
) -> None:
    client, levels, open_nodes = clients[workers], list[LevelTraffic](), [1]
    both = two_classes(np.random.default_rng(0), None, CASES, unknown)
    table = Table(Schema(both.schema.attributes[:3], both.schema.classes), both.columns[:3], both.classes)

    def note(progress: Progress) -> None:
        open_nodes.append(progress.open_nodes)

    rows = rows_on(client, table, thirds(table))
    train_on(client, rows, engine="reference", small=2000, progress=note, traffic=levels.extend)
    bits = 1 + unknown  # a second one tells which cases have no known value
    for level, n_open in zip([level for level in levels if level.nodes], open_nodes, strict=False):
        assert level.candidates == n_open * CANDIDATE_BYTES * len(table.schema.used)
        assert level.most_branches <= 1.5 * bits * level.instances / 8 + HEADER * level.nodes
        assert level.branches <= (workers - 1) * (1.5 * bits * level.instances / 8 + HEADER * level.nodes)
    assert levels[0].instances == CASES
    assert (sum(level.branches for level in levels) > 0) == (workers > 1)


@pytest.mark.parametrize("engine", ["cpu", "reference"])
def test_cases_of_small_nodes_are_sent_once(clients: dict[int, Client], engine: str) -> None:
    levels = list[LevelTraffic]()
    table = two_classes(np.random.default_rng(0), None, CASES)
    train_on(clients[2], rows_on(clients[2], table, []), engine=engine, small=2000, traffic=levels.extend)
    *large, below = levels
    assert (below.nodes, below.branches, below.candidates) == (0, 0, 0)
    assert sum(level.cases for level in large) == 0
    assert 0 < below.instances <= CASES
    of_case = 4 * (len(table.schema.used) + 1)  # a value each, and the class
    assert 0 < below.cases <= below.instances * of_case + HEADER * NODES


@pytest.mark.parametrize("most", [1, 2, 300, 70_000])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.5])
def test_branches_come_out_as_they_went_in(most: int, share: float) -> None:
    chance = np.random.default_rng(most)
    branch = chance.integers(0, most + 1, 5000).astype(np.int32)
    branch[1000:3000] = chance.integers(0, 2, 2000)  # one split of three has two branches
    branch[chance.random(5000) < share] = -1
    packed = pack(branch, np.array([1000, 2000, 2000]))
    np.testing.assert_array_equal(unpacked(packed), branch)
    assert packed.two.tolist() == [most == 1, True, most == 1]
