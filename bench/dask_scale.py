"""A Dask cluster on one machine beside the cpu engine with as many cores, the communication counted.

    python -m bench.dask_scale [--rows 1e6] [--sets mc,agr2] [--workers 1,2] [--repeats 3] [--out FILE]

Workers are processes with a thread each; client and scheduler are in this process. The table is sent to the workers
before the clock is looked at, as tables are read before it elsewhere; what is measured grows and prunes. Seconds are of
the wall, and of all processes' CPUs. Bytes are as each level told them by kind, and in all as the loopback interface
counted them, where there is one: headers, acknowledgements and Dask's own talk are in the latter.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.data import train_and_held_out
from bench.measure import ROOT
from bench.peers.ours import Ours
from bench.report import conditions, write

WARM_ROWS: Final = 20_000
PACKETS: Final = Path("/sys/class/net/lo/statistics/tx_bytes")


def on_one_machine(table: Any, warm: Any, threads: int, repeats: int) -> tuple[dict[str, Any], bytes]:
    """The cpu engine with so many threads."""
    from c45gpu.induction.train import train
    from c45gpu.kernels.engine import open_engine
    from c45gpu.model.store import model_bytes

    train(warm, engine=open_engine("cpu", 0, threads))
    wall, cpu = [], []
    for _ in range(repeats):
        start, busy = time.perf_counter(), time.process_time()
        model = train(table, engine=open_engine("cpu", 0, threads))
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - busy)
    return {"wall_seconds": rounded(wall), "cpu_seconds": rounded(cpu)}, model_bytes(model)


def on_cluster(table: Any, warm: Any, n_workers: int, repeats: int) -> tuple[dict[str, Any], bytes]:
    """Workers of one thread each, as ``c45gpu train --dask local:N`` starts them."""
    from c45gpu.dask import rows_of_table, train_on
    from c45gpu.dask.connect import cluster_here
    from c45gpu.model.store import model_bytes

    wall: list[float] = []
    cpu: list[float] = []
    sent: list[int] = []
    with cluster_here(n_workers, threads_per_worker=1) as client:
        train_on(client, rows_of_table(client, warm), engine="cpu")
        rows = rows_of_table(client, table)
        for _ in range(repeats):
            levels: list[Any] = []
            packets, start, busy = loopback_bytes(), time.perf_counter(), cpu_seconds(client)
            model = train_on(client, rows, engine="cpu", traffic=levels.extend)
            wall.append(time.perf_counter() - start)
            cpu.append(cpu_seconds(client) - busy)
            sent.append(loopback_bytes() - packets)
    found = {
        "wall_seconds": rounded(wall),
        "cpu_seconds": rounded(cpu),
        "loopback_bytes": sent if PACKETS.exists() else None,
        "levels": [level._asdict() for level in levels],
    }
    return found, model_bytes(model)


def cpu_seconds(client: Any) -> float:
    """CPU time of this process and of all workers."""
    return time.process_time() + sum(client.run(time.process_time).values())


def loopback_bytes() -> int:
    """What went over the loopback interface since the machine started; 0 where that cannot be told."""
    return int(PACKETS.read_text()) if PACKETS.exists() else 0


def rounded(seconds: list[float]) -> list[float]:
    """To a tenth of a millisecond."""
    return [round(x, 4) for x in seconds]


def measure(name: str, n_rows: int, workers: list[int], repeats: int) -> dict[str, Any]:
    """One set, with each number of workers beside as many threads."""
    peer = Ours("cpu")
    rows, _ = train_and_held_out(name, n_rows, held_out=1)
    table, warm = peer.read(rows, 1), peer.read(rows.part(0, min(n_rows, WARM_ROWS)), 1)
    found: dict[str, Any] = {"set": name, "rows": n_rows, "columns": len(rows.names), "of_workers": []}
    for n_workers in workers:
        one, expected = on_one_machine(table, warm, n_workers, repeats)
        many, model = on_cluster(table, warm, n_workers, repeats)
        over = {
            clock: round(median(many[f"{clock}_seconds"]) / median(one[f"{clock}_seconds"]) - 1, 3)
            for clock in ("wall", "cpu")
        }
        found["of_workers"].append(
            {"workers": n_workers, "one_machine": one, "dask": many, "overhead": over, "equal": model == expected}
        )
        told = ", ".join(
            f"{what} {sum(level[what] for level in many['levels']) / 1e6:.1f} MB"
            for what in ("branches", "cases", "candidates")
        )
        print(
            f"{name} {n_rows} x {len(rows.names)}, {n_workers} workers: {median(many['wall_seconds']):.3f} s, with "
            f"{n_workers} threads {median(one['wall_seconds']):.3f} s; overhead {over['wall']:.0%} by the wall, "
            f"{over['cpu']:.0%} by CPU time; {told}; models {'equal' if model == expected else 'DIFFER'}",
            flush=True,
        )
    return found


def main(words: list[str]) -> None:
    """Measure, print and keep the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.dask_scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--sets", default="mc,agr2")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results" / "dask_scale.json")
    given = parser.parse_args(words)
    load = os.getloadavg()[0]
    workers = [int(number) for number in given.workers.split(",")]
    found = [measure(name, int(given.rows), workers, given.repeats) for name in given.sets.split(",")]
    command = " ".join(["python -m bench.dask_scale", *words])
    write(conditions(command, load) | {"results": json.loads(json.dumps(found, default=int))}, given.out)


if __name__ == "__main__":
    main(sys.argv[1:])
