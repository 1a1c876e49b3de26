"""What each worker will need is planned before the start, and refused where a worker may not have it."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import numpy as np
import pytest

from c45gpu.dask import rows_of_table
from c45gpu.dask.connect import Worker, current_client, require_packages, require_workers
from c45gpu.dask.plan import plans, require, require_room
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import EngineError, MemoryPlanError, MissingPackageError
from c45gpu.induction.options import Options
from c45gpu.kernels.cpu_plan import GROWING, PRUNING, SORTING
from tests.dask.threads import client

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["client"]

N = 30_000


def table(lists: int, few: int, discrete: int) -> Table:
    chance = np.random.default_rng(0)
    columns = [
        *(chance.random(N).astype(np.float32) for _ in range(lists)),
        *(chance.integers(0, 9, N).astype(np.float64) for _ in range(few)),
        *(chance.integers(0, 3, N).astype(np.int32) for _ in range(discrete)),
    ]
    kinds = ["continuous"] * (lists + few) + ["discrete"] * discrete
    attributes = [Attribute(f"x{a}", kind, ("a", "b", "c") * (kind == "discrete")) for a, kind in enumerate(kinds)]
    return Table(Schema(tuple(attributes), ("no", "yes")), columns, chance.integers(0, 2, N).astype(np.int32))


def test_attributes_are_shared_out_and_rows_are_halved(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("c45gpu.dask.plan.PRUNED_BY_ONE", 0)
    rows = rows_of_table(client, table(lists=5, few=3, discrete=2))
    first, second = plans(client, rows, Options())
    assert (first.attributes, second.attributes) == (3 + 1, 2 + 4)  # many values take longer than few
    of_row = 12 + 5 * 4 + 3 * 8 + 2 * 4
    for one, lists, width in ((first, 3, 3 * 4 + 4), (second, 2, 2 * 4 + 3 * 8 + 4)):
        parts = {part.name: part for part in one.memory.parts if part.name != "tree"}
        assert parts["cases by rows"] == ("cases by rows", N // 2 * of_row, (SORTING, GROWING, PRUNING))
        assert parts["columns on their way"] == ("columns on their way", N * (12 + width), (SORTING,))
        assert parts["columns to grow with"] == ("columns to grow with", N * (12 + width), (SORTING, GROWING))
        assert parts["distinct values"].n_bytes == N * 4 * lists
        assert parts["columns to prune with"].n_bytes == N // 2 * of_row
        assert parts["cases on their way down"].n_bytes == N * 40
        assert parts["cases at leaves"].n_bytes == N // 2 * 20


@pytest.mark.parametrize(("little", "unknown"), [(0, False), (0, True), (N * 8, False), (N * 8 - 1, False)])
def test_one_worker_prunes_all_rows_where_values_are_unknown_or_rows_are_few(
    client: Client, monkeypatch: pytest.MonkeyPatch, little: int, unknown: bool
) -> None:
    monkeypatch.setattr("c45gpu.dask.plan.PRUNED_BY_ONE", little)
    whole = table(lists=2, few=0, discrete=0)
    if unknown:
        whole.columns[0][::5] = np.nan  # type: ignore[index]
    n_pruned = N if unknown or little == N * 8 else N // 2
    for one in plans(client, rows_of_table(client, whole), Options()):
        of_pruning = {part.name: part.n_bytes for part in one.memory.parts if part.stages == (PRUNING,)}
        assert of_pruning["columns to prune with"] == n_pruned * (12 + 2 * 4)
        assert of_pruning.get("values to prune with", 0) == (0 if unknown else n_pruned * 2 * 4)
        sent = [part for part in one.memory.parts if part.name == "columns on their way to prune"]
        assert [part.n_bytes for part in sent] == ([N // 2 * (12 + 2 * 4)] if n_pruned == N else [])
        assert not {"lists", "spare lists", "values in order"} & set(of_pruning)


def test_a_limit_that_is_too_low_is_told_and_no_limit_is_none(client: Client) -> None:
    rows = rows_of_table(client, table(lists=2, few=0, discrete=0))
    one, _ = plans(client, rows, Options())
    huge = one.memory._replace(parts=tuple(part._replace(n_bytes=10_000 * part.n_bytes) for part in one.memory.parts))
    within = Worker("tcp://far:1", 1, huge.total)
    require(one._replace(worker=within, memory=huge), 2, N)
    require(one._replace(worker=within._replace(limit=None), memory=huge), 2, N)
    with pytest.raises(
        MemoryPlanError, match=r"worker tcp://far:1 would need .* for 30000 cases with 2 attributes and"
    ):
        require(one._replace(worker=within._replace(limit=huge.total - 1), memory=huge), 2, N)


def test_training_is_refused_before_it_starts(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of_table(client, table(lists=2, few=0, discrete=0))
    monkeypatch.setattr("c45gpu.dask.plan.LITTLE", 1)
    monkeypatch.setattr("c45gpu.dask.plan.workers_of", lambda client: [Worker("tcp://far:1", 1, 1000)])
    with pytest.raises(
        MemoryPlanError, match="and may have 1 kB: add workers, or start them with a larger --memory-limit"
    ):
        require_room(client, rows, Options(), "auto")
    require_room(client, rows, Options(), "reference")  # which is not planned


def test_a_cluster_without_workers(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "nthreads", dict)
    monkeypatch.setattr(client, "wait_for_workers", _none_comes)
    with pytest.raises(
        EngineError, match=r"the Dask cluster at inproc://.* has no workers: start some with 'dask worker"
    ):
        require_workers(client)
    assert current_client() is client


def _none_comes(n_workers: int, timeout: float) -> None:
    raise TimeoutError


def test_without_dask_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"needs Dask and distributed: pip install 'c45gpu\[dask\]'"):
        require_packages()
