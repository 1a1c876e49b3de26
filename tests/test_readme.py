"""The README's Python is run, and prints what stands below it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_the_ten_lines_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    readme = (ROOT / "README.md").read_text("utf-8")
    section = re.search(r"^## In Python$(.*?)^## ", readme, re.MULTILINE | re.DOTALL)
    assert section is not None
    code, printed = re.findall(r"^```\w*\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed
    onnx.checker.check_model(onnx.load(tmp_path / "penguins.onnx"))
