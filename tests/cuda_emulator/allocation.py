"""``cuda.shared``, ``cuda.local`` and ``cuda.const``."""

from __future__ import annotations

import linecache
import re
import sys
from functools import cache
from typing import Any

import numpy as np

from tests.cuda_emulator.arrays import fresh
from tests.cuda_emulator.dynamic import DynamicMemory
from tests.cuda_emulator.faults import BadLaunch, Site, site_of
from tests.cuda_emulator.memory import Memory
from tests.cuda_emulator.words import Cast, index

STATIC_SHARED = 48 * 1024  # bytes of shared memory that a block has without asking


def dtype_of(kind: Any) -> np.dtype[Any]:
    """The type that a kernel names when it asks for an array."""
    return kind.dtype if isinstance(kind, Cast) else np.dtype(kind)


def shape_of(shape: Any) -> tuple[int, ...]:
    """The shape that a kernel names when it asks for an array."""
    return tuple(map(index, shape)) if isinstance(shape, tuple) else (index(shape),)


@cache
def assigned_name(site: Site, what: str) -> str:
    """What a kernel calls the array that it makes at a place."""
    line = site.line or 0
    found = re.match(r"\s*(\w+)\s*=", linecache.getline(site.code.co_filename, line))
    return found[1] if found else f"{what} array of line {line}"


class Shared:
    """``cuda.shared`` of one block after the other."""

    def __init__(self) -> None:
        self._arrays: dict[Site, Any] = {}
        self._memory: Memory
        self._dynamic: DynamicMemory
        self._bytes = 0

    def begin(self, memory: Memory, dynamic_bytes: int) -> None:
        """Another block starts; nothing is written yet."""
        self._arrays.clear()
        self._memory, self._dynamic, self._bytes = memory, DynamicMemory(memory, dynamic_bytes), 0

    def array(self, shape: Any, dtype: Any, alignment: int | None = None) -> Any:
        """The array that all threads of the block share; shape 0 is the dynamic shared memory."""
        site = site_of(sys._getframe(1))
        if site not in self._arrays:
            name = assigned_name(site, "shared")
            self._arrays[site] = self._allocate(name, shape_of(shape), dtype_of(dtype))
        return self._arrays[site]

    def _allocate(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        if shape == (0,):
            return self._dynamic.array(dtype)
        count = int(np.prod(shape))
        self._bytes += count * dtype.itemsize
        if self._bytes > STATIC_SHARED:
            raise BadLaunch(f"{self._bytes} bytes of static shared memory, more than {STATIC_SHARED}", name)
        return fresh(self._memory.allocate(name, count, dtype), shape)


class Local:
    """``cuda.local``: memory of one thread, not written yet whenever it is asked for."""

    def __init__(self) -> None:
        self.memory: Memory

    def array(self, shape: Any, dtype: Any, alignment: int | None = None) -> Any:
        """An array of the thread that calls."""
        name = assigned_name(site_of(sys._getframe(1)), "local")
        lengths = shape_of(shape)
        return fresh(self.memory.allocate(name, int(np.prod(lengths)), dtype_of(dtype), private=True), lengths)


class Constant:
    """``cuda.const``; tables of the program are read-only arrays anyway."""

    @staticmethod
    def array_like(table: Any) -> Any:
        """The table."""
        return table
