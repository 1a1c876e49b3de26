"""Training that is killed goes on where it was kept, and gives the same bytes; other data or options are refused."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from c45gpu import C45Classifier
from c45gpu.cli import main
from c45gpu.data.table import Table
from c45gpu.errors import CheckpointError, OptionError
from c45gpu.induction import checkpoint, window
from c45gpu.induction.checkpoint import seconds_of
from c45gpu.induction.options import Options
from c45gpu.induction.progress import Progress
from c45gpu.induction.train import train
from c45gpu.kernels.level import Children, Frontier, Problem, Splits
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.store import load, model_bytes
from tests.induction.test_resume import wide

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"reference": 600, "cpu": 12_000}  # the CPU engine must leave nodes open

SMALL = Options(min_cases=25)
KILLED = """
import os, signal, sys
import numpy as np
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.store import save

cases, min_cases, engine, checkpoint, after, model = sys.argv[1:]
left = [int(after)]

def die(_):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)

def in_pruning(stage):
    if stage.name == "pruning" and stage.share == 1:
        die(stage)

with np.load(cases) as kept:
    columns, classes = list(kept["columns"]), kept["classes"]
attributes = tuple(Attribute(f"a{i}", "continuous") for i in range(len(columns)))
table = Table(Schema(attributes, tuple(f"k{c}" for c in range(4))), columns, classes)
options = Options(min_cases=int(min_cases))
save(train(table, options, engine, die, stages=in_pruning, checkpoint=checkpoint, every=0), model)
"""


class Stopped(Exception):
    """Training is to end here."""


def stopped(table: Table, options: Options, path: Path, levels: int, engine: str = "reference") -> None:
    """Train until so many levels are grown, keeping each."""
    left = [levels]

    def stop(_: Progress) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Stopped

    with pytest.raises(Stopped):
        train(table, options, engine, stop, checkpoint=path, every=0)


@pytest.fixture
def table() -> Table:
    return wide(600, 0.1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kept.c45"


# ---------------------------------------------------------------- killed, and gone on
@pytest.mark.parametrize("engine", SIZES)
def test_killed_after_each_level_and_in_pruning(engine: str, path: Path, tmp_path: Path) -> None:
    table, cases, model = wide(SIZES[engine], 0.1), tmp_path / "cases.npz", tmp_path / "model.c45"
    np.savez(cases, columns=np.array(table.columns), classes=table.classes)
    due = model_bytes(train(table, SMALL, engine))
    deaths = 0
    while True:
        told = [cases, SMALL.min_cases, engine, path, deaths + 1, model]
        code = subprocess.run([sys.executable, "-c", KILLED, *map(str, told)], cwd=ROOT, check=False).returncode
        if code == 0:
            break
        assert code == -signal.SIGKILL
        assert not model.exists()
        for goes_on in ("reference", engine):
            kept = path.read_bytes()
            assert model_bytes(train(table, SMALL, goes_on, checkpoint=path)) == due
            assert not path.exists()
            path.write_bytes(kept)
        path.unlink()
        deaths += 1
    assert deaths >= 3
    assert model.read_bytes() == due


@pytest.mark.parametrize(
    "options",
    [
        Options(prune="rep"),
        Options(group_values=True, max_leaf_nodes=9),
        Options(max_features="sqrt", random_state=3),
        Options(compat="r8", prune="none"),
        Options(soft_thresholds=True, min_cases=20),
    ],
    ids=["rep", "groups", "drawn", "r8", "soft"],
)
def test_stopped_again_and_again(options: Options, table: Table, path: Path) -> None:
    levels: list[Progress] = []
    due = model_bytes(train(table, options, progress=levels.append))
    assert len(levels) > 2
    for done in range(1, len(levels)):
        stopped(table, options, path, 1)  # goes on from where it was stopped before
        kept, seen = path.read_bytes(), list[Progress]()
        assert model_bytes(train(table, options, progress=seen.append, checkpoint=path)) == due
        assert seen == levels[done:]
        assert not path.exists()
        path.write_bytes(kept)


def test_a_screened_tree_goes_on(path: Path) -> None:
    table, options = wide(9_000, 0.1), Options(screen=3, min_cases=20)
    steps: list[Progress] = []
    due = model_bytes(train(table, options, progress=steps.append))
    assert len(steps) > 2
    for done in range(1, len(steps) - 1):
        stopped(table, options, path, 1)
        seen: list[Progress] = []
        stopped_at = path.read_bytes()
        assert model_bytes(train(table, options, progress=seen.append, checkpoint=path)) == due
        assert seen == steps[done:]
        path.write_bytes(stopped_at)


def test_trials_that_have_run_are_not_run_again(table: Table, path: Path) -> None:
    options = Options(n_trials=3, random_state=2, min_cases=20)
    due = train(table, options)
    ran: list[int] = []
    trial = window.Windowing.trial

    def second_fails(windowing: window.Windowing) -> Any:
        ran.append(len(windowing.trials))
        if len(ran) == 2:
            raise Stopped
        return trial(windowing)

    with mock.patch.object(window.Windowing, "trial", second_fails):
        with pytest.raises(Stopped):
            train(table, options, checkpoint=path, every=0)
        gone_on = train(table, options, checkpoint=path, every=0)
    assert ran == [0, 1, 1, 2]
    assert model_bytes(gone_on) == model_bytes(due)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_costs_that_weigh_classes_are_data(n_classes: int, table: Table, path: Path) -> None:
    """Of two classes costs make weights, which the tree depends on; of more only what is decided in the end."""
    if n_classes == 2:
        table = replace(
            table, schema=replace(table.schema, classes=("no", "yes")), classes=np.minimum(table.classes, 1)
        )
    one, other = ((1 - np.eye(n_classes)) * np.arange(1, n_classes + 1)[:, None] ** power for power in (1, 3))

    def stop(at: Progress) -> None:
        if at.depth == 2:
            raise Stopped

    with pytest.raises(Stopped):
        train(table, progress=stop, costs=one, checkpoint=path, every=0)
    kept = path.read_bytes()
    assert model_bytes(train(table, costs=one, checkpoint=path)) == model_bytes(train(table, costs=one))
    path.write_bytes(kept)
    if n_classes == 2:
        with pytest.raises(CheckpointError, match="other data"):
            train(table, costs=other, checkpoint=path)
    else:
        assert model_bytes(train(table, costs=other, checkpoint=path)) == model_bytes(train(table, costs=other))


# ---------------------------------------------------------------- refused
@pytest.mark.parametrize(
    "changed",
    [
        lambda t: replace(t, classes=t.classes[::-1].copy()),
        lambda t: replace(t, weights=np.full(t.n_cases, 2.0)),
        lambda t: t.take(np.arange(t.n_cases - 1)),
        lambda t: replace(t, schema=replace(t.schema, target="other")),
        lambda t: replace(t, columns=[t.columns[1], t.columns[0], *t.columns[2:]]),
    ],
    ids=["classes", "weights", "cases", "schema", "columns"],
)
def test_other_data_are_refused(changed: Any, table: Table, path: Path) -> None:
    stopped(table, Options(), path, 2)
    kept = path.read_bytes()
    with pytest.raises(CheckpointError, match=r"kept\.c45: this checkpoint is of other data: .*delete it"):
        train(changed(table), checkpoint=path)
    assert path.read_bytes() == kept


def test_other_options_and_versions_are_refused(table: Table, path: Path) -> None:
    stopped(table, Options(), path, 2)
    kept = path.read_bytes()
    with pytest.raises(CheckpointError, match=r"this checkpoint is of min_cases=2, and now it is 5"):
        train(table, Options(min_cases=5), checkpoint=path)
    with (
        mock.patch.object(checkpoint, "__version__", "9.0"),
        pytest.raises(CheckpointError, match=r"this checkpoint is of version .*, and this is 9\.0"),
    ):
        train(table, checkpoint=path)
    assert path.read_bytes() == kept


@pytest.mark.parametrize("damage", ["cut short", "a bit", "a model", "empty", "foreign"])
def test_a_damaged_file_is_refused_and_left(damage: str, table: Table, path: Path) -> None:
    stopped(table, Options(), path, 2)
    whole = path.read_bytes()
    spoilt = {
        "cut short": whole[: len(whole) // 2],
        "a bit": whole[:3000] + bytes([whole[3000] ^ 1]) + whole[3001:],
        "a model": model_bytes(train(table)),
        "empty": b"",
        "foreign": b"something else",
    }[damage]
    path.write_bytes(spoilt)
    with pytest.raises(CheckpointError, match="cannot go on from this file, it is damaged or no checkpoint: delete it"):
        train(table, checkpoint=path)
    assert path.read_bytes() == spoilt


def test_a_place_that_is_none(table: Table, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no folder for the checkpoint"):
        train(table, checkpoint=tmp_path / "no" / "kept.c45")
    with pytest.raises(CheckpointError, match="cannot go on from this file"):
        train(table, checkpoint=tmp_path)


def test_a_disk_that_is_full_stops_nothing(table: Table, path: Path) -> None:
    with (
        mock.patch("c45gpu.model.sealed.write_whole", side_effect=OSError(28, "No space left on device")),
        pytest.warns(UserWarning, match=r"the checkpoint is not saved \(No space left on device\)"),
    ):
        model = train(table, checkpoint=path, every=0)
    assert model_bytes(model) == model_bytes(train(table))


# ---------------------------------------------------------------- when, and what it is of
@pytest.mark.parametrize(("every", "seconds"), [("30s", 30), ("5min", 300), ("1.5 h", 5400), (0, 0), (2.5, 2.5)])
def test_times(every: str | float, seconds: float) -> None:
    assert seconds_of(every) == seconds


@pytest.mark.parametrize("every", ["soon", "5", "-5min", "", -1, float("nan"), True])
def test_no_times(every: Any, table: Table, path: Path) -> None:
    with pytest.raises(OptionError, match=r"every=.* will not do: give a time such as 30s, 5min or 1h"):
        train(table, checkpoint=path, every=every)


def test_ctrl_c_keeps_the_last_level(table: Table, path: Path) -> None:
    def interrupt(at: Progress) -> None:
        if at.depth == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(table, progress=interrupt, checkpoint=path, every="1h")
    seen: list[Progress] = []
    assert model_bytes(train(table, progress=seen.append, checkpoint=path)) == model_bytes(train(table))
    assert seen[0].depth == 4


def test_ctrl_c_in_the_middle_of_a_level_keeps_the_one_before(table: Table, path: Path) -> None:
    class Interrupted(ReferenceEngine):
        splits = 0

        def split(self, splits: Splits) -> Children:
            self.splits += 1
            if self.splits == 3:
                raise KeyboardInterrupt
            return super().split(splits)

    with pytest.raises(KeyboardInterrupt):
        train(table, Options(), Interrupted(), checkpoint=path, every="1h")
    seen: list[Progress] = []
    assert model_bytes(train(table, progress=seen.append, checkpoint=path)) == model_bytes(train(table))
    assert seen[0].depth == 3


def test_ctrl_c_while_a_ranked_node_grows(path: Path) -> None:
    class Interrupted(ReferenceEngine):
        loads = 0

        def load(self, problem: Problem) -> Frontier:
            self.loads += 1
            if self.loads == 6:
                raise KeyboardInterrupt
            return super().load(problem)

    cases, options = wide(9_000, 0.1), Options(screen=3, min_cases=20)
    with pytest.raises(KeyboardInterrupt):
        train(cases, options, Interrupted(), checkpoint=path, every="1h")
    assert path.exists()
    assert model_bytes(train(cases, options, checkpoint=path)) == model_bytes(train(cases, options))


def test_nothing_is_kept_before_the_time_has_come(table: Table, path: Path) -> None:
    def look(_: Progress) -> None:
        assert not path.exists()

    train(table, progress=look, checkpoint=path, every="1h")


# ---------------------------------------------------------------- where users meet it
def test_the_estimator_goes_on(path: Path) -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(400, 4)).round(2)
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0.5) ^ (random.random(400) < 0.1)
    due = C45Classifier(random_state=1).fit(X, y)
    fitted = C45Classifier(random_state=1, checkpoint=path, checkpoint_every=0)
    with (
        mock.patch("c45gpu.induction.train.pruned", side_effect=Stopped),
        pytest.raises(Stopped),
    ):
        fitted.fit(X, y)
    assert path.exists()
    with pytest.raises(CheckpointError, match="other data"):
        fitted.fit(X[1:], y[1:])
    assert model_bytes(fitted.fit(X, y).model_) == model_bytes(due.model_)
    assert not path.exists()


def test_the_command_goes_on(tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases, model = tmp_path / "cases.csv", tmp_path / "model.c45"
    cases.write_text(
        "a,b,y\n" + "".join(f"{i % 17},{i * i % 13},{(i % 17 + i * i % 13) // 5 % 2}\n" for i in range(300))
    )
    asked = ["train", str(cases), "--target", "y", "-o", str(model), "--checkpoint", str(path), "--every", "0s"]
    with mock.patch("c45gpu.induction.train.pruned", side_effect=KeyboardInterrupt):
        assert main(asked) == 130
    assert path.exists()
    assert main([*asked, "--min-cases", "7"]) == 1
    assert "error: " in capsys.readouterr().err
    assert main(asked) == 0
    assert f"going on from {path}\n" in capsys.readouterr().err
    kept = load(model)
    assert main(asked[:6]) == 0
    assert model_bytes(load(model)) == model_bytes(kept)
    assert main([*asked[:-1], "never"]) == 2
