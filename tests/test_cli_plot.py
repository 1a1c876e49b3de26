"""``c45gpu plot``: the files it makes, and what it refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from c45gpu import load
from c45gpu.cli import main
from c45gpu.plot import to_dot

BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.fixture(autouse=True)
def drawn_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'c45gpu[test]'")
    monkeypatch.setitem(os.environ, "MPLBACKEND", "Agg")


@pytest.fixture
def penguins(examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A model file."""
    path = tmp_path / "penguins.c45"
    assert main(["train", str(examples / "penguins"), "-m", "1", "-o", str(path)]) == 0
    capsys.readouterr()
    return path


def made(picture: Path, *arguments: object) -> bytes:
    assert main(["plot", *map(str, arguments), "-o", str(picture)]) == 0
    return picture.read_bytes()


def refused(capsys: pytest.CaptureFixture[str], code: int, *arguments: object) -> str:
    assert main(["plot", *map(str, arguments)]) == code
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.splitlines()[-1]


@pytest.mark.parametrize("ending", sorted(BEGINNINGS))
def test_every_format(penguins: Path, tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / f"tree.{ending}"
    once = made(picture, penguins)
    assert once.startswith(BEGINNINGS[ending])
    assert capsys.readouterr().err == f"the picture is saved in {picture}\n"
    assert made(picture, penguins) == once


def test_dot(penguins: Path, tmp_path: Path) -> None:
    text = made(tmp_path / "tree.dot", penguins, "--max-depth", "2", "--unpruned").decode()
    assert text == to_dot(load(penguins), max_depth=2, unpruned=True)


def test_every_option_makes_another_picture(penguins: Path, examples: Path, tmp_path: Path) -> None:
    data = examples / "penguins.data"
    asked = [
        (),
        ("--unpruned",),
        ("--max-depth", "1"),
        ("--data", data),
        ("--what", "importances"),
        ("--what", "importances", "--unpruned"),
        ("--what", "pruning"),
        ("--what", "pruning", "--max-depth", "1"),
        ("--what", "confusion", "--data", data),
        ("--what", "confusion", "--data", data, "--unpruned"),
        ("--what", "gain-scan", "--data", data, "--attribute", "bill_length_mm"),
        ("--what", "gain-scan", "--data", data, "--attribute", "bill_length_mm", "--node", "1"),
        ("--what", "gain-scan", "--data", data, "--attribute", "flipper_length_mm"),
    ]
    pictures = [made(tmp_path / "picture.svg", penguins, *options) for options in asked]
    assert len(set(pictures)) == len(asked)


def test_refusals(penguins: Path, examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture, data = tmp_path / "picture.svg", examples / "penguins.data"
    assert "end the name with one of .dot, .pdf, .png, .svg" in refused(capsys, 2, penguins, "-o", tmp_path / "x.gif")
    assert "a .dot file holds a tree" in refused(capsys, 2, penguins, "-o", tmp_path / "x.dot", "--what", "pruning")
    drawn = (penguins, "-o", picture)
    assert "--node means nothing for --what tree" in refused(capsys, 2, *drawn, "--node", "0")
    assert "--unpruned means nothing for --what pruning" in refused(
        capsys, 2, *drawn, "--what", "pruning", "--unpruned"
    )
    assert "--data is missing" in refused(capsys, 2, *drawn, "--what", "confusion")
    scan = (*drawn, "--what", "gain-scan", "--data", data)
    assert "--attribute is missing" in refused(capsys, 2, *scan)
    assert "there is no attribute 'bill'" in refused(capsys, 2, *scan, "--attribute", "bill")
    assert "'sex' is discrete" in refused(capsys, 2, *scan, "--attribute", "sex")
    assert "give 0 or more" in refused(capsys, 2, *drawn, "--max-depth", "-1")
    assert "-o" in refused(capsys, 2, penguins)
    assert "cannot be written" in refused(capsys, 1, penguins, "-o", tmp_path / "nowhere" / "x.svg")
    assert "cannot be read" in refused(capsys, 1, tmp_path / "nothing.c45", "-o", picture)
    assert not picture.exists()
