"""The tree as grown, by whichever grower the options ask for."""

from __future__ import annotations

from c45gpu.data.table import Table
from c45gpu.induction.grow import Grower
from c45gpu.induction.limits import Limits
from c45gpu.induction.options import Options
from c45gpu.induction.progress import NOBODY, Watch
from c45gpu.induction.screen import ScreenedGrower
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Problem
from c45gpu.model.tree import Tree


def grown(
    engine: Engine,
    problem: Problem,
    options: Options | None = None,
    watch: Watch = NOBODY,
    whole: Table | None = None,
) -> Tree:
    """The tree as grown on a problem; `watch` is told of each step. See :class:`.grow.Grower`."""
    watch.at("sorting")
    grower: Grower | ScreenedGrower
    if options is not None and options.screen is not None:
        grower = ScreenedGrower(engine, problem, options, whole)
    else:
        limits = None if options is None else Limits.of(options, len(problem.used))
        grower = Grower(engine, problem, whole, limits)
    watch.at("growing")
    for step in grower:
        watch.grown(step)
    return grower.tree
