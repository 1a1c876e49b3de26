"""What is kept of compiled code: it is used again, never when anything that it is made of has changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba.core.caching import CacheImpl

from c45gpu.kernels.compiled import KERNELS, compiled
from c45gpu.kernels.compiled_files import kept

ROOT = Path(__file__).resolve().parents[2]
RECORDS = """
from typing import Any, NamedTuple
class Pair(NamedTuple):
    first: Any
    second: Any
"""
HELPER = """
from c45gpu.kernels.compiled import compiled
FACTOR = 10
@compiled
def scaled(x): return 1 * x
"""
KERNEL = """
from c45gpu.kernels.compiled import compiled
from c45gpu_helper import FACTOR, scaled
@compiled
def run(pair): return scaled(pair.first) * FACTOR - pair.second
"""
PROGRAM = """
import c45gpu_helper, c45gpu_kernel, c45gpu_records
print(c45gpu_kernel.run(c45gpu_records.Pair(first=7, second=1)))
kernels = (c45gpu_helper.scaled, c45gpu_kernel.run)
print(sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels))
"""
HIT, MISSED = 0, 2  # of the two kernels


class Modules:
    """Modules in a folder, taken for a part of the package because of their names, and a program that uses them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in (("records", RECORDS), ("helper", HELPER), ("kernel", KERNEL)):
            self.write(name, text)
        (folder / "program.py").write_text(PROGRAM)

    def write(self, name: str, text: str) -> None:
        (self.folder / f"c45gpu_{name}.py").write_text(text)

    def run(self, **variables: str) -> tuple[int, int, str]:
        """Result, kernels compiled, and what was said."""
        cache = {"NUMBA_CACHE_DIR": str(self.folder / "cache"), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-B", "program.py"],
            cwd=self.folder,
            env=os.environ | cache | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        result, missed = done.stdout.split()
        return int(result), int(missed), done.stderr


@pytest.fixture
def modules(tmp_path: Path) -> Modules:
    return Modules(tmp_path)


def test_a_second_process_compiles_nothing_and_says_nothing(modules: Modules) -> None:
    result, missed, said = modules.run()
    assert (result, missed) == (69, MISSED)
    assert said.count("compiling for this machine") == 1
    assert modules.run() == (69, HIT, "")


@pytest.mark.parametrize(
    ("name", "old", "new", "result"),
    [
        ("helper", "1 * x", "2 * x", 139),
        ("helper", "FACTOR = 10", "FACTOR = 11", 76),
        ("records", "    first: Any\n    second: Any", "    second: Any\n    first: Any", 69),
    ],
    ids=["function in another file", "constant in another file", "order of fields"],
)
def test_a_change_elsewhere_is_noticed(modules: Modules, name: str, old: str, new: str, result: int) -> None:
    assert modules.run()[0] == 69
    text = {"helper": HELPER, "records": RECORDS}[name]
    modules.write(name, text.replace(old, new))
    assert modules.run()[0] == result


def test_what_old_code_was_compiled_to_is_removed(modules: Modules) -> None:
    modules.run()
    old = sorted(modules.folder.glob("cache/*/*"))
    modules.write("helper", HELPER.replace("FACTOR = 10", "FACTOR = 11"))
    modules.run()
    new = sorted(modules.folder.glob("cache/*/*"))
    assert len(new) == len(old) == MISSED
    assert not set(new) & set(old)


@pytest.mark.skipif(sys.platform == "win32", reason="limits on file sizes are POSIX")
def test_a_full_disk_breaks_nothing(modules: Modules) -> None:
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))\n" + PROGRAM
    (modules.folder / "program.py").write_text(limited)
    result, missed, said = modules.run()
    assert (result, missed) == (69, MISSED)
    assert said.count("compiled code cannot be kept on disk") == 1
    modules.write("helper", HELPER.replace("1 * x", "2 * x"))
    (modules.folder / "program.py").write_text(PROGRAM)
    assert modules.run()[:2] == (139, MISSED)
    assert modules.run() == (139, HIT, "")


def test_damaged_files_are_compiled_anew(modules: Modules) -> None:
    modules.run()
    for path in modules.folder.glob("cache/*/*"):
        path.write_bytes(b"\x80")
    result, missed, said = modules.run()
    assert (result, missed) == (69, MISSED)
    assert "cannot be read" in said


def test_a_folder_that_cannot_be_made_is_passed_over(modules: Modules) -> None:
    (modules.folder / "file").touch()
    result, missed, _ = modules.run(NUMBA_CACHE_DIR=str(modules.folder / "file" / "cache"))
    assert (result, missed) == (69, MISSED)


def test_no_folder_at_all(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    kernel: Any = compiled(_add)
    assert KERNELS.pop() is kernel
    assert kernel(1, 2) == 3
    assert "no folder can be written to): set NUMBA_CACHE_DIR" in caplog.text
    assert kept([kernel]) == (0, 1, None)


def _add(x: Any, y: Any) -> Any:
    return x + y


def test_what_is_kept_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    kernel: Any = compiled(_subtract)
    assert KERNELS.pop() is kernel
    assert kept([kernel])[:2] == (0, 1)
    assert kernel(1, 2) == -1
    ready, all_kernels, folder = kept([kernel])
    assert (ready, all_kernels) == (1, 1)
    assert folder is not None
    assert Path(folder).parent == tmp_path
    for path in Path(folder).iterdir():
        path.unlink()
    assert kept([kernel])[:2] == (0, 1)


def _subtract(x: Any, y: Any) -> Any:
    return x - y


def test_without_a_compiler() -> None:
    code = "from c45gpu.kernels.cpu_move import MOST, mark_codes; print(type(mark_codes).__name__)"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "function\n"
