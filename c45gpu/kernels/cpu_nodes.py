"""Score and mark the open nodes of a level that are too large to be finished in a cache; all values known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.choose import choose
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_entry import row_of
from c45gpu.kernels.cpu_finish import Scores, fill_histogram, score_one
from c45gpu.kernels.cpu_groups import regroup
from c45gpu.kernels.cpu_move import count_branches, mark_codes, mark_given, mark_list
from c45gpu.kernels.cpu_score import cut_range
from c45gpu.kernels.level import ELSEWHERE


class Nodes(NamedTuple):
    """Open nodes: where their cases lie in every list, and their class counts."""

    first: Any  # int64[m]
    count: Any  # int64[m]
    totals: Any  # int64[m, C]
    final: Any  # int64[m]: where the cases will lie in the order of leaves


class Marks(NamedTuple):
    """What :func:`mark_nodes` finds out about split nodes."""

    branch: Any  # by row
    counts: Any  # int64[slots, C]: cases of each branch by class
    below: Any  # int64[k]: of a list the row of the value, of codes the code itself
    above: Any  # int64[k]


@compiled
def score_nodes(lists: Any, nodes: Any, which: Any, columns: Any, context: Any, work: Any, out: Any) -> None:
    """Score some attributes at some nodes; `work` is room for a scan, and a histogram, empty if none has codes."""
    (layout, _, settings), (room, histogram) = context, work
    for m in range(len(nodes.first)):
        first, stop = nodes.first[m], nodes.first[m] + nodes.count[m]
        if len(histogram):
            fill_histogram(lists[len(lists) - 1, first:stop], layout, columns.codes, columns.code_first, histogram)
        scores = Scores(out.gain[m], out.split[m], out.tries[m], out.possible[m], out.cut[m])
        cuts = cut_range(nodes.count[m], settings)
        for w in range(len(which)):
            a = which[w]
            column = max(columns.code_of[a], 0)
            counts = histogram[columns.code_first[column] : columns.code_first[column + 1]]
            entries = lists[max(columns.list_of[a], 0), first:stop]
            score_one(a, entries, counts, nodes.totals[m], cuts, columns, context, room, scores)


@compiled
def choose_nodes(weight: Any, candidates: Any, facts: Any, settings: Any, chosen: Any) -> None:
    """What :func:`c45gpu.choose.choose` says for each node."""
    gain, split, tries, possible = candidates
    net = np.empty(gain.shape[1], np.float64)
    for m in range(len(weight)):
        chosen[m] = choose(weight[m], (gain[m], split[m], tries[m], possible[m]), facts, settings, net)


@compiled
def mark_nodes(
    lists: Any,
    nodes: Any,
    attribute: Any,
    cut: Any,
    groups: Any,
    slot_start: Any,
    columns: Any,
    layout: Any,
    marks: Any,
) -> None:
    """Mark the cases of split nodes by branch, and count them by branch and class."""
    group_start, group_branch = groups
    for s in range(len(attribute)):
        first, stop, a = nodes.first[s], nodes.first[s] + nodes.count[s], attribute[s]
        k, rows = columns.list_of[max(a, 0)], lists[len(lists) - 1, first:stop]
        if a == ELSEWHERE:
            mark_given(rows, layout, group_branch[group_start[s] : group_start[s + 1]], marks.branch)
        elif k >= 0 and columns.continuous[a]:
            mark_list(lists[k, first:stop], layout, cut[s], marks.branch)
            marks.below[s] = row_of(lists[k, first + cut[s] - 1], layout)
            marks.above[s] = row_of(lists[k, first + cut[s]], layout)
        elif k >= 0:
            mark_codes(rows, layout, columns.list_codes[columns.list_code_of[a]], -1, marks.branch)
        else:
            above = mark_codes(rows, layout, columns.codes[:, columns.code_of[a]], cut[s], marks.branch)
            if columns.continuous[a]:
                marks.below[s], marks.above[s] = cut[s], above
        if a != ELSEWHERE and group_start[s] < group_start[s + 1]:
            regroup(rows, layout, marks.branch, group_branch[group_start[s] : group_start[s + 1]])
        count_branches(rows, layout, marks.branch, marks.counts[slot_start[s] : slot_start[s + 1]])


@compiled
def read_marks(lists: Any, nodes: Any, layout: Any, marks: Any, branch: Any) -> None:
    """Write the marks of the nodes' cases one node after the other."""
    at = 0
    for s in range(len(nodes.first)):
        for i in range(nodes.first[s], nodes.first[s] + nodes.count[s]):
            branch[at] = marks[row_of(lists[len(lists) - 1, i], layout)]
            at += 1
