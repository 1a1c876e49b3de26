"""On paper: what a tree on a Dask cluster has to send, compute and hold, by formulas and a measured pace.

    python -m bench.dask_model [--rows 1e9] [--attributes 100] [--workers 100] [--threads 16] [--link 1.25e9]
    python -m bench.dask_model --workers 8 --link 2e9 --gpu-memory 3.35e12

Formulas are for continuous columns of float32, whole cases and two classes. The pace is that of one machine, from
bench/results/slope.json: core seconds for each value and doubling of the rows. Of GPUs there is no pace: what they must
move through their memory at least is told. docs/scaling.md explains the lines.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

from bench.measure import ROOT

CLASS_BYTES: Final = 4  # as the workers send them
NODE_BYTES: Final = 73  # of a tree with two classes, which every worker gets to prune its rows
KNOWN_BYTES: Final = 8  # of a branch, that every worker answers then
ENTRY_BYTES: Final = 16  # that a GPU moves of an entry at a level, counted by tests/kernels/test_cuda_traffic.py
PACE_ROWS: Final = 10_000_000


class Given(NamedTuple):
    """The work, and what there is to do it.

    Attributes
    ----------
    rows, attributes, workers, threads : int
        Threads of each worker.
    value_bytes : int
    nodes : int
        Of the tree as grown.
    levels : int
        At which nodes are larger than small ones.
    link : float
        Bytes that go in, and out, of a worker or the client in a second.
    """

    rows: int
    attributes: int
    workers: int
    threads: int
    value_bytes: int
    nodes: int
    levels: int
    link: float

    @property
    def small(self) -> int:
        """Cases of a node that is grown on one worker."""
        from c45gpu.dask.engine import LEAST_SMALL, NODES_OF_A_WORKER

        return max(LEAST_SMALL, self.rows // (NODES_OF_A_WORKER * self.workers))

    @property
    def away(self) -> float:
        """The part of things that is on other workers."""
        return 1 - 1 / self.workers

    @property
    def own(self) -> int:
        """Attributes of the worker that has most."""
        return -(-self.attributes // self.workers)


def traffic(given: Given) -> Iterator[tuple[str, str, float]]:
    """What is sent, where the link is that has most of it to carry, and how many bytes that is."""
    from c45gpu.induction.grow import CANDIDATE_BYTES

    n, away = given.rows, given.away
    yield "columns to their shares", "into a worker", n * (given.own * given.value_bytes + CLASS_BYTES) * away
    yield "branches, a level", "into a worker", n / 8 * away
    yield f"branches, {given.levels} levels", "into a worker", given.levels * n / 8 * away
    yield "branches of the root", "out of its owner", n / 8 * (given.workers - 1)
    yield "candidates, the last level", "into the client", n / given.small * given.attributes * CANDIDATE_BYTES
    row = given.attributes * given.value_bytes + CLASS_BYTES
    yield "cases of small nodes", "into a worker", n / given.workers * row * away
    yield "the tree, to be pruned", "out of the client", given.workers * given.nodes * NODE_BYTES
    yield "weights by branch", "into the client", given.workers * given.nodes * KNOWN_BYTES


def pace() -> float:
    """Core seconds for each value and doubling of the rows, growing and pruning, as measured on one machine."""
    document = json.loads((ROOT / "bench" / "results" / "slope.json").read_text())
    run = next(r for r in document["results"] if (r["table"]["set"], r["table"]["rows"]) == ("mc", PACE_ROWS))
    seconds = run["runs"][0]["seconds"]
    values = PACE_ROWS * run["table"]["columns"]
    core_seconds = (seconds["train"] + seconds["prune"]) * document["plan"]["threads"]
    return float(core_seconds / (values * math.log2(PACE_ROWS)))


def computing(given: Given, of_value: float) -> Iterator[tuple[str, float]]:
    """Seconds that the worker with most attributes needs to grow, and all workers to finish small nodes."""
    busy = min(given.threads, given.own)  # a list is one thread's at a time
    doublings = math.log2(given.rows / given.small)
    yield "large nodes", given.rows * given.own * doublings * of_value / busy
    share = given.rows * given.attributes / given.workers
    yield "small nodes", share * math.log2(given.small) * of_value / given.threads


def on_gpus(given: Given, bandwidth: float) -> Iterator[tuple[str, float]]:
    """Seconds in which the memory of a GPU moves what it must, at the least, and nothing else."""
    doublings = math.log2(given.rows / given.small)
    yield "large nodes", given.rows * given.own * doublings * ENTRY_BYTES / bandwidth
    share = given.rows * given.attributes / given.workers
    yield "small nodes", share * math.log2(given.small) * ENTRY_BYTES / bandwidth


def memory(given: Given) -> Iterator[tuple[str, int]]:
    """What a worker needs, as ``c45gpu train --dask --dry-run`` plans it, and the client for the tree."""
    from c45gpu.dask.plan import SENT_BYTES
    from c45gpu.kernels.cpu_plan import NODE_BYTES as OF_NODE
    from c45gpu.kernels.cpu_plan import NODE_CLASS_BYTES

    row = given.attributes * given.value_bytes + CLASS_BYTES
    yield "cases by rows", given.rows // given.workers * row
    column = given.rows * (given.own * given.value_bytes + CLASS_BYTES)
    yield "columns on their way", column
    yield "columns to grow with", column
    yield "cases on their way down", given.rows * SENT_BYTES
    entry = 4 if given.rows <= 1 << 30 else 8
    yield "their lists, twice", 2 * given.rows * entry * (given.own + 1)
    yield "the tree, on the client", given.nodes * (OF_NODE + 2 * NODE_CLASS_BYTES)


def main(words: list[str]) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.dask_model", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=float, default=1e9)
    parser.add_argument("--attributes", type=int, default=100)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--nodes", type=float, default=1e7, help="of the tree as grown")
    parser.add_argument("--link", type=float, default=1.25e9, help="bytes a second, either way")
    parser.add_argument("--gpu-memory", type=float, help="a GPU for each worker: bytes a second of its memory")
    said = parser.parse_args(words)
    given = Given(int(said.rows), said.attributes, said.workers, said.threads, 4, int(said.nodes), 0, said.link)
    given = given._replace(levels=math.ceil(2 * math.log2(given.rows / given.small)))  # twice a balanced tree's
    print("| what is sent | over which link | bytes | seconds |\n| --- | --- | --- | --- |")
    for what, where, n_bytes in traffic(given):
        print(f"| {what} | {where} | {size(n_bytes)} | {n_bytes / given.link:.3g} |")
    print("\n| what is computed | seconds |\n| --- | --- |")
    for what, seconds in on_gpus(given, said.gpu_memory) if said.gpu_memory else computing(given, pace()):
        print(f"| {what} | {seconds:.3g} |")
    print("\n| what is held | bytes |\n| --- | --- |")
    for what, n_bytes in memory(given):
        print(f"| {what} | {size(n_bytes)} |")


def size(n_bytes: float) -> str:
    """Bytes for a person to read: three digits and a unit."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.3g} {name}"
    return f"{n_bytes:.0f} B"


if __name__ == "__main__":
    main(sys.argv[1:])
