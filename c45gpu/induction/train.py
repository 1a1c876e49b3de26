"""From a table to a model: grow, prune, and say how it went."""

from __future__ import annotations

from collections.abc import Callable

from c45gpu.data.table import Table
from c45gpu.induction.grow import Grower, Progress
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.prune import pruned
from c45gpu.kernels.engine import Engine, open_engine
from c45gpu.model.store import Model


def train(
    table: Table,
    options: Options | None = None,
    engine: str | Engine = "auto",
    progress: Callable[[Progress], None] | None = None,
) -> Model:
    """Grow a tree on a table and prune it.

    Parameters
    ----------
    table : Table
        Training cases; cases of weight 0 count as absent.
    options : Options, optional
        Quinlan's defaults if absent.
    engine : str or Engine
        The name of an engine, "auto", or an engine of your own. The tree does not depend on it.
    progress : callable, optional
        Called with a :class:`~c45gpu.induction.grow.Progress` after each level.

    Returns
    -------
    Model
        With the tree as grown and the pruned one.

    Raises
    ------
    DataError
        When there is nothing to learn from.
    EngineError
        When the engine cannot be had.
    """
    options = options or Options()
    problem = pose(table, options)
    worker = open_engine(engine, problem.table.n_cases * len(problem.used)) if isinstance(engine, str) else engine
    try:
        grower = Grower(worker, problem)
        for level in grower:
            if progress is not None:
                progress(level)
        grown = grower.tree
        simple = pruned(grown, worker, problem, options)
    finally:
        worker.close()
    record = {"cases": problem.table.n_cases, "weight": int(problem.units.sum()) / problem.settings.case_units}
    return Model(problem.table.schema, grown, simple, options.to_dict(), record)
