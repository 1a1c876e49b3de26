"""Weka's J48, from the jar that python-weka-wrapper3 brings, through Weka's own command line."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from bench.peers.command import CommandPeer, number, printed
from bench.peers.peer import Outcome, Task

MEMORY_PERCENT = 70  # of the machine, for the heap


class J48(CommandPeer):
    """Default options, or with -J: without the cost of a threshold."""

    module = "weka"
    distribution = "python-weka-wrapper3"

    def __init__(self, name: str, *options: str) -> None:
        self.name, self.options = name, options
        self.note = "Weka's build time (pruning in it); read is the rest of the run: Java's start and two ARFF files"
        self.note += "; -J: no cost of a threshold" if "-J" in options else ""

    def missing(self) -> str | None:
        """The jar or Java."""
        if shutil.which("java") is None:
            return "there is no java"
        return super().missing()

    def run(self, task: Task) -> Outcome:
        """Build once and test on the held-out rows."""
        stem = self.stem(task.folder)
        java = ["java", f"-XX:MaxRAMPercentage={MEMORY_PERCENT}", f"-XX:ActiveProcessorCount={task.threads}"]
        weka = ["-cp", str(_jar()), "weka.classifiers.trees.J48", "-t", f"{stem}.data.arff", "-T", f"{stem}.test.arff"]
        text, wall, peak = printed([*java, *weka, "-v", *self.options], task.folder)
        train = number(r"Time taken to build model: ([\d.]+) sec", text)
        predict = number(r"Time taken to test model on test data: ([\d.]+) sec", text)
        return Outcome(
            accuracy=number(r"^Correctly Classified Instances\s+\d+\s+([\d.]+)", text) / 100,
            leaves=int(number(r"^Number of Leaves\s*:\s*(\d+)", text)),
            depth=depth_of_printed_tree(text),
            peak_mb=peak,
            predict_rows=int(number(r"^Total Number of Instances\s+(\d+)", text)),
            seconds={"read": wall - train - predict, "train": train, "prune": None, "predict": predict},
        )


def _jar() -> Path:
    spec = find_spec("weka")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("python-weka-wrapper3 is not installed")
    return Path(spec.submodule_search_locations[0]) / "lib" / "weka.jar"


def depth_of_printed_tree(text: str) -> int:
    """Edges on the longest path of a printed tree: each line is one, under a bar for each edge above it."""
    lines = re.findall(r"^((?:\|   )*)\S.* (?:=|<=|>) ", text.split("Number of Leaves")[0], re.MULTILINE)
    return max((len(bars) // 4 + 1 for bars in lines), default=0)
