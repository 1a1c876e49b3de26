"""The levels that a tree has grown, by values: what brings new shares, of whatever engine, to where others were.

An engine's own name of a cut is good for its own lists only; a threshold is good for all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.induction.checkpoint import Arrays, Kept
from c45gpu.induction.grow import Grower, Open, kept_tree
from c45gpu.kernels.level import Frontier, Int64s, Problem, Splits
from c45gpu.model.growing import GrowingTree
from c45gpu.model.tree import ranges

Floats = npt.NDArray[np.float64]


class Level(NamedTuple):
    """The splits of a level.

    Attributes
    ----------
    splits : Splits
        What it says of cuts is good for the engines that found them.
    threshold : ndarray of float64, shape (k,)
        NaN for other tests than cuts.
    """

    splits: Splits
    threshold: Floats

    def of_share(self, which: Int64s, owned: Int64s) -> Level:
        """Some of the splits, with the attributes as they are numbered in a share."""
        return Level(of_share(self.splits, which, owned), self.threshold[which])

    def branch(self, values: npt.NDArray[Any], split: Int64s) -> Int64s:
        """The branch of each value of one attribute, -1 for an unknown one; `split` says which split each is for."""
        if values.dtype.kind == "f":
            side = (values > self.threshold[split]).astype(np.int64)
            return np.where(np.isnan(values), -1, side)
        branch, start = values.astype(np.int64), self.splits.group_start
        grouped = np.flatnonzero((np.diff(start)[split] > 0) & (branch >= 0))
        branch[grouped] = self.splits.group_branch[start[split[grouped]] + branch[grouped]]
        return branch


def of_share(splits: Splits, which: Int64s, owned: Int64s) -> Splits:
    """Some splits, with the attributes as they are numbered in a share."""
    first, stop = splits.group_start[which], splits.group_start[which + 1]
    return replace(
        splits,
        node=splits.node[which],
        attribute=np.searchsorted(owned, splits.attribute[which]),
        cut=splits.cut[which],
        group_start=np.concatenate([[0], np.cumsum(stop - first)]),
        group_branch=splits.group_branch[ranges(first, stop)],
    )


class Past(NamedTuple):
    """What a run has done so far.

    Attributes
    ----------
    small : int
        Nodes up to this weight, in cases, were grown on one worker.
    levels : list of Level
    """

    small: int
    levels: list[Level]


class ClusterGrower(Grower):
    """Grows a tree on a cluster; it can be kept with its past, which tells where the cases are.

    Parameters
    ----------
    past : Past
        Of the engine, which adds to its levels.
    arguments
        As of :class:`c45gpu.induction.grow.Grower`.
    """

    def __init__(self, past: Past, *arguments: Any, **named: Any) -> None:
        self._past = past
        super().__init__(*arguments, **named)

    def kept(self) -> Kept:
        """What is done so far, for a checkpoint."""
        tree = kept_tree(self.growing, self.open)
        return Kept({"small": self._past.small}, tree.arrays | _arrays(self._past.levels))


class Onward(NamedTuple):
    """A beginning where a run was; see :class:`c45gpu.induction.grow.Beginning`."""

    growing: GrowingTree
    nodes: Open
    past: Past

    def frontier(self, engine: Any, problem: Problem) -> Frontier:
        """Have the engine of the cluster bring its shares to where they were."""
        frontier: Frontier = engine.resume(problem, self.past)
        return frontier


def past_of(kept: Kept) -> Past:
    """The past that a checkpoint keeps."""
    arrays, levels = kept.arrays, []
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
        levels.append(Level(splits, arrays["past/threshold"][here]))
        first = stop
    return Past(int(kept.facts["small"]), levels)


def _arrays(levels: list[Level]) -> Arrays:
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
