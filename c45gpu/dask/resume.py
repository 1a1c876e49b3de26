"""A tree that grows on a cluster, kept in a checkpoint with what was split, and gone on with on any cluster."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from c45gpu.dask.engine import DaskEngine
from c45gpu.dask.replay import Past, Tests
from c45gpu.errors import CheckpointError
from c45gpu.induction.checkpoint import Arrays, Kept
from c45gpu.induction.grow import Grower, Open, kept_tree
from c45gpu.induction.limits import Limits
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Frontier, Problem, Splits
from c45gpu.model.growing import GrowingTree


class ClusterGrower(Grower):
    """Grows a tree on a cluster; it is kept with the past of the engine, which tells where the cases are.

    Parameters
    ----------
    engine : DaskEngine
    problem : Problem
    limits : Limits
    at : Beginning, optional
    """

    def __init__(self, engine: DaskEngine, problem: Problem, limits: Limits, at: Onward | None = None) -> None:
        self._cluster = engine
        super().__init__(engine, problem, limits=limits, at=at)

    def kept(self) -> Kept:
        """What is done so far, for a checkpoint."""
        past, tree = self._cluster.past, kept_tree(self.growing, self.open)
        return Kept({"small": past.small}, tree.arrays | _arrays(past.levels))


class Onward(NamedTuple):
    """A beginning where a run was; see :class:`c45gpu.induction.grow.Beginning`."""

    growing: GrowingTree
    nodes: Open
    past: Past

    def frontier(self, engine: Engine, problem: Problem) -> Frontier:
        """Have the engine of the cluster bring its shares to where they were."""
        return cast(DaskEngine, engine).resume(problem, self.past)


def past_of(kept: Kept) -> Past:
    """The past that a checkpoint keeps.

    Raises
    ------
    CheckpointError
        When it was made on one machine, and has none.
    """
    arrays, levels = kept.arrays, []
    if "past/splits" not in arrays:
        raise CheckpointError("the checkpoint was made on one machine: go on there, or delete it to begin anew")
    first, mapped = 0, np.concatenate([[0], np.cumsum(arrays["past/groups"])])
    for stop in np.cumsum(arrays["past/splits"]).tolist():
        here, start = slice(first, stop), mapped[first : stop + 1]
        splits = Splits(
            arrays["past/node"][here],
            arrays["past/attribute"][here],
            np.full(stop - first, -1, np.int64),
            start - start[0],
            arrays["past/group_branch"][start[0] : start[-1]],
        )
        levels.append(Tests(splits, arrays["past/threshold"][here]))
        first = stop
    return Past(int(kept.facts["small"]), levels)


def _arrays(levels: list[Tests]) -> Arrays:
    splits = [level.splits for level in levels]
    return {
        "past/splits": np.array([len(some) for some in splits], np.int64),
        "past/node": _joined([some.node for some in splits], np.int64),
        "past/attribute": _joined([some.attribute for some in splits], np.int64),
        "past/threshold": _joined([level.threshold for level in levels], np.float64),
        "past/groups": _joined([np.diff(some.group_start) for some in splits], np.int64),
        "past/group_branch": _joined([some.group_branch for some in splits], np.int32),
    }


def _joined(arrays: list[Any], word: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0, word), *arrays]).astype(word)
