"""What a peer is: a name, the reasons to leave it out, and one measured run.

A run has four phases, timed apart where the peer lets us: *read* (arrays or a text file into the peer's own form),
*train*, *prune*, *predict* (100,000 held-out rows). *import* and *warm up* are timed too and belong to none of them.
"""

from __future__ import annotations

import resource
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

from bench.rows import Column, Rows, load

T = TypeVar("T")

MOST_PREDICTIONS = 5
PREDICT_FOR = 1.0  # seconds; a prediction that takes longer is timed once


class Task(NamedTuple):
    """One run: where the rows are, and how to run.

    Attributes
    ----------
    folder : Path
        Holds ``train`` and ``held-out``, saved by :func:`bench.rows.save`, and ``text`` for peers that read files.
    threads : int
        How many threads the peer may use.
    cold : bool
        Do not warm up: a first fit in a fresh process is what is measured.
    """

    folder: Path
    threads: int
    cold: bool


class Size(NamedTuple):
    """What a peer may refuse to take: how many rows, and whether some values are unknown."""

    n_rows: int
    unknown: bool


class Shape(NamedTuple):
    """The size of a tree; None where the peer does not tell."""

    leaves: int | None
    depth: int | None


@dataclass
class Outcome:
    """What one run gave.

    Parameters
    ----------
    accuracy : float
        Share of the held-out rows that are classified right.
    peak_mb, base_mb : float
        Highest memory of the whole process up to the end of training, and before it began (the interpreter, the peer,
        the input).
    seconds : dict
        Of each phase; None where it is not told apart.
    phases : dict
        What the peer itself reports of its training, in seconds.
    """

    accuracy: float
    leaves: int | None
    depth: int | None
    peak_mb: float
    base_mb: float | None = None
    predict_rows: int = 0
    seconds: dict[str, float | None] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


class Peer(ABC):
    """One program under one setting.

    Attributes
    ----------
    name : str
        What ``--peers`` calls it.
    module, distribution : str
        The Python module that must be there, and the package that brings it.
    note : str
        What a reader must know to compare fairly.
    most_rows : int or None
        Beyond this it is left out.
    takes_unknown : bool
    """

    name: str
    module: str
    distribution: str
    note: str = ""
    most_rows: int | None = None
    takes_unknown: bool = True

    def missing(self) -> str | None:
        """Why it cannot run on this machine, or None."""
        return None if find_spec(self.module) else f"{self.distribution} is not installed"

    def refuses(self, size: Size) -> str | None:
        """Why it is not run on such a table, or None."""
        if size.unknown and not self.takes_unknown:
            return "does not take unknown values"
        if self.most_rows is not None and size.n_rows > self.most_rows:
            return f"not run beyond {self.most_rows} rows"
        return None

    def version(self) -> str:
        """The version of the package."""
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return "unknown"

    @abstractmethod
    def run(self, task: Task) -> Outcome:
        """Read, train, prune, predict, once, in this process."""


class ArrayPeer(Peer):
    """A peer that trains in this process on arrays."""

    warm_rows: int = 2_000

    @abstractmethod
    def open(self, threads: int) -> None:
        """Import what is needed."""

    @abstractmethod
    def read(self, rows: Rows, threads: int) -> Any:
        """The rows in the peer's own form; `rows` may be emptied."""

    @abstractmethod
    def train(self, cases: Any, threads: int) -> Any:
        """A grown tree."""

    def prune(self, model: Any, cases: Any, threads: int) -> Any:
        """The pruned tree, or None where training prunes already or nothing is pruned."""
        return None

    @abstractmethod
    def predict(self, model: Any, cases: Any) -> Column:
        """A class code for each case."""

    @abstractmethod
    def shape(self, model: Any) -> Shape:
        """Leaves and depth of the tree."""

    def phases(self, model: Any) -> dict[str, float]:
        """What the peer itself reports of its training, in seconds."""
        return {}

    def run(self, task: Task) -> Outcome:
        """Read, train, prune, predict, once, in this process."""
        seconds: dict[str, float | None] = {}
        _, seconds["import"] = timed(lambda: self.open(task.threads))
        rows = load(task.folder / "train")
        if not task.cold:
            sample = rows.part(0, min(self.warm_rows, rows.n_rows))
            _, seconds["warm_up"] = timed(lambda: self._warm_up(sample, task.threads))
        base = peak_mb(resource.RUSAGE_SELF)
        cases, seconds["read"] = timed(lambda: self.read(rows, task.threads))
        grown, seconds["train"] = timed(lambda: self.train(cases, task.threads))
        pruned, prune_seconds = timed(lambda: self.prune(grown, cases, task.threads))
        seconds["prune"] = None if pruned is None else prune_seconds
        peak = peak_mb(resource.RUSAGE_SELF)
        model = grown if pruned is None else pruned
        accuracy, n_rows, seconds["predict"] = self._predict_held_out(model, task)
        leaves, depth = self.shape(model)
        return Outcome(accuracy, leaves, depth, peak, base, n_rows, seconds, self.phases(model))

    def _warm_up(self, sample: Rows, threads: int) -> None:
        cases = self.read(sample, threads)
        model = self.train(cases, threads)
        pruned = self.prune(model, cases, threads)
        self.predict(model if pruned is None else pruned, cases)

    def _predict_held_out(self, model: Any, task: Task) -> tuple[float, int, float]:
        held_out = load(task.folder / "held-out")
        classes = held_out.classes
        cases = self.read(held_out, task.threads)
        predicted, first = timed(lambda: self.predict(model, cases))
        seconds = [first]
        while sum(seconds) < PREDICT_FOR and len(seconds) < MOST_PREDICTIONS:
            seconds.append(timed(lambda: self.predict(model, cases))[1])
        return float((predicted == classes).mean()), len(classes), median(seconds)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What the work gives, and the seconds it took."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def peak_mb(whose: int) -> float:
    """The highest memory so far of this process or of its children, in MB of 10^6 bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(whose).ru_maxrss * unit / 1e6
