"""What the host is told of levels once it asks: values on both sides of cuts, and subtrees that were finished.

Subtrees come to the host with what the next level tells, so they cost no transfer of their own::

    level 3    finishes small nodes, tells how many records they have
    level 4    brings these records along
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from c45gpu.kernels.cuda_device import Device
from c45gpu.kernels.cuda_finishing import Finisher, Gathered, joined
from c45gpu.kernels.cuda_level import Training
from c45gpu.kernels.cuda_values import Values
from c45gpu.kernels.level import Int64s, Subtrees
from c45gpu.kernels.level_engine import Details


class Later:
    """Collects it.

    Parameters
    ----------
    device : Device
    training : Training
    finisher : Finisher
    values : Values
    """

    def __init__(self, device: Device, training: Training, finisher: Finisher, values: Values) -> None:
        self._device, self._training, self._finisher, self._values = device, training, finisher, values
        self._there: list[tuple[Gathered, Int64s]] = []  # on the device, and what their roots are named by
        self._subtrees: list[Subtrees] = []
        self._sides: list[tuple[Int64s, Int64s, Int64s]] = []
        self._n_taken = 0

    def waiting(self) -> list[Any]:
        """Arrays on the device that the host should fetch with its next transfer."""
        return [gathered.table for gathered, _ in self._there]

    def arrived(self, tables: list[Any]) -> None:
        """Take these arrays, on the host."""
        pairs = zip(self._there, tables, strict=True)
        self._subtrees += [self._finisher.subtrees(gathered, table, number) for (gathered, number), table in pairs]
        self._there.clear()

    def add(self, sides: tuple[Int64s, Int64s, Int64s], taken: Int64s, gathered: list[Gathered]) -> None:
        """Note what a level did.

        Parameters
        ----------
        sides : tuple of ndarray of int64, each of shape (splits,)
            The attributes that were tested, and what is on both sides of the cuts as :func:`.cuda_judging.sides_of`
            says it.
        taken : ndarray of int64
            The nodes that were finished, ascending.
        gathered : list of Gathered
            Their subtrees.
        """
        self._sides.append(sides)
        self._there += [(one, self._n_taken + np.searchsorted(taken, one.nodes)) for one in gathered]
        self._n_taken += len(taken)

    def told(self) -> Details:
        """All of it since the last time."""
        waiting = self.waiting()
        if waiting:
            self.arrived(self._device.down_all(waiting))
        none = (np.zeros(0, np.int64),) * 3
        attribute, below, above = map(np.concatenate, zip(none, *self._sides, strict=True))
        listed = np.append(self._training.columns.list_of >= 0, False)
        below, above = self._values.ranks(attribute, below, above, listed)
        finished = joined(self._subtrees) if self._subtrees else None
        if finished is not None:
            sides = finished.attribute, finished.below, finished.above
            low, high = self._values.ranks(*sides, self._training.continuous)
            finished = replace(finished, below=low, above=high)
        self._subtrees, self._sides, self._n_taken = [], [], 0
        return Details(below, above, finished)
