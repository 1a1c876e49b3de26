"""Values of columns, which do not stay on the device: the ranks of those on both sides of cuts, for the host."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from c45gpu.data.devicearrays import on_device
from c45gpu.data.table import Floats
from c45gpu.kernels.cuda_device import Device
from c45gpu.kernels.cuda_sort import distinct_values
from c45gpu.kernels.level import Bools, Int64s, Problem


class Values:
    """Looks values up.

    Parameters
    ----------
    device : Device
    problem : Problem
    shrink : callable
        Makes room on the device when memory runs out.
    """

    def __init__(self, device: Device, problem: Problem, shrink: Callable[[], None]) -> None:
        self._device, self._problem, self._shrink = device, problem, shrink
        self._distinct: dict[int, Floats] = {}

    def distinct(self, attribute: int) -> Floats:
        """Sorted distinct values of a continuous column, sorted again on the device when first asked for."""
        if attribute not in self._distinct:
            column = self._problem.table.column_in_place(self._problem.used[attribute])
            device = self._device
            values = device.persist(lambda: device.down(distinct_values(device.xp, column)), self._shrink)
            self._distinct[attribute] = values
        return self._distinct[attribute]

    def ranks(self, attributes: Int64s, below: Int64s, above: Int64s, by_case: Bools) -> Int64s:
        """Ranks of the values on both sides of cuts.

        Parameters
        ----------
        attributes : ndarray of int64, shape (k,)
        below, above : ndarray of int64, shape (k,)
            The cases on both sides where `by_case` says so of the attribute, else the ranks; -1 for none.
        by_case : ndarray of bool, shape (n_used,)

        Returns
        -------
        ndarray of int64, shape (2, k)
        """
        attribute, side = np.tile(attributes, 2), np.concatenate([below, above])
        ranks = side.copy()
        named = by_case[attribute] & (side >= 0)
        tested = np.unique(attribute[named]).tolist()
        places = [np.flatnonzero(named & (attribute == a)) for a in tested]
        values = self._values([(a, side[here]) for a, here in zip(tested, places, strict=True)])
        for a, here, value in zip(tested, places, values, strict=True):
            ranks[here] = np.searchsorted(self.distinct(a), value)
        return ranks.reshape(2, -1)

    def _values(self, wanted: list[tuple[int, Int64s]]) -> list[Floats]:
        """Values of columns at some cases; one transfer for all columns that are on the device."""
        device, table, used = self._device, self._problem.table, self._problem.used
        columns = [table.column_in_place(used[a]) for a, _ in wanted]
        there = [on_device(column) for column in columns]
        gathered = [
            device.xp.asarray(column)[device.up(cases)].astype(np.float64)
            for column, (_, cases), is_there in zip(columns, wanted, there, strict=True)
            if is_there
        ]
        fetched = iter(device.down(device.xp.concatenate(gathered)) if gathered else ())
        return [
            np.array([next(fetched) for _ in cases]) if is_there else column[cases]
            for column, (_, cases), is_there in zip(columns, wanted, there, strict=True)
        ]
