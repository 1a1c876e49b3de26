"""A cluster of threads of this process, and its parts put together again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest
from distributed import Client, LocalCluster

from c45gpu.data.table import Table
from tests.data.same import assert_columns

if TYPE_CHECKING:
    from c45gpu.dask.rows import RowParts


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two workers of one thread each."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def joined(client: Client, rows: RowParts) -> Table:
    """The table that all parts are together."""
    tables = client.gather(rows.parts)
    assert [table.n_cases for table in tables] == rows.n_cases
    assert all(table.schema == rows.schema for table in tables)
    assert all(len({c.dtype for c in column if c is not None}) <= 1 for column in zip(*_columns(tables), strict=True))
    columns = [None if c[0] is None else np.concatenate(c) for c in zip(*_columns(tables), strict=True)]
    weights = None if tables[0].weights is None else np.concatenate([table.weights for table in tables])
    return Table(rows.schema, columns, np.concatenate([table.classes for table in tables]), weights)


def _columns(tables: list[Table]) -> list[list[np.ndarray | None]]:
    return [list(table.columns) for table in tables]


def assert_is(one: Table, other: Table) -> None:
    """Equal in everything, weights included."""
    assert one.schema == other.schema
    np.testing.assert_array_equal(one.classes, other.classes, strict=True)
    assert_columns(one, *other.columns)
    if other.weights is None:
        assert one.weights is None
    else:
        np.testing.assert_array_equal(one.weights, other.weights, strict=True)
