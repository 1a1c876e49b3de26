"""Rows that a worker took with it are read again, from where they came from."""

from __future__ import annotations

import os
from pathlib import Path

import dask.array as da
import numpy as np
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet
from distributed import Client, LocalCluster

from c45gpu.dask import rows_of_parquet
from c45gpu.dask.partitions import pieces_of
from tests.dask.threads import assert_is, joined


def test_rows_are_read_again_after_the_death_of_a_worker(examples: Path, tmp_path: Path) -> None:
    path, chance = tmp_path / "penguins.parquet", np.random.default_rng(0)
    parquet.write_table(arrow_csv.read_csv(examples / "penguins.csv"), path, row_group_size=50)
    X, y = chance.random((60, 2)), np.arange(60) % 3
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        of_files = rows_of_parquet(client, path, target="species")
        pieces = pieces_of(client, da.from_array(X, chunks=(20, 2)), y)
        of_array = pieces.rows(client, pieces.whole())
        del pieces
        before = [joined(client, rows) for rows in (of_files, of_array)]
        client.run(os._exit, 1, workers=list(client.nthreads())[:1], on_error="ignore")
        for rows, table in zip((of_files, of_array), before, strict=True):
            assert_is(joined(client, rows), table)
