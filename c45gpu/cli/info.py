"""``c45gpu info``."""

from __future__ import annotations

import json
from typing import Annotated, Any

from cyclopts import Parameter

from c45gpu.cli.colours import Colouring, Page

PACKAGES = ("numpy", "numba", "pyarrow", "narwhals", "scikit-learn", "cupy-cuda12x", "cupy-cuda13x", "numba-cuda")


def info(
    *,
    warm_up: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
    colouring: Colouring | None = None,
) -> None:
    """Show versions, which engines are to be had here, device and memory, and whether the CPU engine is compiled.

    Parameters
    ----------
    warm_up : bool
        Compile all of the CPU engine now, so that no training has to wait for it. It stays on disk.
    as_json : bool
        Print one JSON document.
    colouring : Colouring
        Whether results are printed for a person.
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
    page, told = Page.of(colouring), _told(facts)
    if page.is_rich:
        from c45gpu.cli.tables import print_table

        print_table(page, "c45gpu here", ("what", "how it is"), told, n_texts=2)
        return
    for what, how in told:
        print(f"{what} {how}")


def _told(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """What there is, and how it is."""
    compiled = facts["compiled"]
    kept = f"{compiled['ready']} of {compiled['all']} kernels, kept in {compiled['folder'] or 'no folder'}"
    return [
        *((name, version or "is not installed") for name, version in facts["versions"].items()),
        *((f"engine {name}:", reason or "ready") for name, reason in facts["engines"].items()),
        *_memory(facts["device"], facts["memory"]),
        ("threads", str(facts["threads"])),
        ("compiled", kept),
    ]


def _memory(device: dict[str, Any] | None, memory: int | None) -> list[tuple[str, str]]:
    from c45gpu.kernels.cpu_plan import size

    told = [("memory", "of unknown size" if memory is None else f"{size(memory)} free")]
    if device is not None:
        free, total = size(device["free"]), size(device["memory"])
        card = f"{device['name']}, compute capability {device['compute_capability']}, {free} of {total} free"
        told.insert(0, ("device", card))
    return told


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
    from c45gpu.kernels.cuda_card import card

    return card()._asdict()


def _version(distribution: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
