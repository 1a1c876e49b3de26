"""What all tests share: hypothesis profiles, the folder of the original's answers, and a fresh cache for numba."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT.parent / "shared" / "golden"

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_configure(config: pytest.Config) -> None:
    """Compiled functions are cached for this run only, and shared by its processes: an old cache can hide a bug."""
    if not hasattr(config, "workerinput"):
        config.stash[CACHE] = tempfile.mkdtemp(prefix="c45gpu-numba-")
        os.environ["NUMBA_CACHE_DIR"] = config.stash[CACHE]


def pytest_unconfigure(config: pytest.Config) -> None:
    if CACHE in config.stash:
        shutil.rmtree(config.stash[CACHE], ignore_errors=True)


def pytest_runtest_teardown() -> None:
    """Figures are closed when a test is done: matplotlib warns of too many, in whichever test draws the next."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


CACHE = pytest.StashKey[str]()
PATIENCE = 200.0  # seconds that a process waits for what another one compiles; then it compiles by itself


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that are given the name of the CPU engine need its kernels."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is not None and callspec.params.get("engine") == "cpu":
            item.fixturenames = [*item.fixturenames, "kernels"]  # the list may be another item's too


@pytest.fixture(scope="session")
def kernels() -> None:
    """The CPU engine, compiled: each process compiles what no other has begun with, and waits for the rest."""
    from c45gpu.induction.warm import compile_for, tables

    folder, waiting = Path(os.environ["NUMBA_CACHE_DIR"]), []
    for number, table in enumerate(tables()):
        done = folder / f"done-{number}"
        try:
            (folder / f"begun-{number}").touch(exist_ok=False)
        except FileExistsError:
            waiting.append(done)
            continue
        compile_for(table)
        done.touch()
    stop = time.monotonic() + PATIENCE
    while not all(done.exists() for done in waiting) and time.monotonic() < stop:
        time.sleep(0.05)


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder with the original program's answers."""
    if not GOLDEN.is_dir():
        pytest.skip("the original's answers are not here: no folder ../shared/golden beside the project")
    return GOLDEN


@pytest.fixture(scope="session")
def examples() -> Path:
    """The bundled data sets."""
    return ROOT / "examples"
