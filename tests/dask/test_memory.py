"""Memory that workers keep while a tree grows."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from c45gpu.dask.memory import give_back, keep_freed

ARRAY = 8 << 20


def faults() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def faults_of_ten_arrays() -> int:
    np.zeros(ARRAY, np.uint8).fill(1)
    before = faults()
    for _ in range(10):
        np.empty(ARRAY, np.uint8).fill(1)
    return faults() - before


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator is meant")
def test_freed_memory_is_used_again_until_it_is_given_back() -> None:
    keep_freed()
    kept = faults_of_ten_arrays()
    give_back()
    given_back = faults_of_ten_arrays()
    assert kept < ARRAY // 4096
    assert given_back > 5 * ARRAY // 4096 or given_back > 10 * kept
