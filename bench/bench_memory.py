"""How much memory training takes beside its input, against the plan that the CPU engine makes.

    python -m bench.bench_memory [--rows 1e6] [--tables mc10,mc] [--out FILE]

Each table is made in one process and trained on in another, so that the peak of the second is that of training: its
highest resident memory so far less what was resident, kernels and input included, before training began. Seconds are of
all cores together, growing and pruning.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from bench.measure import ROOT
from bench.report import conditions, write
from bench.rows import Rows, load, save

TABLES: Final = {  # set, how many of its columns, share of unknown values
    "mc10": ("mc", 10, 0.0),
    "mc": ("mc", 28, 0.0),
    "agr2": ("agr2", 9, 0.0),
    "cov": ("cov", 54, 0.0),
    "mc10-unknown": ("mc", 10, 0.1),
    "mc-unknown": ("mc", 28, 0.1),
    "agr2-unknown": ("agr2", 9, 0.1),
    "many60-unknown": ("many60", 9, 0.1),
    "many700-unknown": ("many700", 9, 0.1),
}
WARM_ROWS: Final = 20_000


def make(name: str, n_rows: int, folder: Path) -> None:
    """Write the rows of a table."""
    from bench.data import train_and_held_out

    known, n_columns, unknown = TABLES[name]
    rows, _ = train_and_held_out(known, n_rows, held_out=1, seed=0, unknown=unknown)
    chosen = slice(0, n_columns)
    save(Rows(rows.names[chosen], rows.values[chosen], rows.columns[chosen], rows.classes, rows.class_names), folder)


def train(folder: Path) -> dict[str, Any]:
    """Train once, and say what it took."""
    from bench.peers.ours import Ours
    from c45gpu.induction.options import Options
    from c45gpu.induction.problem import pose
    from c45gpu.induction.train import train as grow_and_prune
    from c45gpu.kernels.cpu_crew import cores
    from c45gpu.kernels.cpu_plan import plan
    from c45gpu.kernels.cpu_work import work_of

    rows, peer = load(folder), Ours("cpu")
    grow_and_prune(peer.read(rows.part(0, WARM_ROWS), cores()), engine="cpu")
    table = peer.read(rows, cores())
    planned = plan(work_of(pose(table, Options()), cores()))
    before, started = resident_bytes(), time.process_time()
    model = grow_and_prune(table, engine="cpu")
    took, seconds = peak_bytes() - before, time.process_time() - started
    entries = rows.n_rows * len(rows.names)
    return {
        "rows": rows.n_rows,
        "columns": len(rows.names),
        "threads": cores(),
        "input_bytes": rows.n_bytes,
        "nodes": model.unpruned.n_nodes,
        "cpu_seconds": round(seconds, 2),
        "measured_bytes": took,
        "planned_bytes": planned.total,
        "planned_over_measured": round(planned.total / took, 3),
        "measured_bytes_an_entry": round(took / entries, 2),
        "parts": {part.name: part.n_bytes for part in planned.parts},
    }


def resident_bytes() -> int:
    """What is resident now; where the system does not say, the most that ever was."""
    path = Path("/proc/self/statm")
    return int(path.read_text().split()[1]) * resource.getpagesize() if path.exists() else peak_bytes()


def peak_bytes() -> int:
    """The most that was ever resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure(name: str, n_rows: int) -> dict[str, Any]:
    """One table, in two fresh processes."""
    with tempfile.TemporaryDirectory(prefix="bench-") as parent:
        folder = Path(parent) / "rows"
        for step in ("make", "train"):
            command = [sys.executable, "-m", "bench.bench_memory", "--step", step, "--folder", str(folder)]
            command += ["--tables", name, "--rows", str(n_rows)]
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return {"table": name} | found


def main(words: list[str]) -> None:
    """Measure all tables, print and keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_memory", description=__doc__)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--tables", default=",".join(TABLES), help="of " + ", ".join(TABLES))
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results" / "memory.json")
    parser.add_argument("--step", choices=["make", "train"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    if given.step == "make":
        make(given.tables, int(given.rows), given.folder)
    elif given.step == "train":
        print(json.dumps(train(given.folder)))
    else:
        load_before = os.getloadavg()[0]
        results = [measure(name, int(given.rows)) for name in given.tables.split(",")]
        for result in results:
            print(json.dumps({key: value for key, value in result.items() if key != "parts"}))
        write(
            conditions(" ".join(["python -m bench.bench_memory", *words]), load_before) | {"results": results},
            given.out,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
