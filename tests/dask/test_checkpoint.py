"""Training on a cluster that ends early goes on where it was kept, on any cluster, to the same bytes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from distributed import Client

from c45gpu.dask.resume import ClusterGrower
from c45gpu.dask.train import train_on
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import CheckpointError
from c45gpu.induction.checkpoint import Kept
from c45gpu.induction.options import Options
from c45gpu.induction.progress import Progress
from c45gpu.induction.train import train
from c45gpu.model.store import model_bytes
from tests.dask.here import rows_on, thirds

pytestmark = pytest.mark.usefixtures("kernels")

ROOT = Path(__file__).resolve().parents[2]
KILLED = """
import os, signal, sys
from pathlib import Path
from distributed import Client, LocalCluster
from c45gpu.dask.resume import ClusterGrower
from c45gpu.dask.train import train_on
from tests.dask.here import rows_on, thirds
from tests.dask.test_checkpoint import mixed

def die(progress):
    if progress.depth == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", protocol="inproc")
client = Client(cluster)
train_on(client, rows_on(client, mixed(), thirds(mixed())), engine="reference", progress=die, small=20,
         checkpoint=sys.argv[1], every=0)
"""


class Stopped(Exception):
    """Training is to end here."""


def mixed(unknown: float = 0.1) -> Table:
    """Numbers of two precisions and discrete values, some unknown, and classes that are not easily told."""
    chance = np.random.default_rng(5)
    n = 400
    numbers = chance.normal(size=(3, n))
    colours = chance.integers(0, 5, n).astype(np.int32)
    told = numbers[0] + (colours == 2) - (colours == 4) * numbers[1] + chance.normal(scale=0.3, size=n)
    for column in numbers:
        column[chance.random(n) < unknown] = np.nan
    colours[chance.random(n) < unknown] = -1
    attributes = [Attribute(name, "continuous") for name in "xyz"] + [Attribute("colour", "discrete", tuple("abcde"))]
    columns = [numbers[0], numbers[1].astype(np.float32), numbers[2], colours]
    return Table(
        Schema(tuple(attributes), ("low", "middle", "high")), columns, np.digitize(told, [-0.5, 0.7]).astype(np.int32)
    )


def stopped(client: Client, table: Table, options: Options, path: Path, level: int, small: int = 20) -> None:
    """Train until a level is grown, keeping each."""

    def stop(progress: Progress) -> None:
        if progress.depth == level:
            raise Stopped

    rows = rows_on(client, table, thirds(table))
    with pytest.raises(Stopped):
        train_on(client, rows, options, "reference", stop, small=small, checkpoint=path, every=0)


@pytest.mark.parametrize("level", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "options", [Options(), Options(group_values=True), Options(compat="r8", max_features="sqrt", random_state=2)]
)
def test_other_workers_with_another_engine_go_on(
    clients: dict[int, Client], level: int, options: Options, tmp_path: Path
) -> None:
    table, path = mixed(), tmp_path / "kept.c45"
    due = model_bytes(train(table, options, "reference"))
    stopped(clients[2], table, options, path, level)
    kept = path.read_bytes()
    model = train_on(clients[3], rows_on(clients[3], table, [300]), options, "cpu", checkpoint=path)
    assert model_bytes(model) == due
    assert not path.exists()
    path.write_bytes(kept)
    assert model_bytes(train(table, options, "reference", checkpoint=path)) == due  # on one machine, too


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_client_that_is_killed(clients: dict[int, Client], level: int, tmp_path: Path) -> None:
    table, path = mixed(), tmp_path / "kept.c45"
    code = subprocess.run([sys.executable, "-c", KILLED, str(path), str(level)], cwd=ROOT, check=False).returncode
    assert code == -signal.SIGKILL
    levels = list[int]()
    rows = rows_on(clients[1], table, [])
    model = train_on(clients[1], rows, progress=lambda step: levels.append(step.depth), checkpoint=path)
    assert levels[0] == level + 1
    assert model_bytes(model) == model_bytes(train(table, Options(), "reference"))


def test_whole_cases_and_a_tree_that_was_grown_to_its_end(clients: dict[int, Client], tmp_path: Path) -> None:
    table, path, last = mixed(0.0), tmp_path / "kept.c45", 0
    due = train(table, Options(), "reference")
    rows = rows_on(clients[2], table, thirds(table))

    def count(progress: Progress) -> None:
        nonlocal last
        last = progress.depth

    train_on(clients[2], rows, progress=count, small=0)
    stopped(clients[2], table, Options(), path, last, small=0)
    assert model_bytes(train_on(clients[1], rows_on(clients[1], table, [7]), checkpoint=path)) == model_bytes(due)


@pytest.mark.parametrize("unknown", [0.0, 0.1])
def test_small_nodes_of_which_some_are_grown(clients: dict[int, Client], tmp_path: Path, unknown: float) -> None:
    table, path, steps = mixed(unknown), tmp_path / "kept.c45", list[Progress]()

    def stop(progress: Progress) -> None:
        steps.append(progress)
        if len(steps) > 1 and steps[-2].depth == progress.depth and progress.open_nodes:
            raise Stopped

    rows = rows_on(clients[2], table, thirds(table))
    with pytest.raises(Stopped):
        train_on(clients[2], rows, Options(), "cpu", stop, small=20, checkpoint=path, every=0)
    kept, due = path.read_bytes(), model_bytes(train(table, Options(), "reference"))
    assert model_bytes(train_on(clients[3], rows_on(clients[3], table, [300]), checkpoint=path)) == due
    path.write_bytes(kept)
    assert model_bytes(train(table, Options(), "reference", checkpoint=path)) == due


def test_other_data_and_checkpoints_of_one_machine_are_refused(clients: dict[int, Client], tmp_path: Path) -> None:
    table, path = mixed(), tmp_path / "kept.c45"
    stopped(clients[2], table, Options(), path, 2)
    kept = path.read_bytes()
    other = table.take(np.roll(np.arange(table.n_cases), 1))
    with pytest.raises(CheckpointError, match="other data"):
        train_on(clients[2], rows_on(clients[2], other, [50]), checkpoint=path)
    with pytest.raises(CheckpointError, match="confidence"):
        train_on(clients[2], rows_on(clients[2], table, [50]), Options(confidence=0.1), checkpoint=path)
    assert path.read_bytes() == kept

    def stop(_: Progress) -> None:
        raise Stopped

    alone = tmp_path / "alone.c45"
    with pytest.raises(Stopped):
        train(table, Options(), "reference", stop, checkpoint=alone, every=0)
    with pytest.raises(CheckpointError, match="one machine"):
        train_on(clients[2], rows_on(clients[2], table, [50]), checkpoint=alone)


@pytest.mark.parametrize("name", ["past/small", "past/node"])
def test_a_checkpoint_that_lacks_something_is_of_another_version(
    clients: dict[int, Client], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    table, path, kept = mixed(), tmp_path / "kept.c45", ClusterGrower.kept

    def lacking(grower: ClusterGrower) -> Kept:
        facts, arrays = kept(grower)
        return Kept(facts, {key: array for key, array in arrays.items() if key != name})

    monkeypatch.setattr(ClusterGrower, "kept", lacking)
    stopped(clients[2], table, Options(), path, 2)
    with pytest.raises(CheckpointError, match=f"lacks '{name}', it is of another version of c45gpu: go on with that"):
        train_on(clients[2], rows_on(clients[2], table, [50]), checkpoint=path)
    assert path.is_file()
