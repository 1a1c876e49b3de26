"""The tree as grown, by whichever grower the options ask for."""

from __future__ import annotations

from collections.abc import Callable

from c45gpu.data.table import Table
from c45gpu.induction.checkpoint import Checkpoint, Kept
from c45gpu.induction.grow import Grower, tree_of
from c45gpu.induction.limits import Limits
from c45gpu.induction.options import Options
from c45gpu.induction.progress import NOBODY, Watch
from c45gpu.induction.resume import ResumedGrower
from c45gpu.induction.screen import ScreenedGrower
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Problem
from c45gpu.model.tree import Tree

AnyGrower = Grower | ResumedGrower | ScreenedGrower


def grown(
    engine: Engine,
    problem: Problem,
    options: Options | None = None,
    watch: Watch = NOBODY,
    whole: Table | None = None,
    checkpoint: Checkpoint | None = None,
) -> Tree:
    """The tree as grown on a problem; `watch` is told of each step. See :class:`.grow.Grower`."""
    begun = None if checkpoint is None else checkpoint.begun
    return grown_by(lambda: _grower(engine, problem, options or Options(), whole, begun), watch, checkpoint)


def grown_by(begin: Callable[[], AnyGrower], watch: Watch = NOBODY, checkpoint: Checkpoint | None = None) -> Tree:
    """The same by a grower, which takes the cases when it is made."""
    watch.at("sorting")
    grower = begin()
    watch.at("growing")
    nodes = grower.n_nodes
    try:
        for step in grower:
            if checkpoint is not None:
                checkpoint.offer(grower)
            nodes = grower.n_nodes  # what was kept may have brought the engine's own subtrees into the tree
            watch.grown(step)
    except KeyboardInterrupt:
        if checkpoint is not None and grower.n_nodes == nodes:  # nothing is half done
            checkpoint.keep(grower)
        raise
    return grower.tree


def _grower(engine: Engine, problem: Problem, options: Options, whole: Table | None, begun: Kept | None) -> AnyGrower:
    if options.screen is not None:
        return ScreenedGrower(engine, problem, options, whole, begun=begun)
    limits = Limits.of(options, len(problem.used))
    if begun is None:
        return Grower(engine, problem, whole, limits)
    return ResumedGrower(engine, problem, *tree_of(begun, problem), whole, limits)
