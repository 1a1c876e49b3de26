"""Class frequencies of cases to be predicted: whole ones walk, fractional ones follow all branches.

The values of some cases at a time are copied to where a core's cache holds them; codes of discrete values are floats
among the others, -1 for unknown, as NaN is for a continuous value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_cells import cells_of_rows
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_walk import (
    ABREAST,
    NO_BRANCH,
    ROWS_AT_A_TIME,
    branch_taken,
    row_type,
    steps_of,
    tested_attributes,
    walk,
)
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.tree import Tree


@compiled
def _spread(row: Any, start: Any, steps: Any, weight: Any, frequency: Any, stack: Any, shares: Any, out: Any) -> None:
    """Add up the class frequencies of all leaves that a case reaches from a slot on, in the order of leaves."""
    stack[0], shares[0], top = start, 1.0, 1
    while top > 0:
        top -= 1
        slot, share = stack[top], shares[top]
        sign = steps.signs[slot]
        if sign.first == 0:
            for c in range(len(out)):
                out[c] += share * frequency[slot, c]
            continue
        b = branch_taken(row[sign.column if sign.column >= 0 else ~sign.column], slot, steps)
        if b != NO_BRANCH:
            stack[top] = sign.first + b
            top += 1
            continue
        for i in range(steps.n_branches[slot] - 1, -1, -1):
            branch = np.int64(sign.first) + i
            part = share * weight[branch] / weight[slot]
            if part > 0:
                stack[top], shares[top] = branch, part
                top += 1


@compiled
def route_rows(rows: Any, cells: Any, steps: Any, leaves: Any, stack: Any, shares: Any, out: Any) -> None:
    """Class frequencies of some cases; `leaves` is weights and frequencies by slot."""
    weight, frequency = leaves
    cases = np.arange(len(out), dtype=np.int32)
    slots, going = np.empty(ABREAST, np.int64), np.empty(ABREAST, np.int64)
    for first in range(0, len(out), ABREAST):
        abreast = cases[first : first + ABREAST]
        walk(cells, abreast, 0, steps, slots, going)
        for k in range(len(abreast)):
            i, slot = first + k, slots[k]
            if steps.signs[slot].first == 0:
                for c in range(out.shape[1]):
                    out[i, c] = frequency[slot, c]
            else:
                out[i, :] = 0.0
                _spread(rows[i], slot, steps, weight, frequency, stack, shares, out[i])


def route(tree: Tree, table: Table, crew: Crew) -> npt.NDArray[np.float64]:
    """The same as :func:`c45gpu.model.predict.class_frequencies`, on all workers."""
    tested = tested_attributes(tree)
    word = row_type(table, tested)
    steps = steps_of(tree, tested, word)
    out = np.empty((table.n_cases, tree.n_classes))
    weight, frequency = tree.weight[steps.node_of], leaf_probabilities(tree)[steps.node_of]

    def job(first: int, stop: int) -> None:
        # by column, since all is in cache anyhow, and copied there faster; two at least, or numba sees another layout
        rows = np.empty((max(2, stop - first), max(2, len(tested))), word, order="F")
        for k, a in enumerate(tested.tolist()):
            rows[: stop - first, k] = table.column(a)[first:stop]
        stack, shares = np.empty(tree.n_nodes + 1, np.int64), np.empty(tree.n_nodes + 1)
        route_rows(rows, cells_of_rows(rows), steps, (weight, frequency), stack, shares, out[first:stop])

    starts = range(0, table.n_cases, ROWS_AT_A_TIME)
    crew.run(job, [(first, min(first + ROWS_AT_A_TIME, table.n_cases)) for first in starts])
    return out
