"""How much memory a table takes to be made of columns of numbers, beside them.

    python -m bench.bench_frames [--rows 1e7] [--columns 10] [--out FILE]

Each kind of input is made and turned into a table in a process of its own: the highest resident memory so far, less
what was resident before, over the bytes of the input. 1 says that every column was copied once; codes of classes that
are not known take 0.1 of float32 columns by ten.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.bench_memory import peak_bytes, resident_bytes
from bench.measure import ROOT
from bench.report import conditions, write

KINDS: Final = ("numpy", "numpy by rows", "pandas", "polars", "pyarrow")
WARM_ROWS: Final = 1000


def made(kind: str, n_rows: int, n_columns: int) -> Any:
    """Float32 columns, drawn."""
    chance = np.random.default_rng(0)
    columns = {f"x{i}": chance.random(n_rows, np.float32) for i in range(n_columns)}
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(columns, copy=False)
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(columns)
    if kind == "pyarrow":
        import pyarrow as pa

        return pa.table(columns)
    whole = np.empty((n_rows, n_columns), np.float32, order="C" if kind == "numpy by rows" else "F")
    for i, name in enumerate(list(columns)):
        whole[:, i] = columns.pop(name)
    return whole


def table_of(data: Any) -> Any:
    """The table that the estimator makes of it."""
    from c45gpu.data.frames import from_arrays, from_frame

    return from_arrays(data) if isinstance(data, np.ndarray) else from_frame(data)


def measure(kind: str, n_rows: int, n_columns: int) -> dict[str, Any]:
    """One kind, in this process."""
    table_of(made(kind, WARM_ROWS, n_columns))
    data = made(kind, n_rows, n_columns)
    before, peak = resident_bytes(), peak_bytes()
    table = table_of(data)
    after = resident_bytes()
    took = max(peak_bytes() - max(before, peak), after - before, 0)
    size = 4 * n_rows * n_columns
    return {
        "kind": kind,
        "rows": table.n_cases,
        "columns": n_columns,
        "input_bytes": size,
        "took_bytes": took,
        "took_over_input": round(took / size, 3),
    }


def main() -> None:
    """Measure all kinds, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--kind", choices=KINDS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.kind:
        print(json.dumps(measure(asked.kind, int(asked.rows), asked.columns)))
        return
    load, found = os.getloadavg()[0], []
    for kind in KINDS:
        command = [sys.executable, "-m", "bench.bench_frames", "--kind", kind]
        command += ["--rows", str(asked.rows), "--columns", str(asked.columns)]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        found.append(json.loads(done.stdout))
        print(done.stdout, end="", flush=True)
    if asked.out:
        write(conditions("python -m bench.bench_frames", load) | {"results": found}, asked.out)


if __name__ == "__main__":
    main()
