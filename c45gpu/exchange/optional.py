"""Packages that only some exports need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from c45gpu.errors import MissingPackageError


def optional(module: str) -> Any:
    """A module of a package that need not be installed.

    Raises
    ------
    MissingPackageError
        When it is not.
    """
    try:
        return import_module(module)
    except ImportError as fault:
        package = module.partition(".")[0]
        raise MissingPackageError(f"this needs {package} ({fault}): pip install 'c45gpu[exchange]'") from fault
