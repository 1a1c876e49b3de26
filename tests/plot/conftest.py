"""Pictures are drawn without a screen, and figures are closed when a test is done."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def drawn_in_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'c45gpu[test]'")
    monkeypatch.setitem(os.environ, "MPLBACKEND", "Agg")
    matplotlib.use("Agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")
