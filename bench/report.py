"""What was measured, as JSON, as Markdown tables, and as a log-log picture of time against rows."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from bench.measure import ROOT, Plan, Result, fit_seconds

OURS: Final = "c45gpu-cpu"
PACKAGES: Final = ("numpy", "numba", "pyarrow", "scikit-learn")  # what all share; a peer's version is in its runs
HEAD: Final = (
    "peer",
    "fit s (least to most)",
    "train",
    "prune",
    "read",
    "fit against ours",
    "runs",
    "leaves",
    "depth",
    "held out",
    "peak MB",
    "predict M rows/s",
)


def document(plan: Plan, results: list[Result], command: str, load_before: float) -> dict[str, Any]:
    """Everything, as plain values for JSON."""
    whole = {"plan": asdict(plan), "results": [asdict(result) for result in results]}
    return conditions(command, load_before) | whole


def conditions(command: str, load_before: float) -> dict[str, Any]:
    """Where and with what something was measured."""
    return {
        "command": command,
        "commit": _commit(),
        "machine": _machine() | {"load_before": round(load_before, 2)},
        "packages": {name: _version(name) for name in PACKAGES},
    }


def results_of(whole: dict[str, Any]) -> list[Result]:
    """The inverse for the results of a document that was written to a file."""
    return [Result(**result) for result in whole["results"]]


def markdown(results: list[Result]) -> str:
    """A table for each set and size, then what was skipped, then the slopes."""
    parts = []
    for key in dict.fromkeys((r.table["set"], r.table["rows"]) for r in results):
        parts.append(_table([r for r in results if (r.table["set"], r.table["rows"]) == key]))
    slopes = _slopes_table(results)
    return "\n".join([*parts, *([slopes] if slopes else [])])


def slopes(results: list[Result], peer: str, name: str) -> list[tuple[int, int, float]]:
    """Pairs of sizes, one after the other, each with the exponent that rows have in the time between them."""
    points = _points(results, peer, name)
    return [(n, larger, math.log(slow / fast) / math.log(larger / n)) for (n, fast), (larger, slow) in pairwise(points)]


def draw(results: list[Result], path: Path) -> None:
    """Draw fit time against rows, both logarithmic, one panel for each set, slopes in the legend.

    Raises
    ------
    ImportError
        When matplotlib is not installed.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(r.table["set"] for r in results))
    figure = Figure(figsize=(8.0, 5.5 * len(names)), layout="constrained")
    for panel, name in zip(figure.subplots(len(names), squeeze=False)[:, 0], names, strict=True):
        _draw_set(panel, results, name)
    FigureCanvasAgg(figure).print_png(str(path))


def _draw_set(panel: Any, results: list[Result], name: str) -> None:
    from matplotlib import colormaps

    for number, peer in enumerate(dict.fromkeys(r.peer for r in results)):
        points = _points(results, peer, name)
        if points:
            found = slopes(results, peer, name)
            label = f"{peer}  slope {', '.join(f'{slope:.2f}' for _, _, slope in found)}" if found else peer
            style = "-" if peer.startswith("c45gpu") else "--"
            colour, width = colormaps["tab20"](number % 20), 2.5 if peer == OURS else 1.2
            panel.loglog(
                *zip(*points, strict=True), style, color=colour, marker="o", markersize=4, linewidth=width, label=label
            )
    panel.set(title=name, xlabel="rows", ylabel="train and prune, seconds (median)")
    panel.grid(visible=True, which="both", alpha=0.25)
    if panel.lines:
        panel.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))


def _points(results: list[Result], peer: str, name: str) -> list[tuple[int, float]]:
    found = [(r.table["rows"], r.second("fit")) for r in results if (r.peer, r.table["set"]) == (peer, name)]
    return sorted((rows, seconds) for rows, seconds in found if seconds)


def _table(results: list[Result]) -> str:
    table = results[0].table
    title = f"### {table['set']}, {table['rows']:,} rows"
    if "columns" in table:
        title += f" x {table['columns']}, {table['classes']} classes, {table['input_mb']:.0f} MB"
    ours = next((r.second("fit") for r in results if r.peer == OURS and r.runs), None)
    rows = [_row(r, ours) for r in sorted((r for r in results if r.runs), key=lambda r: r.second("fit") or 0.0)]
    skipped = [f"- {r.peer}: {r.reason}" for r in results if r.reason is not None]
    return "\n".join([title, "", *(_grid(HEAD, rows) if rows else []), "", *skipped, ""])


def _row(result: Result, ours: float | None) -> tuple[str, ...]:
    fit, predict, rows = result.second("fit"), result.second("predict"), result.middle("predict_rows")
    each = [fit_seconds(run) for run in result.runs]
    return (
        result.peer,
        f"{_seconds(fit)} ({_seconds(min(each))} to {_seconds(max(each))})",
        _seconds(result.second("train")),
        _seconds(result.second("prune")),
        _seconds(result.second("read")),
        f"{fit / ours:.2f}" if fit is not None and ours else "-",
        str(len(result.runs)),
        _count(result.middle("leaves")),
        _count(result.middle("depth")),
        f"{result.middle('accuracy'):.4f}",
        _count(result.middle("peak_mb")),
        f"{rows / predict / 1e6:.2f}" if rows and predict else "-",
    )


def _slopes_table(results: list[Result]) -> str:
    pairs = dict.fromkeys((r.peer, r.table["set"]) for r in results)
    rows = [
        (peer, name, f"{n:,}", f"{larger:,}", f"{slope:.2f}", f"{(larger / n) ** slope:.1f}")
        for peer, name in pairs
        for n, larger, slope in slopes(results, peer, name)
    ]
    if not rows:
        return ""
    return "\n".join(["### Growth", "", *_grid(("peer", "set", "from rows", "to rows", "slope", "times"), rows), ""])


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}"


def _count(number: float | None) -> str:
    return "-" if number is None else f"{number:,.0f}"


def _machine() -> dict[str, Any]:
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _commit() -> str | None:
    """The commit measured, with a plus sign where files differ from it; None outside a repository."""
    try:
        head = _git("rev-parse", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def write(whole: dict[str, Any], path: Path) -> None:
    """Write a document to a JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole, indent=1) + "\n")
