"""How fast the parts are: bytes that a part must move, and its seconds on the device.

The bytes are those of the task, not those that the code happens to move: each entry of a list is read twice to be
scored (once to count, once to try the cuts), read twice and written once to be partitioned; a code is read once, with
the number and the class of its case once for all columns; a value that is sorted is read once and its place written.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any, Final

import numpy as np

from bench.device.big import Scale, table
from bench.device.card import Card, timed
from c45gpu.choose import NO_TEST
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.kernels.cuda_device import Tiles
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Problem, Splits

COPIED: Final = 1 << 30  # bytes
SORTED: Final = 11_000_000  # values
LAUNCHES: Final = 1000
PLACE_BYTES: Final = 8  # of a sorted value's place
CASE_BYTES: Final = 4 + 2  # number and class of a case

Figures = dict[str, Any]


def nothing() -> None:
    """A kernel that does nothing."""


def nothing_with(tiles: Any, more: Any, array: Any) -> None:
    """The same with as many arrays as a kernel of the engine takes."""


def copy(card: Card, scale: Scale) -> Figures:
    """A device copy: what all others are held against."""
    source = card.xp.zeros(scale.rows_of(COPIED // 4), np.float32)
    target = card.xp.zeros_like(source)
    return _figures(2 * source.nbytes, card.seconds(lambda: card.xp.copyto(target, source), 10))


def launch(card: Card, scale: Scale) -> Figures:
    """Seconds of the host for a launch: without an argument, and with nine arrays as the engine passes them."""
    array, count = card.xp.zeros(8, np.int64), scale.rows_of(LAUNCHES)
    tiles = Tiles(array, array, array, array, 1024)
    cases: dict[str, tuple[Any, ...]] = {"bare": (nothing,), "with arrays": (nothing_with, tiles, tiles, array)}
    return {name: _seconds_of_launch(card, kernel, given, count) for name, (kernel, *given) in cases.items()}


def _seconds_of_launch(card: Card, kernel: Callable[..., None], given: list[Any], count: int) -> float:
    def launches() -> None:
        for _ in range(count):
            card.launcher(kernel, 1, 32, 0, tuple(given))

    launches()  # compiles
    card.wait()
    runs = [timed(launches)[0] for _ in range(3)]
    card.wait()
    return median(runs) / count


def sort(card: Card, scale: Scale) -> Figures:
    """One float32 column, which is on the device."""
    from c45gpu.kernels.cuda_sort import sort_column

    values = np.random.default_rng(0).random(scale.rows_of(SORTED), np.float32)
    column = card.xp.asarray(values)
    return _figures((4 + PLACE_BYTES) * len(values), card.seconds(lambda: sort_column(card.xp, column), 3))


def score(card: Card, scale: Scale) -> Figures:
    """All cuts of all lists at the root; answers come back to the host."""
    problem, engine = _loaded(card, scale, "higgs")
    seconds = card.seconds(lambda: engine.score(0, 1), 5)
    engine.close()
    return _figures(2 * _list_bytes(problem), seconds)


def partition(card: Card, scale: Scale) -> Figures:
    """Split the root: mark, add up, and move all lists; loaded anew each time."""
    problem, seconds = pose(table("higgs", scale), Options()), []
    for _ in range(4):
        engine = card.engine()
        engine.load(problem)
        seconds.append(_seconds_of_split(card, engine, _splits(engine, problem)))
        engine.close()
    return _figures(3 * _list_bytes(problem), seconds[1:])


def _seconds_of_split(card: Card, engine: Engine, splits: Splits) -> float:
    def split() -> None:
        engine.split(splits)
        card.wait()

    card.wait()
    return timed(split)[0]


def histogram(card: Card, scale: Scale) -> Figures:
    """Histograms of all columns of codes at the root, and their scores."""
    problem, engine = _loaded(card, scale, "codes")
    seconds = card.seconds(lambda: engine.score(0, 1), 5)
    engine.close()
    return _figures(problem.table.n_cases * (len(problem.used) + CASE_BYTES), seconds)


def _loaded(card: Card, scale: Scale, name: str) -> tuple[Problem, Engine]:
    problem, engine = pose(table(name, scale), Options()), card.engine()
    engine.load(problem)
    return problem, engine


def _splits(engine: Engine, problem: Problem) -> Splits:
    """The best test of the root."""
    candidates = engine.score(0, 1)
    chosen = engine.choose(candidates, np.array([problem.units.sum()]))
    if chosen[0] == NO_TEST:
        raise RuntimeError("the root has no test: take more rows")
    return Splits(np.zeros(1, np.int64), chosen, candidates.cut[0, chosen])


def _list_bytes(problem: Problem) -> int:
    """Of all entries; every column of the table has a list."""
    from c45gpu.kernels.cuda_counts import Layout

    bits = Layout.holding(problem.table.n_cases, problem.settings.n_classes).bits
    return problem.table.n_cases * len(problem.used) * bits // 8


def _figures(n_bytes: int, seconds: list[float]) -> Figures:
    middle = median(seconds)
    return {"bytes": n_bytes, "time": middle, "times": seconds, "bytes_per_second": n_bytes / middle}


PARTS: Final = {
    "copy": copy,
    "launch": launch,
    "sort": sort,
    "score": score,
    "partition": partition,
    "histogram": histogram,
}
