"""The command: what it prints, and where, and with which exit code."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from c45gpu.cli import main
from c45gpu.model.store import load

COMMAND = [sys.executable, "-m", "c45gpu"]
GOLF = """sunny,85,false,no\nsunny,90,true,no\novercast,78,false,yes\nrain,96,false,yes\nrain,80,false,yes
rain,70,true,no\novercast,65,true,yes\nsunny,95,false,no\nsunny,70,false,yes\nrain,80,false,yes
sunny,70,true,yes\novercast,90,true,yes\novercast,75,false,yes\nrain,80,true,no\n"""
GOLF_NAMES = "yes, no.\noutlook: sunny, overcast, rain.\nhumidity: continuous.\nwindy: true, false.\n"
GOLF_TREE = """outlook = overcast: yes (4.0)
outlook = sunny:
|   humidity <= 75 : yes (2.0)
|   humidity > 75 : no (3.0)
outlook = rain:
|   windy = true: no (2.0)
|   windy = false: yes (3.0)
"""


@pytest.fixture
def golf(tmp_path: Path) -> str:
    """The stem of a small data set."""
    (tmp_path / "golf.names").write_text(GOLF_NAMES)
    (tmp_path / "golf.data").write_text(GOLF)
    return str(tmp_path / "golf")


@pytest.fixture
def golf_csv(tmp_path: Path) -> str:
    """The same cases with names on top."""
    path = tmp_path / "golf.csv"
    path.write_text("outlook,humidity,windy,play\n" + GOLF)
    return str(path)


@pytest.fixture
def golf_model(golf: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A model file."""
    path = str(tmp_path / "golf.c45")
    assert main(["train", golf, "-o", path]) == 0
    capsys.readouterr()
    return path


