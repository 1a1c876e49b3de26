"""Bad input: one or two lines on standard error that name the place and the remedy, an exit code, and nothing left."""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from c45gpu.cli import main
from c45gpu.model.store import load
from tests.model.test_store import npy, rebuilt

NAMES = "good, bad.\ncolour: red, green.\nsize: continuous.\n"
DATA = "red,1,good\nred,2,good\ngreen,3,bad\ngreen,?,bad\n"
CSV = "colour,size,verdict\n" + DATA.replace("?", "")
SAVE_ARGUMENTS = ["--target", "verdict", "-o"]

Refusal = Callable[..., str]


@pytest.fixture
def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refusal:
    """Run a command that must fail; gives what it complains about."""

    def run(*arguments: str | Path, code: int = 1) -> str:
        before = sorted(os.listdir(tmp_path))
        assert main([str(argument) for argument in arguments]) == code
        out, err = capsys.readouterr()
        assert out == ""
        assert sorted(os.listdir(tmp_path)) == before
        return complaint(err)

    return run


def complaint(err: str) -> str:
    lines = err.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("error: "))
    assert len(lines) - first <= 2
    assert "Traceback" not in err
    return "\n".join(lines[first:]).removeprefix("error: ")


def stem_with(folder: Path, data: str | bytes, names: str = NAMES) -> Path:
    (folder / "t.names").write_text(names)
    (folder / "t.data").write_bytes(data.encode() if isinstance(data, str) else data)
    return folder / "t"


