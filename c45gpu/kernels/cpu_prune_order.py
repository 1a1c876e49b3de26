"""The order of cases by leaf, leaves in preorder: growing leaves it behind, and pruning starts from it.

A node's cases have a range of their own in it from the start, and each branch a part of the node's, so that a leaf's
cases can be written as soon as it is known to be one::

    order     |          node A            |
              | leaf  |      node B        |       no order within a leaf
              | leaf  | leaf  |   node C   |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_entry import row_of
from c45gpu.kernels.cpu_move import DROPPED
from c45gpu.kernels.cpu_walk import branch_taken


@compiled
def note_whole(rows: Any, layout: Any, originals: Any, order: Any) -> None:
    """Write all cases of a row list; `originals` are the rows that its numbers stand for, none if they are rows."""
    for i in range(len(rows)):
        row = row_of(rows[i], layout)
        order[i] = originals[row] if len(originals) else np.int64(row)


@compiled
def note_leaves(rows: Any, layout: Any, marks: Any, places: Any, position: Any, originals: Any, order: Any) -> None:
    """Write the cases of the branches that have no place, from `position` on, which moves to where they end."""
    for i in range(len(rows)):
        row = row_of(rows[i], layout)
        b = np.int64(marks[row])
        if places[b] == DROPPED:
            order[position[b]] = originals[row] if len(originals) else np.int64(row)
            position[b] += 1


@compiled
def note_closed(lists: Any, nodes: Any, layout: Any, order: Any) -> None:
    """Write the cases of nodes that are not split."""
    rows, none = lists[len(lists) - 1], np.empty(0, np.int64)
    for m in range(len(nodes.first)):
        here = rows[nodes.first[m] : nodes.first[m] + nodes.count[m]]
        note_whole(here, layout, none, order[nodes.final[m] : nodes.final[m] + nodes.count[m]])


@compiled
def note_split(lists: Any, nodes: Any, layout: Any, marks: Any, slots: Any, order: Any) -> None:
    """Write the cases of those branches of split nodes that are leaves.

    `slots` holds where each node's slots start, the places of slots (none for a leaf), and where they start in `order`.
    """
    rows, none = lists[len(lists) - 1], np.empty(0, np.int64)
    start, places, final = slots
    for m in range(len(nodes.first)):
        here = places[start[m] : start[m + 1]]
        if (here == DROPPED).any():
            some = rows[nodes.first[m] : nodes.first[m] + nodes.count[m]]
            note_leaves(some, layout, marks, here, final[start[m] : start[m + 1]], none, order)


@compiled
def order_by_leaf(leaves: Any, cases: Any, before: Any, order: Any) -> None:
    """Counting sort; `before` gets the number of cases at leaves below each number, one entry more than nodes."""
    before[:] = 0
    for i in range(len(leaves)):
        before[leaves[i] + 1] += 1
    for node in range(1, len(before)):
        before[node] += before[node - 1]
    at = before.copy()
    for i in range(len(leaves)):
        order[at[leaves[i]]] = cases[i]
        at[leaves[i]] += 1


@compiled
def gather(values: Any, order: Any, out: Any) -> None:
    """Write values in an order."""
    for i in range(len(order)):
        out[i] = values[np.uint64(order[i])]


@compiled
def all_take(nodes: Any, cells: Any, standing: Any, steps: Any) -> Any:
    """Whether, at each of some inner nodes, all cases that lie below a branch take it; cases are numbered in order."""
    _, before, end = standing
    for i in range(len(nodes)):
        slot = steps.slot_of[nodes[i]]
        sign = steps.signs[slot]
        start = cells.start[sign.column if sign.column >= 0 else ~sign.column]
        for b in range(steps.n_branches[slot]):
            branch, others = steps.node_of[sign.first + b], 0
            first, stop = start + before[branch], start + before[end[branch]]
            if sign.column < 0:
                codes = cells.codes[first:stop]
                for j in range(len(codes)):
                    others += branch_taken(codes[j], slot, steps) != b
            elif b == 0:
                values = cells.floats[first:stop]
                for j in range(len(values)):
                    others += not values[j] <= sign.threshold
            else:
                values = cells.floats[first:stop]
                for j in range(len(values)):
                    others += not values[j] > sign.threshold
            if others:
                return False
    return True
