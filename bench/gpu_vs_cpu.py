"""How long this machine's GPU takes for a tree, beside the CPU engine and scikit-learn on the same arrays.

    python -m bench.gpu_vs_cpu [--rows 1e5,1e6] [--columns 28] [--unknown 0.1] [--out FILE] [--plot FILE.png]

Rows are a Gaussian mixture of two classes in float32 columns. c45gpu grows and prunes; scikit-learn, asked for entropy
and no limit, grows only. Time is split into transfer, sort, levels and prune where an engine tells them apart.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from bench.device import trees
from bench.device.big import drawn, mixture
from bench.device.card import opened, versions
from bench.device.tables import as_table
from bench.report import conditions, write
from c45gpu.data.table import Table
from c45gpu.errors import EngineError

ENGINES: Final = ("cuda", "cpu", "sklearn")
PARTS: Final = ("pose", "transfer", "sort", "load", "levels", "finish", "prune", "fit")
TOLD_APART: Final = {"load": ("transfer", "sort")}  # a part that is the sum of others where these are known

Result = dict[str, Any]


def measured(engine: str, table: Table, prune: bool) -> Result:
    """One engine on one table."""
    asked = trees.Asked(prune=prune)
    if engine == "sklearn":
        return trees.scikit_learn(table, None)
    if engine == "cuda":
        return trees.on_card(opened(emulate=False), table, asked)
    return trees.measured(table, trees.opener(None, engine), asked)


def hindrance(engine: str) -> str | None:
    """Why an engine cannot be measured here, in a sentence; None if it can."""
    if engine == "sklearn":
        return None if find_spec("sklearn") else "scikit-learn is not installed: pip install scikit-learn"
    if engine == "cuda":
        try:
            opened(emulate=False)
        except EngineError as error:
            return f"no GPU is measured: {error}"
    return None


def compare(engines: list[str], sizes: list[int], columns: int, unknown: float, seed: int, prune: bool) -> list[Result]:
    """Every engine on a table of every size; what fails is told, and the others go on."""
    reasons = {engine: hindrance(engine) for engine in engines}
    for reason in filter(None, reasons.values()):
        _say(reason)
    results = []
    for n_rows in sizes:
        table = as_table(drawn(partial(mixture, columns), n_rows, unknown, seed=seed))
        for engine in engines:
            result: Result = {"engine": engine, "rows": n_rows, "columns": columns, "reason": reasons[engine]}
            if result["reason"] is None:
                result |= _tried(engine, table, prune)
                _say(f"{engine}, {n_rows:,} rows: {result['reason'] or format(result['all'], '.3f') + ' s'}")
            results.append(result)
    return results


def _tried(engine: str, table: Table, prune: bool) -> Result:
    try:
        return measured(engine, table, prune)
    except Exception as error:  # memory, mostly: the other engines may have enough
        return {"reason": f"{type(error).__name__}: {error}"}


def parts_of(result: Result) -> dict[str, float]:
    """The seconds of a result by part, none of them within another."""
    seconds = result["seconds"]
    whole = {part for part, within in TOLD_APART.items() if all(one in seconds for one in within)}
    return {part: seconds[part] for part in PARTS if part in seconds and part not in whole}


def as_text(results: list[Result]) -> str:
    """A table, and how many times as fast the GPU is."""
    found = [result for result in results if result["reason"] is None]
    parts = [part for part in PARTS if any(part in parts_of(result) for result in found)]
    lines = [f"{'engine':10} {'rows':>12} {'seconds':>10}" + "".join(f"{p:>10}" for p in parts) + f"{'leaves':>11}"]
    for result in found:
        seconds = parts_of(result)
        cells = "".join(f"{seconds[part]:10.3f}" if part in seconds else f"{'-':>10}" for part in parts)
        lines.append(f"{result['engine']:10} {result['rows']:12,} {result['all']:10.3f}{cells}{result['leaves']:11,}")
    return "\n".join([*lines, *_ratios(found)])


def _ratios(found: list[Result]) -> list[str]:
    gpu = {result["rows"]: result for result in found if result["engine"] == "cuda"}
    others = [result for result in found if result["engine"] != "cuda" and result["rows"] in gpu]
    return [
        f"{other['rows']:,} rows: {other['engine']} takes {other['all'] / gpu[other['rows']]['all']:.2f} times as long "
        "as cuda"
        + ("" if other.get("digest") in (None, gpu[other["rows"]]["digest"]) else ", and its tree is ANOTHER ONE")
        for other in others
    ]


def draw(results: list[Result], path: Path) -> None:
    """Draw a bar for each result, its parts one on top of the other.

    Raises
    ------
    ImportError
        When matplotlib is not installed.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    found = [result for result in results if result["reason"] is None]
    figure = Figure(figsize=(2 + 1.3 * len(found), 5), layout="constrained")
    panel = figure.subplots()
    bars, height = range(len(found)), [0.0] * len(found)
    for part in PARTS:
        seconds = [parts_of(result).get(part, 0.0) for result in found]
        if any(seconds):
            panel.bar(bars, seconds, bottom=height, label=part)
            height = [below + more for below, more in zip(height, seconds, strict=True)]
    panel.set_xticks(bars, [f"{result['engine']}\n{result['rows']:,} rows" for result in found])
    panel.set(ylabel="seconds")
    panel.legend()
    FigureCanvasAgg(figure).print_png(str(path))


def _names(text: str) -> list[str]:
    chosen = text.split(",")
    for name in chosen:
        if name not in ENGINES:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(ENGINES)}")
    return chosen


def _sizes(text: str) -> list[int]:
    sizes = [float(one) for one in text.split(",")]
    if not all(size >= 1 and size == int(size) for size in sizes):
        raise argparse.ArgumentTypeError(f"{text!r} are not whole numbers of rows")
    return [int(size) for size in sizes]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    whole = argparse.ArgumentParser(
        prog="python -m bench.gpu_vs_cpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    whole.add_argument("--rows", type=_sizes, default=[100_000, 1_000_000], help="sizes, such as 1e5,1e6")
    whole.add_argument("--columns", type=int, default=28)
    whole.add_argument("--unknown", type=float, default=0.0, help="share of values made unknown")
    whole.add_argument("--engines", type=_names, default=list(ENGINES), help=", ".join(ENGINES))
    whole.add_argument("--no-prune", action="store_true", help="grow only")
    whole.add_argument("--seed", type=int, default=0)
    whole.add_argument("--out", type=Path, help="JSON file with every run")
    whole.add_argument("--plot", type=Path, help="PNG file; needs matplotlib")
    return whole


def main(words: list[str]) -> None:
    """Measure, print, keep, draw."""
    given = parser().parse_args(words)
    about = conditions(" ".join(["python -m bench.gpu_vs_cpu", *words]), os.getloadavg()[0])
    results = compare(given.engines, given.rows, given.columns, given.unknown, given.seed, not given.no_prune)
    print(as_text(results))
    if given.out is not None:
        write(about | {"device_packages": versions(), "results": results}, given.out)
    if given.plot is not None:
        try:
            draw(results, given.plot)
        except ImportError as missing:
            _say(f"no picture: {missing}")


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