def csv_with(folder: Path, content: str | bytes) -> Path:
    (folder / "t.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / "t.csv"


@pytest.mark.parametrize(
    ("data", "place", "words"),
    [
        (DATA + "red,1,ugly\n", "t.data:5: ", ["'ugly'", "classes", "good, bad"]),
        (DATA + "blue,1,good\n", "t.data:5: ", ["'blue'", "'colour'", "red, green"]),
        ("red,1\n" + DATA, "t.data:1: ", ["2", "3"]),
        (DATA + "\nred,1,2,good\n", "t.data:6: ", ["4", "3"]),
        (DATA + "red,large,good\n", "t.data:5: ", ["'large'", "'size'", "not a number"]),
        ("", "t.data: ", ["empty"]),
        ("| only a comment\n", "t.data: ", ["no records"]),
        (b"\x7fELF\x00\x01\x02\x00" * 40, "t.data: ", ["binary"]),
        ("?,?,good\n?,?,bad\n", "t.data: ", ["unknown"]),
    ],
    ids=["class", "value", "short", "long", "text", "empty", "no cases", "binary", "all unknown"],
)
def test_data_files(tmp_path: Path, refused: Refusal, data: str | bytes, place: str, words: list[str]) -> None:
    stem = stem_with(tmp_path, data)
    message = refused("train", stem, "-o", tmp_path / "model.c45")
    assert message.startswith(f"{tmp_path}/{place}")
    assert [word for word in words if word not in message] == []


@pytest.mark.parametrize(
    ("names", "place", "words"),
    [
        (NAMES + "size: continuous.\n", "t.names:4: ", ["'size'", "twice"]),
        ("good, good.\nsize: continuous.\n", "t.names:1: ", ["'good'", "twice"]),
        ("", "t.names: ", ["empty"]),
    ],
    ids=["attribute twice", "class twice", "empty"],
)
def test_names_files(tmp_path: Path, refused: Refusal, names: str, place: str, words: list[str]) -> None:
    message = refused("train", stem_with(tmp_path, DATA, names), "-o", tmp_path / "model.c45")
    assert message.startswith(f"{tmp_path}/{place}")
    assert [word for word in words if word not in message] == []


def test_missing_files(tmp_path: Path, refused: Refusal) -> None:
    assert refused("train", tmp_path / "none").startswith(f"{tmp_path}/none: ")
    assert refused("train", tmp_path / "none.csv", "--target", "y").startswith(f"{tmp_path}/none.csv: ")
    (tmp_path / "t.names").write_text(NAMES)
    assert refused("train", tmp_path / "t").startswith(f"{tmp_path}/t.data: ")
    (tmp_path / "t.data").write_text(DATA)
    assert refused("train", tmp_path / "t", "-u").startswith(f"{tmp_path}/t.test: ")
    assert refused("show", tmp_path / "none.c45").startswith(f"{tmp_path}/none.c45: ")
    assert refused("predict", tmp_path / "none.c45", tmp_path / "t.data").startswith(f"{tmp_path}/none.c45: ")


@pytest.mark.parametrize(
    ("content", "place", "words"),
    [
        ("", "t.csv: ", ["empty"]),
        ("colour,size,verdict\n", "t.csv: ", ["no rows"]),
        (CSV + "red,1\n", "t.csv:6: ", ["2", "3"]),
        (CSV + "red,1,2,good\n", "t.csv:6: ", ["4", "3"]),
        ("size,size,verdict\n1,2,good\n", "t.csv:1: ", ["'size'", "two columns"]),
        ("colour,size,verdict\n,,good\n,,bad\n", "t.csv: ", ["unknown"]),
        (CSV + "red,inf,good\n", "t.csv: ", ["'size'", "case 5", "infinite"]),
        (CSV + "red,-Infinity,good\n", "t.csv: ", ["'size'", "case 5", "infinite"]),
        (CSV + "red,1,\n", "t.csv:6: ", ["class"]),
        (bytes(range(256)) * 8, "t.csv: ", ["binary"]),
        ("colour,size,outcome\nred,1,good\n", "t.csv:1: ", ["'verdict'"]),
    ],
    ids=["empty", "no cases", "short", "long", "twice", "unknown", "inf", "-inf", "no class", "binary", "no target"],
)
def test_csv_files(tmp_path: Path, refused: Refusal, content: str | bytes, place: str, words: list[str]) -> None:
    path = csv_with(tmp_path, content)
    message = refused("train", path, "--target", "verdict", "-o", tmp_path / "model.c45")
    assert message.startswith(f"{tmp_path}/{place}")
    assert [word for word in words if word not in message] == []


def test_text_in_a_column_said_to_be_continuous(tmp_path: Path, refused: Refusal) -> None:
    path = csv_with(tmp_path, CSV + "red,large,good\n")
    message = refused("train", path, "--target", "verdict", "--continuous", "size")
    assert message.startswith(f"{path}:6: ")
    assert "'large'" in message


def test_nan_in_a_csv_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = csv_with(tmp_path, CSV)
    assert main(["train", str(path), "--target", "verdict"]) == 0
    empty = capsys.readouterr().out
    csv_with(tmp_path, CSV.replace("green,,", "green,NaN,"))
    assert main(["train", str(path), "--target", "verdict"]) == 0
    assert capsys.readouterr().out == empty


@pytest.mark.parametrize("option", ["--categorical", "--continuous", "--ignore", "--weight"])
def test_columns_that_are_not_there(tmp_path: Path, refused: Refusal, option: str) -> None:
    path = csv_with(tmp_path, CSV)
    message = refused("train", path, "--target", "verdict", option, "weather")
    assert message.startswith(f"{path}:1: ")
    assert "'weather'" in message


@pytest.fixture
def model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "model.c45"
    assert main(["train", str(csv_with(tmp_path, CSV)), *SAVE_ARGUMENTS, str(path)]) == 0
    capsys.readouterr()
    return path


def test_cases_that_do_not_suit_the_model(model: Path, tmp_path: Path, refused: Refusal) -> None:
    path = csv_with(tmp_path, "colour\nred\n")
    message = refused("predict", model, path)
    assert message.startswith(f"{path}:1: ")
    assert "'size'" in message
    path = csv_with(tmp_path, CSV.replace("1", "small"))
    assert refused("predict", model, path).startswith(f"{path}:2: ")
    path = csv_with(tmp_path, "colour,size\nred,1\n")
    assert refused("evaluate", model, path).startswith(f"{path}: ")


def own_child(header: dict[str, object], members: dict[str, bytes]) -> None:
    members["pruned/branch.npy"] = npy(np.array([0, 2], np.int64))


def newer(header: dict[str, object], members: dict[str, bytes]) -> None:
    header["format_number"] = 1_000_000


def spoiled(kind: str, sound: bytes) -> bytes:
    """A model file that went wrong."""
    middle = len(sound) // 2
    if kind == "cut short":
        return sound[:middle]
    if kind == "flipped byte":
        return sound[:middle] + bytes([sound[middle] ^ 1]) + sound[middle + 1 :]
    if kind == "pickle":
        return pickle.dumps({"tree": [1, 2, 3]})
    return rebuilt(own_child if kind == "own child" else newer)


@pytest.mark.parametrize("command", [["show"], ["predict", "t.csv"], ["evaluate", "t.csv"]], ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("cut short", "damaged"),
        ("flipped byte", "damaged"),
        ("own child", "node"),
        ("newer", "install a newer c45gpu"),
        ("pickle", "pickle"),
    ],
)
def test_model_files(model: Path, refused: Refusal, kind: str, word: str, command: list[str]) -> None:
    model.write_bytes(spoiled(kind, model.read_bytes()))
    message = refused(command[0], model, *(model.parent / name for name in command[1:]))
    assert message.startswith(f"{model}: ")
    assert word in message


