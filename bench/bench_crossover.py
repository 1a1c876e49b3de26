"""From which size on the compiled engine pays: `c45gpu train` in fresh processes, start and reading included.

    python -m bench.bench_crossover [--rows 500,1000,...] [--sets mc10,agr2] [--repeats 5] [--out FILE]

The kernels are compiled before, so a run loads them from disk. Engines take turns, so that a slow spell of the machine
hits all of them. `crossover_values` is the size, in cases times attributes, at which both would take equally long: on a
straight line between the sizes where one and the other is faster, by the least time of each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.bench_memory import TABLES
from bench.data import train_and_held_out
from bench.measure import ROOT
from bench.report import conditions, write

ENGINES: Final = ("reference", "cpu")
SIZES: Final = "500,2000,5000,10000,20000,50000,100000,200000"


def write_rows(name: str, sizes: list[int], folder: Path) -> int:
    """Write a Parquet file for each size, the smaller ones the beginning of the larger; returns the columns."""
    import pyarrow as pa
    import pyarrow.parquet

    known, n_columns, _ = TABLES[name]
    rows, _ = train_and_held_out(known, max(sizes), held_out=1, seed=0)
    chosen = list(zip(rows.names, rows.values, rows.columns, strict=True))[:n_columns]
    columns = {n: pa.array([v[c] for c in column.tolist()] if v else column) for n, v, column in chosen}
    table = pa.table({**columns, "class": pa.array([rows.class_names[c] for c in rows.classes.tolist()])})
    for size in sizes:
        pyarrow.parquet.write_table(table.slice(0, size), folder / f"{size}.parquet")
    return len(chosen)


def seconds(path: Path, engine: str) -> float:
    """One run of the command."""
    command = [sys.executable, "-m", "c45gpu", "train", str(path), "--target", "class", "--engine", engine]
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def measure(name: str, sizes: list[int], repeats: int) -> list[dict[str, Any]]:
    """All sizes of one set."""
    found = []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        n_columns = write_rows(name, sizes, Path(folder))
        for size in sizes:
            runs: dict[str, list[float]] = {engine: [] for engine in ENGINES}
            for _ in range(repeats):
                for engine in ENGINES:
                    runs[engine].append(round(seconds(Path(folder) / f"{size}.parquet", engine), 4))
            found.append({"set": name, "rows": size, "columns": n_columns, "runs": runs})
            print(line(found[-1]), flush=True)
    return found


def line(result: dict[str, Any]) -> str:
    """A result for a person to read."""
    told = [f"{e} {min(runs):.3f} s (median {median(runs):.3f})" for e, runs in result["runs"].items()]
    return f"{result['set']:8} {result['rows']:>8} rows   " + "   ".join(told)


def crossover_values(results: list[dict[str, Any]]) -> int | None:
    """Where the second engine gets as fast as the first, None if it never does or always is."""
    points = [(r["rows"] * r["columns"], *(min(r["runs"][engine]) for engine in ENGINES)) for r in results]
    for (n, slow, fast), (larger, slower, faster) in pairwise(points):
        before, after = fast - slow, faster - slower
        if before > 0 >= after:
            return round(n + (larger - n) * before / (before - after))
    return None


def main(words: list[str]) -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_crossover", description=__doc__)
    parser.add_argument("--rows", default=SIZES)
    parser.add_argument("--sets", default="mc10,agr2", help="of " + ", ".join(TABLES))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results" / "crossover.json")
    given = parser.parse_args(words)
    load_before, sizes = os.getloadavg()[0], sorted(map(int, given.rows.split(",")))
    subprocess.run([sys.executable, "-m", "c45gpu", "info", "--warm-up"], cwd=ROOT, check=True)
    sets = {name: measure(name, sizes, given.repeats) for name in given.sets.split(",")}
    crossovers = {name: crossover_values(results) for name, results in sets.items()}
    print(json.dumps({"crossover_values": crossovers}))
    command = " ".join(["python -m bench.bench_crossover", *words])
    write(conditions(command, load_before) | {"crossover_values": crossovers, "results": sets}, given.out)


if __name__ == "__main__":
    main(sys.argv[1:])
