"""A list entry: one word that tells what a scan must know of a case, so that scans and partitions read memory in order.

new-value bit | class | row        the bit says: differs from the entry before it in this node
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.compiled import compiled


class Layout(NamedTuple):
    """How entries are packed."""

    row_bits: int
    class_bits: int
    new_bit: int  # 31 or 63, the highest of the word


@compiled
def row_of(entry: Any, layout: Any) -> Any:
    """The row; unsigned as all of these, since an index that cannot be negative needs no check."""
    return np.uint64(entry) & ((np.uint64(1) << np.uint64(layout.row_bits)) - np.uint64(1))


@compiled
def class_of(entry: Any, layout: Any) -> Any:
    """The class."""
    mask = (np.uint64(1) << np.uint64(layout.class_bits)) - np.uint64(1)
    return (np.uint64(entry) >> np.uint64(layout.row_bits)) & mask


@compiled
def new_of(entry: Any, layout: Any) -> Any:
    """The new-value bit, 0 or 1."""
    return np.uint64(entry) >> np.uint64(layout.new_bit)


@compiled
def with_new(entry: Any, new: Any, layout: Any) -> Any:
    """The entry with another new-value bit."""
    new_bit = np.uint64(layout.new_bit)
    return (np.uint64(entry) & ((np.uint64(1) << new_bit) - np.uint64(1))) | (np.uint64(new) << new_bit)


@compiled
def packed(new: Any, which: Any, row: Any, layout: Any) -> Any:
    """The entry of a new-value bit, a class and a row."""
    of_case = (np.uint64(which) << np.uint64(layout.row_bits)) | np.uint64(row)
    return (np.uint64(new) << np.uint64(layout.new_bit)) | of_case


def rows_of(entries: npt.NDArray[Any], layout: Layout) -> npt.NDArray[np.int64]:
    """The rows of many entries."""
    rows: npt.NDArray[np.int64] = (entries & entries.dtype.type((1 << layout.row_bits) - 1)).astype(np.int64)
    return rows
