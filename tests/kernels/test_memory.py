"""What is free, from files as the kernel writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from c45gpu.kernels.memory import available_bytes

GIB = 1 << 30


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "proc/meminfo", "MemTotal:  8388608 kB\nMemFree:  1048576 kB\nMemAvailable:  4194304 kB\n")
    return tmp_path


def write(path: Path, text: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


def group(folder: Path, limit: object, used: int, files: int) -> None:
    """A control group of the second version."""
    write(folder / "memory.max", limit)
    write(folder / "memory.current", used)
    write(folder / "memory.stat", f"anon 1\ninactive_file {files}\nactive_file 7")


def test_the_machine_alone(root: Path) -> None:
    assert available_bytes(root) == 4 * GIB


def test_a_group_and_those_above_it(root: Path) -> None:
    write(root / "proc/self/cgroup", "0::/jobs/one")
    group(root / "sys/fs/cgroup/jobs/one", "max", 2 * GIB, 0)
    assert available_bytes(root) == 4 * GIB
    group(root / "sys/fs/cgroup/jobs", 3 * GIB, 2 * GIB, 0)
    assert available_bytes(root) == GIB
    group(root / "sys/fs/cgroup/jobs", 3 * GIB, 2 * GIB, GIB)
    assert available_bytes(root) == 2 * GIB
    group(root / "sys/fs/cgroup/jobs/one", 1 * GIB, 2 * GIB, 0)
    assert available_bytes(root) == 0


def test_a_container_that_does_not_see_its_own_path(root: Path) -> None:
    write(root / "proc/self/cgroup", "0::/../../outside")
    group(root / "sys/fs/cgroup", GIB, 0, 0)
    assert available_bytes(root) == GIB


def test_groups_of_the_first_version(root: Path) -> None:
    write(root / "proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n0::/")
    folder = root / "sys/fs/cgroup/memory/x"
    write(folder / "memory.limit_in_bytes", GIB)
    write(folder / "memory.usage_in_bytes", GIB // 2)
    write(folder / "memory.stat", f"cache 9\ntotal_inactive_file {GIB // 4}")
    assert available_bytes(root) == GIB // 4 * 3


def test_a_system_that_does_not_tell(tmp_path: Path) -> None:
    assert available_bytes(tmp_path) is None


def test_this_machine() -> None:
    free = available_bytes()
    assert free is None or free > 0
