"""``c45gpu info``."""

from __future__ import annotations

import json
from typing import Annotated, Any

from cyclopts import Parameter

PACKAGES = ("numpy", "numba", "pyarrow", "narwhals", "scikit-learn", "cupy-cuda12x", "cupy-cuda13x", "numba-cuda")


def info(*, as_json: Annotated[bool, Parameter(name="--json", negative=())] = False) -> None:
    """Show versions, and which engines are to be had here.

    Parameters
    ----------
    as_json : bool
        Print one JSON document.
    """
    facts = _facts()
    if as_json:
        print(json.dumps(facts, indent=1))
        return
    for name, version in facts["versions"].items():
        print(f"{name} {version or 'is not installed'}")
    for name, reason in facts["engines"].items():
        print(f"engine {name}: {reason or 'ready'}")


def _facts() -> dict[str, Any]:
    import platform

    from c45gpu import __version__
    from c45gpu.kernels.engine import available

    versions = {"c45gpu": __version__, "python": platform.python_version()}
    return {"versions": versions | {name: _version(name) for name in PACKAGES}, "engines": available()}


def _version(distribution: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
