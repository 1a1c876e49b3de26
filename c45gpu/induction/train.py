"""From a table to a model: grow, prune, and say how it went."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy.typing as npt

from c45gpu.data.digest import digest_of
from c45gpu.data.table import Table
from c45gpu.induction.checkpoint import Checkpoint
from c45gpu.induction.costs import class_factors, decided_by_cost, scaled
from c45gpu.induction.grown import grown
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.progress import Progress, Stage, Watch
from c45gpu.induction.prune import pruned
from c45gpu.induction.prunings import held_out, reduced_error_pruned
from c45gpu.induction.record import Recording
from c45gpu.induction.soften import softened
from c45gpu.induction.window import train_windowed
from c45gpu.kernels.engine import Engine, open_engine
from c45gpu.model.decide import as_costs
from c45gpu.model.possible import without_impossible_values
from c45gpu.model.store import Model


def train(
    table: Table,
    options: Options | None = None,
    engine: str | Engine = "auto",
    progress: Callable[[Progress], None] | None = None,
    costs: npt.ArrayLike | None = None,
    *,
    stages: Callable[[Stage], None] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    every: str | float = "5min",
    recording: Recording | None = None,
) -> Model:
    """Grow a tree on a table and prune it; several trees, and keep the best, where windowing is asked for.

    Parameters
    ----------
    table : Table
        Training cases; cases of weight 0 count as absent.
    options : Options, optional
        Quinlan's defaults if absent.
    engine : str or Engine
        The name of an engine, "auto", or an engine of your own. The tree does not depend on it.
    progress : callable, optional
        Called with a :class:`~c45gpu.induction.progress.Progress` after each level of each tree.
    costs : array_like, shape (C, C), optional
        What it costs to take a case of a class (row) for one of another (column); see :mod:`c45gpu.induction.costs`.
    stages : callable, optional
        Called with a :class:`~c45gpu.induction.progress.Stage` when sorting, growing or pruning begins, and as pruning
        goes on.
    checkpoint : str or os.PathLike, optional
        A file to keep the growing tree in, after a level, and to go on from if it is there. It is deleted in the end.
    every : str or float
        How often, at most: seconds, or a text such as "30s", "5min" or "1h".
    recording : Recording, optional
        Takes down engine, times and memory, which the model does not tell; see :mod:`c45gpu.induction.record`.

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
        When the engine cannot be had.
    OptionError
        When the costs are none.
    TypeError
        When the table is no table, or the options are none.
    """
    _require(table, options)
    options, watch = options or Options(), Watch(progress, stages, recording)
    matrix = None if costs is None else as_costs(costs, table.schema.n_classes)
    factors = None if matrix is None else class_factors(table, matrix)
    table = table if factors is None else scaled(table, factors)
    model = _trained(table, options, engine, watch, None if checkpoint is None else (checkpoint, every), recording)
    if recording is not None:
        recording.finished()
    return model if matrix is None or factors is None else decided_by_cost(model, matrix, factors)


def _require(table: object, options: object) -> None:
    """Refuse arrays in the place of a table and of options, as other libraries take them."""
    if not isinstance(table, Table):
        raise TypeError(f"train takes a c45gpu.Table, not {type(table).__name__}; C45Classifier().fit takes arrays")
    if not isinstance(options, Options | None):
        raise TypeError(f"options must be c45gpu.Options, not {type(options).__name__}; the table has the classes")


def _trained(
    table: Table,
    options: Options,
    engine: str | Engine,
    watch: Watch,
    kept: tuple[str | PathLike[str], str | float] | None,
    recording: Recording | None,
) -> Model:
    problem = pose(table, options)
    checkpoint = None if kept is None else Checkpoint(*kept, digest_of(problem.table), options)
    held = held_out(problem.table, options.held_out, options.random_state) if options.prune == "rep" else None
    problem = problem if held is None else pose(held.growing, options)
    total = int(problem.units.sum()) / problem.settings.case_units
    record: dict[str, Any] = {"cases": problem.table.n_cases, "weight": total}
    worker = open_engine(engine, problem.table.n_cases * len(problem.used)) if isinstance(engine, str) else engine
    try:
        if recording is not None:
            recording.opened(worker, checkpoint is not None and checkpoint.begun is not None)
        if options.windowed:
            tree, simple, trials = train_windowed(problem, options, worker, watch, checkpoint)
            record["trials"] = trials
        else:
            tree = grown(worker, problem, options, watch, checkpoint=checkpoint)
            simple = pruned(tree, worker, problem, options, watch)
            if held is not None:
                simple = without_impossible_values(reduced_error_pruned(tree, pose(held.pruning, options)))
                record["held_out"] = held.pruning.n_cases
        if options.soft_thresholds:
            watch.at("softening")
        soft = softened(simple, problem, worker.route) if options.soft_thresholds else None
    finally:
        worker.close()
    if checkpoint is not None:
        checkpoint.remove()
    return Model(problem.table.schema, tree, simple, options.to_dict(), record, soft=soft)
