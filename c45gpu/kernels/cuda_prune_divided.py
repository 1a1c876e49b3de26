"""Send training cases through a tree that is being pruned, on the device, when unknown values divide them.

As :mod:`c45gpu.kernels.cpu_descend`, a level at a time: all cases of a top are sent anew, since what joins a node
changes the shares of what is there. The instances lie on the device in the order of their leaves, and the host knows
where each node's begin; each case that comes more than once is made one before it is sent::

    placed   | leaf 3 | leaf 4 | leaf 6 | ...      case units   7 2/3   2 1 | 7 1/3   5 1
    of a top                                        merged       2 1   5 1   7 1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.kernels.cuda_device import Device, work_for
from c45gpu.kernels.cuda_prune import Ground
from c45gpu.kernels.cuda_prune_copy import copy_ranges
from c45gpu.kernels.cuda_prune_share import ARRIVED, count_shares, take_branches, write_shares
from c45gpu.kernels.cuda_prune_tally import Standing, tallied
from c45gpu.kernels.engine import Changes, Pairs
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.model.tree import Tree, ranges


def room_for(xp: Any, n: int) -> Standing:
    """Memory for so many instances."""
    return Standing(xp.empty(n, np.int32), xp.empty(n, np.int32), xp.empty(n, np.int64))


def joined(xp: Any, parts: list[Standing]) -> Standing:
    """Instances one after the other."""
    return Standing(*(xp.concatenate(fields) for fields in zip(*parts, strict=True)))


class Descent:
    """Sends instances down a tree, and adds up the known units of the branches that they take.

    Parameters
    ----------
    ground : Ground

    Attributes
    ----------
    known : device array of int64, shape (n_nodes,)
        By entry of the tree's branches; 0 where no instance came.
    """

    def __init__(self, ground: Ground) -> None:
        self._ground, self._device = ground, ground.device
        self.known = ground.device.xp.zeros(ground.n_nodes, np.int64)

    def run(self, standing: Standing) -> Standing:
        """The instances at the leaves; those of a leaf are not neighbours."""
        arrived = [room_for(self._device.xp, 0)]
        while len(standing.node):
            standing, here = self._level(standing)
            arrived.append(here)
        return joined(self._device.xp, arrived)

    def _level(self, at: Standing) -> tuple[Standing, Standing]:
        """The instances one level lower, and those that were at a leaf."""
        device, ground, xp, n = self._device, self._ground, self._device.xp, len(at.node)
        entry, counts, size = xp.empty(n, np.int32), xp.empty(n, np.int64), device.sizes.tile
        device.launch(take_branches, -(-n // size), at, ground.values, ground.steps, size, entry, self.known)
        device.over(count_shares, n, at, entry, ground.steps, self.known, counts)
        place, arrival = device.before(counts), device.before(entry == ARRIVED)
        n_below, n_arrived = device.down(xp.stack([place[-1], arrival[-1]])).tolist()
        below, arrived = room_for(xp, n_below), room_for(xp, n_arrived)
        device.over(write_shares, n, at, entry, ground.steps, self.known, place, arrival, below, arrived)
        return below, arrived


class DividedPlacement:
    """See :class:`c45gpu.kernels.engine.PlacedCases`.

    Parameters
    ----------
    device : Device
    problem : Problem
    tree : Tree
        As grown.
    classes : device array of uint16
        Of the cases.
    """

    def __init__(self, device: Device, problem: Problem, tree: Tree, classes: Any) -> None:
        self._ground, self._device, n = Ground.of(device, problem, tree, classes), device, problem.table.n_cases
        xp, self._n_cases, n_nodes = device.xp, n, tree.n_nodes
        self._placed = Standing(xp.zeros(n, np.int32), xp.arange(n, dtype=np.int32), device.up(problem.units))
        self._before = np.full(n_nodes + 1, n, np.int64)  # instances at leaves before each node; first all at the root
        self._before[0] = 0
        self._leaf_of = xp.arange(n_nodes, dtype=np.int32)  # the node itself, or the leaf above that it was cut to
        self._known = np.zeros(len(tree.branch), np.int64)
        root = np.zeros(1, np.int64)
        self._settle(root, root)

    def known(self, tree: Tree) -> Int64s:
        """Units of the cases that take each entry of ``tree.branch`` with a known value."""
        return self._known

    def cut(self, nodes: Int64s) -> None:
        """The cases below these nodes are at them from now on."""
        self._ground.cut(nodes)
        if len(nodes):
            end = self._ground.end[nodes]
            below = self._device.up(ranges(nodes, end))
            self._leaf_of[below] = self._device.up(np.repeat(nodes, end - nodes).astype(np.int32))

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        """What the leaves below each branch would gain if all cases of its top were sent down it."""
        ground, xp = self._ground, self._device.xp
        hopeless = pairs.allowed < 0
        top, branch = pairs.top[~hopeless], pairs.branch[~hopeless]
        new = Descent(ground).run(self._gathered(top, branch))
        old, _ = self._ranges(self._before[branch], self._before[ground.end[branch]])
        old = Standing(self._leaf_of[old.node], old.case, -old.units)
        both = joined(xp, [new, old])
        leaf, change = tallied(self._device, both, ground.classes, ground.n_nodes, ground.n_classes)
        some = change.any(axis=1)
        leaf, change = leaf[some], change[some]
        return Changes(hopeless, np.searchsorted(pairs.top, leaf, side="right") - 1, leaf, change)

    def raise_branches(self, tree: Tree, pairs: Pairs) -> Int64s:
        """All cases of each top are at the leaves of its branch from now on."""
        self._ground.raise_branches(pairs)
        self._settle(pairs.top, pairs.branch)
        return self._known

    def _ranges(self, first: Int64s, stop: Int64s) -> tuple[Standing, Any]:
        """Copies of ranges of the placed instances, one after the other, and where each ends."""
        ends = np.cumsum(stop - first)
        copy = room_for(self._device.xp, int(ends[-1]) if len(ends) else 0)
        self._copy(first, stop, ends - (stop - first), self._placed, copy)
        return copy, self._device.up(ends)

    def _copy(self, first: Int64s, stop: Int64s, target: Int64s, source: Standing, copy: Standing) -> None:
        device = self._device
        if (stop > first).any():
            work = work_for(device, first, stop, device.sizes.tile)
            device.launch(copy_ranges, work.n_tiles, work.tiles, device.up(target), source, copy)

    def _gathered(self, top: Int64s, branch: Int64s) -> Standing:
        """All cases of the tops, each of them once for each top, at the branches."""
        device, xp = self._device, self._device.xp
        here, ends = self._ranges(self._before[top], self._before[self._ground.end[top]])
        n = len(here.node)
        if n == 0:
            return here
        owner = xp.searchsorted(ends, xp.arange(n), side="right")
        key = owner * self._n_cases + here.case
        order = xp.argsort(key, kind="stable")
        key, running = key[order], device.before(here.units[order])
        differs = xp.ones(n, np.bool_)
        differs[1:] = key[1:] != key[:-1]
        first = xp.flatnonzero(differs)
        total = running[xp.concatenate([first[1:], xp.full(1, n, np.int64)])] - running[first]
        key = key[first]
        node = device.up(branch.astype(np.int32))[key // self._n_cases]
        return Standing(node, (key % self._n_cases).astype(np.int32), total)

    def _settle(self, top: Int64s, branch: Int64s) -> None:
        """Put all cases of the tops at the branches' leaves, and note where each node's begin and what is known."""
        device, end = self._device, self._ground.end
        descent = Descent(self._ground)
        arrived = descent.run(self._gathered(top, branch))
        by_leaf = device.xp.argsort(arrived.node, kind="stable")
        arrived = Standing(*(field[by_leaf] for field in arrived))
        first, stop = self._before[top], self._before[end[top]]
        counts = np.diff(self._before)
        counts[ranges(top, end[top])] = 0
        nodes = ranges(branch, end[branch])
        bounds = device.up(np.stack([nodes, nodes + 1]).astype(np.int32))
        low, high = device.down(device.xp.searchsorted(arrived.node, bounds))
        counts[nodes] = high - low
        before = np.concatenate([[0], np.cumsum(counts)])
        placed = self._with(first, stop, arrived, before[end[top]] - before[top])
        entries = self._ground.known_entries(branch)
        known = device.down(descent.known[device.up(entries)])
        self._placed, self._before, self._known[entries] = placed, before, known  # when nothing can run short any more

    def _with(self, first: Int64s, stop: Int64s, arrived: Standing, counts: Int64s) -> Standing:
        """The placed instances, with so many of those that arrived in the place of each of some ranges."""
        ends = np.cumsum(counts)
        kept_first, kept_stop = np.append(0, stop), np.append(first, len(self._placed.node))
        longer = np.append(0, np.cumsum(counts - (stop - first)))
        joint = room_for(self._device.xp, len(self._placed.node) + int(longer[-1]))
        self._copy(kept_first, kept_stop, kept_first + longer, self._placed, joint)
        self._copy(ends - counts, ends, first + longer[:-1], arrived, joint)
        return joint
