"""The tree as grown, by whichever grower the options ask for."""

from __future__ import annotations

from collections.abc import Callable

from c45gpu.data.table import Table
from c45gpu.induction.grow import Grower, Progress
from c45gpu.induction.limits import Limits
from c45gpu.induction.options import Options
from c45gpu.induction.screen import ScreenedGrower
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Problem
from c45gpu.model.tree import Tree


def grown(
    engine: Engine,
    problem: Problem,
    options: Options | None = None,
    progress: Callable[[Progress], None] | None = None,
    whole: Table | None = None,
) -> Tree:
    """The tree as grown on a problem; `progress` is called after each step. See :class:`.grow.Grower`."""
    grower: Grower | ScreenedGrower
    if options is not None and options.screen is not None:
        grower = ScreenedGrower(engine, problem, options, whole)
    else:
        limits = None if options is None else Limits.of(options, len(problem.used))
        grower = Grower(engine, problem, whole, limits)
    for step in grower:
        if progress is not None:
            progress(step)
    return grower.tree
