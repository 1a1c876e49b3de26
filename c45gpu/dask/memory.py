"""Memory of a worker that is used again, while a tree grows on it.

Dask has its workers give freed memory back to the system at once (``MALLOC_TRIM_THRESHOLD_``), which also makes glibc
map every larger array afresh. Each page of it costs a fault then: a fifth of a worker's time, as measured.
"""

from __future__ import annotations

import ctypes
import os
from typing import Final

TRIM_THRESHOLD: Final = -1  # glibc's names of what mallopt sets
MMAP_THRESHOLD: Final = -3
LARGEST: Final = 32 << 20  # bytes: glibc maps larger arrays in any case
DEFAULT: Final = 128 << 10


def keep_freed() -> None:
    """Keep freed memory for arrays to come, where that can be had; see :func:`give_back`."""
    _set(LARGEST, 1 << 30)


def give_back() -> None:
    """Give freed memory to the system, and go on as before."""
    try:
        usual = int(os.environ.get("MALLOC_TRIM_THRESHOLD_", ""))
    except ValueError:
        usual = DEFAULT
    if _set(DEFAULT, usual):
        trim()


def trim() -> None:
    """Give memory that is free now to the system."""
    if os.name == "posix" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)


def _set(mapped_from: int, trimmed_from: int) -> bool:
    """Whether this is a C library that can be told."""
    if os.name != "posix":
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        return False
    return bool(library.mallopt(MMAP_THRESHOLD, mapped_from) and library.mallopt(TRIM_THRESHOLD, trimmed_from))
