"""From rows on a cluster to a model: what :func:`c45gpu.induction.train.train` does on one machine."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
from distributed import Client

from c45gpu.dask import survey
from c45gpu.dask.cluster import Cluster
from c45gpu.dask.engine import DaskEngine
from c45gpu.dask.faults import Lost
from c45gpu.dask.placed import Ready
from c45gpu.dask.resume import ClusterGrower, Onward
from c45gpu.dask.rows import RowParts
from c45gpu.dask.together import LevelTraffic
from c45gpu.data.digest import digest_of_sums, sums_of
from c45gpu.data.schema import Schema
from c45gpu.errors import OptionError
from c45gpu.induction.checkpoint import Checkpoint, Kept
from c45gpu.induction.costs import decided_by_cost, factors_of
from c45gpu.induction.grow import tree_of
from c45gpu.induction.grown import grown_by
from c45gpu.induction.limits import Limits
from c45gpu.induction.options import Options
from c45gpu.induction.problem import counting, posed
from c45gpu.induction.progress import Progress, Stage, Watch
from c45gpu.induction.prune import pruned
from c45gpu.induction.record import Recording
from c45gpu.kernels.engine import pick
from c45gpu.kernels.level import Problem
from c45gpu.model.decide import as_costs
from c45gpu.model.store import Model
from c45gpu.model.tree import Tree

STEP_SECONDS = 600.0  # that a worker may take for a step, before it is given up, and more where there is more to do
SECONDS_OF_VALUE = 1e-6  # of its share: sorting one, the longest that is done with all, takes less than a tenth of that


def train_on(
    client: Client,
    rows: RowParts,
    options: Options | None = None,
    engine: str = "auto",
    progress: Callable[[Progress], None] | None = None,
    costs: npt.ArrayLike | None = None,
    *,
    stages: Callable[[Stage], None] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    every: str | float = "5min",
    recording: Recording | None = None,
    step_seconds: float | None = None,
    small: int | None = None,
    traffic: Callable[[list[LevelTraffic]], None] | None = None,
) -> Model:
    """Grow a tree on the rows of a cluster and prune it; the same model as on one machine, byte for byte.

    Parameters
    ----------
    client : distributed.Client
        The cluster's.
    rows : RowParts
        Training cases; cases of weight 0 count as absent.
    options : Options, optional
        Quinlan's defaults if absent. What needs all cases in one place is refused: windowing, screening of attributes,
        soft thresholds and ``prune="rep"``.
    engine : str
        What every worker works with: the name of an engine, or "auto". The tree does not depend on it.
    progress : callable, optional
        Called with a :class:`~c45gpu.induction.progress.Progress` after each level.
    costs : array_like, shape (C, C), optional
        See :func:`c45gpu.induction.train.train`.
    stages : callable, optional
        Called with a :class:`~c45gpu.induction.progress.Stage` when sorting, growing or pruning begins.
    checkpoint : str or os.PathLike, optional
        A file on the client's machine to keep the growing tree in, after a level, and to go on from if it is there, on
        any cluster and with any engines. It is deleted in the end.
    every : str or float
        How often, at most: seconds, or a text such as "30s", "5min" or "1h".
    recording : Recording, optional
        Takes down times and what the client needed; see :mod:`c45gpu.induction.record`.
    step_seconds : float, optional
        How long a worker may take for a step, as a level is one. One that takes longer is given up and taken off the
        cluster. By the size of the data if absent, ten minutes or more.
    small : int, optional
        Nodes up to this weight, in cases, are grown on one worker. By the cases and workers if absent.
    traffic : callable, optional
        Called at the end with what each level sent.

    Returns
    -------
    Model
        With the tree as grown and the pruned one.

    Raises
    ------
    CheckpointError
        When there is a checkpoint that cannot be read, or is of other data or options.
    DataError
        When there is nothing to learn from.
    EngineError
        When workers are lost faster than their work can be done again, or rows with them for good.
    OptionError
        When an option cannot be had on a cluster, or the costs are none.
    """
    options = options or Options()
    _require(options)
    pick(engine, 0)
    cluster = Cluster(client, step_seconds or patience(rows, max(1, len(client.nthreads()))))
    factors = None
    if costs is not None:
        matrix = as_costs(costs, rows.schema.n_classes)
        factors = factors_of(_class_weights(cluster, rows), matrix)
    ready, problem, record = _ready(cluster, rows, options, factors)
    kept = None if checkpoint is None else Checkpoint(checkpoint, every, _digest(cluster, rows.schema, ready), options)
    worker = DaskEngine(cluster, ready, engine, small)
    try:
        watch = Watch(progress, stages, recording)
        if recording is not None:
            recording.opened(worker, kept is not None and kept.begun is not None)
        tree = grown_by(lambda: _grower(worker, problem, options, None if kept is None else kept.begun), watch, kept)
        if traffic is not None:
            traffic(worker.traffic)
        simple = _pruned(tree, worker, problem, options, watch)
    finally:
        worker.close()
    if kept is not None:
        kept.remove()
    if recording is not None:
        recording.finished()
    model = Model(problem.table.schema, tree, simple, options.to_dict(), record)
    return model if factors is None else decided_by_cost(model, matrix, factors)


def _grower(engine: DaskEngine, problem: Problem, options: Options, begun: Kept | None) -> ClusterGrower:
    limits = Limits.of(options, len(problem.used))
    beginning = None if begun is None else Onward.of(begun, *tree_of(begun, problem))
    return ClusterGrower(engine, problem, limits, beginning)


def _digest(cluster: Cluster, schema: Schema, ready: Ready) -> str:
    """What :func:`c45gpu.data.digest.digest_of` says of all rows."""
    first = np.cumsum([0, *ready.n_cases])[:-1].tolist()
    sums = cluster.collected(
        [cluster.submit(sums_of, part, start) for part, start in zip(ready.parts, first, strict=True)]
    )
    return digest_of_sums(schema, ready.types, sum(ready.n_cases), np.sum(sums, axis=0, dtype=np.uint64))


def patience(rows: RowParts, workers: int) -> float:
    """Seconds that no step takes as long as a worker is well."""
    return STEP_SECONDS + SECONDS_OF_VALUE * sum(rows.n_cases) * len(rows.schema.used) / workers


def _pruned(tree: Tree, engine: DaskEngine, problem: Problem, options: Options, watch: Watch) -> Tree:
    """Prune, from the start again when a worker is lost: that changes nothing."""
    while True:
        try:
            watch.at("pruning")
            simple = engine.pruned_by_one(tree, options) if options.prune == "ebp" else None
            return pruned(tree, engine, problem, options, watch) if simple is None else simple
        except Lost as lost:
            engine.count_failure(lost)


def _require(options: Options) -> None:
    wanted = {
        "windowing": options.windowed,
        f"screen={options.screen!r}": options.screen is not None,
        "soft_thresholds": options.soft_thresholds,
        "prune='rep'": options.prune == "rep",
    }
    for name, is_wanted in wanted.items():
        if is_wanted:
            raise OptionError(f"{name} needs all cases in one place and is not to be had on a cluster: leave it out")


def _class_weights(cluster: Cluster, rows: RowParts) -> npt.NDArray[np.float64]:
    """The weight of each class, rounded as it would be on one machine: one part after the other."""
    before: Any = np.zeros(rows.schema.n_classes)
    for part in rows.parts:
        before = cluster.submit(survey.class_weights, part, before)
    weights: npt.NDArray[np.float64] = before if not rows.parts else cluster.collected([before])[0]
    return weights


def _ready(
    cluster: Cluster, rows: RowParts, options: Options, factors: npt.NDArray[np.float64] | None
) -> tuple[Ready, Problem, dict[str, Any]]:
    """The parts as they are learned from, the problem without cases, and the model's record."""
    first = np.cumsum([0, *rows.n_cases])[:-1].tolist()
    near = cluster.holders(rows.parts)
    parts = [
        cluster.submit(survey.made_ready, part, options, start, factors, near=there)
        for part, start, there in zip(rows.parts, first, near, strict=True)
    ]
    asked = [cluster.submit(survey.surveyed, part, near=there) for part, there in zip(parts, near, strict=True)]
    surveys: list[survey.Survey] = cluster.collected(asked)
    bits = survey.unit_bits(surveys)
    n_cases, units = [s.n_cases for s in surveys], sum(s.n_cases for s in surveys) << bits
    if not all(s.alike for s in surveys):
        placed = list(zip(parts, near, strict=True))
        parts = [cluster.submit(counting, part, bits, near=there) for part, there in placed]
        counts = cluster.collected([cluster.submit(survey.counted, part, bits) for part in parts])
        n_cases, units = [n for n, _ in counts], sum(of_part for _, of_part in counts)
    table = survey.without_cases(rows.schema)
    problem = posed(table, np.zeros(0, np.int64), bits, units, options)
    costs = np.max([s.costs for s in surveys], axis=0)
    types = [np.result_type(*column) for column in zip(*(s.types for s in surveys), strict=True)]
    record = {"cases": sum(n_cases), "weight": units / problem.settings.case_units}
    return Ready(parts, near, n_cases, bits, any(s.unknown for s in surveys), costs, types), problem, record
