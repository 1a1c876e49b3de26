"""How long a CSV file takes to read: c45gpu and pandas, in turn, in one process.

    python -m bench.bench_read_csv [--rows 1000000] [--repeats 7] [--seed 0]

The file has 10 columns: four of real numbers with all their digits, three of whole numbers, two of texts and the class.
Prints JSON with the medians in seconds; a ratio below 1 means that c45gpu takes less time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv

import c45gpu
from c45gpu.data.frames import read_file


def write_csv(path: Path, n_rows: int, seed: int) -> None:
    """Write the file that is to be read."""
    stream = np.random.default_rng(seed)
    columns: dict[str, Any] = {f"real{i}": stream.normal(size=n_rows) for i in range(4)}
    columns |= {f"whole{i}": stream.integers(0, 10 ** (i + 1), n_rows) for i in range(3)}
    columns |= {f"text{i}": texts(stream, 10 ** (i + 1), n_rows) for i in range(2)}
    columns["class"] = texts(stream, 2, n_rows)
    header = ",".join(columns) + "\n"
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="none")
    with open(path, "wb") as file:
        file.write(header.encode())
        arrow_csv.write_csv(pa.table(columns), file, options)


def texts(stream: np.random.Generator, n_distinct: int, n_rows: int) -> Any:
    """A column of texts."""
    return pa.DictionaryArray.from_arrays(
        pa.array(stream.integers(0, n_distinct, n_rows), pa.int32()), [f"value{v}" for v in range(n_distinct)]
    ).cast(pa.string())


def medians(ways: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The median seconds of each way, taken in turn so that a busy moment hits all of them; one round warms up."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            result = way()
            seconds[name].append(time.perf_counter() - start)
            del result
    return {name: statistics.median(taken[1:]) for name, taken in seconds.items()}


def measure(n_rows: int, repeats: int, seed: int) -> dict[str, Any]:
    """Write the file, read it, and say how long that took and where."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cases.csv")
        write_csv(path, n_rows, seed)
        ways = {"c45gpu": lambda: read_file(path, target="class"), "pandas": lambda: pd.read_csv(path)}
        taken = medians(ways, repeats)
        size = path.stat().st_size
    return {
        "rows": n_rows,
        "bytes": size,
        "repeats": repeats,
        "seed": seed,
        "seconds": taken,
        "ratio": taken["c45gpu"] / taken["pandas"],
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "versions": {
            "c45gpu": c45gpu.__version__,
            "pandas": pd.__version__,
            "pyarrow": pa.__version__,
            "python": platform.python_version(),
        },
    }


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(json.dumps(measure(given.rows, given.repeats, given.seed), indent=2))


if __name__ == "__main__":
    main()
