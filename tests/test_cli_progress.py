"""Who watches sees a bar; who does not, nothing."""

from __future__ import annotations

import sys

import pytest

from c45gpu.cli.screen import bar_of


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
