"""Large seeded tables, drawn by all cores: each chunk of rows from its own stream, whoever draws it.

higgs       28 float32 columns, a Gaussian mixture of 2 classes      11,000,000 rows
covertype   10 columns of whole numbers, 44 binary, 7 classes           581,012
agrawal     6 float64 columns and 3 discrete, 2 classes             100,000,000
codes       28 discrete columns of 16 values, 2 classes              11,000,000

Each may be made at a share of its rows, and with a share of its values unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from bench import agrawal
from bench.data import PERTURBATION, train_and_held_out
from bench.device.tables import as_table
from bench.rows import Rows, forget
from c45gpu.data.table import Table
from c45gpu.kernels.cpu_crew import cores

CHUNK: Final = 500_000
CLUSTERS: Final = 6
SEPARATION: Final = 0.8
FLIPPED: Final = 0.05
INFORMATIVE: Final = 0.4  # of the columns; the rest is noise
UNKNOWN: Final = 0.1
SEED: Final = 4

Draw = Callable[[int, np.random.Generator], Rows]


class Scale(NamedTuple):
    """How much of a table is made: a share of its rows, at most so many rows and columns."""

    share: float = 1.0
    rows: int = 1 << 40
    columns: int = 1 << 20

    def rows_of(self, full: int) -> int:
        """How many rows a table of so many gets."""
        return max(1, min(self.rows, round(full * self.share)))


FULL: Final = Scale()
SMALL: Final = Scale(share=0.01)
EMULATED: Final = Scale(rows=120, columns=6)


class Big(NamedTuple):
    """A large table: its rows in full, after how many levels growing stops, and what draws rows of it."""

    rows: int
    levels: int | None
    draw: Draw


def mixture(columns: int, n_rows: int, stream: np.random.Generator) -> Rows:
    """Clusters of two classes at corners of a cube, and columns of noise; the corners are the same for all chunks."""
    corners = np.random.default_rng([SEED, columns]).choice([-SEPARATION, SEPARATION], (CLUSTERS, columns))
    corners[:, max(1, round(INFORMATIVE * columns)) :] = 0
    cluster, centre = stream.integers(0, CLUSTERS, n_rows), corners.astype(np.float32)
    values = [stream.standard_normal(n_rows, np.float32) + centre[cluster, a] for a in range(columns)]
    flipped = stream.random(n_rows) < FLIPPED
    classes = np.where(flipped, stream.integers(0, 2, n_rows), cluster % 2).astype(np.int32)
    return Rows(tuple(f"x{a}" for a in range(columns)), ((),) * columns, values, classes, ("0", "1"))


def codes(columns: int, n_values: int, n_rows: int, stream: np.random.Generator) -> Rows:
    """Discrete columns; the first two decide the class."""
    values = [stream.integers(0, n_values, n_rows, np.int32) for _ in range(columns)]
    classes = ((values[0] + values[1]) % n_values >= n_values // 2).astype(np.int32)
    names = tuple(f"x{a}" for a in range(columns))
    return Rows(names, (tuple(map(str, range(n_values))),) * columns, values, classes, ("0", "1"))


def covertype(n_rows: int, stream: np.random.Generator) -> Rows:
    """The set `cov`, whose stands are the same whatever the stream, which it does not need."""
    return train_and_held_out("cov", n_rows, held_out=1)[0]


def people(n_rows: int, stream: np.random.Generator) -> Rows:
    """Agrawal's function 2."""
    return agrawal.rows(2, n_rows, PERTURBATION, stream)


BIG: Final = {
    "covertype": Big(581_012, None, covertype),
    "higgs-1m": Big(1_000_000, None, partial(mixture, 28)),
    "higgs": Big(11_000_000, None, partial(mixture, 28)),
    "agrawal": Big(100_000_000, 10, people),
    "codes": Big(11_000_000, None, partial(codes, 28, 16)),
}


def table(name: str, scale: Scale = FULL, unknown: float = 0.0) -> Table:
    """A table by name, at a scale, with a share of its values unknown."""
    big = BIG[name]
    chunk = big.rows if name == "covertype" else CHUNK
    rows = drawn(big.draw, scale.rows_of(big.rows), unknown, chunk)
    return as_table(_narrowed(rows, scale.columns))


def drawn(draw: Draw, n_rows: int, unknown: float = 0.0, chunk: int = CHUNK, seed: int = SEED) -> Rows:
    """Rows drawn chunk by chunk, some values made unknown, put together column by column."""

    def one(first: int) -> Rows:
        stream = np.random.default_rng([seed, first])
        part = draw(min(chunk, n_rows - first), stream)
        if unknown:
            forget(part, unknown, stream)
        return part

    with ThreadPoolExecutor(cores()) as pool:
        parts = list(pool.map(one, range(0, n_rows, chunk)))
        first = parts[0]
        columns = list(pool.map(lambda a: np.concatenate([part.columns[a] for part in parts]), range(len(first.names))))
    classes = np.concatenate([part.classes for part in parts])
    return Rows(first.names, first.values, columns, classes, first.class_names)


def _narrowed(rows: Rows, columns: int) -> Rows:
    """Some of the columns, of each kind."""
    step = -(-len(rows.names) // columns)
    chosen = range(0, len(rows.names), step)
    names, values = tuple(rows.names[a] for a in chosen), tuple(rows.values[a] for a in chosen)
    return Rows(names, values, [rows.columns[a] for a in chosen], rows.classes, rows.class_names)
