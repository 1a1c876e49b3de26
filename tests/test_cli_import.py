"""``c45gpu import``: old trees become models that the other commands take."""

from __future__ import annotations

from pathlib import Path

import pytest

from c45gpu import load
from c45gpu.cli import main
from c45gpu.data.c45writing import write_names
from c45gpu.exchange import read_j48, read_original
from tests.exchange.test_j48 import GOLF, GOLF_BINARY, GOLF_SCHEMA
from tests.exchange.test_original import RAW, ROOT, SCHEMA, as_bytes


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder with trees of both programs."""
    write_names(SCHEMA, tmp_path / "x.names")
    (tmp_path / "x.tree").write_bytes(as_bytes(ROOT, SCHEMA))
    (tmp_path / "x.unpruned").write_bytes(as_bytes(RAW, SCHEMA))
    write_names(GOLF_SCHEMA, tmp_path / "golf.names")
    (tmp_path / "golf.txt").write_text(GOLF)
    (tmp_path / "binary.txt").write_text(GOLF_BINARY)
    (tmp_path / "x.data").write_text("1,5,?,0.1,no,?\n1,5,?,0.2,?,?\n")
    return tmp_path


@pytest.mark.parametrize("source", ["x", "x.tree", "x.unpruned"])
def test_the_originals(old: Path, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(old / source), "-o", str(old / "m.c45")]) == 0
    assert "the model is saved in" in capsys.readouterr().err
    model, wanted = load(old / "m.c45"), read_original(old / "x")
    assert model.pruned.equals(wanted.pruned)
    assert model.unpruned.equals(wanted.unpruned)
    assert (model.options, model.record) == (wanted.options, wanted.record)
    assert main(["show", str(old / "m.c45")]) == 0
    assert capsys.readouterr().out == "weight <= 0.1 : good (4.0/1.0)\nweight > 0.1 : ugly (3.0/1.0)\n"
    assert main(["predict", str(old / "m.c45"), str(old / "x.data")]) == 0
    assert capsys.readouterr().out == "good\nugly\n"


def test_j48(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(old / "golf.txt"), "-o", str(old / "m.c45")]) == 0
    assert load(old / "m.c45").pruned.equals(read_j48(GOLF).pruned)
    names = ["--names", str(old / "golf.names")]
    assert main(["import", str(old / "binary.txt"), "-o", str(old / "m.c45"), *names]) == 0
    assert load(old / "m.c45").pruned.equals(read_j48(GOLF_BINARY, GOLF_SCHEMA).pruned)
    assert main(["export", str(old / "m.c45"), "--to", "sql"]) == 0
    assert "WHEN \"outlook\" = 'overcast' AND" in capsys.readouterr().out


def test_refusals(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(code: int, *arguments: str) -> str:
        assert main(["import", *arguments]) == code
        return capsys.readouterr().err.splitlines()[-1]

    assert "--output" in refused(2, str(old / "x"))
    assert "--names is for J48" in refused(2, str(old / "x"), "-o", "m", "--names", "n")
    assert "give the schema" in refused(1, str(old / "binary.txt"), "-o", str(old / "m"))
    assert "cannot be read" in refused(1, str(old / "nothing"), "-o", str(old / "m"))
    assert not (old / "m").exists()
