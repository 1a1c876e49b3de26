"""Two-way splits of cases that count 1: a bit for each instance, and where it goes by counting bits.

A word holds the bits of 32 instances, and above them how many bits before it are 1::

    words    | 17 | 1 0 0 1 ... 1 |  instances 0..31 of these; 17 ones before them
             ^ 32                 ^ bit 0

A case goes behind all cases of its node that take the same branch and stand before it, so its new number is the number
of ones, or of zeros, before it, plus a number that its branch has: `shift`. So the branch and the new number of an
instance are one look-up in an array of a quarter of a byte for each, which stays in a card's cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64

from c45gpu.kernels.cuda_counts import on_device
from c45gpu.kernels.cuda_device import Device
from c45gpu.kernels.level import Int64s

OF_WORD = 32  # instances


class Halves(NamedTuple):
    """The bits of the instances of a level; words of length 0 where a split may be otherwise."""

    words: Any  # int64
    shift: Any  # int64[slots]; of length 0 while entries are only counted


@on_device
def is_above(instance: Any, halves: Halves) -> Any:
    """The branch of an instance, 0 or 1."""
    return (int64(halves.words[instance // OF_WORD]) >> (instance % OF_WORD)) & 1


@on_device
def half_and_place(instance: Any, first: Any, halves: Halves) -> Any:
    """The branch of an instance, and its number in the next level; `first` is the first slot of its split."""
    word, at = int64(halves.words[instance // OF_WORD]), instance % OF_WORD
    taken = (word >> at) & 1
    ones = (word >> OF_WORD) + cuda.popc(word & ((int64(1) << at) - 1))
    return taken, halves.shift[first + taken] + (ones if taken == 1 else instance - ones)


def pack_halves(branch: Any, bits: Any, ones: Any) -> None:
    """The bits of each word, and how many are 1; a thread for each."""
    word = int64(cuda.grid(1))
    if word >= bits.shape[0]:
        return
    found, first = int64(0), word * OF_WORD
    for i in range(first, min(first + OF_WORD, branch.shape[0])):
        if branch[i] == 1:
            found |= int64(1) << (i - first)
    bits[word], ones[word] = found, cuda.popc(found)


def words_of(device: Device, branch: Any) -> Any:
    """The words of all instances of a level."""
    n_words = -(-len(branch) // OF_WORD)
    bits, ones = (device.xp.empty(n_words, np.int64) for _ in range(2))
    device.over(pack_halves, n_words, branch, bits, ones)
    before = device.xp.cumsum(ones) - ones
    before <<= OF_WORD
    bits |= before
    return bits


def shifts(slot_start: Int64s, start: Int64s, taken: Int64s, place: Int64s) -> Int64s:
    """What to add to the number of ones, or of zeros, before an instance.

    Parameters
    ----------
    slot_start : ndarray of int64, shape (splits + 1,)
    start : ndarray of int64, shape (splits,)
        The first instance of each split.
    taken : ndarray of int64, shape (slots,)
        Instances that go to each slot.
    place : ndarray of int64, shape (slots,)
        The number of the first one in the next level.
    """
    two = np.diff(slot_start) > 1  # a test that another machine found may have a single branch here
    above, start = slot_start[:-1][two] + 1, start[two]
    ones, order = taken[above], np.argsort(start, kind="stable")
    before = np.empty_like(ones)
    before[order] = np.cumsum(ones[order]) - ones[order]
    shift = np.zeros(int(slot_start[-1]), np.int64)
    shift[above - 1] = place[above - 1] - (start - before)
    shift[above] = place[above] - before
    return shift
