"""Numba's views of CuPy's arrays. Numba would make them anew at each launch; most arrays are launched with many times.

The time that a view takes is unmeasured here; gpu_vs_cpu.py and device_check.py under bench/ show what a launch costs.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any


def numba_view(array: Any) -> Any:
    """What numba makes of an array; it does not keep the array alive."""
    from numba import cuda

    return cuda.from_cuda_array_interface(array.__cuda_array_interface__, owner=None, sync=False)


class Views:
    """Views of arrays, made once and kept for as long as the array itself is there.

    Parameters
    ----------
    view : callable, optional
        Makes one; it must not keep the array alive, or no device memory would ever be free again.
    """

    def __init__(self, view: Callable[[Any], Any] = numba_view) -> None:
        self._view = view
        self._kept: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, value: Any) -> Any:
        """A kernel's argument as numba takes it: arrays inside tuples are not converted by numba itself."""
        if isinstance(value, tuple):
            parts = [self.of(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return self._of_array(value) if hasattr(value, "__cuda_array_interface__") else value

    def _of_array(self, array: Any) -> Any:
        number = id(array)  # no other array has it before the weak reference says that this one is gone
        if number not in self._kept:
            gone = weakref.ref(array, lambda _: self._kept.pop(number, None))
            self._kept[number] = gone, self._view(array)
        return self._kept[number][1]
