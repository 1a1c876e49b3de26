"""Tables on a cluster, in parts of any sizes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client

from c45gpu.dask.rows import RowParts
from c45gpu.dask.train import train_on
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.store import Model, save


def rows_on(client: Client, table: Table, stops: list[int]) -> RowParts:
    """The table cut before some rows; equal stops make empty parts."""
    edges = [0, *stops, table.n_cases]
    parts = [table.take(np.arange(first, stop)) for first, stop in pairwise(edges)]
    workers = sorted(client.nthreads())
    futures = [client.scatter(part, workers=[workers[i % len(workers)]], hash=False) for i, part in enumerate(parts)]
    return RowParts(table.schema, futures, [part.n_cases for part in parts])


def thirds(table: Table) -> list[int]:
    """Uneven parts, one of them empty."""
    return [table.n_cases // 5, table.n_cases // 5, table.n_cases // 2]


def same_bytes(folder: Path, one: Model, other: Model) -> bool:
    """Whether two models' files are equal."""
    save(one, folder / "one.c45")
    save(other, folder / "other.c45")
    return (folder / "one.c45").read_bytes() == (folder / "other.c45").read_bytes()


def assert_same(client: Client, table: Table, options: Options, folder: Path, **how: Any) -> None:
    """The model of the cluster has the bytes of one machine's."""
    alone = train(table, options, "reference", costs=how.get("costs"))
    model = train_on(client, rows_on(client, table, thirds(table)), options, **{"step_seconds": 60.0} | how)
    assert model.unpruned.equals(alone.unpruned)
    assert model.pruned.equals(alone.pruned)
    assert same_bytes(folder, model, alone)
