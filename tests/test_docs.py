"""What the documentation names is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from c45gpu import exchange, plot
from c45gpu.cli import main

DOCS = Path(__file__).resolve().parent.parent / "docs"
COMMANDS = (
    *("train", "predict", "show", "report", "evaluate", "rules", "path", "plot"),
    *("export", "convert", "import", "compare", "info"),
)


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    """What each command says of itself."""
    import contextlib
    import io

    told = {}
    for command in COMMANDS:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            assert main([command, "--help"]) == 0
        told[command] = said.getvalue()
    return told


@pytest.mark.parametrize("name", ["migration.md", "exporting.md", "report.md", "pictures.md"])
def test_options_of_the_command_line(name: str, helps: dict[str, str]) -> None:
    text, known = page(name), " ".join(helps.values())
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    assert len(options) >= 2
    assert {option for option in options if option not in known} == set()
    assert (
        set(re.findall(r"`c45gpu ([a-z]+)|^c45gpu ([a-z]+)", text, re.MULTILINE))
        - {pair for command in COMMANDS for pair in ((command, ""), ("", command))}
        == set()
    )


def test_functions_of_the_exporting_page() -> None:
    named = set(re.findall(r"\b((?:to|read)_[a-z0-9]+)\(", page("exporting.md")))
    assert len(named) > 10
    assert named - set(exchange.__all__) == set()


def test_functions_of_the_page_of_pictures() -> None:
    named = set(re.findall(r"^(plot_[a-z_]+|to_dot|render)\(", page("pictures.md"), re.MULTILINE))
    assert len(named) > 4
    assert named - set(plot.__all__) == set()


def test_commands_of_the_page_of_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'c45gpu[test]'")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    for command in re.findall(r"^c45gpu (.*)$", page("pictures.md"), re.MULTILINE):
        assert main(shlex.split(command)) == 0
    made = {path.name for path in (tmp_path / "docs" / "pictures").iterdir()}
    assert made < {path.name for path in (DOCS / "pictures").iterdir()}  # those of the report are there, too
    assert made == set(re.findall(r"\(pictures/([a-z_]+\.png)\)", page("pictures.md")))
