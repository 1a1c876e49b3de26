"""When "auto" is the CUDA engine, what is said where it cannot be had, and what is told without training."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")

from c45gpu.cli import main
from c45gpu.errors import EngineError
from c45gpu.kernels import cuda_card, cuda_device
from c45gpu.kernels.cuda_card import card, free_memory, missing
from c45gpu.kernels.engine import (
    CROSSOVER_VALUES,
    CUDA_CROSSOVER_VALUES,
    CUDA_VALUE_BYTES,
    available,
    open_engine,
    pick,
)

FREE = 1 << 30
LARGE = CUDA_CROSSOVER_VALUES + 1


class DriverError(RuntimeError):
    """As CuPy's."""


def cupy_on(cards: int | None, free: int = FREE) -> Any:
    """What the engine asks of CuPy before it starts, on a machine with so many cards; None is one without a driver."""

    def count() -> int:
        if cards is None:
            raise DriverError("cudaErrorInsufficientDriver")
        return cards

    facts = {"name": b"A card", "major": 9, "minor": 0, "totalGlobalMem": 2 * FREE}
    runtime = SimpleNamespace(
        getDeviceCount=count,
        CUDARuntimeError=DriverError,
        memGetInfo=lambda: (free - 1000, 2 * FREE),
        getDeviceProperties=lambda number: facts,
    )
    pool = SimpleNamespace(free_bytes=lambda: 1000)
    return SimpleNamespace(
        cuda=SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(id=0)),
        get_default_memory_pool=lambda: pool,
    )


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pretend to be a machine with CuPy."""

    def pretend(cards: int | None, free: int = FREE) -> None:
        cuda_card._missing_device.cache_clear()
        monkeypatch.setitem(sys.modules, "cupy", cupy_on(cards, free))
        for module in (cuda_card, cuda_device):
            monkeypatch.setattr(module, "missing_packages", lambda: None)

    yield pretend
    cuda_card._missing_device.cache_clear()


def test_auto_takes_a_gpu_for_large_tables_only(machine: Any) -> None:
    machine(1)
    assert pick("auto", CROSSOVER_VALUES) == "reference"
    assert pick("auto", CUDA_CROSSOVER_VALUES) == "cpu"
    assert pick("auto", LARGE) == "cuda"


def test_auto_leaves_a_gpu_alone_that_is_full(machine: Any) -> None:
    machine(1, LARGE * CUDA_VALUE_BYTES)
    assert pick("auto", LARGE) == "cuda"
    machine(1, LARGE * CUDA_VALUE_BYTES - 1)
    assert pick("auto", LARGE) == "cpu"


@pytest.mark.parametrize("cards", [0, None])
def test_auto_does_without_a_gpu(machine: Any, cards: int | None) -> None:
    machine(cards)
    assert pick("auto", LARGE) == "cpu"
    assert pick("cuda", 1) == "cuda"


@pytest.mark.parametrize(
    ("cards", "said"), [(0, "finds no NVIDIA GPU"), (None, r"no usable NVIDIA driver \(cudaErrorInsufficientDriver\)")]
)
def test_what_is_missing_is_said(machine: Any, cards: int | None, said: str) -> None:
    machine(cards)
    with pytest.raises(EngineError, match=said + r".*engine='cpu'"):
        open_engine("cuda", 1)
    assert available()["cuda"] == missing()
    assert available()["cpu"] is available()["reference"] is None


def test_an_unknown_name() -> None:
    with pytest.raises(EngineError, match="no engine 'gpu': choose one of auto, reference, cpu, cuda"):
        open_engine("gpu", 1)


def test_the_card(machine: Any) -> None:
    machine(1)
    assert free_memory() == FREE
    assert card() == ("A card", "9.0", 2 * FREE, FREE)


def test_info_tells_of_the_card(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    machine(1)
    assert main(["info"]) == 0
    printed = capsys.readouterr().out
    assert "device A card, compute capability 9.0, 1.07 GB of 2.15 GB free\n" in printed
    assert "engine cuda: ready\n" in printed
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["device"] == card()._asdict()
    assert facts["memory"] is None or facts["memory"] > 0
    machine(0)
    assert main(["info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] is None


# ---------------------------------------------------------------- c45gpu train --dry-run


@pytest.fixture
def csv(tmp_path: Path) -> str:
    path = tmp_path / "cases.csv"
    rows = [f"{i / 7:.4f},{i % 5},{'ab'[i % 2]},{'xyz'[i % 3]}" for i in range(1000)]
    path.write_text("\n".join(["long,few,code,y", *rows]))
    return str(path)


def dry_run(csv: str, *more: str) -> int:
    return main(["train", csv, "--target", "y", "--engine", "cuda", "--dry-run", *more])


def test_dry_run_prints_the_plan(machine: Any, csv: str, capsys: pytest.CaptureFixture[str]) -> None:
    machine(1)
    assert dry_run(csv) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("engine cuda, 1 lists in 1 chunks; device memory that it needs,\nfor each value ")
    assert f"\n{'lists':24}{'4 kB':>12}{'4 kB':>12}{'-':>12}\n" in printed
    assert f"\n{'lists that move':24}{'-':>12}" in printed
    assert printed.endswith("of 1.07 GB that are free\n")


def test_dry_run_as_json(machine: Any, csv: str, capsys: pytest.CaptureFixture[str]) -> None:
    machine(1)
    assert dry_run(csv, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["engine"], facts["available"]) == ("cuda", FREE)
    assert (facts["lists"], facts["lists_at_a_time"]) == (1, 1)
    parts = {part["name"]: part["n_bytes"] for part in facts["parts"]}
    assert parts["lists"] == 4000
    assert parts["codes"] == 2000
    assert facts["total"] == sum(part["n_bytes"] for part in facts["parts"] if "growing" in part["stages"])


def test_dry_run_of_what_does_not_fit(machine: Any, csv: str, capsys: pytest.CaptureFixture[str]) -> None:
    machine(1, 30_000)
    assert dry_run(csv) == 1
    result = capsys.readouterr()
    assert "30 kB that are free" in result.out
    assert "1000 cases with 3 attributes need" in result.err
    assert "cases would fit" in result.err


def test_dry_run_without_a_gpu_plans_all_the_same(machine: Any, csv: str, capsys: pytest.CaptureFixture[str]) -> None:
    machine(0)
    assert dry_run(csv) == 2
    result = capsys.readouterr()
    assert f"\n{'lists':24}{'4 kB':>12}{'4 kB':>12}{'-':>12}\n" in result.out
    assert "finds no NVIDIA GPU" in result.err


# ---------------------------------------------------------------- the real CuPy, where it is installed


def test_cupy_without_a_driver() -> None:
    pytest.importorskip("cupy", reason="CuPy itself is wanted: pip install 'c45gpu[cuda-test]'")
    cuda_card._missing_device.cache_clear()
    reason = missing()
    assert reason is None or "engine='cpu'" in reason
    assert available()["cuda"] == reason


def test_cupy_runs_out_of_memory_as_python_does() -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy itself is wanted: pip install 'c45gpu[cuda-test]'")
    assert issubclass(cupy.cuda.memory.OutOfMemoryError, MemoryError)
    assert hasattr(cupy.get_default_memory_pool(), "free_all_blocks")
    assert cupy.ndarray.__weakrefoffset__ > 0  # views are kept beside arrays
