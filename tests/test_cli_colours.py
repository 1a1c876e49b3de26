"""Results at a terminal: colours, tables, and the same words as in plain text."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from c45gpu.cli import main
from c45gpu.cli.colours import Colouring, Page
from c45gpu.plot.colours import class_colours

COMMAND = [sys.executable, "-m", "c45gpu"]
STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def penguins(examples: Path, tmp_path: Path) -> str:
    model = tmp_path / "penguins.c45"
    assert main(["train", str(examples / "penguins"), "-o", str(model)]) == 0
    return str(model)


def seen(*arguments: str, **variables: str) -> str:
    """What a command prints when its standard output is a terminal."""
    ours, theirs = pty.openpty()
    setting = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    setting |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": "100"} | variables
    with subprocess.Popen([*COMMAND, *arguments], stdout=theirs, stderr=subprocess.PIPE, env=setting) as command:
        os.close(theirs)
        text = b""
        while True:
            try:
                news = os.read(ours, 1 << 16)
            except OSError:  # how Linux tells that the other side is closed
                break
            text += news
        assert command.wait() == 0
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main([*arguments]) == 0
    return capsys.readouterr().out


def test_a_tree_at_a_terminal_has_the_same_words_in_colours(penguins: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = seen("show", penguins)
    assert STYLE.sub("", text) == printed(capsys, "show", penguins)
    red, green, blue = (round(255 * channel) for channel in class_colours(3)[2])
    assert f"\x1b[1;38;2;{red};{green};{blue}mGentoo\x1b[0m (122.4/1.4)" in text
    assert "\x1b[1misland\x1b[0m = \x1b[36mDream\x1b[0m: " in text


def test_no_color_is_heeded(penguins: str, capsys: pytest.CaptureFixture[str]) -> None:
    plain = printed(capsys, "show", penguins)
    assert seen("show", penguins, NO_COLOR="1") == plain
    assert seen("show", penguins, "--color", "never") == plain


def test_colours_are_for_a_terminal_unless_asked_for(penguins: str, capsys: pytest.CaptureFixture[str]) -> None:
    plain = printed(capsys, "show", penguins)
    assert "\x1b" not in plain
    assert printed(capsys, "show", penguins, "--color", "never") == plain
    coloured = printed(capsys, "show", penguins, "--color", "always")
    assert coloured != plain
    assert STYLE.sub("", coloured) == plain


def test_groups_of_values_are_coloured_one_by_one(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "train", str(examples / "penguins"), "-s", "--json"
    documents = [json.loads(printed(capsys, *asked, *how)) for how in ([], ["--color", "always"])]
    assert [document.pop("training")["engine"] for document in documents] == ["reference", "reference"]
    assert documents[0] == documents[1]
    text = printed(capsys, *asked[:3], "--color", "always")
    assert "in {\x1b[36m" in text
    trees = STYLE.sub("", text).partition("Evaluation on")[0].strip()
    assert trees == printed(capsys, *asked[:3]).partition("Evaluation on")[0].strip()


def test_what_is_left_out_is_counted(penguins: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", penguins, "--max-depth", "3"]) == 0
    out, err = capsys.readouterr()
    assert out.count(" ...\n") == 1
    assert err.endswith("2 of 15 nodes are left out: the tree is 4 deep\n")
    assert main(["show", penguins, "--max-depth", "4"]) == 0
    assert capsys.readouterr().err == ""


def test_an_evaluation_is_a_table_at_a_terminal(examples: Path, penguins: str) -> None:
    text = STYLE.sub("", seen("evaluate", penguins, str(examples / "penguins.data")))
    assert re.search(r"^ *pruned +15 +5 +1\.5 % +4\.5 % *$", text, re.MULTILINE)
    assert re.search(r"^ *Chinstrap +\d* +6\d +\d* +0\.\d{3} +0\.\d{3} +0\.\d{3} *$", text, re.MULTILINE)
    assert "accuracy 0.9855" in text


def test_other_tables_at_a_terminal(examples: Path) -> None:
    assert re.search(r"numpy +\d", STYLE.sub("", seen("info")))
    path = STYLE.sub("", seen("path", str(examples / "penguins"), "--tolerance", "0.5"))
    assert re.search(r"^ *0\.5000 +\d+ +\d+ *$", path, re.MULTILINE)


def test_a_comparison_is_a_table_at_a_terminal(examples: Path, penguins: str, tmp_path: Path) -> None:
    other = str(tmp_path / "other.c45")
    assert main(["train", str(examples / "penguins"), "--max-depth", "2", "-o", other]) == 0
    text = STYLE.sub("", seen("compare", penguins, other, COLUMNS="300"))
    assert re.match(r"nodes: 15 \| \d+, \d+ of them the same", text)
    assert re.search(r"^ *flipper_length_mm <= 206.* +bill_length_mm <= 42\.3 \(5 nodes\) +Adelie", text, re.MULTILINE)


def test_a_page_is_what_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert Page.of() == Page(True, True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert Page.of() == Page(True, False)
    assert Page.of(Colouring("always")) == Page(True, True)
    monkeypatch.setenv("TERM", "dumb")
    assert Page.of() == Page(False, False)
