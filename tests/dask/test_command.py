"""``c45gpu train --dask`` prints and saves what it does without."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import dask
import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet
import pytest

from c45gpu.cli import main
from c45gpu.dask.connect import cluster_here
from c45gpu.induction.checkpoint import Checkpoint
from tests.dask.threads import client

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["client"]

Told = tuple[str, str]


@pytest.fixture
def address(client: Client) -> str:
    return str(client.scheduler.address)


@pytest.fixture(scope="module")
def penguins(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The penguins in a folder of Parquet files with several row groups each."""
    folder = tmp_path_factory.mktemp("penguins")
    whole = arrow_csv.read_csv(examples / "penguins.csv")
    whole = whole.append_column("day", pa.array(np.arange(len(whole)) % 3))
    for i in range(3):
        parquet.write_table(whole.slice(115 * i, 115), folder / f"part-{i}.parquet", row_group_size=30)
    parquet.write_table(whole, folder.with_suffix(".parquet"))
    return folder


def ran(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Told:
    assert main(arguments) == 0
    said = capsys.readouterr()
    return said.out.partition('"training": ')[0], said.err  # how training went differs


def test_a_cluster_of_this_machine_is_watched_less_and_no_other_is() -> None:
    profiled, before = "distributed.worker.profile.enabled", dask.config.get("distributed.worker.profile.enabled")
    with cluster_here(1, 1) as client:
        assert list(client.run(dask.config.get, profiled).values()) == [False]
    assert dask.config.get(profiled) == before


@pytest.mark.parametrize("more", [[], ["--json"], ["-m", "5", "--class-weight", "balanced"]], ids=str)
def test_files_are_read_here_and_sent(
    address: str, examples: Path, tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for source in (["-f", str(examples / "penguins")], [str(examples / "penguins.csv"), "--target", "species"]):
        single = ran(["train", *source, "-o", str(tmp_path / "one.c45"), *more], capsys)
        there = ran(["train", *source, "-o", str(tmp_path / "two.c45"), "--dask", address, *more], capsys)
        assert there[0] == single[0]
        assert there[1] == single[1].replace("one.c45", "two.c45")
        assert (tmp_path / "one.c45").read_bytes() == (tmp_path / "two.c45").read_bytes()


@pytest.mark.parametrize(
    "more",
    [[], ["--class-weight", "Gentoo=2"], ["--weight", "day", "--ignore", "sex", "--categorical", "body_mass_g"]],
    ids=str,
)
def test_row_groups_are_read_by_the_workers(
    address: str, penguins: Path, tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    whole, more = str(penguins.with_suffix(".parquet")), ["--target", "species", *more]
    single = ran(["train", whole, "-o", str(tmp_path / "one.c45"), *more], capsys)
    for source in (whole, str(penguins), str(penguins / "part-*.parquet")):
        there = ran(["train", source, "-o", str(tmp_path / "two.c45"), "--dask", address, *more], capsys)
        assert there[0] == single[0]
        assert there[1] == single[1].replace("one.c45", "two.c45").replace(f"{whole}:", f"{source}:")
        assert (tmp_path / "one.c45").read_bytes() == (tmp_path / "two.c45").read_bytes()


def test_workers_of_this_machine(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = [str(examples / "penguins.csv"), "--target", "species"]
    single = ran(["train", *source], capsys)
    assert ran(["train", *source, "--dask", "local:2"], capsys) == single


def test_a_dry_run_plans_for_each_worker(address: str, examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = ["train", str(examples / "penguins.csv"), "--target", "species", "--dask", address, "--dry-run"]
    out, _ = ran(source, capsys)
    assert out.startswith("2 workers, 344 cases; worker inproc://")
    assert "grows with 4 of 7 attributes\n" in out
    assert "\ncases by rows " in out
    document = json.loads(ran([*source, "--json"], capsys)[0])
    assert document["cases"] == 344
    assert [worker["attributes"] for worker in document["workers"]] == [4, 3]
    for worker in document["workers"]:
        of_stage = [sum(p["n_bytes"] for p in worker["parts"] if s in p["stages"]) for s in ("sorting", "growing")]
        assert worker["total"] >= max(of_stage)
        assert worker["available"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x.csv", "--dask", "local:0"], "'local:0' is no cluster: write local:N for N workers of this machine"),
        (["x.csv", "--dask", "local"], "'local' is no cluster: write local:N for N workers of this machine"),
        (["x.csv", "--dask", "no address"], "no Dask scheduler answers at no address ("),
    ],
    ids=["none", "how many", "nowhere"],
)
def test_no_cluster(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_infinities_and_nothing_known_are_refused(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"x": [1.0, 2.0, np.inf], "y": ["a", "b", "a"]}), path, row_group_size=2)
    assert main(["train", str(path), "--target", "y", "--dask", address]) == 1
    assert capsys.readouterr().err == (
        f"error: {path}: column 'x', row 3 (row group 1): the value is infinite: write a number, or leave it out\n"
    )
    parquet.write_table(pa.table({"x": pa.nulls(3), "y": ["a", "b", "a"]}), path, row_group_size=2)
    assert main(["train", str(path), "--target", "y", "--dask", address]) == 1
    assert capsys.readouterr().err == (
        f"error: {path}: every value of every attribute is unknown: give some that tell the classes apart\n"
    )
    assert main(["train", str(path), "--dask", address]) == 2
    assert capsys.readouterr().err == f"error: --target is missing: name the column of {path} that holds the class\n"


def test_training_goes_on_from_a_checkpoint(address: str, examples: Path, tmp_path: Path) -> None:
    path, model, due = (tmp_path / name for name in ("kept", "model.c45", "due.c45"))
    assert main(["train", str(examples / "penguins"), "-o", str(due)]) == 0
    told = ["train", str(examples / "penguins"), "--dask", address, "--checkpoint", str(path), "-o", str(model)]
    with mock.patch.object(Checkpoint, "remove"), mock.patch("c45gpu.dask.engine.LEAST_SMALL", 40):
        assert main([*told, "--every", "0s"]) == 0
    assert path.exists()
    assert main(told) == 0
    assert not path.exists()
    assert model.read_bytes() == due.read_bytes()


def test_how_training_went_is_recorded(address: str, examples: Path, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    assert main(["train", str(examples / "penguins"), "--dask", address, "--record", str(path)]) == 0
    record = json.loads(path.read_text())
    assert (record["engine"], record["threads"], record["cases"]) == ("dask", 2, 344)
    assert set(record["seconds"]) == {"reading", "sorting", "growing", "pruning", "all"}


def test_a_process_of_its_own(examples: Path, tmp_path: Path) -> None:
    """Where there is no default client, as in this process."""
    alone, other = tmp_path / "alone.c45", tmp_path / "other.c45"
    told = [sys.executable, "-m", "c45gpu", "train", str(examples / "penguins"), "-o"]
    subprocess.run([*told, str(alone)], capture_output=True, check=True)
    subprocess.run([*told, str(other), "--dask", "local:2"], capture_output=True, check=True)
    assert other.read_bytes() == alone.read_bytes()
