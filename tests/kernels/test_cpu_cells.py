"""Values of cases where they lie, and written in an order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from c45gpu.data.schema import Attribute, Kind, Schema
from c45gpu.data.table import Table
from c45gpu.kernels.cpu_cells import Cells, Memory, cells_in_order, cells_in_place, cells_of_rows
from c45gpu.kernels.cpu_crew import Crew

pytestmark = pytest.mark.usefixtures("kernels")

N = 50
KINDS: tuple[tuple[Kind, int], ...] = (
    ("continuous", 0),
    ("discrete", 4),
    ("continuous", 0),
    ("discrete", 4),
    ("continuous", 0),
)


@pytest.fixture(scope="module")
def crew() -> Iterator[Crew]:
    crew = Crew(2)
    yield crew
    crew.dismiss()


def table() -> Table:
    """Columns of two precisions, one of every second number of an array, one that begins within another's memory."""
    chance = np.random.default_rng(3)
    narrow, wide = chance.random(2 * N, np.float32), chance.random(N + 1)
    codes = chance.integers(-1, 4, N, np.int32)
    columns = [narrow[::2], codes, wide[1:], codes[::-1].copy(), wide[:-1]]
    attributes = [Attribute(f"{kind}{i}", kind, ("a", "b", "c", "d")[:n]) for i, (kind, n) in enumerate(KINDS)]
    return Table(Schema(tuple(attributes), ("x", "y", "z")), columns, chance.integers(0, 3, N, np.int32))


def values(cells: Cells, column: int) -> Any:
    of_kind = cells.codes if KINDS[column][0] == "discrete" else cells.floats
    return of_kind[cells.start[column] :][:N]


def test_in_place() -> None:
    made = table()
    cells, _ = cells_in_place(made, np.arange(5), np.float64)
    for a in range(5):
        np.testing.assert_array_equal(values(cells, a), made.column(a))
    assert np.shares_memory(values(cells, 2), made.column(2))
    assert not cells.floats.flags.writeable


@pytest.mark.parametrize("memory", [(), (np.empty((3, N), np.uint32), np.empty(7)), (np.empty(5000, np.uint8),)])
def test_in_order(memory: tuple[Any, ...], crew: Crew) -> None:
    made, order = table(), np.random.default_rng(0).permutation(N).astype(np.int32)
    (cells, columns), classes = cells_in_order(made, np.arange(5), np.float64, order, crew, Memory(memory))
    for a in range(5):
        np.testing.assert_array_equal(values(cells, a), made.column(a)[order])
    np.testing.assert_array_equal(classes, made.classes[order])
    again = [any(np.shares_memory(column, block) for block in memory) for column in columns]
    assert any(again) == (len(memory) > 0)


def test_memory_is_given_once() -> None:
    block = np.zeros(64, np.uint32)
    memory = Memory([block])
    taken = [memory.take(20, np.float32), memory.take(10, np.float64), memory.take(20, np.float32)]
    for number, array in enumerate(taken, 1):
        array[:] = number
    assert [float(array[0]) for array in taken] == [1, 2, 3]
    assert [np.shares_memory(array, block) for array in taken] == [True, True, False]


@pytest.mark.parametrize("attributes", [[], [1], [0]])
def test_of_few_columns(attributes: list[int]) -> None:
    cells, _ = cells_in_place(table(), np.array(attributes, np.int64), np.float32)
    assert len(cells.start) == len(attributes)
    assert cells.floats.dtype == np.float32
    assert cells.codes.dtype == np.int32


def test_of_rows() -> None:
    rows = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    cells = cells_of_rows(rows)
    assert [cells.floats[cells.start[k] + 2] for k in range(3)] == rows[2].tolist()
    assert np.shares_memory(cells.floats, rows)
