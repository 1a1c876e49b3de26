"""In the place of the engine that spans workers: parts are put together, and one machine trains on them."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from c45gpu import train
from tests.dask.threads import joined

if TYPE_CHECKING:
    from distributed import Client


@pytest.fixture(autouse=True)
def one_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("c45gpu.dask.train")

    def train_on(
        client: Client, rows: Any, options: Any = None, engine: str = "auto", progress: Any = None, costs: Any = None
    ) -> Any:
        return train(joined(client, rows), options, engine, progress, costs)

    module.train_on = train_on  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "c45gpu.dask.train", module)
