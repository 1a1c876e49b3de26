"""Workers that are killed or hang while a tree grows or is pruned: the same bytes, or a clear error."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster

from c45gpu.dask import held, placed
from c45gpu.dask.cluster import Cluster, Task
from c45gpu.dask.rows import RowParts
from c45gpu.dask.train import train_on
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import EngineError
from c45gpu.induction.grow import Progress
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.store import Model
from tests.dask.here import rows_on, same_bytes

CASES, PARTS = 400, 4


def part(number: int, unknown: bool = True) -> Table:
    """A part that any worker can make again."""
    chance = np.random.default_rng(number)
    numbers = chance.normal(size=(4, CASES // PARTS))
    noise = chance.random(CASES // PARTS) < 0.05
    classes = ((numbers[0] + numbers[1] + 0.5 * numbers[2] > 0) ^ noise).astype(np.int32)
    if unknown:
        numbers[2, ::7] = np.nan
    attributes = tuple(Attribute(f"x{i}", "continuous") for i in range(4))
    return Table(Schema(attributes, ("no", "yes")), list(numbers), classes)


def whole(unknown: bool = True) -> Table:
    parts = [part(number, unknown) for number in range(PARTS)]
    columns = [np.concatenate([p.columns[a] for p in parts]) for a in range(4)]
    return Table(parts[0].schema, columns, np.concatenate([p.classes for p in parts]))


def made_on(client: Client, unknown: bool = True) -> RowParts:
    futures = [client.submit(part, number, unknown, pure=False) for number in range(PARTS)]
    return RowParts(part(0).schema, futures, [CASES // PARTS] * PARTS)


@pytest.fixture(scope="module")
def alone() -> Model:
    return train(whole(), Options(), "reference")


class Nursery:
    """Three workers that are started anew when they die; a new cluster where they are not."""

    def __init__(self) -> None:
        self.client = self._new()

    def ready(self) -> Client:
        """A client with at least two workers."""
        self.client.cluster.scale(3)  # some workers are not started anew
        try:
            self.client.wait_for_workers(2, timeout=20)
        except TimeoutError:
            self.close()
            self.client = self._new()
        return self.client

    def close(self) -> None:
        self.client.close(timeout=5)
        self.client.cluster.close(timeout=10)

    @staticmethod
    def _new() -> Client:
        return Client(LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0", silence_logs=50))


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture
def client(nursery: Nursery) -> Client:
    return nursery.ready()


def pids(client: Client) -> list[int]:
    return sorted(client.run(os.getpid).values())


class At:
    """Does something after some level, once."""

    def __init__(self, depth: int, what: Callable[[], Any]) -> None:
        self.depth, self.what, self.done = depth, what, False

    def __call__(self, progress: Progress) -> None:
        if progress.depth == self.depth:
            self.what()
            self.done = True


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_a_worker_is_killed_at_a_level(client: Client, alone: Model, tmp_path: Path, depth: int) -> None:
    at = At(depth, lambda: kill(pids(client)[0]))
    model = train_on(client, made_on(client), engine="reference", progress=at, step_seconds=60.0, small=5)
    assert at.done
    assert same_bytes(tmp_path, model, alone)


class AtSmall(At):
    """Does something when the first small nodes are grown, while others are not."""

    def __call__(self, progress: Progress) -> None:
        if progress.depth == self.depth and progress.open_nodes and not self.done:
            self.what()
            self.done = True
        self.depth = progress.depth


def test_a_worker_is_killed_while_small_nodes_are_grown(client: Client, alone: Model, tmp_path: Path) -> None:
    at = AtSmall(-1, lambda: kill(pids(client)[0]))
    model = train_on(client, made_on(client), engine="reference", progress=at, step_seconds=60.0, small=60)
    assert at.done
    assert same_bytes(tmp_path, model, alone)


def test_a_worker_that_hangs_is_given_up(client: Client, alone: Model, tmp_path: Path) -> None:
    stopped = pids(client)[0]
    at = At(2, lambda: os.kill(stopped, signal.SIGSTOP))
    try:
        model = train_on(client, made_on(client), engine="reference", progress=at, step_seconds=6.0, small=5)
    finally:
        kill(stopped)
    assert at.done
    assert same_bytes(tmp_path, model, alone)


@pytest.mark.parametrize("by_one", [False, True])
def test_a_worker_is_killed_while_the_tree_is_pruned(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_one: bool
) -> None:
    step, killed = Cluster.step, []

    def killing(cluster: Cluster, tasks: Iterable[Task]) -> list[Any]:
        tasks = list(tasks)
        if tasks and tasks[0].function in (held.prune, held.send) and not killed:
            killed.append(client.run(os.getpid)[tasks[0].worker])
            kill(killed[0])
        return step(cluster, tasks)

    monkeypatch.setattr(Cluster, "step", killing)
    monkeypatch.setattr(placed, "LITTLE", 1 << 30 if by_one else 0)
    model = train_on(client, made_on(client, by_one), engine="reference", step_seconds=60.0)
    assert killed
    assert same_bytes(tmp_path, model, train(whole(by_one), Options(), "reference"))


def test_rows_that_are_lost_for_good_are_named(client: Client) -> None:
    rows = rows_on(client, whole(), [100, 200])
    at = At(1, lambda: [kill(pid) for pid in pids(client)])  # all of them, as a part may be on several by now
    with pytest.raises(EngineError, match="rows were lost"):
        train_on(client, rows, engine="reference", progress=at, step_seconds=20.0, small=0)


def test_a_cluster_that_shrinks_to_one_worker(alone: Model, tmp_path: Path) -> None:
    with (
        LocalCluster(
            n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        rows = made_on(client)
        sizes = iter([2, 1])

        def shrink(progress: Progress) -> None:
            size = next(sizes, None)
            if size is not None:
                cluster.scale(size)
                cluster.sync(cluster._correct_state)

        model = train_on(client, rows, engine="reference", progress=shrink, step_seconds=30.0, small=0)
        assert len(client.nthreads()) == 1
    assert same_bytes(tmp_path, model, alone)


@pytest.mark.slow
def test_twenty_kills_at_random_times(nursery: Nursery, alone: Model, tmp_path: Path) -> None:
    chance, killed, over = random.Random(0), list[int](), threading.Event()

    def killing() -> None:
        while not over.wait(chance.uniform(0.2, 1.4)):
            cluster = nursery.client.cluster
            there = cluster.scheduler.workers
            nannies = [nanny for nanny in list(cluster.workers.values()) if nanny.worker_address in there]
            up = [nanny.pid for nanny in nannies if nanny.pid is not None]
            if len(up) > 1:
                killed.append(chance.choice(up))
                kill(killed[-1])

    killer = threading.Thread(target=killing)
    killer.start()
    try:
        while len(killed) < 20:
            client = nursery.ready()
            model = train_on(client, made_on(client), engine="reference", step_seconds=60.0, small=5)
            assert same_bytes(tmp_path, model, alone)
    finally:
        over.set()
        killer.join()
