"""Walk whole cases down a tree, many side by side.

The nodes of a tree lie in *slots* by depth, branches side by side, so that a step reads one record of a slot and the
value it asks for, and then knows the next slot. Cases that cannot go on leave the group::

    slot     0            1     2            3     4      first[0] = 1, first[2] = 3
    node     0            1     2            3     4
    going    c0 c1 c2 c3  ->  c1 c3  ->  c1               the others have arrived, or miss a value

A threshold is compared in the values' own precision: the greatest number of it that is not above the threshold.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.level import Int64s
from c45gpu.model.tree import LEAF, THRESHOLD, Tree

NO_BRANCH = -1
ABREAST = 512  # cases side by side: best of 128 to 2,048, within a tenth
ROWS_IN_FIRST_CACHE = 1 << 9  # written a column at a time, every line of them is written once for each column
ROWS_AT_A_TIME = 1 << 13  # of some thirty attributes they fit a core's second cache


class Steps(NamedTuple):
    """What leads a case through a tree; attributes are numbered as the columns of the rows."""

    signs: Any  # by slot: `threshold`, `column` (~column of a discrete attribute), `first` (0 at a leaf)
    n_branches: Any  # int64[n]
    value_first: Any  # int64[n]: where `value_branch` holds the branches of a slot's values
    n_values: Any  # int64[n]
    value_branch: Any  # int32
    node_of: Any  # int64[n]: the node in a slot
    slot_of: Any  # int64[n]: the slot of a node


def tested_attributes(tree: Tree) -> Int64s:
    """The schema numbers of the attributes that a tree tests, in the order of the columns of rows."""
    return np.unique(tree.attribute[tree.kind != LEAF]).astype(np.int64)


def row_type(table: Table, attributes: Int64s) -> type[np.floating[Any]]:
    """float32 if it holds every value of some attributes exactly, else float64."""
    columns = [table.column_in_place(int(a)) for a in attributes]
    exact = all(c.dtype == np.float32 or (c.dtype.kind == "i" and _below_2_24(c)) for c in columns)
    return np.float32 if exact else np.float64


def _below_2_24(codes: Any) -> bool:
    return len(codes) == 0 or int(codes.max()) < 1 << 24


def fill_rows(table: Table, attributes: Int64s, first: int, rows: npt.NDArray[Any]) -> None:
    """Write the values of some attributes into rows of cases, from case `first` on."""
    columns = [table.column(a) for a in attributes.tolist()]
    for start in range(0, len(rows), ROWS_IN_FIRST_CACHE):
        some = rows[start : start + ROWS_IN_FIRST_CACHE]
        for k, column in enumerate(columns):
            some[:, k] = column[first + start : first + start + len(some)]


def steps_of(tree: Tree, tested: Int64s, word: type[np.floating[Any]]) -> Steps:
    """The steps through a tree for rows of some precision."""
    order = np.concatenate(tree.levels)
    slot = np.empty(tree.n_nodes, np.int64)
    slot[order] = np.arange(tree.n_nodes)
    kind, column = tree.kind[order], np.searchsorted(tested, np.maximum(tree.attribute[order], 0))
    signs = np.zeros(tree.n_nodes, np.dtype([("threshold", word), ("column", "i4"), ("first", "i4")]))
    signs["threshold"] = _not_above(tree.threshold[order], word)
    signs["column"] = np.where((kind == THRESHOLD) | (kind == LEAF), column, ~column)
    inner = order[kind != LEAF]
    signs["first"][kind != LEAF] = slot[tree.branch[tree.branch_start[inner]]]
    n_branches, n_values = np.diff(tree.branch_start)[order], np.diff(tree.value_start)[order]
    return Steps(signs, n_branches, tree.value_start[order], n_values, tree.value_branch, order, slot)


def raise_over(steps: Steps, tops: Int64s, branches: Int64s) -> None:
    """Put branches into the slots of nodes above them."""
    slots, new = steps.slot_of[branches], steps.slot_of[tops]
    for array in (steps.signs, steps.n_branches, steps.value_first, steps.n_values):
        array[new] = array[slots]
    steps.node_of[new], steps.slot_of[branches] = branches, new


@compiled
def step_over(steps: Any, top: Any, branch: Any) -> None:
    """Put one branch into the slot of a node above it."""
    slot, new = steps.slot_of[branch], steps.slot_of[top]
    steps.signs[new] = steps.signs[slot]
    steps.n_branches[new], steps.n_values[new] = steps.n_branches[slot], steps.n_values[slot]
    steps.value_first[new] = steps.value_first[slot]
    steps.node_of[new], steps.slot_of[branch] = branch, new


def _not_above(threshold: npt.NDArray[np.float64], word: type[np.floating[Any]]) -> npt.NDArray[Any]:
    with np.errstate(over="ignore"):
        rounded = threshold.astype(word)
    above = rounded > threshold
    rounded[above] = np.nextafter(rounded[above], word(-np.inf))
    return rounded


@compiled
def branch_taken(value: Any, slot: Any, steps: Any) -> Any:
    """The branch that a value takes at a slot that is no leaf, NO_BRANCH for none."""
    sign = steps.signs[slot]
    if sign.column >= 0:
        return NO_BRANCH if value != value else np.int64(value > sign.threshold)
    code = np.int64(value)
    if code < 0 or code >= steps.n_values[slot]:
        return NO_BRANCH
    return np.int64(steps.value_branch[steps.value_first[slot] + code])


@compiled
def walk(cells: Any, cases: Any, start: Any, steps: Any, slots: Any, going: Any) -> None:
    """The slots that cases get to: leaves, or the first ones where their values have no branch.

    `going` is room for a number of each case.
    """
    signs, n = steps.signs, len(cases)
    for i in range(n):
        slots[i], going[i] = start, i
    if signs[start].first == 0:
        n = 0
    while n > 0:
        still = 0
        for j in range(n):
            i = going[j]
            slot = np.uint64(slots[i])
            sign = signs[slot]
            if sign.column >= 0:
                value = cells.floats[np.uint64(cells.start[np.uint64(sign.column)] + cases[i])]
                if value != value:
                    continue
                after = np.int64(sign.first) + np.int64(value > sign.threshold)
            else:
                code = cells.codes[np.uint64(cells.start[np.uint64(~sign.column)] + cases[i])]
                b = branch_taken(code, np.int64(slot), steps)
                if b == NO_BRANCH:
                    continue
                after = np.int64(sign.first) + b
            slots[i] = after
            going[still] = i
            still += signs[np.uint64(after)].first != 0
        n = still
