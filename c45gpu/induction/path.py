"""At which confidences the pruned tree changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.errors import OptionError
from c45gpu.induction.grown import grown
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.prune import pruned
from c45gpu.kernels.engine import Engine, open_engine
from c45gpu.model.tree import Tree


class PruningPath(NamedTuple):
    """The pruned trees that confidences give, by rising confidence.

    Parameters
    ----------
    confidences : ndarray of float64, shape (r,)
        The least confidence at which each tree was found; it is the tree up to the next one. The first is the
        tolerance of the search.
    sizes : ndarray of int64, shape (r,)
        Nodes, empty leaves included.
    leaves : ndarray of int64, shape (r,)
        Of them, how many are leaves.
    digests : tuple of str
        What :func:`shape_digest` gives of each tree: two that are next to each other differ.
    """

    confidences: npt.NDArray[np.float64]
    sizes: npt.NDArray[np.int64]
    leaves: npt.NDArray[np.int64]
    digests: tuple[str, ...]


class _Step(NamedTuple):
    """A confidence, and its tree."""

    confidence: float
    size: int
    leaves: int
    digest: str


def pruning_path(
    table: Table, options: Options | None = None, engine: str | Engine = "auto", tolerance: float = 1e-3
) -> PruningPath:
    """Prune one grown tree at many confidences, and find where the outcome changes.

    Between two confidences whose trees differ the middle one is tried, until they are no further apart than the
    tolerance. A tree that is there only between two equal ones is not looked for.

    Parameters
    ----------
    table : Table
        Training cases.
    options : Options, optional
        What the tree is grown by, and whether it is pruned with subtree raising. The confidence does not matter.
    engine : str or Engine
        As in :func:`c45gpu.induction.train.train`.
    tolerance : float
        The least confidence tried, and to what the others are exact; above 0 and at most 0.5. Each change takes
        about log2(1 / tolerance) prunings to find.

    Returns
    -------
    PruningPath
        One tree at least: that of the least confidence.

    Raises
    ------
    DataError
        When there is nothing to learn from.
    OptionError
        When the options ask for another pruning than "ebp", or for windowing; or when the tolerance is out of range.
    """
    options = options or Options()
    _require(options, tolerance)
    problem = pose(table, options)
    worker = open_engine(engine, problem.table.n_cases * len(problem.used)) if isinstance(engine, str) else engine
    try:
        tree = grown(worker, problem, options)

        def step(confidence: float) -> _Step:
            worker.load(problem)  # an engine places its cases once
            simple = pruned(tree, worker, problem, options.with_changes(confidence=confidence))
            return _Step(confidence, simple.n_nodes, simple.n_leaves, shape_digest(simple))

        steps = _changes(step, tolerance)
    finally:
        worker.close()
    confidences, sizes, leaves, digests = zip(*steps, strict=True)
    return PruningPath(np.array(confidences), np.array(sizes, np.int64), np.array(leaves, np.int64), digests)


def shape_digest(tree: Tree) -> str:
    """The digest of a tree without its errors, which are estimates that change with every confidence."""
    return replace(tree, errors=np.zeros(tree.n_nodes)).digest()


def _changes(step: Callable[[float], _Step], tolerance: float) -> list[_Step]:
    """The first step, and each whose tree is not that of the step before it."""
    low = step(tolerance)
    found, pending = [low], [step(1.0)]  # pending is what lies above `low`, the nearest last
    while pending:
        high = pending[-1]
        if low.digest != high.digest and high.confidence - low.confidence > tolerance:
            pending.append(step((low.confidence + high.confidence) / 2))
            continue
        found += [high] if low.digest != high.digest else []
        low = pending.pop()
    return found


def _require(options: Options, tolerance: float) -> None:
    if options.prune != "ebp":
        raise OptionError(f"a pruning path and prune={options.prune!r} exclude each other: take prune='ebp'")
    if options.windowed:
        raise OptionError(
            "a pruning path and windowing exclude each other, as windows give many trees: leave n_trials, "
            "initial_window and window_increment out"
        )
    if not 0 < tolerance <= 0.5:
        raise OptionError(f"tolerance={tolerance!r} will not do: give a number above 0 and at most 0.5")
