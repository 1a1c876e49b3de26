"""Memory that workers keep while a tree grows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (8 << 20) // 4096  # of an array
FAULTS = """
import resource
import numpy as np
from c45gpu.dask.memory import give_back, keep_freed

def faults_of_ten_arrays():
    np.empty(8 << 20, np.uint8).fill(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        np.empty(8 << 20, np.uint8).fill(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

keep_freed()
print(faults_of_ten_arrays())
give_back()
print(faults_of_ten_arrays())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator is meant")
def test_freed_memory_is_used_again_until_it_is_given_back() -> None:
    """In a process of its own, whose memory has no holes that other tests have left."""
    as_dask = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}  # without it glibc keeps some memory by itself
    program = [sys.executable, "-c", FAULTS]
    told = subprocess.run(program, cwd=ROOT, env=as_dask, capture_output=True, text=True, check=True).stdout
    kept, given_back = map(int, told.split())
    assert kept < PAGES
    assert given_back > 5 * PAGES or given_back > 10 * kept  # the latter where pages are large
