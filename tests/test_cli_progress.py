"""Who watches sees a bar; who does not, nothing."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from rich.progress import Progress as Bar

from c45gpu.cli import main
from c45gpu.cli.progress import Training, bar_of, remaining
from c45gpu.data.frames import read_file
from c45gpu.data.watching import watched
from c45gpu.induction.progress import Progress, Stage


class Terminal:
    """A standard error that somebody watches."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


def test_a_bar_fills_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with bar_of(10, "writing") as progress:
        assert progress is not None
        progress(5)
        progress(10)
    assert "writing" in terminal.text


def test_no_bar_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with bar_of(10, "writing") as progress:
        assert progress is None
    assert capsys.readouterr().err == ""


def shown(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """What a person sees of a command on standard error."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    assert main([*arguments]) == 0
    return terminal.text


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Cases that grow a tree of several levels."""
    path = tmp_path / "table.csv"
    rows = [f"{i % 97},{i * 7 % 31},{(i % 97 + i * 7 % 31) // 16 % 2}\n" for i in range(600)]
    path.write_text("a,b,y\n" + "".join(rows))
    return str(path)


def test_reading_growing_and_pruning_are_shown(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, "train", table, "--target", "y")
    assert re.search(r"reading \S+table\.csv ", text)
    assert re.search(r"600 cases, 2 attributes, 2 classes, in \d+\.\d s: [\d,]+ cases a second\n", text)
    assert re.search(r"level \d+: \d+ nodes, 0 open ", text)
    assert "pruning" in text


def test_quiet_tells_nothing(table: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = str(tmp_path / "model.c45")
    assert shown(monkeypatch, "train", table, "--target", "y", "-o", model, "--quiet") == ""
    assert shown(monkeypatch, "rules", table, "--target", "y", "-q") == ""
    assert shown(monkeypatch, "path", table, "--target", "y", "-q", "--tolerance", "0.5") == ""
    assert shown(monkeypatch, "convert", table, str(tmp_path / "other.csv"), "--target", "y", "-q") == ""
    assert "cases" in shown(monkeypatch, "train", table, "--target", "y")  # and only where it is asked for


def test_what_remains_is_told_by_the_share_that_is_done() -> None:
    assert remaining(30.0, 0.25) == "about 0:01:30 left"
    assert remaining(30.0, 0.01) == ""
    assert remaining(30.0, 1.0) == ""


def test_a_level_tells_the_cases_at_open_nodes() -> None:
    with Bar(*Bar.get_default_columns(), disable=True) as bar:
        training = Training(bar, 600.0)
        training.stage(Stage("sorting", 0.0))
        training.stage(Stage("growing", 0.0))
        training.level(Progress(3, 12, 4, 150.0))
        (task,) = bar.tasks
        assert task.description == "level 3: 12 nodes, 4 open, 150 cases there"
        assert (task.completed, task.total) == (450.0, 600.0)
        training.stage(Stage("pruning", 0.0))
        training.stage(Stage("pruning", 0.5))
        assert (task.description, task.completed, task.total) == ("pruning", 0.5, 1.0)


def test_readers_tell_how_far_they_are(table: str) -> None:
    with watched() as watch:
        assert watch.share() is None
        read_file(table, target="y")
        assert watch.share() == 1.0
        assert watch.size == Path(table).stat().st_size
