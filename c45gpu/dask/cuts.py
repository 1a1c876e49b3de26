"""Values of cuts as ranks among the few values that thresholds depend on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from c45gpu.dask.share import Sides
from c45gpu.data.table import Floats
from c45gpu.kernels.level import Int64s


class Cuts:
    """The cuts of a level, of whose columns only the values beside them are known here.

    Parameters
    ----------
    types : sequence of dtype
        Of the columns of the used attributes.
    """

    def __init__(self, types: Sequence[np.dtype[Any]]) -> None:
        self._types, self._distinct = types, dict[int, Floats]()

    def distinct(self, attribute: int) -> Floats:
        """The values of an attribute, sorted."""
        return self._distinct[attribute]

    def note(self, attribute: Int64s, sides: Sides) -> None:
        """Remember the values of these cuts and forget others; NaN for a test that is no cut."""
        self._distinct = {}
        cut = ~np.isnan(sides.low)
        for a in np.unique(attribute[cut]).tolist():
            here = cut & (attribute == a)
            self._distinct[a] = np.unique(np.concatenate([x[here] for x in sides])).astype(self._types[a])

    def ranks(self, attribute: Int64s, sides: Sides) -> tuple[Int64s, Int64s]:
        """The ranks of both sides of cuts among these values; -1 for other tests."""
        below, above = np.full((2, len(attribute)), -1, np.int64)
        cut = ~np.isnan(sides.low)
        for a in np.unique(attribute[cut]).tolist():
            here, distinct = cut & (attribute == a), self._distinct[a]
            below[here] = np.searchsorted(distinct, sides.low[here].astype(distinct.dtype))
            above[here] = np.searchsorted(distinct, sides.high[here].astype(distinct.dtype))
        return below, above
