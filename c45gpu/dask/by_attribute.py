"""Things sorted by the attribute that they are of."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from c45gpu.kernels.level import Int64s


def by_attribute(attribute: Int64s) -> Iterator[tuple[int, Int64s]]:
    """Each attribute, and where it is."""
    order = np.argsort(attribute, kind="stable")
    edges = np.flatnonzero(np.diff(attribute[order], prepend=-1, append=-1))
    for first, stop in pairwise(edges.tolist()):
        yield int(attribute[order[first]]), order[first:stop]
