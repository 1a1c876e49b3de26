"""The bytes that growing must move."""

from __future__ import annotations

import numpy as np

from bench.bench_floor import bytes_to_move
from bench.rows import Rows
from c45gpu.data.schema import Attribute, Schema
from tests.golden_trees import inner, leaf, tree_of

N = 400_000


def test_bytes_of_a_tree_by_hand() -> None:
    long, short = np.arange(N, dtype=np.float32), np.zeros(N, np.int32)
    rows = Rows(("x", "y", "c"), ((), (), ("a", "b")), [long, long[::-1], short], np.zeros(N, np.int32), ("n", "p"))
    schema = Schema(
        (Attribute("x", "continuous"), Attribute("y", "continuous"), Attribute("c", "discrete", ("a", "b"))), ("n", "p")
    )
    # three lists and a code: 25 bytes for a case in both buffers, so up to 62,914 cases are finished in the cache
    small = inner("threshold", 0, leaf(20_000, 0), leaf(0, 20_000), cut=1.0)
    tree = tree_of(
        inner("threshold", 0, inner("threshold", 1, leaf(300_000, 0), small, cut=2.0), leaf(0, 60_000), cut=3.0), schema
    )
    moved = bytes_to_move(rows, tree)
    assert moved["sort"] == 3 * 4 * N + 2 * 4 * N
    assert moved["levels"] == (400_000 + 340_000) * (16 * 3 + 1)
    assert moved["finishing"] == (40_000 + 60_000) * (4 * 3 + 1)
