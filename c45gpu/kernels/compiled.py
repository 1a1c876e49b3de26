"""Make the shared formulas and the chooser callable from compiled code.

They are plain functions, so that the host can use them without a compiler; importing this module tells numba that
they may be compiled wherever compiled code calls them. Nothing is compiled by the import itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.extending import register_jitable

from c45gpu import choose, formulas

F = TypeVar("F", bound=Callable[..., Any])

for _function in (*formulas.SHARED, *choose.SHARED):
    register_jitable(_function)


def compiled(function: F) -> F:
    """Compile for the CPU on first use, once for each machine; callers run it without holding Python's lock."""
    return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))
