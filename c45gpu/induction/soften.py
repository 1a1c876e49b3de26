"""Where thresholds are soft: how far they could be moved before clearly more training cases were misclassified.

For each node with a threshold every case that reaches it by known values is classified twice, below either branch
(specification section 10). A case's own branch gives what the whole tree says of it; the other branch is asked for all
nodes of a depth at once, by a tree in which these have changed their branches over::

    as it is         <= 5   --> A         with the branches of this depth changed over     <= 5   --> B
                     >  5   --> B                                                          >  5   --> A
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Table
from c45gpu.kernels.level import Bools, Int64s, Problem
from c45gpu.model.predict import predicted_classes
from c45gpu.model.route import branches_taken
from c45gpu.model.soft import SoftThresholds
from c45gpu.model.tree import LEAF, THRESHOLD, Tree, ranges

Floats = npt.NDArray[np.float64]
Route = Callable[[Tree, Table], Floats]


class _Judged(NamedTuple):
    """Cases at the nodes of a depth, in the order of nodes and values, with their weights where they would be wrong."""

    node: Int64s
    value: Floats
    units: Int64s
    low: Int64s  # units, if the case is wrong below the low branch
    high: Int64s


def softened(tree: Tree, problem: Problem, route: Route) -> SoftThresholds:
    """The soft thresholds of a tree, by its training cases.

    With e(t) the errors if the threshold were t, a node that n cases reach has the limit
    ``e(threshold) + sqrt((e + 1/2) (n - e + 1/2) / (n + 1))``, one standard error more. Its bounds lie where e(t) would
    pass the limit, between two values linearly; or at the least and the greatest value.

    Parameters
    ----------
    tree : Tree
        Usually the pruned one.
    problem : Problem
        Its training cases. Their weights count.
    route : callable
        An engine's :meth:`~c45gpu.kernels.engine.Engine.route`.

    Returns
    -------
    SoftThresholds
    """
    lower = np.where(tree.kind == THRESHOLD, tree.threshold, np.nan)
    soft = SoftThresholds(lower, lower.copy())
    table = problem.table
    wrong = predicted_classes(route(tree, table)) != table.classes
    case, node = np.arange(table.n_cases), np.zeros(table.n_cases, np.int64)
    while len(case):
        inside = tree.kind[node] != LEAF
        case, node = case[inside], node[inside]
        branch = branches_taken(tree, table, node, case)
        case, node, branch = (x[branch >= 0] for x in (case, node, branch))
        asked = tree.kind[node] == THRESHOLD
        if asked.any():
            other = _wrong_otherwise(tree, table, np.unique(node[asked]), case[asked], route)
            judged = _judged(tree, problem, case[asked], node[asked], branch[asked], wrong[case[asked]], other)
            _set_bounds(soft, tree, judged, problem.settings.case_units)
        node = tree.branch[tree.branch_start[node] + branch]
    return soft


def _wrong_otherwise(tree: Tree, table: Table, nodes: Int64s, case: Int64s, route: Route) -> Bools:
    """Whether each case would be misclassified, if it took the other branch of whichever of the nodes it reaches."""
    everything = len(case) == table.n_cases
    cases = table if everything else table.take(case)
    wrong: Bools = predicted_classes(route(changed_over(tree, nodes), cases)) != cases.classes
    return wrong


def changed_over(tree: Tree, nodes: Int64s) -> Tree:
    """A tree in which some nodes of one depth, each with two branches, have changed them over."""
    first = tree.branch_start[nodes]
    low, high = tree.branch[first], tree.branch[first + 1]
    shift = np.zeros(tree.n_nodes + 1, np.int64)  # differences of how far nodes move
    for start, stop, by in ((low, high, tree.end[high] - high), (high, tree.end[high], low - high)):
        shift[start] += by
        shift[stop] -= by
    number = np.arange(tree.n_nodes) + np.cumsum(shift[:-1])
    order = np.argsort(number)
    branch = tree.branch.copy()
    branch[first], branch[first + 1] = high, low
    n_branches, n_values = np.diff(tree.branch_start)[order], np.diff(tree.value_start)[order]
    branch_first, value_first = tree.branch_start[order], tree.value_start[order]
    return Tree(
        kind=tree.kind[order],
        attribute=tree.attribute[order],
        threshold=tree.threshold[order],
        branch_start=np.concatenate([[0], np.cumsum(n_branches)]),
        branch=number[branch[ranges(branch_first, branch_first + n_branches)]],
        value_start=np.concatenate([[0], np.cumsum(n_values)]),
        value_branch=tree.value_branch[ranges(value_first, value_first + n_values)],
        label=tree.label[order],
        weight=tree.weight[order],
        errors=tree.errors[order],
        class_weights=tree.class_weights[order],
    )


def _judged(
    tree: Tree, problem: Problem, case: Int64s, node: Int64s, branch: Int64s, own: Bools, other: Bools
) -> _Judged:
    value = np.empty(len(case))
    for attribute in np.unique(tree.attribute[node]).tolist():
        here = tree.attribute[node] == attribute
        value[here] = problem.table.column(attribute)[case[here]]
    order = np.lexsort((value, node))
    units = problem.units[case]
    low, high = (units * np.where(branch == side, own, other) for side in (0, 1))
    return _Judged(node[order], value[order], units[order], low[order], high[order])


def _set_bounds(soft: SoftThresholds, tree: Tree, judged: _Judged, case_units: int) -> None:
    """Write the bounds of the nodes of a depth."""
    first_case = np.flatnonzero(np.diff(judged.node, prepend=-1))
    nodes = judged.node[first_case]
    cut, below = tree.threshold[nodes], judged.value <= tree.threshold[judged.node]
    base = np.add.reduceat(np.where(below, judged.low, judged.high), first_case) / case_units
    n = np.add.reduceat(judged.units, first_case) / case_units
    limit = base + np.sqrt((base + 0.5) * (n - base + 0.5) / (n + 1))
    step = _steps(judged, first_case, case_units)
    last = np.flatnonzero(np.diff(step.owner, append=-1))
    lower = np.minimum(cut, step.value[np.flatnonzero(np.diff(step.owner, prepend=-1))])
    upper = np.maximum(cut, step.value[last])
    a = np.flatnonzero(step.owner[:-1] == step.owner[1:])  # each value with a greater one at its node
    of, x, y, e, f = step.owner[a], step.value[a], step.value[a + 1], step.errors[a], step.errors[a + 1]
    falls = np.flatnonzero((y <= cut[of]) & (e > limit[of]) & (limit[of] >= f))[::-1]  # of several the first stays
    rises = np.flatnonzero((y > cut[of]) & (e <= limit[of]) & (limit[of] < f))  # of several the last
    lower[of[falls]] = (y - (y - x) * ((limit[of] - f) / np.where(e == f, 1.0, e - f)))[falls]
    upper[of[rises]] = (x + (y - x) * ((limit[of] - e) / np.where(e == f, 1.0, f - e)))[rises]
    soft.lower[nodes], soft.upper[nodes] = np.minimum(lower, cut), np.maximum(upper, cut)


class _Steps(NamedTuple):
    """The distinct values at the nodes of a depth, and how many errors there were if each were the threshold."""

    owner: Int64s  # the position of the node among those of the depth
    value: Floats
    errors: Floats


def _steps(judged: _Judged, first_case: Int64s, case_units: int) -> _Steps:
    new_node = np.zeros(len(judged.node), np.bool_)
    new_node[first_case] = True
    start = np.flatnonzero(new_node | (np.diff(judged.value, prepend=np.nan) != 0))
    owner = np.cumsum(new_node[start]) - 1
    gone_low = np.cumsum(np.add.reduceat(judged.low - judged.high, start))
    before = np.concatenate([[0], gone_low])[np.flatnonzero(new_node[start])]
    errors = np.add.reduceat(judged.high, first_case)[owner] + gone_low - before[owner]
    return _Steps(owner, judged.value[start], errors / case_units)
