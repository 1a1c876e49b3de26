"""Sort columns once: radix sort on the order-preserving integer image of the values, the row beside it.

The image of a float compares as the float does: all bits flipped for a negative one, the sign bit set for others::

    -2.0  -> 3fffffff...     0.0 -> 80000000...     2.0 -> c0000000...

Up to 32 bits of image share one word with the row: ``image << 32 | row``. float64 values that are float32 values as
well are sorted as these; others as a 64-bit image with the rows in an array beside.
"""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.compiled import compiled


class Layout(NamedTuple):
    """How a list entry is packed: ``new-value bit | class | row``."""

    row_bits: int
    class_bits: int
    new_bit: int  # 31 or 63, the highest of the word


DIGIT_BITS = 11  # 2,048 buckets: their write positions fit a core's first cache
DIGITS = 1 << DIGIT_BITS
SIGN_32 = np.uint64(1 << 31)
LOW_32 = np.uint64(0xFFFFFFFF)
SIGN_64 = np.uint64(1 << 63)


@compiled
def images_32(values: Any, words: Any) -> Any:
    """Write ``image << 32 | row`` for each value that is not NaN; returns how many, or -1 if one is no float32."""
    bits = np.empty(1, np.float32)
    view = bits.view(np.uint32)
    count = 0
    for row in range(len(values)):
        value = values[row] + 0.0  # -0.0 becomes 0.0
        if value == value:
            bits[0] = value
            if bits[0] != value:
                return -1
            image = np.uint64(view[0])
            image = image ^ LOW_32 if image & SIGN_32 else image | SIGN_32
            words[count] = (image << np.uint64(32)) | np.uint64(row)
            count += 1
    return count


@compiled
def images_64(values: Any, images: Any, rows: Any) -> Any:
    """Write image and row of each value that is not NaN; returns how many."""
    bits = np.empty(1, np.float64)
    view = bits.view(np.uint64)
    count = 0
    for row in range(len(values)):
        value = values[row] + 0.0
        if value == value:
            bits[0] = value
            image = view[0]
            images[count] = ~image if image & SIGN_64 else image | SIGN_64
            rows[count] = row
            count += 1
    return count


@compiled
def images_of_codes(codes: Any, words: Any) -> Any:
    """As :func:`images_32`, of codes; negative ones are unknown."""
    count = 0
    for row in range(len(codes)):
        if codes[row] >= 0:
            words[count] = (np.uint64(codes[row]) << np.uint64(32)) | np.uint64(row)
            count += 1
    return count


@compiled
def _histogram(words: Any, count: Any, shift: Any, starts: Any) -> Any:
    """First position of each digit's bucket; False if all words have the same digit."""
    starts[:] = 0
    for i in range(count):
        starts[(words[i] >> shift) & np.uint64(DIGITS - 1)] += 1
    total, most = 0, 0
    for digit in range(DIGITS):
        here = starts[digit]
        most = max(most, here)
        starts[digit] = total
        total += here
    return most < count


@compiled
def sort_words(words: Any, spare: Any, count: Any) -> Any:
    """Sort ``image << 32 | row`` by image, rows ascending among equals; returns the array that holds the result."""
    starts = np.empty(DIGITS, np.int64)
    for shift in (np.uint64(32), np.uint64(32 + DIGIT_BITS), np.uint64(32 + 2 * DIGIT_BITS)):
        if _histogram(words, count, shift, starts):
            for i in range(count):
                word = words[i]
                digit = (word >> shift) & np.uint64(DIGITS - 1)
                spare[starts[digit]] = word
                starts[digit] += 1
            words, spare = spare, words
    return words


@compiled
def sort_pairs(images: Any, rows: Any, spare_images: Any, spare_rows: Any, count: Any) -> Any:
    """Sort 64-bit images with their rows; returns the arrays that hold the result."""
    starts = np.empty(DIGITS, np.int64)
    for step in range(6):
        shift = np.uint64(step * DIGIT_BITS)
        if _histogram(images, count, shift, starts):
            for i in range(count):
                image = images[i]
                digit = (image >> shift) & np.uint64(DIGITS - 1)
                at = starts[digit]
                spare_images[at] = image
                spare_rows[at] = rows[i]
                starts[digit] = at + 1
            images, spare_images = spare_images, images
            rows, spare_rows = spare_rows, rows
    return images, rows


@compiled
def first_rows(images: Any, rows: Any, shift: Any, count: Any, firsts: Any) -> Any:
    """Write the row of the first case of each distinct value; returns how many there are.

    Values are ``images >> shift``; rows lie beside them, or in the low half of the images if `rows` is empty.
    """
    distinct = 0
    for i in range(count):
        if i == 0 or images[i] >> shift != images[i - 1] >> shift:
            firsts[distinct] = rows[i] if len(rows) else images[i] & LOW_32
            distinct += 1
    return distinct


@compiled
def write_entries(images: Any, rows: Any, shift: Any, count: Any, classes: Any, layout: Any, entries: Any) -> None:
    """Write list entries ``new-value | class | row``; the arguments are those of :func:`first_rows`."""
    row_bits, new = np.uint64(layout.row_bits), np.uint64(1) << np.uint64(layout.new_bit)
    for i in range(count):
        row = np.uint64(rows[i]) if len(rows) else images[i] & LOW_32
        entry = (np.uint64(classes[np.int64(row)]) << row_bits) | row
        if i == 0 or images[i] >> shift != images[i - 1] >> shift:
            entry |= new
        entries[i] = entry


@compiled
def write_ranks(images: Any, rows: Any, shift: Any, count: Any, ranks: Any) -> None:
    """Write the rank of each known value by row; the arguments are those of :func:`first_rows`."""
    rank = 0
    for i in range(count):
        if i > 0 and images[i] >> shift != images[i - 1] >> shift:
            rank += 1
        ranks[rows[i] if len(rows) else np.int64(images[i] & LOW_32)] = rank


def distinct_values(values: npt.NDArray[Any], firsts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The distinct values in order, given the row of the first case of each."""
    distinct: npt.NDArray[Any] = values[firsts]
    distinct += 0  # no zero stays negative
    return distinct


class Sorted(NamedTuple):
    """A sorted column: images, the rows beside them (or empty), how far an image is shifted, and how many are known."""

    images: npt.NDArray[np.uint64]
    rows: npt.NDArray[np.uint32]
    shift: np.uint64
    known: int


class Room:
    """Memory for one worker to sort in, column after column.

    It is mapped apart from the allocator's heap, which would keep it while the tree grows.

    Parameters
    ----------
    n : int
        The most rows of a column.
    """

    def __init__(self, n: int) -> None:
        pages = mmap.mmap(-1, 28 * n + 8)  # mapping nothing is an error; what is not written to takes no memory
        self.words, self.spare = (np.frombuffer(pages, np.uint64, n, 8 * n * k) for k in range(2))
        self.rows, self.spare_rows, self.firsts = (
            np.frombuffer(pages, np.uint32, n, (16 + 4 * k) * n) for k in range(3)
        )


def sort_column(column: npt.NDArray[Any], room: Room) -> Sorted:
    """Sort the known values of a column of floats or codes; the result lies in the room."""
    column = np.ascontiguousarray(column)
    count = images_32(column, room.words) if column.dtype.kind == "f" else images_of_codes(column, room.words)
    if count >= 0:
        return Sorted(sort_words(room.words, room.spare, count), room.rows[:0], np.uint64(32), count)
    count = images_64(column, room.words, room.rows)
    images, rows = sort_pairs(room.words, room.rows, room.spare, room.spare_rows, count)
    return Sorted(images, rows, np.uint64(0), count)
