"""The short table at the end of a device check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

PHASES: Final = ("pose", "transfer", "sort", "load", "levels", "finish", "prune", "fit")

Outcomes = dict[str, dict[str, Any]]


def summary(document: dict[str, Any], todo: list[str]) -> str:
    """What was found, in lines of text; `todo` are the steps that there was no time for."""
    steps: Outcomes = document["steps"]
    done = {name: outcome for name, outcome in steps.items() if outcome["status"] == "done"}
    device = done.get("device", {})
    parts = [
        [f"{device.get('name', 'unknown device')}, commit {document['commit']}"],
        list(_digests(steps)),
        list(_micro(done)),
        list(_trees(done)),
        list(_comparisons(done)),
        list(_predictions(done)),
        [f"{name}: {o['status']}, {o.get('reason', '')}" for name, o in steps.items() if o["status"] != "done"],
        [f"not reached, call again: {', '.join(todo)}"] if todo else [],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _digests(steps: Outcomes) -> Iterator[str]:
    found = Counter(outcome["status"] for name, outcome in steps.items() if name.startswith("digest/"))
    if found:
        yield f"trees equal to the digests: {found['done']} of {found.total()} tables"
    for name, outcome in steps.items():
        if name.startswith("sanitizer/") and outcome["status"] == "done":
            yield f"{name}: nothing found"


def _micro(done: Outcomes) -> Iterator[str]:
    copy = done.get("micro/copy", {}).get("bytes_per_second")
    rows = [(name, o) for name, o in done.items() if name.startswith("micro/") and "bytes" in o]
    if rows:
        yield f"{'part':18} {'bytes':>14} {'seconds':>12} {'GB/s':>9} {'of copy':>8}"
    for name, o in rows:
        share = f"{o['bytes_per_second'] / copy:8.1%}" if copy else f"{'-':>8}"
        yield f"{name:18} {o['bytes']:14,} {o['time']:12.6f} {o['bytes_per_second'] / 1e9:9.1f} {share}"
    launch = done.get("micro/launch")
    if launch:
        costs = (f"{name} {launch[name] * 1e6:.1f} us" for name in ("bare", "with arrays"))
        yield "a launch, on the host: " + ", ".join(costs)


def _trees(done: Outcomes) -> Iterator[str]:
    rows = {name: outcome for name, outcome in done.items() if "seconds" in outcome}
    phases = [phase for phase in PHASES if any(phase in outcome["seconds"] for outcome in rows.values())]
    if rows:
        head = "".join(f"{phase:>9}" for phase in phases)
        yield f"{'tree, seconds':24} {'rows':>12} {'all':>9}{head} {'leaves':>9} {'depth':>6} {'launches a level':>17}"
    for name, o in rows.items():
        cells = "".join(f"{o['seconds'][p]:9.3f}" if p in o["seconds"] else f"{'-':>9}" for p in phases)
        launches = o.get("work", {}).get("launches_a_level") or "-"
        yield f"{name:24} {o['rows']:12,} {o['all']:9.3f}{cells} {o['leaves']:9,} {o['depth']:6} {launches:>17}"


def _comparisons(done: Outcomes) -> Iterator[str]:
    """Whether the CPU engine made the same trees."""
    for name, outcome in done.items():
        twin = done.get(name.replace("cpu/", "tree/", 1)) if name.startswith("cpu/") else None
        if twin is not None and twin.get("stopped"):
            yield f"{name}: not compared, growing was stopped and the cpu engine finishes small nodes at once"
        elif twin is not None:
            same = twin["digest"] == outcome["digest"]
            yield f"{name}: {'the same tree as' if same else 'ANOTHER TREE than'} on the device"


def _predictions(done: Outcomes) -> Iterator[str]:
    for name, o in done.items():
        if "rows_per_second" in o:
            yield f"{name}: {o['rows_per_second'] / 1e6:.2f} M rows/s, {o['leaves']:,} leaves"
