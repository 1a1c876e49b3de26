"""Sort columns once: radix sort on the order-preserving image of the values, the row in the same word.

The *image* of a float compares as the float does: half of the range plus or minus the bits of its magnitude. What the
images of a column have in common says nothing about order, so a *key* leaves it out, and a
word is ``key << 32 | row``::

    bits of an image    common | key, at most 32 bits | tail
                        ^ the same in all              ^ the same in all, or what does not fit

Only float64 columns that use most of their precision have a tail that differs. Few of their values agree in the key,
and only those are then told apart by the tail.
"""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_entry import packed


class Coding(NamedTuple):
    """What bit patterns mean."""

    sign: np.uint64  # the bit of negative numbers
    greatest: np.uint64  # a magnitude above is no known value


DIGIT_BITS = 9  # 512 buckets, each a page that is written to; 7 to 11 took the same time within noise
LEAST_DIGIT_BITS = 4
KEY_BITS = 32
FEW_WORDS = 32  # so many are sorted by insertion
HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
CODINGS = {
    "f4": Coding(np.uint64(1 << 31), np.uint64(0x7F800000)),
    "f8": Coding(np.uint64(1 << 63), np.uint64(0x7FF << 52)),
    "i4": Coding(np.uint64(1 << 32), np.uint64(0x7FFFFFFF)),  # codes, the negative ones of which are unknown
}


@compiled
def _image(pattern: Any, coding: Any) -> Any:
    """The image of a known value; both zeros have the same."""
    bits = np.uint64(pattern)
    magnitude = bits & (coding.sign - np.uint64(1))
    return coding.sign - magnitude if bits & coding.sign else coding.sign + magnitude


@compiled
def _is_known(pattern: Any, coding: Any) -> Any:
    return np.uint64(pattern) & (coding.sign - np.uint64(1)) <= coding.greatest


@compiled
def span(patterns: Any, coding: Any) -> Any:
    """How many values are known, their least image, the greatest, and which bits are not the same in all images."""
    known, low, high, differ, first = 0, ~np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    for row in range(len(patterns)):
        if _is_known(patterns[row], coding):
            image = _image(patterns[row], coding)
            first = image if known == 0 else first
            low, high = min(low, image), max(high, image)
            differ |= image ^ first
            known += 1
    return known, low, high, differ


@compiled
def write_words(patterns: Any, coding: Any, low: Any, tail: Any, words: Any) -> None:
    """Write ``key << 32 | row`` for each known value; `low` is the least image, `tail` how many bits are left out."""
    count = 0
    for row in range(len(patterns)):
        if _is_known(patterns[row], coding):
            key = (_image(patterns[row], coding) - low) >> tail
            words[count] = (key << HALF) | np.uint64(row)
            count += 1


