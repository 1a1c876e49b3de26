"""Names of a package that are fetched when first used, so that importing the package is cheap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def fetched_when_used(
    package: dict[str, Any], home: dict[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : dict
        Its globals, with ``__all__``.
    home : dict of str to str
        For each name the module that it is fetched from.
    """

    def fetch(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        from importlib import import_module

        package[name] = value = getattr(import_module(home[name]), name)
        return value

    def names() -> list[str]:
        return sorted({*package, *package["__all__"]})

    return fetch, names
