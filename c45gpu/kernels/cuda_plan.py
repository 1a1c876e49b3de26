"""How much device memory a level needs, and how many lists are moved at a time so that it suffices.

Lists lie in memory once; while some of them are moved, their next level lies beside them::

    free memory   | codes | instances, twice | tiles | histograms | next level of as many lists as fit |
"""

from __future__ import annotations

from typing import NamedTuple

from c45gpu.errors import MemoryPlanError
from c45gpu.kernels.cuda_device import Sizes

INSTANCE_BYTES = 2 * 4 + 8 + 4  # case number on both levels, new number, branch
WEIGHTED_BYTES = 2 * 8 + 3 * 8  # units on both levels, room for new numbers, its running sum and a copy of that
MARGIN = 1.1  # memory pools round sizes up


class Needs(NamedTuple):
    """What a problem puts into device memory.

    Attributes
    ----------
    n_cases, n_classes, n_lists : int
    word_bytes : int
        Of an entry.
    code_bytes : int
        Of all columns of codes at one case.
    divided : bool
        Cases have weights of their own or unknown values.
    """

    n_cases: int
    n_classes: int
    n_lists: int
    word_bytes: int
    code_bytes: int
    divided: bool

    def of_cases(self) -> int:
        """Bytes for all that is there once for each case."""
        return self.n_cases * (self.code_bytes + INSTANCE_BYTES + self.divided * WEIGHTED_BYTES)

    def of_moving_a_list(self, tile: int) -> int:
        """Bytes for the next level of one list, and the counts of its tiles."""
        of_tile = 2 * 8 * self.n_classes + 2 * 8 * 2 + 8 * 8
        return self.n_cases * self.word_bytes + -(-self.n_cases // tile) * of_tile


def planned(needs: Needs, free: int, sizes: Sizes) -> Sizes:
    """The sizes with as many lists at a time as fit into free memory, once the lists are there.

    Raises
    ------
    MemoryPlanError
        If not even one list at a time fits.
    """
    fixed = int(MARGIN * needs.of_cases())
    histogram_bytes = min(sizes.histogram_bytes, max(1, (free - fixed) // 4))
    left = free - fixed - histogram_bytes
    fits = int(left // (MARGIN * needs.of_moving_a_list(sizes.tile)))
    if left < 0 or (needs.n_lists > 0 and fits < 1):
        wanted = fixed + histogram_bytes + MARGIN * needs.of_moving_a_list(sizes.tile)
        raise MemoryPlanError(
            f"a level needs {wanted / 1e9:.2g} GB of device memory beside the lists and {free / 1e9:.2g} are free: "
            "take fewer cases or attributes, or engine='cpu'"
        )
    return sizes._replace(lists_at_a_time=max(1, min(fits, sizes.lists_at_a_time)), histogram_bytes=histogram_bytes)