def test_train_prints_trees_and_evaluation(golf: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", golf]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"Decision Tree:\n\n{GOLF_TREE}\n")
    assert "Evaluation on training data (14 items):" in out
    assert "\t   8    0( 0.0%)      8    0( 0.0%)    (38.5%)   <<\n" in out
    assert err == f"{golf}: 14 cases, 3 attributes, 2 classes\n"


def test_train_on_csv_grows_the_same_tree(golf_csv: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", golf_csv, "--target", "play"]) == 0
    out, err = capsys.readouterr()
    tests = [
        line.split(":")[0] for line in out.splitlines() if "outlook" in line or "humidity" in line or "windy" in line
    ]
    assert sorted(tests) == sorted(line.split(":")[0] for line in GOLF_TREE.splitlines())
    assert "outlook: discrete, 3: overcast, rain, sunny" in err


def test_kinds_can_be_said(golf_csv: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", golf_csv, "--target", "play", "--categorical", "humidity", "--ignore", "windy,outlook"]) == 0
    out, err = capsys.readouterr()
    assert "humidity: discrete" in err
    assert "windy: ignored" in err
    assert "outlook: ignored" in err
    assert "windy" not in out


def test_a_discrete_looking_column_can_be_continuous(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "flags.csv"
    path.write_text("flag,y\n" + "true,a\nfalse,b\n" * 5)
    assert main(["train", str(path), "--target", "y"]) == 0
    assert "flag: discrete" in capsys.readouterr().err
    path.write_text("level,y\n" + "1,a\n2,b\n" * 5)
    assert main(["train", str(path), "--target", "y", "--continuous", "level"]) == 0
    assert "level: continuous" in capsys.readouterr().err


def test_weights_come_from_a_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "weighted.csv"
    path.write_text("x,times,y\n" + "1,3,a\n2,5,b\n")
    assert main(["train", str(path), "--target", "y", "--weight", "times"]) == 0
    out = capsys.readouterr().out
    assert "x <= 1 : a (3.0)" in out
    assert "x > 1 : b (5.0)" in out


def test_parquet_is_read_too(golf_csv: str, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    path = golf_csv.replace(".csv", ".parquet")
    as_text = pyarrow.csv.ConvertOptions(column_types={"windy": pyarrow.string()})
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(golf_csv, convert_options=as_text), path)
    assert main(["train", golf_csv, "--target", "play"]) == 0
    of_csv = capsys.readouterr().out
    assert main(["train", path, "--target", "play"]) == 0
    assert capsys.readouterr().out == of_csv


def test_json_is_one_document(golf: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(f"{golf}.test").write_text("rain,80,true,no\novercast,80,?,no\n")
    assert main(["train", golf, "--json", "-u", "-m", "1", "-c", "10", "-g"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["classes"] == ["yes", "no"]
    assert document["options"] == ["-g", "-m", "1", "-c", "10"]
    assert document["unpruned"]["att_name"] == "outlook"
    assert [branch["leaf"] for branch in document["unpruned"]["branches"]] == [1, 0, 0]
    assert document["train"][0]["errors_before"] == 0
    assert len(document["test_pred_pruned"]) == 2
    assert document["test"][0]["errors_before"] == 1


def old_and_new(capsys: pytest.CaptureFixture[str], old: list[str], new: list[str]) -> tuple[str, str]:
    assert main(["train", *old]) == 0
    printed = capsys.readouterr().out
    assert main(["train", *new]) == 0
    return printed, capsys.readouterr().out


def test_old_letters_work(examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stem = str(tmp_path / "penguins")
    for suffix in (".names", ".data"):
        Path(stem + suffix).write_bytes((examples / f"penguins{suffix}").read_bytes())
    Path(f"{stem}.test").write_bytes((examples / "penguins.data").read_bytes())
    old, new = old_and_new(
        capsys,
        ["-f", stem, "-u", "-m", "5", "-c", "10", "-g"],
        [stem, "--test", f"{stem}.test", "--min-cases", "5", "--confidence", "0.1", "--criterion", "gain"],
    )
    assert old == new
    assert "Evaluation on test data (344 items):" in old
    together, apart = old_and_new(
        capsys, ["-f", stem, "-m5", "-c10", "-gu"], ["-f", stem, "-m", "5", "-c", "10", "-g", "-u"]
    )
    assert together == apart == old


@pytest.mark.parametrize(
    ("option", "differs"),
    [
        (["-g"], True),
        (["-m", "40"], True),
        (["-c", "0.01"], True),
        (["--prune", "pep"], True),
        (["--prune", "none"], True),
    ],
)
def test_options_reach_the_learner(
    examples: Path, option: list[str], differs: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    changed, default = old_and_new(capsys, [str(examples / "penguins"), *option], [str(examples / "penguins")])
    assert (changed != default) == differs


def test_compat_reads_999_as_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.names").write_text("a, b.\nx: continuous.\n")
    (tmp_path / "t.data").write_text("-999,a\n-999,a\n-999,a\n5,b\n5,b\n6,b\n")
    stem = str(tmp_path / "t")
    assert main(["train", stem]) == 0
    assert "x <= -999 : a (3.0)" in capsys.readouterr().out
    assert main(["train", stem, "--compat", "r8"]) == 0
    assert "x <=" not in capsys.readouterr().out


@pytest.mark.parametrize("letter", ["-v"])
def test_letters_not_supported_are_refused(golf: str, letter: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "-f", golf, letter, "3"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {letter}: ")
    assert "not supported yet" in err


def test_show_prints_the_tree_again(golf_model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", golf_model, "--unpruned"]) == 0
    assert capsys.readouterr().out == GOLF_TREE
    assert main(["show", golf_model, "--max-depth", "1"]) == 0
    assert "humidity" not in capsys.readouterr().out


def test_show_has_both_trees(examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "model.c45")
    assert main(["train", str(examples / "penguins"), "-m", "1", "-o", path]) == 0
    trained = capsys.readouterr().out
    assert main(["show", path]) == 0
    pruned = capsys.readouterr().out
    assert main(["show", path, "--unpruned"]) == 0
    grown = capsys.readouterr().out
    assert grown != pruned
    assert trained.startswith(f"Decision Tree:\n\n{grown}\n")
    assert f"Simplified Decision Tree:\n\n{pruned}\n" in trained


def test_predict_prints_one_class_a_line(
    golf: str, golf_csv: str, golf_model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = [line.rsplit(",", 1)[1] for line in GOLF.splitlines()]
    for cases in (f"{golf}.data", golf_csv):
        assert main(["predict", golf_model, cases]) == 0
        out, err = capsys.readouterr()
        assert out.splitlines() == wanted
        assert err == ""


def test_predict_writes_a_file(golf: str, golf_model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for how in ([], ["--proba"], ["--json"]):
        assert main(["predict", golf_model, f"{golf}.data", *how]) == 0
        printed = capsys.readouterr().out
        assert main(["predict", golf_model, f"{golf}.data", *how, "-o", str(tmp_path / "out")]) == 0
        assert capsys.readouterr().out == ""
        assert (tmp_path / "out").read_text() == printed


def test_predict_probabilities(golf_model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = tmp_path / "cases.csv"
    cases.write_text("windy,outlook,humidity\ntrue,rain,1\n,rain,\ntrue,,70\n")
    assert main(["predict", golf_model, str(cases), "--proba"]) == 0
    names, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
    assert names == ["yes", "no"]
    assert [[float(cell) for cell in row] for row in rows] == [[0, 1], [3 / 5, 2 / 5], [4 / 14 + 5 / 14, 5 / 14]]
    assert main(["predict", golf_model, str(cases), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["classes"] == names
    assert document["predicted"] == ["no", "yes", "yes"]
    assert document["probabilities"] == [[float(cell) for cell in row] for row in rows]


def test_evaluate(golf: str, golf_model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = tmp_path / "unseen.test"
    cases.write_text("overcast,80,true,no\nrain,80,true,no\nrain,80,false,yes\nrain,80,false,yes\n")
    assert main(["evaluate", golf_model, str(cases)]) == 0
    out = capsys.readouterr().out
    assert "(4 items)" in out
    assert "8    1(25.0%)" in out
    assert "accuracy 0.7500   macro F1 0.7333" in out
    assert main(["evaluate", golf_model, str(cases), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["pruned"]["errors"] == 1
    assert document["pruned"]["confusion"] == [[2, 0], [1, 1]]
    assert document["pruned"]["accuracy"] == 0.75


def test_info_names_versions_and_engines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["versions"]["numpy"] == np.__version__
    assert facts["engines"]["reference"] is None
    assert main(["info"]) == 0
    assert "engine reference: ready" in capsys.readouterr().out


def test_engine_is_chosen_by_name(golf: str, capsys: pytest.CaptureFixture[str]) -> None:
    named, auto = old_and_new(capsys, [golf, "--engine", "reference"], [golf])
    assert named == auto
    assert main(["train", golf, "--engine", "steam"]) == 2
    assert "steam" in capsys.readouterr().err


def test_one_class_is_a_leaf_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "same.csv"
    path.write_text("x,y\n1,a\n2,a\n")
    assert main(["train", str(path), "--target", "y"]) == 0
    out, err = capsys.readouterr()
    assert "Decision Tree:\n a (2.0)\n" in out
    assert "warning: all cases are of the class 'a'" in err


def test_models_have_the_same_bytes_each_time(golf: str, tmp_path: Path) -> None:
    contents = []
    for seed, locale, threads in (("1", "C", "1"), ("2", "C.UTF-8", "2")):
        path = tmp_path / f"{seed}.c45"
        setting = {"PYTHONHASHSEED": seed, "LC_ALL": locale, "OMP_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads}
        subprocess.run([*COMMAND, "train", golf, "-o", path], env=os.environ | setting, check=True, capture_output=True)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]


@pytest.fixture
def long_work(tmp_path: Path) -> Path:
    """A table that keeps the reference engine busy for seconds after the first of many levels."""
    values = np.random.default_rng(0).random((5_000, 10))
    path = tmp_path / "long.csv"
    header = ",".join([*(f"x{a}" for a in range(10)), "y"])
    np.savetxt(path, np.column_stack([values, values.sum(1) // 0.05]), "%.5g", ",", header=header, comments="")
    return path


class Terminal:
    """Standard error as a person has it: a terminal."""

    def __init__(self, *arguments: str) -> None:
        self._screen, side = pty.openpty()
        self.seen = b""
        self.command = subprocess.Popen(
            [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=side, preexec_fn=heeding_ctrl_c
        )
        os.close(side)

    def watch(self, until: bytes | None = None) -> None:
        """Read until some text appears, or to the end."""
        while until is None or until not in self.seen:
            try:
                news = os.read(self._screen, 1 << 16)
            except OSError:  # how Linux tells that the other side is closed
                news = b""
            if not news:
                assert until is None, f"{until!r} never appeared: {self.seen!r}"
                return
            self.seen += news

    def finish(self) -> tuple[int, bytes]:
        """Exit code and standard output."""
        self.watch()
        out, _ = self.command.communicate()
        os.close(self._screen)
        return self.command.returncode, out


def heeding_ctrl_c() -> None:
    """A test that runs in the background of a shell may have been told to ignore Ctrl-C; its command should not be."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_leaves_nothing_behind(long_work: Path) -> None:
    model = long_work.with_suffix(".c45")
    terminal = Terminal("train", str(long_work), "--target", "y", "--engine", "reference", "-o", str(model))
    terminal.watch(b"level 1: ")
    terminal.command.send_signal(signal.SIGINT)
    assert terminal.finish() == (130, b"")
    assert terminal.seen.endswith(b"error: interrupted\r\n")
    assert os.listdir(long_work.parent) == [long_work.name]


def test_progress_is_shown_to_a_person_only(golf: str) -> None:
    quiet = subprocess.run([*COMMAND, "train", golf], capture_output=True, check=True)
    assert b"level" not in quiet.stderr
    terminal = Terminal("train", golf)
    assert terminal.finish() == (0, quiet.stdout)
    assert b"level 2: 8 nodes, 0 open" in terminal.seen


def test_a_reader_who_leaves_early_is_no_error(examples: Path) -> None:
    command = subprocess.Popen(
        [*COMMAND, "train", str(examples / "penguins"), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert command.stdout is not None
    assert command.stderr is not None
    command.stdout.close()
    err = command.stderr.read().decode()
    command.stderr.close()
    assert command.wait() == 0
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


def test_a_saved_model_is_told(golf_model: str) -> None:
    model = load(golf_model)
    assert model.schema.classes == ("yes", "no")
    assert model.pruned.n_nodes == 8
