"""Send cases down a finished tree: a thread for each case, whole or divided, one launch for all rows.

A case whose value is known, or has a branch, takes it; otherwise it visits every branch that has weight, in order. So
the leaves come in their order, and their class frequencies are added in it. A thread remembers its share at each
depth and finds its way back by asking the parent again; there is no stack of nodes::

    node      0 -> 1 -> 2 (leaf)      up to 1: known there, up to 0: unknown there, next branch
    share     1    1/3  1/3
              0 -> 5 (leaf)           of weight[5] / weight[0]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import cuda, int64
from numba.cuda import libdevice

from c45gpu.data.devicearrays import on_device as is_on_device
from c45gpu.data.table import Table
from c45gpu.kernels.cpu_walk import row_type, tested_attributes
from c45gpu.kernels.cuda_counts import on_device
from c45gpu.kernels.cuda_device import Device
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.tree import LEAF, THRESHOLD, Tree

NO_BRANCH = -1
WALKERS = 1 << 16  # threads that walk at a time: enough for any card, and each remembers its shares
ROWS_AT_A_TIME = 1 << 22


class Paths(NamedTuple):
    """A tree as cases see it; attributes are numbered as the columns of the values."""

    kind: Any  # int8[n]
    column: Any  # int64[n]
    threshold: Any  # float64[n]
    branch_start: Any  # int64[n + 1]
    branch: Any  # int64[n - 1]; one longer
    value_start: Any  # int64[n + 1]
    value_branch: Any  # int32; one longer
    parent: Any  # int64[n]
    place: Any  # int64[n]: where `branch` holds the node
    weight: Any  # float64[n]
    frequency: Any  # float64[n, C]


@on_device
def branch_taken(node: Any, case: Any, values: Any, paths: Paths) -> Any:
    """The branch that a case takes at an inner node, NO_BRANCH for all."""
    value = np.float64(values[paths.column[node], case])
    if paths.kind[node] == THRESHOLD:
        side = int64(1) if value > paths.threshold[node] else int64(0)
        return int64(NO_BRANCH) if value != value else side
    start, code = paths.value_start[node], int64(value)
    if code < 0 or code >= paths.value_start[node + 1] - start:
        return int64(NO_BRANCH)
    return int64(paths.value_branch[start + code])


@on_device
def part_of(share: Any, branch: Any, node: Any, paths: Paths) -> Any:
    """A branch's part of the share of a case that its node does not know."""
    return libdevice.dmul_rn(share, paths.weight[branch]) / paths.weight[node]


@on_device
def next_branch(first: Any, node: Any, share: Any, paths: Paths) -> Any:
    """The place of a node's first branch from a place on that gets a part; that of its last one and 1 for none."""
    at = first
    while at < paths.branch_start[node + 1] and part_of(share, paths.branch[at], node, paths) <= 0.0:
        at += 1
    return at


@on_device
def climb(node: Any, depth: Any, case: Any, values: Any, paths: Paths, shares: Any) -> Any:
    """From a node that is done to the next one to visit, and its depth; depth 0 at the end."""
    while depth > 0:
        parent = paths.parent[node]
        if branch_taken(parent, case, values, paths) == NO_BRANCH:
            share = shares[depth - 1]
            at = next_branch(paths.place[node] + 1, parent, share, paths)
            if at < paths.branch_start[parent + 1]:
                shares[depth] = part_of(share, paths.branch[at], parent, paths)
                return paths.branch[at], depth
        node, depth = parent, depth - 1
    return node, depth


@on_device
def visit(case: Any, values: Any, paths: Paths, shares: Any, out: Any) -> None:
    """Add up the class frequencies at the leaves that a case reaches."""
    node, depth, going = int64(0), int64(0), True
    shares[0] = 1.0
    while going:
        done = paths.kind[node] == LEAF
        if done:
            for c in range(paths.frequency.shape[1]):
                out[case, c] += libdevice.dmul_rn(shares[depth], paths.frequency[node, c])
        else:
            taken, share = branch_taken(node, case, values, paths), shares[depth]
            at = paths.branch_start[node] + taken
            if taken == NO_BRANCH:
                at = next_branch(paths.branch_start[node], node, share, paths)
            done = at >= paths.branch_start[node + 1]
            if not done:
                depth += 1
                shares[depth] = part_of(share, paths.branch[at], node, paths) if taken == NO_BRANCH else share
                node = paths.branch[at]
        if done:
            node, depth = climb(node, depth, case, values, paths, shares)
            going = depth > 0


def route_cases(values: Any, paths: Paths, shares: Any, out: Any) -> None:
    """Class frequencies of all cases; `out` is 0 before, and `shares` has a row for each thread."""
    walker = cuda.grid(1)
    for case in range(walker, values.shape[1], cuda.gridsize(1)):
        visit(int64(case), values, paths, shares[walker], out)


def paths_of(device: Device, tree: Tree) -> tuple[Paths, npt.NDArray[np.int64]]:
    """The paths of a tree, and the schema numbers of the attributes that it tests, in the order of the columns."""
    tested = tested_attributes(tree)
    place = np.full(tree.n_nodes, -1, np.int64)
    place[tree.branch] = np.arange(len(tree.branch))
    arrays = Paths(
        kind=tree.kind,
        column=np.searchsorted(tested, np.maximum(tree.attribute, 0)).astype(np.int64),
        threshold=tree.threshold,
        branch_start=tree.branch_start,
        branch=np.append(tree.branch, 0),
        value_start=tree.value_start,
        value_branch=np.append(tree.value_branch, np.int32(0)),
        parent=tree.parent,
        place=place,
        weight=tree.weight,
        frequency=leaf_probabilities(tree),
    )
    return Paths(*map(device.up, arrays)), tested


def route(device: Device, tree: Tree, table: Table) -> npt.NDArray[np.float64]:
    """The same as :func:`c45gpu.model.predict.class_frequencies`, on a device."""
    paths, tested = paths_of(device, tree)
    out = np.empty((table.n_cases, tree.n_classes))
    word, threads = row_type(table, tested), device.sizes.threads
    for first in range(0, table.n_cases, ROWS_AT_A_TIME):
        stop = min(first + ROWS_AT_A_TIME, table.n_cases)
        values = device.xp.empty((max(1, len(tested)), stop - first), word)
        for row, attribute in enumerate(tested.tolist()):
            column = table.column_in_place(attribute)[first:stop]
            values[row] = column if is_on_device(column) else device.up(column)
        blocks = min(-(-(stop - first) // threads), max(1, WALKERS // threads))
        shares = device.xp.empty((blocks * threads, tree.depth + 1), np.float64)
        frequencies = device.xp.zeros((stop - first, tree.n_classes), np.float64)
        device.launch(route_cases, blocks, values, paths, shares, frequencies)
        out[first:stop] = device.down(frequencies)
    return out
