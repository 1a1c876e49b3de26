"""Room for helpers of tests that recurse; the limit is put back, since readers rely on it to survive deep nesting."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Let Python recurse deeply inside the block."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
