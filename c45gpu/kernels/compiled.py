"""Make the shared formulas and the chooser callable from compiled code.

They are plain functions, so that the host can use them without a compiler; importing this module tells numba that
they may be compiled wherever compiled code calls them. Nothing is compiled by the import itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.extending import register_jitable

from c45gpu import choose, estimates, formulas, grouping, measures, partition
from c45gpu.kernels.compiled_files import cache_for

F = TypeVar("F", bound=Callable[..., Any])

_modules = (formulas, estimates, measures, choose, partition, grouping)
for _function in (function for module in _modules for function in module.SHARED):
    register_jitable(_function)

KERNELS: list[Any] = []  # every compiled function that has been imported


def compiled(function: F) -> F:
    """Compile for the CPU on first use, once for each machine; callers run it without holding Python's lock."""
    kernel: Any = njit(nogil=True, error_model="numpy")(function)
    if hasattr(kernel, "py_func"):  # it is the function itself where NUMBA_DISABLE_JIT is set
        kernel._cache = cache_for(kernel.py_func)
        KERNELS.append(kernel)
    return cast(F, kernel)
