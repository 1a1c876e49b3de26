"""A tree that grows on a cluster, kept in a checkpoint with what was split, and gone on with on any cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from c45gpu.dask.engine import DaskEngine
from c45gpu.dask.replay import Past, Tests
from c45gpu.dask.small import Grown
from c45gpu.dask.together import PartedFrontier
from c45gpu.errors import CheckpointError
from c45gpu.induction.checkpoint import Arrays, Kept
from c45gpu.induction.grow import Grower, Open, kept_tree
from c45gpu.induction.limits import Keys, Limits
from c45gpu.induction.progress import Progress
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Bools, Frontier, Int64s, Problem, Splits
from c45gpu.model.growing import GrowingTree, Growth


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
        self._cluster, self._small = engine, _NO_SMALL if at is None else at.small
        super().__init__(engine, problem, limits=limits, at=at)

    def __iter__(self) -> Iterator[Progress]:
        """Grow level by level down to small nodes, then what is below these."""
        yield from super().__iter__()
        numbers = self._small.number
        for grown in self._cluster.grown(numbers, self.growing.nodes["class_units"][self._small.nodes.node].sum(1)):
            here = np.isin(self._small.number, grown.small)
            self._add_grown(grown, self._small.nodes.node[here])
            self._small = self._small.taken(~here)
            yield self._progress()

    def kept(self) -> Kept:
        """What is done so far, for a checkpoint."""
        past, tree = self._cluster.past, kept_tree(self.growing, self.open.joined(self._small.nodes))
        arrays = {"past/small": self._small.number} | _arrays(past.levels)
        return Kept({"small": past.small, "numbered": self._small.numbered}, tree.arrays | arrays)

    def _advance(self, frontier: Frontier, nodes: Int64s, keys: Keys) -> None:
        super()._advance(frontier, nodes, keys)
        if isinstance(frontier, PartedFrontier):
            small, depth = frontier.small, self._depth
            self._small = self._small.with_more(Open(nodes[small], keys[small], np.full(int(small.sum()), depth)))

    def _add_grown(self, grown: Grown, nodes: Int64s) -> None:
        """Add what grew below small nodes."""
        parent, root = grown.parent.copy(), grown.parent < 0
        parent[root] = -1 - nodes[-1 - parent[root]]
        attribute, tested = grown.attribute.copy(), grown.attribute >= 0
        attribute[tested] = self._used[attribute[tested]]
        self.growing.add(Growth(parent, grown.branch, attribute, grown.threshold, grown.class_weights))

    def _progress(self) -> Progress:
        step, waiting = super()._progress(), self._small.nodes.node
        weight = int(self.growing.nodes["class_units"][waiting].sum()) / self._problem.settings.case_units
        n_open = step.open_nodes or len(waiting)
        return step._replace(open_nodes=n_open, open_weight=step.open_weight + weight)


class Small(NamedTuple):
    """Small nodes that are to be grown.

    Attributes
    ----------
    nodes : Open
    number : ndarray of int64, shape (m,)
        In the order in which all small nodes came up.
    numbered : int
        How many did.
    """

    nodes: Open
    number: Int64s
    numbered: int

    def with_more(self, nodes: Open) -> Small:
        """These, and the next ones."""
        stop = self.numbered + len(nodes.node)
        return Small(self.nodes.joined(nodes), np.append(self.number, np.arange(self.numbered, stop)), stop)

    def taken(self, which: Bools) -> Small:
        """Some of them."""
        nodes = Open(self.nodes.node[which], self.nodes.key[which], self.nodes.depth[which])
        return Small(nodes, self.number[which], self.numbered)


_NONE = np.zeros(0, np.int64)
_NO_SMALL = Small(Open(_NONE, _NONE.astype(np.uint64), _NONE), _NONE, 0)


class Onward(NamedTuple):
    """A beginning where a run was; see :class:`c45gpu.induction.grow.Beginning`."""

    growing: GrowingTree
    nodes: Open
    small: Small
    past: Past

    @classmethod
    def of(cls, kept: Kept, growing: GrowingTree, nodes: Open) -> Onward:
        """Where a checkpoint was kept, given its tree and its open nodes, the last of which are small ones.

        Raises
        ------
        CheckpointError
            When it was made on one machine, or what it keeps is not what this version keeps.
        """
        try:
            past, number = past_of(kept), kept.arrays["past/small"]
            edge = len(nodes.node) - len(number)
            small = Small(nodes.taken(slice(edge, None)), number, int(kept.facts["numbered"]))
        except KeyError as missing:
            raise CheckpointError(
                f"the checkpoint lacks {missing}, it is of another version of c45gpu: go on with that one, or delete "
                "it to begin anew"
            ) from missing
        return cls(growing, nodes.taken(slice(edge)), small, past)

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
