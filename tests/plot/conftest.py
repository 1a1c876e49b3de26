"""Pictures are drawn without a screen."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def drawn_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'c45gpu[test]'")
    monkeypatch.setitem(os.environ, "MPLBACKEND", "Agg")
    matplotlib.use("Agg")
