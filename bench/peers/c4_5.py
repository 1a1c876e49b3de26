"""C4.5 release 8, where a program called ``c4.5`` is on the PATH."""

from __future__ import annotations

import re
import shutil

from bench.peers.command import CommandPeer, printed
from bench.peers.peer import Outcome, Task

LINE = re.compile(r"^\s+(\d+)\s+(\d+)\(\s*[\d.]+%\)\s+(\d+)\s+(\d+)\(\s*[\d.]+%\)\s+\(\s*[\d.]+%\)", re.MULTILINE)


class C45Release8(CommandPeer):
    """Default options; it prints no time, so train is the whole run."""

    name = "c4.5"
    distribution = "C4.5 release 8"
    note = "default options; train is the whole run: reading, growing, pruning, evaluation"

    def missing(self) -> str | None:
        """The program."""
        return None if shutil.which("c4.5") else "there is no c4.5 on the PATH"

    def version(self) -> str:
        """There is only one."""
        return "release 8"

    def run(self, task: Task) -> Outcome:
        """One run, evaluated on the held-out rows."""
        text, wall, peak = printed(["c4.5", "-f", str(self.stem(task.folder)), "-u"], task.folder)
        n_rows, errors = errors_on_test(text)
        return Outcome(
            accuracy=1 - errors / n_rows,
            leaves=None,
            depth=None,
            peak_mb=peak,
            predict_rows=n_rows,
            seconds={"read": None, "train": wall, "prune": None, "predict": None},
        )


def errors_on_test(text: str) -> tuple[int, int]:
    """How many test cases there were, and how many the pruned tree got wrong.

    Raises
    ------
    RuntimeError
        When the text has no such table.
    """
    head, _, tail = text.partition("Evaluation on test data (")
    line = LINE.search(tail)
    if not head or line is None:
        raise RuntimeError(f"no evaluation on test data in what was printed: {text[-200:].strip()}")
    return int(tail.split()[0]), int(line[4])
