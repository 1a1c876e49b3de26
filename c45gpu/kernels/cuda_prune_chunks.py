"""Prune on the device with what memory there is: when it runs out, pairs are asked about in smaller chunks.

A step of pruning may run again: what it changes on the host it changes last, and on the device it does the same anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from c45gpu.errors import MemoryPlanError
from c45gpu.kernels.cuda_device import Device
from c45gpu.kernels.engine import Changes, Pairs, PlacedCases
from c45gpu.kernels.level import Int64s
from c45gpu.model.tree import Tree

T = TypeVar("T")

MOST_PAIRS = 1 << 62  # as many as there are


class ChunkedPlacement:
    """See :class:`c45gpu.kernels.engine.PlacedCases`.

    Parameters
    ----------
    device : Device
    place : callable
        Places the cases.

    Raises
    ------
    MemoryPlanError
        By each method, where one pair at a time is too much for the device.
    """

    def __init__(self, device: Device, place: Callable[[], PlacedCases]) -> None:
        self._device, self._most = device, MOST_PAIRS
        self._placed = self._persist(0, place)

    def known(self, tree: Tree) -> Int64s:
        """Units of the cases that take each entry of ``tree.branch`` with a known value."""
        return self._placed.known(tree)

    def cut(self, nodes: Int64s) -> None:
        """The cases below these nodes are at them from now on."""
        self._persist(0, lambda: self._placed.cut(nodes))

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        """What the leaves below each branch would gain if all cases of its top were sent down it."""
        return self._persist(
            len(pairs.top),
            lambda: _joined([self._placed.send(tree, units, part) for part in self._chunks(pairs)]),
        )

    def raise_branches(self, tree: Tree, pairs: Pairs) -> Int64s:
        """All cases of each top are at the leaves of its branch from now on."""
        self._persist(len(pairs.top), lambda: [self._placed.raise_branches(tree, part) for part in self._chunks(pairs)])
        return self._placed.known(tree)

    def _persist(self, n_pairs: int, step: Callable[[], T]) -> T:
        self._now, self._freed = min(self._most, n_pairs), False
        return self._device.persist(step, self._shrink)

    def _chunks(self, pairs: Pairs) -> Iterator[Pairs]:
        """Runs of pairs, at least one of them."""
        size = max(1, self._now)
        for first in range(0, max(1, len(pairs.top)), size):
            yield Pairs(*(field[first : first + size] for field in pairs))

    def _shrink(self) -> None:
        """Halve the chunks, for good; where they cannot be halved, the memory that was freed may do."""
        if self._now > 1:
            self._now = self._most = self._now // 2
        elif self._freed:
            raise MemoryPlanError(
                "the device ran out of memory while pruning, though branches were tried one at a time: take fewer "
                "cases or attributes, free device memory that other programs hold, or take engine='cpu'"
            )
        else:
            self._freed = True


def _joined(parts: list[Changes]) -> Changes:
    """The answers for runs of pairs in one."""
    pairs_before = np.cumsum([0] + [len(part.hopeless) for part in parts])
    return Changes(
        hopeless=np.concatenate([part.hopeless for part in parts]),
        pair=np.concatenate([part.pair + before for part, before in zip(parts, pairs_before, strict=False)]),
        leaf=np.concatenate([part.leaf for part in parts]),
        units=np.concatenate([part.units for part in parts]),
    )
