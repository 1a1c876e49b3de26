"""Makes a function that runs under the emulator from a kernel's Python function, source unchanged.

The new function has the same code over other globals: ``cuda`` is the emulator's device, each function that it calls
is made over likewise, types are casts that check, tables are read-only arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tests.cuda_emulator.arrays import constant
from tests.cuda_emulator.device import DEVICE
from tests.cuda_emulator.libdevice import Libdevice
from tests.cuda_emulator.words import Cast, scalar

FOREIGN = ("numpy", "numba", "llvmlite")  # packages whose functions are left as they are

_made: dict[FunctionType, FunctionType] = {}
_originals: dict[FunctionType, dict[str, Any]] = {}  # globals of each function in `_made` as they were


def python_function(kernel: Any) -> FunctionType:
    """The function that was decorated, or that was handed over as it is."""
    function = getattr(kernel, "py_func", kernel)
    if not isinstance(function, FunctionType):
        raise TypeError(f"{kernel!r} is no Python function and was not made from one")
    return function


def emulated(kernel: Any) -> FunctionType:
    """The kernel or device function as the emulator runs it."""
    function = python_function(kernel)
    if function not in _made:
        names: dict[str, Any] = {"__builtins__": function.__globals__["__builtins__"]}
        closure = tuple(CellType() for _ in function.__closure__ or ())
        made = FunctionType(function.__code__, names, function.__name__, function.__defaults__, closure or None)
        made.__kwdefaults__ = function.__kwdefaults__
        _made[function] = made  # before its globals are made over: it may call itself
        _originals[function] = {}
        _follow(function)
        free = function.__code__.co_freevars
        for name, cell, old in zip(free, closure, function.__closure__ or (), strict=True):
            cell.cell_contents = _made_over(name, old.cell_contents)
    return _made[function]


def refresh() -> None:
    """Take over what has become of globals since: a test may have given a constant another value."""
    for function in list(_made):
        _follow(function)


def _follow(function: FunctionType) -> None:
    originals, names = _originals[function], _made[function].__globals__
    for name in set(_names(function.__code__)) & function.__globals__.keys():
        value = function.__globals__[name]
        if name not in originals or originals[name] is not value:
            originals[name] = value
            names[name] = _made_over(name, value)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


class Module:
    """A module whose functions are made over when they are asked for."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = _made_over(name, getattr(self._module, name))
        setattr(self, name, value)
        return value


def _made_over(name: str, value: Any) -> Any:
    """What a kernel finds under a global name."""
    if isinstance(value, ModuleType):
        return _module(value)
    if isinstance(value, np.ndarray):
        return constant(name, value)
    if isinstance(value, np.generic):
        return scalar(value)
    kind = _number_type(value)
    if kind is not None:
        return Cast(kind)
    if hasattr(value, "py_func") or _is_own(value):
        return emulated(value)
    return value


def _module(module: ModuleType) -> Any:
    if module.__name__ == "numba.cuda":
        return DEVICE
    if module.__name__ == "numba.cuda.libdevice":
        return Libdevice
    return module if module.__name__.split(".")[0] in sys.stdlib_module_names else Module(module)


def _is_own(value: Any) -> bool:
    if not isinstance(value, FunctionType):
        return False
    package = value.__module__.split(".")[0]
    return package not in FOREIGN and package not in sys.stdlib_module_names


def _number_type(value: Any) -> np.dtype[Any] | None:
    """The type of numbers that NumPy or Numba mean by a global, if it is one."""
    if isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value) if np.dtype(value).kind in "iufb" else None
    if type(value).__module__.startswith("numba.") and type(value).__name__ in ("Integer", "Float", "Boolean"):
        return np.dtype("bool" if value.name in ("bool", "boolean") else value.name)
    return None
