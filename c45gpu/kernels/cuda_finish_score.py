"""Score the lists of the records of a subtree that a block grows: a thread walks a list at a record."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int64

from c45gpu.choose import branch_counts
from c45gpu.kernels.cuda_counts import class_of, h_of, is_new, on_device
from c45gpu.kernels.cuda_finish_move import OPEN, entry_of
from c45gpu.kernels.cuda_measures import ByClass, inner_of_node, of_class, split_of, whole_term
from c45gpu.kernels.cuda_score import Span, amount_at, walk_cuts
from c45gpu.measures import ENTROPY


class Attributes(NamedTuple):
    """The attributes of the lists."""

    continuous: Any  # bool[attributes]
    column: Any  # int64[attributes]: the column of codes, -1 for none


@on_device
def clear_classes(low: ByClass, settings: Any) -> None:
    """Make class weights 0."""
    for c in range(settings.n_classes):
        low.cells[c * low.stride + low.offset] = 0


@on_device
def weight_of(r: Any, records: Any, settings: Any) -> Any:
    """The weight of a record."""
    weight = int64(0)
    for c in range(settings.n_classes):
        weight += records.class_weights[c * records.parent.shape[0] + r]
    return weight


@on_device
def span_of(begin: Any, end: Any, a: Any, lists: Any, settings: Any) -> Span:
    """A whole list of a record, where it lies."""
    each = int64(settings.case_units)
    return Span(begin, end, begin, end, lists.near_of[a], lists.entries, int64(0), int64(0), each)


@on_device
def score_records(first: Any, last: Any, growing: Any, weights: Any, settings: Any, cell: Any, low: ByClass) -> None:
    """The candidates of the records first..last-1, from a cell of the room on; `low` is a thread's room for itself."""
    n_attributes = growing.attributes.continuous.shape[0]
    for item in range(cuda.threadIdx.x, (last - first) * n_attributes, cuda.blockDim.x):
        r = first + item // n_attributes
        if growing.records.attribute[r] == OPEN:
            score_list(r, item % n_attributes, growing, weights, settings, low, cell + item)


@on_device
def score_list(r: Any, a: Any, growing: Any, weights: Any, settings: Any, low: ByClass, cell: Any) -> None:
    """The candidate of a record and an attribute, all of whose values are known."""
    lists, records = growing.lists, growing.records
    begin, weight = entry_of(r, a, records, lists, growing.attributes.continuous), weight_of(r, records, settings)
    totals = ByClass(records.class_weights, records.parent.shape[0], r)
    span = span_of(begin, begin + int64(records.count[r]), a, lists, settings)
    score_span(span, a, (weight, weight), growing, weights, settings, low, totals, cell)


@on_device
def score_span(
    span: Span,
    a: Any,
    weight_and_known: Any,
    growing: Any,
    weights: Any,
    settings: Any,
    low: ByClass,
    totals: ByClass,
    cell: Any,
) -> None:
    """The candidate of a list; `totals` are the class weights of its entries, `low` is room for some."""
    (weight, known), lists, room = weight_and_known, growing.lists, growing.room
    clear_classes(low, settings)
    if growing.attributes.continuous[a]:
        inner, cut, below, tries = walk_cuts(span, lists, weights, settings, low, totals)
        branches = h_of(below, weights) + h_of(known - below, weights)
        possible = cut >= 0
    else:
        inner, branches, cut, ample = walk_values(span, lists, weights, settings, low, totals)
        tries, possible = int64(0), ample >= 2
    room.gain[cell] = inner_of_node(known, totals, weights, settings) - inner
    room.split[cell] = split_of(weight, known, branches, weights, settings)
    room.tries[cell], room.possible[cell], room.cut[cell] = tries, int64(1) if possible else int64(0), cut


@on_device
def walk_values(span: Span, lists: Any, weights: Any, settings: Any, low: ByClass, totals: ByClass) -> Any:
    """What branches for each value leave to tell, the sum of H over them, their number, and how many count.

    `low` is 0 before and after.
    """
    inner, branches, values, ample = int64(0), int64(0), int64(0), int64(0)
    begin, weight, of_classes = span.begin, int64(0), int64(0)
    for i in range(span.begin, span.end + 1):
        word = int64(lists.entries[i]) if i < span.end else int64(0)
        if i == span.end or (i > span.begin and is_new(word, lists.layout)):
            branches += h_of(weight, weights)
            inner += inner_of_value(weight, of_classes, weights, low, totals, settings)
            values += 1
            ample += branch_counts(weight, settings)
            for k in range(begin, i):
                low.cells[class_of(int64(lists.entries[k]), lists.layout) * low.stride + low.offset] = 0
            begin, weight, of_classes = i, int64(0), int64(0)
        if i < span.end:
            cell = class_of(word, lists.layout) * low.stride + low.offset
            here, amount = low.cells[cell], amount_at(i, word, span, lists, weights)
            of_classes += h_of(here + amount, weights) - h_of(here, weights)
            low.cells[cell] = here + amount
            weight += amount
    return inner, branches, values, ample


@on_device
def inner_of_value(weight: Any, of_classes: Any, weights: Any, low: ByClass, totals: ByClass, settings: Any) -> Any:
    """What a branch of a discrete test leaves to tell; `of_classes` is the sum of H over its classes."""
    if settings.measure == ENTROPY:
        return h_of(weight, weights) - of_classes
    inner = int64(0)
    for c in range(settings.n_classes):
        inner -= whole_term(of_class(c, low), weight, int64(of_class(c, totals)), settings)
    return inner
