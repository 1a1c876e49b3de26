"""A fit in a fresh process, start and imports included, beside scikit-learn's.

    python -m bench.bench_cold [--rows 1e4] [--sets mc,agr2] [--repeats 7] [--out FILE]

Each run is an interpreter that loads the arrays, imports the library and fits once. Compiled kernels are on disk
before, as `c45gpu info --warm-up` leaves them. Programs take turns, so that a slow spell of the machine hits all of
them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from bench.data import train_and_held_out
from bench.measure import ROOT
from bench.report import conditions, write

LOAD: Final = "import numpy as np; rows = np.load({path!r}); x, y = rows['x'], rows['y']; "
PROGRAMS: Final = {
    "c45gpu": LOAD + "from c45gpu import C45Classifier; C45Classifier().fit(x, y)",
    "c45gpu.train": LOAD + "from c45gpu import train; from c45gpu.data.arrays import from_arrays; "
    "from dataclasses import replace; t = from_arrays(x); "
    "train(replace(t, schema=replace(t.schema, classes=tuple(map(str, range(y.max() + 1)))), classes=y))",
    "sklearn": LOAD + "from sklearn.tree import DecisionTreeClassifier as T; T(criterion='entropy').fit(x, y)",
}


def seconds(program: str) -> float:
    """One run."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def measure(name: str, n_rows: int, repeats: int) -> dict[str, Any]:
    """One set, all programs; the first round is not counted, it warms the disk."""
    rows, _ = train_and_held_out(name, n_rows, held_out=1)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        path = str(Path(folder) / "rows.npz")
        np.savez(path, x=np.column_stack(rows.columns), y=rows.classes)
        programs = {peer: program.format(path=path) for peer, program in PROGRAMS.items()}
        rounds = [{peer: seconds(program) for peer, program in programs.items()} for _ in range(repeats + 1)][1:]
    runs = {peer: [round(figures[peer], 4) for figures in rounds] for peer in PROGRAMS}
    for peer, times in runs.items():
        print(
            f"{name} {n_rows} {peer:13} median {median(times):.3f} s, {min(times):.3f} to {max(times):.3f}", flush=True
        )
    return {"set": name, "rows": n_rows, "runs": runs}


def main() -> None:
    """Measure, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e4)
    parser.add_argument("--sets", default="mc,agr2")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    found = [measure(name, int(asked.rows), asked.repeats) for name in asked.sets.split(",")]
    if asked.out:
        command = " ".join(["python -m bench.bench_cold", *sys.argv[1:]])
        write(conditions(command, load) | {"results": found}, asked.out)


if __name__ == "__main__":
    main()
