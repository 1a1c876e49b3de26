"""Bring the lists of small nodes together, and make lists of their codes, so that blocks can finish them.

Entries name a case by its place among those of all the nodes, and a list has a range of places for each node::

    attribute 0 | node 0 | node 1 || attribute 1 | node 0 | node 1 ||   then as much room for the other buffer
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int64

from c45gpu.kernels.cuda_codes import Codes
from c45gpu.kernels.cuda_counts import id_of, is_new, on_device
from c45gpu.kernels.cuda_entries import moved_word
from c45gpu.kernels.cuda_finish import Roots
from c45gpu.kernels.cuda_score import Lists

CODE_SHIFT = 32
MOST_KEY = (1 << 63) - 1  # comes after all others, also after an unknown code of 31 bits


@on_device
def entry(new: Any, label: Any, place: Any, layout: Any) -> Any:
    """An entry of a case at a place."""
    bit = int64(1) if new else int64(0)
    return (bit << layout.new_bit) | (label << layout.id_bits) | place


def copy_lists(chunk: Lists, bounds: Any, attributes: Any, roots: Roots, lists: Lists) -> None:
    """Copy the lists of a chunk; a thread for each case and list.

    `bounds` has the first entry of each list at each node, and then the one after the last of each.
    """
    item, cases = int64(cuda.blockIdx.x) * cuda.blockDim.x + cuda.threadIdx.x, roots.owner.shape[0]
    nodes = roots.start.shape[0]
    k, at = item // cases, item % cases
    if k >= attributes.shape[0]:
        return
    node = roots.owner[at]
    i, first = at - roots.offset[node], roots.begin[node]
    begin, end = bounds[k * nodes + node], bounds[(attributes.shape[0] + k) * nodes + node]
    out = attributes[k] * lists.cases.shape[0] + first
    if begin + i < end:
        word = int64(chunk.entries[begin + i])
        place = first + id_of(word, chunk.layout) - roots.start[node]
        lists.entries[out + i] = moved_word(word, is_new(word, chunk.layout), place, chunk.layout, lists.layout)
    if i == 0 and has_lengths(roots, lists):
        lists.entries[out + roots.offset[node + 1] - roots.offset[node]] = end - begin


@on_device
def has_lengths(roots: Any, lists: Any) -> Any:
    """Whether each list is followed by its length: where there are more places than cases."""
    return lists.cases.shape[0] > roots.owner.shape[0]


def sort_codes(codes: Codes, classes: Any, roots: Roots, lists: Lists) -> None:
    """Make the lists of columns of codes; a block sorts one column of one node in shared memory.

    The greatest code is an unknown one, so those come last.
    """
    keys = cuda.shared.array(0, int64)
    n_columns = codes.first.shape[0] - 1
    node, column = int64(cuda.blockIdx.x) // n_columns, int64(cuda.blockIdx.x) % n_columns
    first, count = roots.begin[node], roots.offset[node + 1] - roots.offset[node]
    length = int64(1)
    while length < count:
        length *= 2
    for i in range(cuda.threadIdx.x, length, cuda.blockDim.x):
        keys[i] = MOST_KEY
        if i < count:
            keys[i] = int64(codes.codes[column, lists.cases[first + i]]) << CODE_SHIFT | i
    cuda.syncthreads()
    sort_keys(keys, length)
    out = codes.attribute[column] * lists.cases.shape[0] + first
    for i in range(cuda.threadIdx.x, count, cuda.blockDim.x):
        place = first + (keys[i] & ((int64(1) << CODE_SHIFT) - 1))
        new = i == 0 or keys[i - 1] >> CODE_SHIFT != keys[i] >> CODE_SHIFT
        if not has_lengths(roots, lists) or keys[i] >> CODE_SHIFT != codes.unknown:
            lists.entries[out + i] = entry(new, int64(classes[lists.cases[place]]), place, lists.layout)
    if cuda.threadIdx.x == 0 and has_lengths(roots, lists):
        known = count
        while known > 0 and keys[known - 1] >> CODE_SHIFT == codes.unknown:
            known -= 1
        lists.entries[out + count] = known


@on_device
def sort_keys(keys: Any, length: Any) -> None:
    """Sort keys in shared memory, as many as a power of two, by a bitonic network; waits for all threads after."""
    size = int64(2)
    while size <= length:
        stride = size // 2
        while stride > 0:
            for pair in range(cuda.threadIdx.x, length // 2, cuda.blockDim.x):
                low = 2 * pair - (pair & (stride - 1))
                here, there = keys[low], keys[low + stride]
                if (here > there) == (low & size == 0):
                    keys[low], keys[low + stride] = there, here
            cuda.syncthreads()
            stride //= 2
        size *= 2
