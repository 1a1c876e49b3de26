"""Small nodes in groups that workers take one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from c45gpu.dask.shares import GROUPS_OF_A_WORKER, grouped


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_groups_hold_every_node_once_and_get_smaller(workers: int) -> None:
    weights = np.random.default_rng(workers).integers(1, 1000, 300)
    groups = grouped(weights, workers, 500)
    assert sorted(np.concatenate(groups).tolist()) == list(range(300))
    assert all((np.diff(group) > 0).all() for group in groups)
    left = int(weights.sum())
    for group in groups:
        most = max(500, left // (GROUPS_OF_A_WORKER * workers))
        assert weights[group].sum() <= most or len(group) == 1
        left -= int(weights[group].sum())
    assert left == 0


def test_no_nodes_are_no_groups() -> None:
    assert grouped(np.zeros(0, np.int64), 2, 500) == []
