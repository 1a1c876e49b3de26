"""``c45gpu export``: what it prints, saves and refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from c45gpu import load
from c45gpu.cli import main
from c45gpu.exchange import to_c, to_onnx, to_pmml, to_python, to_sql, to_treelite


@pytest.fixture
def penguins(examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A model file."""
    path = tmp_path / "penguins.c45"
    assert main(["train", str(examples / "penguins"), "-o", str(path)]) == 0
    capsys.readouterr()
    return path


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["export", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], code: int, *arguments: object) -> str:
    assert main(["export", *map(str, arguments)]) == code
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.splitlines()[-1]


def test_it_prints_what_python_returns(penguins: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = load(penguins)
    assert printed(capsys, penguins, "--to", "python", "--name", "f") == to_python(model, name="f")
    assert printed(capsys, penguins, "--to", "c", "--unpruned") == to_c(model, unpruned=True)
    assert printed(capsys, penguins, "--to", "sql") == to_sql(model) + "\n"
    assert printed(capsys, penguins, "--to", "pmml", "--unknown", "refuse") == to_pmml(model, unknown="refuse")
    options = ["--unknown", "most_common", "--probability-of", "Gentoo"]
    wanted = to_sql(model, unknown="most_common", probability_of="Gentoo")
    assert printed(capsys, penguins, "--to", "sql", *options) == wanted + "\n"


def test_it_saves(penguins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, penguins, "--to", "c", "-o", tmp_path / "tree.c") == ""
    assert (tmp_path / "tree.c").read_text() == to_c(load(penguins))
    said = refused(capsys, 1, penguins, "--to", "c", "-o", tmp_path / "nowhere" / "tree.c")
    assert "choose a place with room where you may write" in said


def test_it_saves_onnx(penguins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    assert printed(capsys, penguins, "--to", "onnx", "--unknown", "refuse", "-o", tmp_path / "tree.onnx") == ""
    assert (tmp_path / "tree.onnx").read_bytes() == to_onnx(load(penguins), unknown="refuse").SerializeToString()


def test_it_saves_treelite(penguins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    treelite = pytest.importorskip("treelite", reason="treelite is not installed")
    assert printed(capsys, penguins, "--to", "treelite", "-o", tmp_path / "tree.bin") == ""
    model = treelite.Model.deserialize(str(tmp_path / "tree.bin"))
    assert model.dump_as_json() == to_treelite(load(penguins)).dump_as_json()


def test_what_is_not_installed(
    penguins: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "onnx"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    said = refused(capsys, 2, penguins, "--to", "onnx", "-o", "x")
    assert said.startswith("error: this needs onnx (")
    assert said.endswith("): pip install 'c45gpu[exchange]'")


def test_refusals(penguins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--name means nothing for --to sql" in refused(capsys, 2, penguins, "--to", "sql", "--name", "f")
    assert "-o is missing: --to onnx makes a binary file" in refused(capsys, 2, penguins, "--to", "onnx")
    assert "--unknown means nothing for --to c" in refused(capsys, 2, penguins, "--to", "c", "--unknown", "refuse")
    assert "no class 'Emperor'" in refused(capsys, 2, penguins, "--to", "sql", "--probability-of", "Emperor")
    assert "give a name that a C function can have" in refused(capsys, 2, penguins, "--to", "c", "--name", "9")
    assert refused(capsys, 2, penguins, "--to", "cobol").endswith("Try: c45gpu --help")
    assert "cannot be read" in refused(capsys, 1, tmp_path / "nothing.c45", "--to", "sql")
