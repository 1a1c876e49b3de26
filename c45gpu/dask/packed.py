"""Branches that travel between workers: a bit for each case where a test has two branches, which is nearly always."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.level import Bools, Int32s, Int64s


class Packed(NamedTuple):
    """The branches of the instances of some splits.

    Attributes
    ----------
    counts : ndarray of int64, shape (k,)
        Instances of each split.
    two : ndarray of bool, shape (k,)
        No instance takes another branch than 0 and 1.
    bits : ndarray of uint8
        The branches of the instances of these splits, 8 to a byte.
    unknown : ndarray of uint8 or int64
        Which of them have an unknown value: a bit each, or where that is shorter their positions.
    many : ndarray of uint8, uint16 or int32
        The branches of the other splits' instances, plus 1; 0 is unknown.
    """

    counts: Int64s
    two: Bools
    bits: npt.NDArray[np.uint8]
    unknown: npt.NDArray[Any]
    many: npt.NDArray[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of all of it."""
        return sum(array.nbytes for array in self)


def pack(branch: Int32s, counts: Int64s) -> Packed:
    """Pack the branches of instances that lie one split after the other; no split is without instances."""
    starts = np.cumsum(counts) - counts
    most = np.maximum.reduceat(branch, starts) if len(counts) else np.zeros(0, np.int32)
    two = most <= 1
    in_two = slice(None) if two.all() else np.repeat(two, counts)
    some = branch[in_two]
    unknown: npt.NDArray[Any] = np.flatnonzero(some < 0)
    if 8 * unknown.nbytes > len(some):
        unknown = np.packbits(some < 0)
    highest = int(most.max(initial=0)) + 1
    others = branch[:0] if isinstance(in_two, slice) else branch[~in_two]
    many = (others + 1).astype(np.uint8 if highest < 1 << 8 else np.uint16 if highest < 1 << 16 else np.int32)
    return Packed(counts, two, np.packbits(some > 0), unknown, many)


def unpacked(packed: Packed) -> Int32s:
    """The branches again."""
    n_two = int(packed.counts[packed.two].sum())
    some = np.unpackbits(packed.bits, count=n_two).astype(np.int32)
    if packed.unknown.dtype == np.uint8:
        some[np.unpackbits(packed.unknown, count=n_two) > 0] = -1
    else:
        some[packed.unknown] = -1
    if packed.two.all():
        return some
    in_two = np.repeat(packed.two, packed.counts)
    branch = np.empty(len(in_two), np.int32)
    branch[in_two] = some
    branch[~in_two] = packed.many.astype(np.int32) - 1
    return branch
