"""``c45gpu info``."""

from __future__ import annotations

import json
from typing import Annotated, Any

from cyclopts import Parameter

PACKAGES = ("numpy", "numba", "pyarrow", "narwhals", "scikit-learn", "cupy-cuda12x", "cupy-cuda13x", "numba-cuda")


def info(
    *,
    warm_up: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
) -> None:
    """Show versions, which engines are to be had here, device and memory, and whether the CPU engine is compiled.

    Parameters
    ----------
    warm_up : bool
        Compile all of the CPU engine now, so that no training has to wait for it. It stays on disk.
    as_json : bool
        Print one JSON document.
    """
    if warm_up:
        from c45gpu.induction.warm import warm_up as compile_all
        from c45gpu.rules.warm import warm_up as compile_rules

        compile_all()
        compile_rules()
    facts = _facts()
    if as_json:
        print(json.dumps(facts, indent=1))
        return
    for name, version in facts["versions"].items():
        print(f"{name} {version or 'is not installed'}")
    for name, reason in facts["engines"].items():
        print(f"engine {name}: {reason or 'ready'}")
    _print_memory(facts["device"], facts["memory"])
    compiled = facts["compiled"]
    print(f"threads {facts['threads']}")
    print(f"compiled {compiled['ready']} of {compiled['all']} kernels, kept in {compiled['folder'] or 'no folder'}")


def _print_memory(device: dict[str, Any] | None, memory: int | None) -> None:
    from c45gpu.kernels.cpu_plan import size

    if device is not None:
        free, total = size(device["free"]), size(device["memory"])
        print(f"device {device['name']}, compute capability {device['compute_capability']}, {free} of {total} free")
    print("memory " + ("of unknown size" if memory is None else f"{size(memory)} free"))


def _facts() -> dict[str, Any]:
    import platform

    from c45gpu import __version__
    from c45gpu.induction.warm import kernels_kept
    from c45gpu.kernels.cpu_crew import cores
    from c45gpu.kernels.engine import available
    from c45gpu.kernels.memory import available_bytes

    engines = available()
    versions = {"c45gpu": __version__, "python": platform.python_version()}
    return {
        "versions": versions | {name: _version(name) for name in PACKAGES},
        "engines": engines,
        "device": None if engines["cuda"] else _device(),
        "memory": available_bytes(),
        "threads": cores(),
        "compiled": kernels_kept()._asdict(),
    }


def _device() -> dict[str, Any]:
    from c45gpu.kernels.cuda import card

    return card()._asdict()


def _version(distribution: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
