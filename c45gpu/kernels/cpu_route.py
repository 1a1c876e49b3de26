"""Send cases down a finished tree: whole ones walk, fractional ones follow all branches.

Cases lie in rows here, so that a walk finds the values it asks for near each other; codes of discrete values are
floats among the others, -1 for unknown, as NaN is for a continuous value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.tree import LEAF, THRESHOLD, Tree

NO_BRANCH = -1
ABREAST = 16  # enough to hide a visit to the second cache
ROWS_IN_FIRST_CACHE = 1 << 9  # written a column at a time, every line of them is written once for each column
ROWS_AT_A_TIME = 1 << 13  # of some thirty attributes they fit a core's second cache


SIGN = np.dtype([("threshold", "f8"), ("first", "i8"), ("column", "i4"), ("kind", "i4")])


class Paths(NamedTuple):
    """The fields of a tree that lead a case; attributes are numbered as the columns of the rows.

    What every step reads stands in one record, so that a step costs one visit to memory, and one for the branch.
    """

    signs: Any  # SIGN[n]: `first` is where `branch` holds the node's branches
    branch: Any  # int64[n - 1]
    branch_start: Any  # int64[n + 1]
    value_start: Any  # int64[n + 1]
    value_branch: Any  # int32


def paths_of(tree: Tree) -> tuple[Paths, npt.NDArray[np.int64]]:
    """The paths of a tree, and the schema numbers of the attributes that it tests, in the order of the columns."""
    tested = np.unique(tree.attribute[tree.kind != LEAF]).astype(np.int64)
    column = np.searchsorted(tested, np.maximum(tree.attribute, 0)).astype(np.int32)
    signs = np.empty(tree.n_nodes, SIGN)
    signs["threshold"], signs["first"] = tree.threshold, tree.branch_start[:-1]
    signs["column"], signs["kind"] = column, tree.kind
    return Paths(signs, tree.branch, tree.branch_start, tree.value_start, tree.value_branch), tested


def row_type(table: Table, attributes: npt.NDArray[np.int64]) -> type[np.floating[Any]]:
    """float32 if it holds every value of some attributes exactly, else float64."""
    columns = [table.column(int(a)) for a in attributes]
    exact = all(c.dtype == np.float32 or (c.dtype.kind == "i" and c.max(initial=0) < 1 << 24) for c in columns)
    return np.float32 if exact else np.float64


def fill_rows(table: Table, attributes: npt.NDArray[np.int64], first: int, rows: npt.NDArray[Any]) -> None:
    """Write the values of some attributes into rows of cases, from case `first` on."""
    columns = [table.column(a) for a in attributes.tolist()]
    for start in range(0, len(rows), ROWS_IN_FIRST_CACHE):
        some = rows[start : start + ROWS_IN_FIRST_CACHE]
        for k, column in enumerate(columns):
            some[:, k] = column[first + start : first + start + len(some)]


@compiled
def branch_taken(value: Any, node: Any, paths: Any) -> Any:
    """The branch that a value takes at an inner node, NO_BRANCH for none."""
    sign = paths.signs[node]
    if sign.kind == THRESHOLD:
        return NO_BRANCH if value != value else np.int64(value > sign.threshold)
    start = paths.value_start[node]
    code = np.int64(value)
    if code < 0 or code >= paths.value_start[node + 1] - start:
        return NO_BRANCH
    return np.int64(paths.value_branch[start + code])


@compiled
def walk_abreast(rows: Any, cases: Any, start: Any, paths: Any, nodes: Any) -> None:
    """The nodes that a few cases get to: leaves, or the first nodes where their values have no branch.

    They go down side by side, so that none waits for the memory that another's step asks for.
    """
    nodes[: len(cases)] = start
    moved = True
    while moved:
        moved = False
        for i in range(len(cases)):
            node = nodes[i]
            sign = paths.signs[node]
            if sign.kind != LEAF:
                b = branch_taken(rows[cases[i], sign.column], node, paths)
                if b != NO_BRANCH:
                    nodes[i] = paths.branch[sign.first + b]
                    moved = True


@compiled
def _spread(row: Any, start: Any, paths: Any, weight: Any, frequency: Any, stack: Any, shares: Any, out: Any) -> None:
    """Add up the class frequencies of all leaves that a case reaches from a node on, in the order of leaves."""
    stack[0], shares[0], top = start, 1.0, 1
    while top > 0:
        top -= 1
        node, share = stack[top], shares[top]
        if paths.signs[node].kind == LEAF:
            for c in range(len(out)):
                out[c] += share * frequency[node, c]
            continue
        b = branch_taken(row[paths.signs[node].column], node, paths)
        first, stop = paths.branch_start[node], paths.branch_start[node + 1]
        if b != NO_BRANCH:
            stack[top] = paths.branch[first + b]
            top += 1
            continue
        for i in range(stop - 1, first - 1, -1):
            branch = paths.branch[i]
            part = share * weight[branch] / weight[node]
            if part > 0:
                stack[top], shares[top] = branch, part
                top += 1


@compiled
def route_rows(rows: Any, paths: Any, weight: Any, frequency: Any, stack: Any, shares: Any, out: Any) -> None:
    """Class frequencies of some cases."""
    cases, nodes = np.arange(len(rows)), np.empty(ABREAST, np.int64)
    for first in range(0, len(rows), ABREAST):
        abreast = cases[first : first + ABREAST]
        walk_abreast(rows, abreast, 0, paths, nodes)
        for k in range(len(abreast)):
            i, node = abreast[k], nodes[k]
            if paths.signs[node].kind == LEAF:
                out[i, :] = frequency[node]
            else:
                out[i, :] = 0.0
                _spread(rows[i], node, paths, weight, frequency, stack, shares, out[i])


def route(tree: Tree, table: Table, crew: Crew) -> npt.NDArray[np.float64]:
    """The same as :func:`c45gpu.model.predict.class_frequencies`, on all workers."""
    paths, tested = paths_of(tree)
    out, word = np.empty((table.n_cases, tree.n_classes)), row_type(table, tested)
    frequency = leaf_probabilities(tree)

    def job(first: int, stop: int) -> None:
        rows = np.empty((stop - first, len(tested)), word)
        fill_rows(table, tested, first, rows)
        stack, shares = np.empty(tree.n_nodes + 1, np.int64), np.empty(tree.n_nodes + 1)
        route_rows(rows, paths, tree.weight, frequency, stack, shares, out[first:stop])

    starts = range(0, table.n_cases, ROWS_AT_A_TIME)
    crew.run(job, [(first, min(first + ROWS_AT_A_TIME, table.n_cases)) for first in starts])
    return out
