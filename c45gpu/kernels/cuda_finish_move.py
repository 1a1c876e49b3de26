"""Send the entries of a subtree that a block grows to their branches: a thread moves a list at a record.

Where branches are many, the last place of each holds, until its last entry comes, where the next entry goes and the
number of the value of the one before::

    entries    a  b  b  a  c        values    1 1 2 3 3
    branches   | _  1:1 | _ 0:0 |  ...        after the first entry, to the first branch (its second place is last)
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int64

from c45gpu.kernels.cuda_counts import id_of, is_new, on_device

OPEN = -2  # in the place of an attribute: to be tested yet
STATE_BITS = 16


class Records(NamedTuple):
    """Rows of subtrees, as in level.Subtrees, and where their cases are; int32, or int64 where cases are not of a unit.

    A subtree has its rows for itself.
    """

    parent: Any  # the row; -1 of a root
    branch: Any
    attribute: Any
    below: Any  # the case
    above: Any
    first: Any  # place of the first case
    count: Any
    side: Any  # the buffer
    child: Any  # the row of the first branch
    class_weights: Any  # [classes * rows]: ``class_weights[c * rows + row]``


@on_device
def entry_of(r: Any, a: Any, records: Any, lists: Any, continuous: Any) -> Any:
    """The first entry of a record's list."""
    return (int64(records.side[r]) * continuous.shape[0] + a) * lists.cases.shape[0] + records.first[r]


@on_device
def move_records(first: Any, last: Any, lists: Any, continuous: Any, records: Any, marks: Any) -> None:
    """Move the lists of the records first..last-1."""
    n_attributes = continuous.shape[0]
    for item in range(cuda.threadIdx.x, (last - first) * n_attributes, cuda.blockDim.x):
        r, a = first + item // n_attributes, item % n_attributes
        if records.attribute[r] >= 0:
            begin = entry_of(r, a, records, lists, continuous)
            out = entry_of(records.child[r], a, records, lists, continuous)
            if continuous[records.attribute[r]]:
                move_two(begin, out, r, lists, records, marks)
            else:
                move_many(begin, out, r, lists, records, marks)


@on_device
def with_bit(word: Any, new: Any, layout: Any) -> Any:
    """An entry with another new-value bit."""
    return (word & ((int64(1) << layout.new_bit) - 1)) | (new << layout.new_bit)


@on_device
def move_two(begin: Any, out: Any, r: Any, lists: Any, records: Any, marks: Any) -> None:
    """Two branches; one that will not be tested gets no entries."""
    child = records.child[r]
    keeps_low, keeps_high = records.attribute[child] == OPEN, records.attribute[child + 1] == OPEN
    low, high = out, out + records.count[child]
    new_low, new_high = int64(1), int64(1)
    end = begin + records.count[r] if keeps_low or keeps_high else begin
    for i in range(begin, end):
        word = int64(lists.entries[i])
        new_low |= word >> lists.layout.new_bit
        new_high |= word >> lists.layout.new_bit
        if marks[id_of(word, lists.layout)] == child:
            if keeps_low:
                lists.entries[low] = with_bit(word, new_low, lists.layout)
                low += 1
            new_low = int64(0)
        else:
            if keeps_high:
                lists.entries[high] = with_bit(word, new_high, lists.layout)
                high += 1
            new_high = int64(0)


@on_device
def move_many(begin: Any, out: Any, r: Any, lists: Any, records: Any, marks: Any) -> None:
    """As many branches as values."""
    row, end, value = int64(records.child[r]), begin, int64(0)
    while (
        row == records.child[r] or records.first[row - 1] + records.count[row - 1] < records.first[r] + records.count[r]
    ):
        if records.attribute[row] == OPEN:
            lists.entries[out + records.first[row] - records.first[r] + records.count[row] - 1] = 0
            end = begin + records.count[r]
        row += 1
    for i in range(begin, end):
        word = int64(lists.entries[i])
        value += 1 if is_new(word, lists.layout) else 0
        row = int64(marks[id_of(word, lists.layout)])
        if records.attribute[row] == OPEN:
            start = out + records.first[row] - records.first[r]
            last = start + records.count[row] - 1
            state = int64(lists.entries[last])
            moved, before = state >> STATE_BITS, state & ((1 << STATE_BITS) - 1)
            if start + moved < last:
                lists.entries[last] = (moved + 1) << STATE_BITS | value
            lists.entries[start + moved] = with_bit(word, int64(1) if value != before else int64(0), lists.layout)