@compiled
def sort_words(words: Any, spare: Any, bits: Any) -> Any:
    """Sort by the lowest `bits` of the upper halves, equal ones staying in order.

    Returns whether the result is in `spare`.
    """
    digit_bits = DIGIT_BITS
    while digit_bits > LEAST_DIGIT_BITS and 1 << digit_bits > len(words):
        digit_bits -= 1
    passes = max(1, -(-bits // digit_bits))
    digit_bits = -(-bits // passes)
    starts = np.zeros((passes, 1 << digit_bits), np.uint32)
    mask = (np.uint64(1) << np.uint64(digit_bits)) - np.uint64(1)
    for i in range(len(words)):
        key = words[i] >> HALF
        for step in range(passes):
            starts[step, key & mask] += np.uint32(1)
            key >>= np.uint64(digit_bits)
    swapped = False
    for step in range(passes):
        shift, total, most = HALF + np.uint64(step * digit_bits), np.uint32(0), np.uint32(0)
        places = starts[step]
        for k in range(len(places)):
            here = places[k]
            places[k], total, most = total, np.uint32(total + here), max(most, here)
        if most < len(words):
            for i in range(len(words)):
                word = words[i]
                digit = (word >> shift) & mask
                at = places[digit]
                spare[at] = word
                places[digit] = at + np.uint32(1)
            words, spare, swapped = spare, words, not swapped
    return swapped


@compiled
def _sort_run(words: Any, spare: Any, bits: Any) -> None:
    """As :func:`sort_words`, in place and also for few words."""
    if len(words) > FEW_WORDS:
        if sort_words(words, spare, bits):
            words[:] = spare
        return
    for i in range(1, len(words)):
        word, k = words[i], i
        while k > 0 and words[k - 1] > word:
            words[k] = words[k - 1]
            k -= 1
        words[k] = word


@compiled
def number_values(words: Any, spare: Any, patterns: Any, coding: Any, low: Any, tail: Any) -> None:
    """Bring words of equal keys into the order of their tails, and replace keys by numbers of the distinct values."""
    mask = (np.uint64(1) << np.uint64(tail)) - np.uint64(1)
    number, start = np.uint64(0), 0
    while start < len(words):
        stop = start + 1
        if stop == len(words) or words[stop] >> HALF != words[start] >> HALF:
            words[start] = (number << HALF) | (words[start] & LOW_HALF)
            number += np.uint64(1)
            start = stop
            continue
        while stop < len(words) and words[stop] >> HALF == words[start] >> HALF:
            stop += 1
        run, differ = words[start:stop], False
        for i in range(len(run)):
            row = run[i] & LOW_HALF
            run[i] = (((_image(patterns[row], coding) - low) & mask) << HALF) | row
            differ |= run[i] >> HALF != run[0] >> HALF
        if differ:
            _sort_run(run, spare[: len(run)], tail)
        before = run[0] >> HALF
        for i in range(len(run)):
            number += np.uint64(run[i] >> HALF != before)
            before = run[i] >> HALF
            run[i] = (number << HALF) | (run[i] & LOW_HALF)
        number += np.uint64(1)
        start = stop


@compiled
def first_rows(words: Any, firsts: Any) -> Any:
    """Write the row of the first case of each distinct value; returns how many there are."""
    distinct = 0
    for i in range(len(words)):
        if i == 0 or words[i] >> HALF != words[i - 1] >> HALF:
            firsts[distinct] = words[i] & LOW_HALF
            distinct += 1
    return distinct


@compiled
def write_entries(words: Any, classes: Any, layout: Any, entries: Any) -> None:
    """Write list entries."""
    before = ~np.uint64(0)
    for i in range(len(words)):
        row, value = words[i] & LOW_HALF, words[i] >> HALF
        entries[i] = packed(value != before, classes[row], row, layout)
        before = value


@compiled
def write_ranks(words: Any, ranks: Any) -> None:
    """Write the rank of each known value by row."""
    rank = 0
    for i in range(len(words)):
        if i > 0 and words[i] >> HALF != words[i - 1] >> HALF:
            rank += 1
        ranks[words[i] & LOW_HALF] = rank


@compiled
def _take(values: Any, rows: Any, taken: Any) -> None:
    for i in range(len(rows)):
        taken[i] = values[rows[i]] + 0  # no zero stays negative


def distinct_values(values: npt.NDArray[Any], firsts: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
    """The distinct values in order, given the row of the first case of each."""
    distinct = np.empty(len(firsts), values.dtype)
    _take(np.ascontiguousarray(values), firsts, distinct)
    return distinct


class Room:
    """Memory for one worker to sort in, column after column.

    It is mapped apart from the allocator's heap, which would keep it while the tree grows.

    Parameters
    ----------
    n : int
        The most rows of a column.
    """

    def __init__(self, n: int) -> None:
        pages = mmap.mmap(-1, 20 * n + 8)  # mapping nothing is an error; what is not written to takes no memory
        if hasattr(mmap, "MADV_HUGEPAGE"):  # buckets are spread over more pages than a core remembers
            pages.madvise(mmap.MADV_HUGEPAGE)
        self.words, self.spare = (np.frombuffer(pages, np.uint64, n, 8 * n * k) for k in range(2))
        self.firsts = np.frombuffer(pages, np.uint32, n, 16 * n)


def sort_column(column: npt.NDArray[Any], room: Room) -> npt.NDArray[np.uint64]:
    """Sort the known values of a column of float32, float64 or codes.

    Returns
    -------
    ndarray of uint64
        For each known value in order a word: its row in the lower half, and in the upper half a number that is the
        same for equal values and grows with the value. It lies in the room.
    """
    kind = f"{column.dtype.kind}{column.dtype.itemsize}"
    coding, patterns = CODINGS[kind], np.ascontiguousarray(column).view(np.uint64 if kind == "f8" else np.uint32)
    known, low, high, differ = span(patterns, coding)
    bits = (int(high) - int(low)).bit_length() if known else 0
    same = (int(differ) & -int(differ)).bit_length() - 1 if differ else 0
    tail = max(same, bits - KEY_BITS, 0)
    words, spare = room.words[:known], room.spare[:known]
    write_words(patterns, coding, np.uint64(low), np.uint64(tail), words)
    if sort_words(words, spare, bits - tail if bits > tail else 0):
        words, spare = spare, words
    if tail > same:
        number_values(words, spare, patterns, coding, np.uint64(low), tail)
    return words
