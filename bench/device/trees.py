"""Whole trees by any engine and by scikit-learn, their time split into phases, and predictions.

pose        weights in units (host)
transfer    all columns to the device once, measured by itself beforehand
load        what the engine does before the first level: transfer and sort
levels      up to the last level, or the one where growing stops
finish      the tree's arrays (host)
prune       error-based, with subtree raising

All is wall time on the host, which waits for the device in every level.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from bench.device.card import Card, timed
from c45gpu.data.table import Table
from c45gpu.induction.grow import Grower
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.prune import pruned
from c45gpu.kernels.cuda_device import Done
from c45gpu.kernels.engine import Engine, open_engine
from c45gpu.model.tree import Tree

WARM_ROWS: Final = 20_000
MOST_RUNS: Final = 3
SHORT: Final = 4.0  # seconds; a run that takes longer is not repeated
SHARE_GROWN_ON: Final = 11  # a tree that predicts is grown on one in so many rows

Figures = dict[str, Any]
Open = Callable[[], Engine]


class Asked(NamedTuple):
    """How far to go: levels to grow (None for all), and whether to prune."""

    levels: int | None = None
    prune: bool = False


def opener(card: Card | None, name: str) -> Open:
    """What opens an engine by name; the cuda engine is the card's."""
    return card.engine if card is not None and name == "cuda" else lambda: open_engine(name, 1 << 40)


def first_rows(table: Table, n_rows: int) -> Table:
    """The first rows of a table, at least 20 if it has them."""
    return table.take(np.arange(min(table.n_cases, max(20, n_rows))))


def grown(table: Table, engine: Engine, asked: Asked) -> tuple[Figures, Tree]:
    """Grow one tree, and prune it if asked; the engine is closed."""
    done: list[Done] = []
    ticks = [time.perf_counter()]
    try:
        problem = pose(table, Options())
        ticks.append(time.perf_counter())
        grower, loaded = Grower(engine, problem), _done(engine)
        ticks.append(time.perf_counter())
        levels = []
        for level in grower:
            levels.append(level._asdict() | {"at": time.perf_counter() - ticks[2]})
            done.append(_done(engine))
            if level.depth == asked.levels:
                break
        ticks.append(time.perf_counter())
        tree = grower.tree
        ticks.append(time.perf_counter())
        if asked.prune:
            tree = pruned(tree, engine, problem, Options())
            ticks.append(time.perf_counter())
    finally:
        engine.close()
    names = ("pose", "load", "levels", "finish", "prune")
    seconds = {name: after - before for name, (before, after) in zip(names, pairwise(ticks), strict=False)}
    work = [Done(b.launches - a.launches, b.transfers - a.transfers) for a, b in pairwise([loaded, *done])]
    return {"seconds": seconds, "work": _most(work), "each_level": levels}, tree


def _done(engine: Engine) -> Done:
    """Launches and transfers so far, of an engine that has some."""
    return getattr(engine, "work", Done())


def _most(work: list[Done]) -> Figures:
    """Launches and transfers of all levels, and of the level with most."""
    launches, transfers = ([getattr(one, name) for one in work] for name in Done._fields)
    return {
        "launches": sum(launches),
        "transfers": sum(transfers),
        "launches_a_level": max(launches, default=0),
        "transfers_a_level": max(transfers, default=0),
    }


def measured(table: Table, open_one: Open, asked: Asked, most_runs: int = MOST_RUNS) -> Figures:
    """Warm up on some of the rows, then grow: once, or more often where that is quick; the figures are the median's."""
    warm_up, _ = timed(lambda: grown(first_rows(table, WARM_ROWS), open_one(), asked))
    runs: list[Figures] = []
    while not runs or (len(runs) < most_runs and runs[-1]["all"] < SHORT):
        figures, tree = grown(table, open_one(), asked)
        runs.append(figures | {"all": sum(figures["seconds"].values())})
    middle = sorted(runs, key=lambda run: run["all"])[(len(runs) - 1) // 2]
    shape = {"nodes": tree.n_nodes, "leaves": tree.n_leaves, "depth": tree.depth, "digest": tree.digest()}
    size = {"rows": table.n_cases, "columns": len(table.columns), "stopped": asked.levels}
    return size | shape | middle | {"warm_up": warm_up, "runs": [run["seconds"] for run in runs]}


def on_card(card: Card, table: Table, asked: Asked, most_runs: int = MOST_RUNS) -> Figures:
    """The same on a card, with the transfer told apart and the memory of the pool."""
    transfer = min(timed(lambda: _transferred(card, table))[0] for _ in range(2))
    figures = measured(table, card.engine, asked, most_runs if card.real else 1)
    figures["seconds"] = figures["seconds"] | {"transfer": transfer, "sort": figures["seconds"]["load"] - transfer}
    return figures | {"peak_bytes": card.peak_bytes()}


def _transferred(card: Card, table: Table) -> None:
    for column in table.columns:
        card.xp.asarray(column)
    card.wait()


def predicted(table: Table, open_one: Open) -> Figures:
    """Class frequencies of all rows by a tree that was grown on the first of them."""
    _, tree = grown(first_rows(table, table.n_cases // SHARE_GROWN_ON), open_one(), Asked())
    engine = open_one()
    try:
        engine.route(tree, first_rows(table, WARM_ROWS))
        times = [timed(lambda: engine.route(tree, table))[0] for _ in range(2)]
    finally:
        engine.close()
    return {"rows": table.n_cases, "leaves": tree.n_leaves, "time": min(times), "rows_per_second": _rate(table, times)}


def _rate(table: Table, times: list[float]) -> float:
    return table.n_cases / max(min(times), 1e-9)


def scikit_learn(table: Table, levels: int | None) -> Figures:
    """DecisionTreeClassifier with entropy on the same columns, codes as numbers; unknown values stay NaN."""
    from sklearn.tree import DecisionTreeClassifier

    matrix = np.empty((table.n_cases, len(table.columns)), np.float32)
    for a, column in enumerate(table.columns):
        assert column is not None
        matrix[:, a] = column if column.dtype.kind == "f" else np.where(column < 0, np.nan, column)
    model = DecisionTreeClassifier(criterion="entropy", random_state=0, max_depth=levels)
    seconds, _ = timed(lambda: model.fit(matrix, table.classes))
    shape = {"leaves": int(model.get_n_leaves()), "depth": int(model.get_depth())}
    return {"rows": table.n_cases, "columns": matrix.shape[1], "seconds": {"fit": seconds}, "all": seconds} | shape
