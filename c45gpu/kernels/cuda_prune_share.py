"""Pruning on the device, cases with unknown values: one level of the way down for all instances.

The units with a known value are added up for each branch first. Then each instance is counted at the branches that it
goes to, and written there: an unknown value goes to every branch that has known units, with its share of its units.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int64

from c45gpu.kernels.cuda_counts import on_device, run_range
from c45gpu.kernels.cuda_mark import units_upto
from c45gpu.kernels.cuda_prune_tally import Standing, add_run
from c45gpu.kernels.cuda_prune_walk import Steps
from c45gpu.kernels.cuda_route import NO_BRANCH, branch_taken
from c45gpu.model.tree import LEAF

ARRIVED = -2  # the instance is at a leaf


@on_device
def entry_taken(node: Any, case: Any, values: Any, steps: Any) -> Any:
    """The entry of ``steps.branch`` that a case takes at a node, NO_BRANCH for all of the node's, ARRIVED for none."""
    if steps.kind[node] == LEAF:
        return int64(ARRIVED)
    branch = branch_taken(node, case, values, steps)
    return int64(NO_BRANCH) if branch == NO_BRANCH else steps.branch_start[node] + branch


def take_branches(at: Standing, values: Any, steps: Steps, tile: Any, entry: Any, known: Any) -> None:
    """The entry of each instance, and the known units of each entry added up; a block for `tile` instances."""
    first = int64(cuda.blockIdx.x) * tile
    begin, end = run_range(first, min(first + tile, at.node.shape[0]))
    last, running = int64(0), int64(0)
    for i in range(begin, end):
        here = entry_taken(int64(at.node[i]), int64(at.case[i]), values, steps)
        entry[i] = here
        if here >= 0:
            if here != last:
                add_run(known, last, running)
                last, running = here, int64(0)
            running += at.units[i]
    add_run(known, last, running)


@on_device
def put(at: Standing, place: Any, node: Any, case: Any, units: Any) -> None:
    """Write an instance."""
    at.node[place] = node
    at.case[place] = case
    at.units[place] = units


@on_device
def spread(i: Any, at: Standing, steps: Steps, known: Any, writing: Any, place: Any, below: Standing) -> Any:
    """The number of branches that an instance with an unknown value goes to; written from `place` on if asked for."""
    node, units = int64(at.node[i]), at.units[i]
    begin, end = steps.branch_start[node], steps.branch_start[node + 1]
    total, running, before, count = int64(0), int64(0), int64(0), int64(0)
    for entry in range(begin, end):
        total += known[entry]
    for entry in range(begin, end):
        running += known[entry]
        if known[entry] > 0:
            upto = units_upto(units, np.float64(running) / np.float64(total))
            if upto > before:
                if writing:
                    put(below, place + count, steps.branch[entry], at.case[i], upto - before)
                count += 1
            before = upto
    return count


def count_shares(at: Standing, entry: Any, steps: Steps, known: Any, counts: Any) -> None:
    """To how many branches each instance goes; 0 from a leaf."""
    i = int64(cuda.grid(1))
    if i >= entry.shape[0]:
        return
    counts[i] = int64(1) if entry[i] >= 0 else int64(0)
    if entry[i] == NO_BRANCH:
        counts[i] = spread(i, at, steps, known, False, int64(0), at)


def write_shares(
    at: Standing, entry: Any, steps: Steps, known: Any, place: Any, arrival: Any, below: Standing, arrived: Standing
) -> None:
    """Write each instance to its branches, or to those that arrived; `place` and `arrival` say where it begins."""
    i = int64(cuda.grid(1))
    if i >= entry.shape[0]:
        return
    taken = int64(entry[i])
    if taken == ARRIVED:
        put(arrived, arrival[i], at.node[i], at.case[i], at.units[i])
    elif taken == NO_BRANCH:
        spread(i, at, steps, known, True, place[i], below)
    else:
        put(below, place[i], steps.branch[taken], at.case[i], at.units[i])
