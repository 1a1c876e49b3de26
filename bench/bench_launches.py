"""What the host works to start the kernels of a level, without a GPU: as numba does it, and with arguments made ready.

    python -m bench.bench_launches [--rows 2000] [--unknown 0.1] [--repeats 200] [--out FILE]

The launches of one level of a tree are noted under the emulator, with their arguments, and started again as if on a
device, up to where the driver would be called; that call takes a few microseconds more, in both. Microseconds of CPU
time, medians: with arrays that were launched with before, and with new ones (`new`), as most are at each level.
Needs what the tests of kernels need: pip install 'c45gpu[cuda-test]'.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

import numpy as np

from bench.report import conditions

Launches = list[tuple[Any, ...]]


def launches_of_a_level(rows: int, unknown: float) -> Launches:
    """The launches of the second level of a tree on 8 long columns and 8 of codes; kernel, blocks, arguments."""
    from c45gpu.induction.grow import Grower
    from c45gpu.induction.options import Options
    from c45gpu.induction.problem import pose
    from c45gpu.kernels.cuda import CudaEngine
    from c45gpu.kernels.cuda_device import Sizes
    from tests.cuda_emulator import Emulation
    from tests.kernels import seeded
    from tests.kernels.cuda_here import EmulatedLauncher

    seen: Launches = []

    class Noting(EmulatedLauncher):
        """Notes what it launches."""

        def __call__(self, kernel: Any, blocks: int, threads: int, shared: int, arguments: tuple[Any, ...]) -> None:
            seen.append((kernel, blocks, threads, shared, arguments))
            super().__call__(kernel, blocks, threads, shared, arguments)

    random = np.random.default_rng(0)
    long = random.random((8, rows)).astype(np.float32)
    label = ((long[0] > 0.5) ^ (long[1] > 0.3) ^ (random.random(rows) < 0.2)).astype(np.int32)
    long[random.random((8, rows)) < unknown] = np.nan
    table = seeded.table_of([*long, *((random.integers(0, 3, rows), 3) for _ in range(8))], label, 2)
    gpu = Emulation(0, checks=False)
    levels = iter(Grower(CudaEngine(gpu.xp, Noting(gpu), Sizes(finish_cases=0)), pose(table, Options(min_cases=20))))
    list(islice(levels, 1))
    before = len(seen)
    list(islice(levels, 1))
    return seen[before:]


def measured(launches: Launches, repeats: int) -> list[dict[str, Any]]:
    """Microseconds to start each kernel, by numba alone and with arguments that are ready; last all of them."""
    from c45gpu.kernels.cuda_starter import Starter
    from tests.kernels.no_driver import no_driver

    ways, names = {"numba": Starter(), "ready": Starter()}, [launch[0].__name__ for launch in launches]
    rows: list[dict[str, Any]] = [{"kernel": name} for name in (*names, "a level")]
    with no_driver(lambda *values: None):
        for way, starter in ways.items():
            found = None if way == "numba" else starter._found
            with mock.patch.object(starter, "_found", return_value=None, side_effect=found):
                _start_all(starter, launches, {})  # compiles
                known: dict[int, Any] = {}
                again = [_start_all(starter, launches, known) for _ in range(repeats)][1:]
                fresh = [_start_all(starter, launches, {}) for _ in range(repeats)]
            for row, *times in zip(rows, *again, strict=False):
                row[f"{way}_us"] = round(median(times) / 1000, 1)
            rows[-1] |= {f"{way}_us": round(median(map(sum, again)) / 1000, 1)}
            rows[-1] |= {f"{way}_new_us": round(median(map(sum, fresh)) / 1000, 1)}
    if None in ways["ready"]._known.values():
        raise RuntimeError("the arguments of a kernel are not what numba makes of them")
    return rows


def _start_all(starter: Any, launches: Launches, made: dict[int, Any]) -> list[int]:
    """Nanoseconds to start each kernel, with arrays that were made before, or new ones."""
    from tests.kernels.no_driver import on_device

    given, times = [on_device(arguments, made) for *_, arguments in launches], []
    for (kernel, blocks, threads, shared, _), arguments in zip(launches, given, strict=True):
        begin = time.process_time_ns()
        starter(kernel, blocks, threads, 0, shared, arguments)
        times.append(time.process_time_ns() - begin)
    return times


def main() -> None:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--unknown", type=float, default=0.0)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    warnings.simplefilter("ignore")  # numba's on small grids
    rows = measured(launches_of_a_level(asked.rows, asked.unknown), asked.repeats)
    names = [name for name in rows[-1] if name.endswith("_us")]
    print(f"{'kernel':24}" + "".join(f"{name:>16}" for name in names))
    for row in rows:
        print(f"{row['kernel']:24}" + "".join(f"{row.get(name, ''):>16}" for name in names))
    if asked.out:
        whole = conditions(f"python -m bench.bench_launches {' '.join(sys.argv[1:])}", load)
        asked.out.write_text(json.dumps(whole | {"launches": rows}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
