"""A table of this process is cut by rows and sent, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from c45gpu.dask import rows_of_table
from c45gpu.dask.rows import weight_of
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from tests.dask.threads import assert_is, client, joined

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["client"]


def table(n: int, weights: Any = None) -> Table:
    attributes = (Attribute("x", "continuous"), Attribute("id", "ignored"), Attribute("s", "discrete", ("a", "b")))
    columns = [np.arange(n, dtype=np.float32), None, np.arange(n, dtype=np.int32) % 3 - 1]
    return Table(Schema(attributes, ("no", "yes")), columns, np.arange(n, dtype=np.int32) % 2, weights)


@pytest.mark.parametrize("n", [1, 2, 3, 101])
@pytest.mark.parametrize("part_bytes", [1, 100, 10**6])
def test_parts_are_the_table(client: Client, n: int, part_bytes: int) -> None:
    whole = table(n, np.arange(n) / 4)
    rows = rows_of_table(client, whole, part_bytes)
    assert_is(joined(client, rows), whole)
    assert len(rows.parts) == min(n, max(2, -(-12 * n // part_bytes)))
    assert weight_of(client, rows) == whole.weights.sum()  # type: ignore[union-attr]
    assert weight_of(client, rows_of_table(client, table(n), part_bytes)) == n


def test_parts_lie_on_all_workers_evenly(client: Client) -> None:
    rows = rows_of_table(client, table(100), part_bytes=200)
    held = client.has_what()
    keys = [{part.key for part in rows.parts} & set(held[worker]) for worker in sorted(client.nthreads())]
    assert [len(one) for one in keys] == [3, 3]
    assert keys[0] == {part.key for part in rows.parts[:3]}  # neighbours lie together
