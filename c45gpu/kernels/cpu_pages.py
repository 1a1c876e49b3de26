"""Lists whose memory goes back to the system part by part, as soon as a part has been read for the last time.

A level's lists are written from those of the level above. Were these let go of only when all is written, both levels
would be in memory at once; so whoever has moved a part of a list gives up its pages::

    list above    . . . . . . | still to be moved |          . given up, reads as nothing
    list below    | written so far |  untouched, so no memory yet
"""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

LITTLE = 1 << 20  # bytes; less is not worth the calls


class PagedLists(NamedTuple):
    """Lists, and the memory that they are in where it can be given up."""

    entries: npt.NDArray[Any]  # [lists, entries]; of paged lists each begins with a page
    memory: mmap.mmap | None

    def give_up(self, which: int, first: int, stop: int) -> None:
        """Give up the pages that are wholly within a part of a list; nobody may read the part any more."""
        if self.memory is None:
            return
        start, size = which * self.entries.strides[0], self.entries.itemsize
        low = -(-(start + first * size) // mmap.PAGESIZE) * mmap.PAGESIZE
        high = (start + stop * size) // mmap.PAGESIZE * mmap.PAGESIZE
        if low < high:
            self.memory.madvise(mmap.MADV_DONTNEED, low, high - low)

    def of_part(self, array: npt.NDArray[Any]) -> PagedLists:
        """An array as the only list; it can be given up if it is where these lists begin."""
        is_here = array.ctypes.data == self.entries.ctypes.data
        return PagedLists(array[None, :], self.memory if is_here else None)

    def give_up_all(self, first: int, stop: int) -> None:
        """Give up the pages that are wholly within a part of any list."""
        if (stop - first) * self.entries.itemsize >= mmap.PAGESIZE:
            for which in range(len(self.entries)):
                self.give_up(which, first, stop)


def paged_lists(n_lists: int, n_entries: int, word: npt.DTypeLike) -> PagedLists:
    """Room for lists of so many entries, and some more up to whole pages; contents are arbitrary."""
    dtype = np.dtype(word)
    size = n_lists * n_entries * dtype.itemsize
    if size < LITTLE or not hasattr(mmap, "MADV_DONTNEED"):  # a system without it keeps both levels
        return PagedLists(np.empty((n_lists, n_entries), dtype), None)
    of_a_page = mmap.PAGESIZE // dtype.itemsize
    width = -(-n_entries // of_a_page) * of_a_page
    memory = mmap.mmap(-1, n_lists * width * dtype.itemsize, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return PagedLists(np.frombuffer(memory, dtype).reshape(n_lists, width), memory)
