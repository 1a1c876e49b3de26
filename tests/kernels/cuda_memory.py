"""How much memory the CUDA engine's arrays take beside what is planned: ``python -m tests.kernels.cuda_memory STEP``.

Every array of the process is counted, so this runs in a process of its own (:func:`measured`): in that of the tests
other threads have arrays too.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.train import train
from c45gpu.kernels.cuda import CudaEngine
from c45gpu.kernels.cuda_device import Device, Sizes
from c45gpu.kernels.cuda_finish import finish
from c45gpu.kernels.cuda_finish_divided import finish_divided
from c45gpu.kernels.cuda_finish_plan import plan
from c45gpu.kernels.cuda_finishing import Finisher
from c45gpu.kernels.cuda_prune import WholePlacement, placement_bytes
from c45gpu.kernels.cuda_prune_divided import DividedPlacement
from c45gpu.kernels.descend import Placement
from c45gpu.kernels.engine import Pairs
from c45gpu.model.tree import LEAF
from tests.cuda_emulator import Emulation
from tests.cuda_emulator.host import ArrayModule
from tests.kernels.cuda_here import EmulatedLauncher
from tests.kernels.seeded import TABLES, table_of
from tests.kernels.test_cpu_prune import units_at_leaves

ROOT = Path(__file__).parents[2]
PLACED = ("whole cases", "whole weights", "unknown values")
FINISHED = tuple((c, a, u) for u in (False, True) for c, a in ((2, 3), (2, 40), (20, 3), (20, 40)))


class PlainArrays(ArrayModule):
    """NumPy without a record of what was written, which would take memory of its own."""

    empty = staticmethod(np.empty)


class Measured(EmulatedLauncher):
    """Notes the most memory that arrays take between launches, which is what a device would hold."""

    def __init__(self) -> None:
        super().__init__(Emulation(0, checks=False))
        self.peak = 0

    def note(self) -> None:
        current, peak = tracemalloc.get_traced_memory()
        arrays = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)
        held = sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([arrays]).traces)
        self.peak = max(self.peak, peak - (current - held))  # without what the emulator keeps

    def __call__(self, kernel: Any, blocks: int, threads: int, shared_bytes: int, arguments: tuple[Any, ...]) -> None:
        self.note()
        super().__call__(kernel, blocks, threads, shared_bytes, arguments)
        gc.collect()  # the emulator's cells
        tracemalloc.reset_peak()


def of_pruning(name: str) -> tuple[int, int]:
    """The most bytes while a branch is tried and raised, and how many are planned."""
    table, options = TABLES[name]().take(np.arange(1500)), Options(min_cases=100, prune="none")
    problem, tree = pose(table, options), train(table, options, "reference").unpruned
    launcher, at_leaves = Measured(), Placement(problem, tree)
    pairs = Pairs(np.zeros(1, np.int64), tree.branches(0)[-1:], np.array([1 << 60]))
    units = units_at_leaves(problem, at_leaves, tree.n_nodes)
    tracemalloc.start()
    device = Device(PlainArrays(lambda: None), launcher, Sizes())
    kind = DividedPlacement if table.has_unknown() else WholePlacement
    cases = kind(device, problem, tree, device.up(table.classes.astype(np.uint16)))
    cases.send(tree, units, pairs)
    cases.raise_branches(tree, pairs)
    launcher.note()
    tracemalloc.stop()
    instances = int(Placement(problem, tree).__dict__["_leaf"].size) if table.has_unknown() else None
    tested = len(np.unique(tree.attribute[tree.kind != LEAF]))
    return launcher.peak, placement_bytes(table.n_cases, tested, 4, name == "whole weights", instances)


class Idle(Measured):
    """Runs no kernel; of the records there is room for, half are there in the end."""

    def __call__(self, kernel: Any, blocks: int, threads: int, shared_bytes: int, arguments: tuple[Any, ...]) -> None:
        if kernel in (finish, finish_divided):
            growing, rows = arguments[0], arguments[-1]
            rows[:] = np.diff(growing.roots.offset)
            growing.records.parent[:] = -1
        self.note()


def of_finishing(n_classes: int, n_columns: int, divided: bool) -> tuple[int, int]:
    """The most bytes while a block finishes a node, also with an unknown value, and how many are planned."""
    random, n = np.random.default_rng(0), 4000
    columns = [random.random(n).astype(np.float32) for _ in range(n_columns - 1)]
    columns[0][0] = np.nan if divided else 0.5
    cases = table_of([*columns, (random.integers(0, 3, n), 3)], random.integers(0, n_classes, n), n_classes)
    launcher, sizes = Idle(), Sizes(finish_cases=0)
    engine, problem = CudaEngine(PlainArrays(lambda: None), launcher, sizes), pose(cases, Options())
    engine.load(problem)
    level, training, device = (engine.__dict__[name] for name in ("_level", "_training", "_device"))
    device.sizes = sizes._replace(finish_cases=n)
    finisher = Finisher(device, training, may_finish=True)
    tracemalloc.start()
    for how, nodes in finisher.batches(level):
        running = finisher.begin(level, nodes, how)
        gathered = finisher.gather(running, running.rows)
        launcher.note()
        finisher.subtrees(gathered, gathered.table, np.zeros(1, np.int64))
    tracemalloc.stop()
    if gathered.nodes.tolist() != [0]:
        raise RuntimeError("the node was not finished")
    limits, number_bytes = (sizes.threads, sizes.histogram_bytes), 8 if divided else 4
    how = plan(n_columns, n_classes, n, *limits, number_bytes=number_bytes, divided=divided)
    return launcher.peak, n * how.case_bytes + how.block_bytes  # one node, one block


STEPS = {
    "pruning": lambda: [of_pruning(name) for name in PLACED],
    "finishing": lambda: [of_finishing(*size) for size in FINISHED],
}


def measured(step: str) -> list[tuple[int, int]]:
    """The most bytes and those planned of each case of a step, from a process of its own."""
    command = [sys.executable, "-m", __name__, step]
    return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    json.dump(STEPS[sys.argv[1]](), sys.stdout)
