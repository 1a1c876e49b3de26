"""How long C4.5 files take to train on, by engine: reading, growing and pruning apart, medians.

    python -m bench.bench_train STEM [--engines reference,cpu] [--repeats 5] [--compat r8] [--out FILE]

STEM is the path of the .names and .data files without the suffix. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

import c45gpu
from c45gpu.data.c45files import read_stem
from c45gpu.data.table import Table
from c45gpu.induction.grow import Grower
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.prune import pruned
from c45gpu.kernels.engine import open_engine


def seconds_of(table: Table, options: Options, engine_name: str) -> dict[str, Any]:
    """Seconds of growing and pruning once, and what came out."""
    problem = pose(table, options)
    engine = open_engine(engine_name, table.n_cases * len(problem.used))
    start = time.perf_counter()
    grower = Grower(engine, problem)
    for _ in grower:
        pass
    tree = grower.tree
    grown = time.perf_counter()
    simple = pruned(tree, engine, problem, options)
    stop = time.perf_counter()
    engine.close()
    return {"grow": grown - start, "prune": stop - grown, "nodes": tree.n_nodes, "pruned_nodes": simple.n_nodes}


def measure(stem: str, engines: list[str], repeats: int, compat: str | None) -> dict[str, Any]:
    """Medians for each engine, after one run that warms up."""
    start = time.perf_counter()
    table, _ = read_stem(stem)
    read = time.perf_counter() - start
    options = Options(compat=compat)  # type: ignore[arg-type]
    results = {}
    for engine in engines:
        runs = [seconds_of(table, options, engine) for _ in range(repeats + 1)][1:]
        medians = {phase: statistics.median(run[phase] for run in runs) for phase in ("grow", "prune")}
        results[engine] = medians | {"nodes": runs[0]["nodes"], "pruned_nodes": runs[0]["pruned_nodes"]}
    return {
        "file": Path(stem).name,
        "cases": table.n_cases,
        "attributes": len(table.schema.used),
        "read": read,
        "engines": results,
        "repeats": repeats,
        "cpus": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "machine": platform.machine(),
        "versions": {"c45gpu": c45gpu.__version__, "numpy": np.__version__, "python": platform.python_version()},
    }


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stem")
    parser.add_argument("--engines", default="reference,cpu")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--compat", choices=["r8"])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    text = json.dumps(measure(given.stem, given.engines.split(","), given.repeats, given.compat), indent=2)
    print(text)
    if given.out is not None:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
