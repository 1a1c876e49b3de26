"""How far growing is from the memory it must move: bytes over the copy bandwidth, against the time.

    python -m bench.bench_floor [--rows 1e6] [--sets mc,agr2] [--threads 2] [--repeats 3] [--out FILE]

What must be moved, whatever the program: the sort reads every value once and writes an entry for it; a level reads
each entry of a node that is too large for a core's cache once to score it and once to move it, and writes it, which
fetches the line before; a node that fits is read once, and all below it stays in the cache. Columns with few values
have one byte for a value, and nobody moves them: a level reads them. What fits is as the CPU engine has it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from bench.data import train_and_held_out
from bench.peers.ours import Ours
from bench.report import conditions, write
from bench.rows import Rows

COPIED_BYTES: Final = 1 << 29
SAMPLE: Final = 100_000  # rows that tell whether a column has few values
FEW_VALUES: Final = 256  # a column with no more has codes of one byte


def copy_bandwidth(threads: int, repeats: int) -> float:
    """Bytes read and written each second by that many threads, each with arrays of its own; the best of some tries."""
    pairs = [(np.ones(COPIED_BYTES // 8), np.ones(COPIED_BYTES // 8)) for _ in range(threads)]
    best = 0.0
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(repeats):
            start = time.perf_counter()
            list(pool.map(lambda pair: np.copyto(*pair), pairs))
            best = max(best, 2 * COPIED_BYTES * threads / (time.perf_counter() - start))
    return best


def bytes_to_move(rows: Rows, tree: Any) -> dict[str, int]:
    """What growing this tree must move."""
    from c45gpu.kernels.cpu_counting import FINISH_BYTES
    from c45gpu.model.tree import LEAF

    long = [c for c in rows.columns if c.dtype.kind == "f" and len(np.unique(c[:SAMPLE])) > FEW_VALUES]
    few, lists = len(rows.columns) - len(long), len(long) + 1  # the last list has the rows; an entry takes 4 bytes
    is_large = tree.weight * (8 * lists + few) > FINISH_BYTES  # both buffers
    finished = ~is_large & np.append(True, is_large[tree.parent[1:]])
    return {
        "sort": sum(c.nbytes for c in rows.columns) + 4 * rows.n_rows * len(long),
        "levels": int(tree.weight[is_large & (tree.kind != LEAF)].sum() * (16 * lists + few)),
        "finishing": int(tree.weight[finished].sum() * (4 * lists + few)),
    }


def measure(name: str, n_rows: int, threads: int, repeats: int, bandwidth: float) -> dict[str, Any]:
    """One set."""
    peer = Ours("cpu")
    rows, _ = train_and_held_out(name, n_rows, held_out=1)
    peer.open(threads)
    peer.train(peer.read(rows.part(0, min(n_rows, peer.warm_rows)), threads), threads)
    table, runs, prunings = peer.read(rows, threads), [], []
    for _ in range(repeats):
        trained = peer.train(table, threads)
        phases = peer.phases(trained)
        runs.append(round(phases["sort_and_first_level"] + phases["other_levels"], 4))
        prunings.append(round(phases["prune"], 4))
    moved = bytes_to_move(rows, trained.model.unpruned)
    floor = sum(moved.values()) / bandwidth
    found = {"set": name, "rows": n_rows, "bytes": moved, "floor_seconds": round(floor, 4)}
    found |= {"grow_seconds": runs, "prune_seconds": prunings}
    told = f"{sum(moved.values()) / 1e9:.2f} GB, {floor:.3f} s at {bandwidth / 1e9:.1f} GB/s"
    print(f"{name} {n_rows}: {told}; growing takes {median(runs):.3f} s, {median(runs) / floor:.1f} times as long")
    print(f"  pruning takes {median(prunings):.3f} s")
    return found


def main() -> None:
    """Measure, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--sets", default="mc,agr2")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    os.environ["NUMBA_NUM_THREADS"] = str(asked.threads)
    bandwidth = copy_bandwidth(asked.threads, 5)
    found = [measure(name, int(asked.rows), asked.threads, asked.repeats, bandwidth) for name in asked.sets.split(",")]
    if asked.out:
        command = " ".join(["python -m bench.bench_floor", *sys.argv[1:]])
        whole = conditions(command, load) | {"copy_bytes_per_second": round(bandwidth)}
        write(whole | {"results": found}, asked.out)
    else:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
