"""Measures other than information on the device; see :mod:`c45gpu.measures`. Cells of class weights, class by class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int64
from numba.cuda import libdevice

from c45gpu.kernels.cuda_counts import class_of, h_of, is_new, on_device
from c45gpu.measures import CHI2, CHI2_SCALE, ENTROPY, GINI


class ByClass(NamedTuple):
    """A weight for each class: ``cells[c * stride + offset]``."""

    cells: Any
    stride: Any
    offset: Any


@on_device
def of_class(c: Any, weights: ByClass) -> Any:
    """The weight of a class."""
    return weights.cells[c * weights.stride + weights.offset]


@on_device
def whole_term(q: Any, side: Any, total: Any, settings: Any) -> Any:
    """:func:`c45gpu.measures.term` with products that no compiler fuses with the sums inside ``//``."""
    share = np.float64(q) / np.float64(max(side, 1))
    if settings.measure == GINI:
        return int64(libdevice.dmul_rn(np.float64(q) * settings.scale, share))
    both = libdevice.dmul_rn(share, np.float64(q) / np.float64(max(total, 1)))
    return int64(libdevice.dmul_rn(both, CHI2_SCALE))


@on_device
def inner_of_sides(below: Any, known: Any, low: ByClass, totals: ByClass, settings: Any) -> Any:
    """What both sides of a cut leave to tell, by any measure but information."""
    inner = int64(0)
    for c in range(settings.n_classes):
        here, total = of_class(c, low), of_class(c, totals)
        inner -= whole_term(here, below, total, settings) + whole_term(total - here, known - below, total, settings)
    return inner


@on_device
def inner_of_node(known: Any, totals: ByClass, weights: Any, settings: Any) -> Any:
    """What is left to tell at a node, by any measure."""
    inner = h_of(known, weights) if settings.measure == ENTROPY else int64(0)
    for c in range(settings.n_classes):
        total = of_class(c, totals)
        if settings.measure == ENTROPY:
            inner -= h_of(total, weights)
        else:
            inner -= whole_term(total, known, total, settings)
    return inner


@on_device
def split_of(weight: Any, known: Any, branches: Any, weights: Any, settings: Any) -> Any:
    """The split information, given the sum of H over the branches; by chi-square the known weight."""
    if settings.measure == CHI2:
        return known
    return h_of(weight, weights) - h_of(weight - known, weights) - branches


@on_device
def on_boundary(i: Any, start: Any, stop: Any, lists: Any) -> Any:
    """Whether the values before and from entry i on, of the entries start..stop-1, are not all of one class."""
    c = class_of(int64(lists.entries[i]), lists.layout)
    j = i + 1
    while j < stop and not is_new(int64(lists.entries[j]), lists.layout):
        if class_of(int64(lists.entries[j]), lists.layout) != c:
            return True
        j += 1
    j = i - 1
    while j >= start:
        word = int64(lists.entries[j])
        if class_of(word, lists.layout) != c:
            return True
        if is_new(word, lists.layout):
            return False
        j -= 1
    return False


@on_device
def one_class_of(first: Any, before: Any, has_before: Any, histogram: Any, n_classes: Any) -> Any:
    """The class of all cases between two rows of running class weights, -1 if there are more."""
    found = int64(-1)
    for c in range(n_classes):
        here = histogram[first + c] - (histogram[before + c] if has_before else int64(0))
        if here > 0:
            if found >= 0:
                return int64(-1)
            found = int64(c)
    return found
