"""Send training cases through a tree that is being pruned, on the device, when no value is unknown.

As :mod:`c45gpu.kernels.cpu_prune`: the cases lie on the device in the order of the leaves they are at, and the host
knows where each node's begin. What a branch would do with all cases of the node above is what it does now, and what
the others' cases add. Of many cases some are sent first; for a branch whose errors these raise by more than is allowed
the rest is not sent. How much is launched depends on neither the number of nodes nor that of pairs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.estimates import wrong_as_leaves
from c45gpu.kernels.cpu_walk import row_type, tested_attributes
from c45gpu.kernels.cuda_device import Device, work_for
from c45gpu.kernels.cuda_prune_tally import Standing, tallied
from c45gpu.kernels.cuda_prune_walk import Ranges, Steps, put_back, walk_ranges
from c45gpu.kernels.engine import Changes, Pairs
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.model.tree import LEAF, Tree, ranges

SAMPLES = (64, 8)  # every so many-th case is sent first, and pairs that are hopeless by those are out
LEAST_SAMPLE = 1 << 14  # of fewer cases it does not pay to wait for the answer
PLACED_BYTES = 4 + 4 + 4 + 8 + 12 + 4  # order, case, leaf, number by leaf and room to sort it, sorted leaf
WEIGHT_BYTES = 8 + 8 + 2 * 8  # units, in the order of leaves, running sum and its copy
INSTANCE_BYTES = 2 * 16 + 16 + 4 * 8 + 24 + 2 * 8 + 3 * 8  # placed, sent; keys and room to sort them; sums; at a branch


class Ground(NamedTuple):
    """A tree that is being pruned and the values it tests, on a device.

    Attributes
    ----------
    device : Device
    steps : Steps
        `kind` and `branch` change as branches are cut and raised.
    values : device array, shape (tested attributes, n_cases)
        The values of a case are neighbours in memory.
    classes : device array of uint16
    n_classes : int
    end, branch_start : ndarray of int64
        Of the tree.
    entry : ndarray of int64, shape (n_nodes,)
        Where `steps.branch` holds each node, -1 for the root.
    """

    device: Device
    steps: Steps
    values: Any
    classes: Any
    n_classes: int
    end: Int64s
    branch_start: Int64s
    entry: Int64s

    @classmethod
    def of(cls, device: Device, problem: Problem, tree: Tree, classes: Any) -> Ground:
        """What is needed of a tree as grown."""
        tested = tested_attributes(tree)
        steps = Steps(
            kind=tree.kind,
            column=np.searchsorted(tested, np.maximum(tree.attribute, 0)).astype(np.int32),
            threshold=tree.threshold,
            branch_start=tree.branch_start,
            branch=np.append(tree.branch, 0),
            value_start=tree.value_start,
            value_branch=np.append(tree.value_branch, np.int32(0)),
        )
        shape = (problem.table.n_cases, max(1, len(tested)))
        rows = device.xp.empty(shape, row_type(problem.table, tested))
        for k, attribute in enumerate(tested.tolist()):
            rows[:, k] = device.xp.asarray(problem.table.column_in_place(attribute))
        entry = np.full(tree.n_nodes, -1, np.int64)
        entry[tree.branch] = np.arange(len(tree.branch))
        on_device = Steps(*(device.xp.array(x) for x in steps))  # copies: two of them will change
        n_classes = problem.settings.n_classes
        return cls(device, on_device, rows.T, classes, n_classes, tree.end, tree.branch_start, entry)

    @property
    def n_nodes(self) -> int:
        """Nodes of the tree as grown."""
        return len(self.end)

    def cut(self, nodes: Int64s) -> None:
        """These nodes are leaves from now on."""
        if len(nodes):
            self.steps.kind[self.device.up(nodes)] = LEAF

    def raise_branches(self, pairs: Pairs) -> None:
        """Each branch is where its top was from now on."""
        self.entry[pairs.branch] = self.entry[pairs.top]
        branch = pairs.branch[self.entry[pairs.branch] >= 0]
        if len(branch):
            self.steps.branch[self.device.up(self.entry[branch])] = self.device.up(branch)

    def known_entries(self, branch: Int64s) -> Int64s:
        """The entries of ``tree.branch`` that hold the branches of some nodes and of all below them."""
        return ranges(self.branch_start[branch], self.branch_start[self.end[branch]])


def placement_bytes(
    n_cases: int, n_columns: int, word_bytes: int, weighted: bool = False, instances: int | None = None
) -> int:
    """Bytes of device memory that pruning takes at most, beside what is there of nodes.

    Parameters
    ----------
    n_cases, n_columns : int
        Of the table; of these at most the attributes that the tree tests.
    word_bytes : int
        Of a value: 4 where float32 holds all of them, else 8.
    weighted : bool
        Cases have weights of their own.
    instances : int, optional
        Where values are unknown: how many instances there will be at the leaves, a case counted at each of its own.
    """
    values = n_cases * max(1, n_columns) * word_bytes
    if instances is not None:
        return values + instances * INSTANCE_BYTES
    return values + n_cases * (PLACED_BYTES + weighted * WEIGHT_BYTES)


def added_errors(old: Int64s, change: Int64s) -> Int64s:
    """By how many units the errors of leaves rise; class weights in rows."""
    return wrong_as_leaves(old + change) - wrong_as_leaves(old)


class WholePlacement:
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
        self._weighted = bool((problem.units != 1).any())
        self._units = device.up(problem.units if self._weighted else np.zeros(0, np.int64))
        self._order = device.xp.arange(n, dtype=np.int32)
        # How many cases, and last how many units, are at leaves before each node; at first all are at the root.
        totals = [n, int(problem.units.sum())] if self._weighted else [n]
        self._before = np.repeat(np.array(totals, np.int64)[:, None], tree.n_nodes + 1, axis=1)
        self._before[:, 0] = 0
        self._known = np.zeros(len(tree.branch), np.int64)
        root = np.zeros(1, np.int64)
        self._settle(tree, root, root)

    def known(self, tree: Tree) -> Int64s:
        """Units of the cases that take each entry of ``tree.branch``."""
        return self._known

    def cut(self, nodes: Int64s) -> None:
        """A node's range holds what was below it already."""
        self._ground.cut(nodes)

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        """What the leaves below each branch would gain if all cases of its top were sent down it."""
        end, count = self._ground.end, self._before[0]
        bounds = [count[x] for x in (pairs.top, pairs.branch, end[pairs.branch], end[pairs.top])]
        first, stop = np.stack(bounds[::2], axis=1), np.stack(bounds[1::2], axis=1)
        hopeless = pairs.allowed < 0
        for step in (*SAMPLES, 1):
            here = ~hopeless
            if step > 1 and (stop - first)[here].sum() < step * LEAST_SAMPLE:
                continue
            leaf, change = self._sent(first[here].ravel(), stop[here].ravel(), np.repeat(pairs.branch[here], 2), step)
            pair = np.searchsorted(pairs.top, leaf, side="right") - 1
            rise = np.zeros(len(pairs.top), np.int64)
            np.add.at(rise, pair, added_errors(units[leaf], change))
            hopeless |= rise > pairs.allowed
        kept = ~hopeless[pair]
        return Changes(hopeless, pair[kept], leaf[kept], change[kept])

    def raise_branches(self, tree: Tree, pairs: Pairs) -> Int64s:
        """All cases of each top are at the leaves of its branch from now on."""
        self._ground.raise_branches(pairs)
        self._settle(tree, pairs.top, pairs.branch)
        return self._known

    def _walk(self, first: Int64s, stop: Int64s, root: Int64s, step: int) -> tuple[Any, Ranges, Standing]:
        """Send ranges of the order, or every so many-th case of them, each from a root; the instances in a row."""
        device, ground = self._device, self._ground
        items = np.concatenate([[0], np.cumsum(-(-(stop - first) // step))])
        tiles = work_for(device, items[:-1], items[1:], device.sizes.tile).tiles
        packed = device.up(np.stack([first, root]))
        sent = Ranges(packed[0], packed[1], step)
        cases, leaves = (device.xp.empty(int(items[-1]), np.int32) for _ in range(2))
        device.launch(
            walk_ranges, len(tiles.segment), tiles, sent, self._order, ground.values, ground.steps, cases, leaves
        )
        return tiles, sent, Standing(leaves, cases, self._units)

    def _sent(self, first: Int64s, stop: Int64s, root: Int64s, step: int) -> tuple[Int64s, Int64s]:
        """Leaves that cases get to, and their class weights."""
        if not (stop > first).any():
            return np.zeros(0, np.int64), np.zeros((0, self._ground.n_classes), np.int64)
        arrived = self._walk(first, stop, root, step)[2]
        if self._weighted:
            arrived = arrived._replace(units=self._units[arrived.case])
        return tallied(self._device, arrived, self._ground.classes, self._ground.n_nodes, self._ground.n_classes)

    def _settle(self, tree: Tree, top: Int64s, branch: Int64s) -> None:
        """Bring all cases of the tops into the order of the branches' leaves, and note where each node's begin."""
        device, end, before = self._device, self._ground.end, self._before
        first, stop = before[:, top], before[:, end[top]]
        tiles, sent, arrived = self._walk(first[0], stop[0], branch, 1)
        by_leaf = device.xp.argsort(arrived.node, kind="stable")
        device.launch(put_back, len(tiles.segment), tiles, sent, arrived.case, by_leaf, self._order)
        nodes, length = ranges(branch, end[branch] + 1), end[branch] + 1 - branch
        found = self._found(arrived, by_leaf, nodes)
        owner, start = np.repeat(np.arange(len(top)), length), np.cumsum(length) - length
        before[:, nodes] = first[:, owner] + found - found[:, start[owner]]
        before[:, ranges(top, branch)] = np.repeat(first, branch - top, axis=1)
        before[:, ranges(end[branch], end[top])] = np.repeat(stop, end[top] - end[branch], axis=1)
        entries = self._ground.known_entries(branch)
        below = tree.branch[entries]
        self._known[entries] = before[-1, end[below]] - before[-1, below]

    def _found(self, arrived: Standing, by_leaf: Any, nodes: Int64s) -> Int64s:
        """How many of the instances, and last how many units of them, are at leaves before each of some nodes."""
        device, xp = self._device, self._device.xp
        found = xp.searchsorted(arrived.node[by_leaf], device.up(nodes.astype(np.int32)))
        if not self._weighted:
            return device.down(found)[None]
        units = device.before(self._units[arrived.case[by_leaf]])
        return device.down(xp.stack([found, units[found]]))
