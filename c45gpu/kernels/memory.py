"""How much memory there is for us: what the machine has left, within what a container or a job was given."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")


def available_bytes(root: Path = ROOT) -> int | None:
    """Bytes that this process may still allocate without paging, None where the system does not tell.

    Parameters
    ----------
    root : Path
        Where ``proc`` and ``sys`` are; another folder is for tests.
    """
    known = [*_of_machine(root), *_of_control_groups(root)]
    return min(known) if known else None


def _of_machine(root: Path) -> Iterator[int]:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) << 10
            return
    names = getattr(os, "sysconf_names", {})
    if root == ROOT and "SC_PHYS_PAGES" in names:  # macOS does not tell what is left, only what there is
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_control_groups(root: Path) -> Iterator[int]:
    """What each control group around this process has left; of the second version and of the first."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            yield from _left(root / "sys/fs/cgroup", path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _left(root / "sys/fs/cgroup/memory", path, *names)


def _left(mount: Path, path: str, limit: str, usage: str, reclaimable: str) -> Iterator[int]:
    """Of a group and all groups above it, limit less usage; pages of files that can be dropped do not count."""
    inside = [part for part in path.split("/") if part not in ("", "..")]
    for depth in range(len(inside), -1, -1):
        group = mount.joinpath(*inside[:depth])
        most, used = _number(group / limit), _number(group / usage)
        if most is not None and used is not None:
            files = next((int(x.split()[1]) for x in _lines(group / "memory.stat") if x.split()[0] == reclaimable), 0)
            yield max(0, most - used + files)


def _number(path: Path) -> int | None:
    words = " ".join(_lines(path)).split()
    return int(words[0]) if words and words[0].isdigit() else None  # "max" is no limit


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:  # no such file, or a kernel without it
        return []