def no_room() -> None:
    """From here on no file can grow beyond a few bytes, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))


def test_a_full_disk_keeps_the_old_model(model: Path, tmp_path: Path) -> None:
    old, before = model.read_bytes(), sorted(os.listdir(tmp_path))
    arguments = ["train", tmp_path / "t.csv", *SAVE_ARGUMENTS, model, "-m", "1", "--engine", "reference"]
    done = subprocess.run(
        [sys.executable, "-m", "c45gpu", *arguments], capture_output=True, text=True, preexec_fn=no_room
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert complaint(done.stderr).startswith(f"{model}: ")
    assert model.read_bytes() == old
    assert sorted(os.listdir(tmp_path)) == before
    assert load(model).schema.target == "verdict"


def test_standard_output_on_a_full_disk(tmp_path: Path) -> None:
    path = csv_with(tmp_path, CSV)
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "c45gpu", "train", path, "--target", "verdict"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "No space left on device" in complaint(done.stderr)


def test_a_folder_that_nobody_may_write_to(
    tmp_path: Path, refused: Refusal, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path("/sys")  # root may write where the permissions say no, but not here
    message = refused("train", csv_with(tmp_path, CSV), *SAVE_ARGUMENTS, folder / "model.c45")
    assert message.startswith("/sys/model.c45: ")
    assert main(["train", str(tmp_path / "t.csv"), *SAVE_ARGUMENTS, str(tmp_path / "model.c45")]) == 0
    capsys.readouterr()
    message = refused("predict", tmp_path / "model.c45", tmp_path / "t.csv", "-o", folder / "classes")
    assert message.startswith("/sys/classes: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write where the permissions say no")
def test_a_read_only_folder_keeps_the_old_model(model: Path, tmp_path: Path, refused: Refusal) -> None:
    old = model.read_bytes()
    tmp_path.chmod(0o500)
    try:
        assert refused("train", tmp_path / "t.csv", *SAVE_ARGUMENTS, model, "-m", "1").startswith(f"{model}: ")
    finally:
        tmp_path.chmod(0o700)
    assert model.read_bytes() == old


def test_a_place_that_is_no_folder(model: Path, tmp_path: Path, refused: Refusal) -> None:
    place = model / "model.c45"
    assert refused("train", tmp_path / "t.csv", *SAVE_ARGUMENTS, place).startswith(f"{place}: ")
    place = tmp_path / "nowhere" / "model.c45"
    assert refused("train", tmp_path / "t.csv", *SAVE_ARGUMENTS, place).startswith(f"{place}: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["trian", "t.csv"],
        ["train"],
        ["train", "t.csv"],
        ["train", "t.csv", "-f", "t"],
        ["train", "t.csv", "--target"],
        ["train", "t.csv", "--target", "verdict", "--nonsense"],
        ["train", "t.csv", "--target", "verdict", "-m", "many"],
        ["train", "t.csv", "--target", "verdict", "-m", "0"],
        ["train", "t.csv", "--target", "verdict", "-c", "0"],
        ["train", "t.csv", "--target", "verdict", "-c", "101"],
        ["train", "t.csv", "--target", "verdict", "-c", "10", "--confidence", "0.1"],
        ["train", "t.csv", "--target", "verdict", "--confidence", "nan"],
        ["train", "t.csv", "--target", "verdict", "--prune", "everything"],
        ["train", "t.csv", "--target", "verdict", "--compat", "r9"],
        ["train", "t.csv", "--target", "verdict", "-u"],
        ["train", "t.csv", "--target", "verdict", "extra"],
        ["show", "t.csv", "--max-depth", "-1"],
        ["predict", "t.csv"],
    ],
    ids=" ".join,
)
def test_wrong_commands(
    arguments: list[str], tmp_path: Path, refused: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    csv_with(tmp_path, CSV)
    monkeypatch.chdir(tmp_path)
    assert refused(*arguments, code=2) != ""


def test_columns_are_not_told_twice(tmp_path: Path, refused: Refusal) -> None:
    message = refused("train", stem_with(tmp_path, DATA), "--target", "size", code=2)
    assert "t.names" in message
