"""Tests of a discrete attribute that put several values on one branch.

Groups of values (specification section 7): every value that occurs is a group at first; groups of one and the same
class are merged, then that pair is merged, again and again, that makes the best test. Or one value against all others.

    values    v0   v1   v2   v3   v4          a table has a row for each value, a column for each class,
    groups    0    1    0    2    -           in units of the known cases of a node
    branch    0    1    0    2    3           values that hardly occur share a branch behind those of the groups

Everything is a plain function on rows of integers, lists or arrays, so the host may compile it; gain and worth are
judged by :mod:`c45gpu.choose`.
"""

from __future__ import annotations

from typing import Any, Final

from c45gpu.choose import Settings, branch_counts
from c45gpu.formulas import EPSILON, q_log_q
from c45gpu.partition import (
    Here,
    Room,
    inner_of,
    is_large,
    judged,
    judged_groups,
    look_at,
    merge,
    merge_pair,
    pair_up,
    split_of,
    sum_of,
    sums_of_groups,
    take_value,
)

NO_GROUPS: Final = 0  # the ways to test a discrete attribute: a branch for each value,
GROUPS: Final = 1  # for each group of values,
ONE_VALUE: Final = 2  # or one value against all others

NONE: Final = -1
RARE: Final = -1  # the group of a value that hardly occurs
NEARLY: Final = 1.0 - 1e-9  # of a worth: less by far more than rounding
IMPROVEMENT: Final = 1e-5  # two groups are merged if the test is worth so much more (specification section 13.4)


def group_values(table: Any, weight: Any, zero_bound: Any, settings: Settings, room: Room, branch_of: Any) -> Any:
    """The test on groups of values.

    Parameters
    ----------
    table : rows of int, V times C
        Units of the known cases of each value and class.
    weight : int
        Units of the node, unknown values included.
    zero_bound : int
        See :class:`c45gpu.choose.Facts`.
    settings : Settings
    room : Room
    branch_of : sequence of int, V
        The branch of each value, to be filled in.

    Returns
    -------
    gain, split : int
        As in :class:`c45gpu.kernels.level.Candidates`.
    possible : bool
    """
    here = look_at(table, weight, zero_bound, room, settings)
    for v in range(len(table)):
        take_value(v, table[v], room, settings)
    best = judged_groups(len(table), here, room, settings)
    n_values = start_groups(table, room, branch_of, settings)
    n = merge_pure_groups(n_values, room, branch_of, settings)
    here = without_rare(here, n, room, settings)
    if n < n_values:
        best = judged_groups(n, here, room, settings)
    n, best = merge_by_worth(n, best, here, room, branch_of, settings)
    _, value, split = best
    if value <= 0:
        return 0, split, False
    gain, ample, rare = here.base, 0, here.known
    for g in range(n):
        gain -= room.inner[g]
        ample += branch_counts(room.size[g], settings)
        rare -= room.size[g]
    ample += min(0, branch_counts(rare, settings))  # the branch of rare values may be too light, but is never ample
    for v in range(len(branch_of)):
        if branch_of[v] == RARE:
            branch_of[v] = n
    return gain, split, ample >= 2


def start_groups(table: Any, room: Room, branch_of: Any, settings: Settings) -> Any:
    """Make every value that more than half a case has a group; returns how many. The other values are RARE."""
    n = 0
    for v in range(len(table)):
        branch_of[v] = RARE
        if 2 * sum_of(table[v]) > settings.case_units:
            take_value(n, table[v], room, settings)
            branch_of[v] = n
            n += 1
    return n


def without_rare(here: Here, n: Any, room: Room, settings: Settings) -> Here:
    """The split information when the cases of rare values are on no branch."""
    held, unknown = here.weight - here.known, here.weight - here.known
    for g in range(n):
        held += room.size[g]
    of_branches = q_log_q(held, settings.scale_bits) - q_log_q(unknown, settings.scale_bits)
    return Here(here.weight, here.known, here.base, of_branches, here.zero_bound, here.gain_unit)


def is_pure(side: Any, size: Any, c: Any, settings: Settings) -> Any:
    """Whether all cases but a tenth of one are of a class."""
    return 10 * (size - side[c]) <= settings.case_units


def merge_pure_groups(n: Any, room: Room, branch_of: Any, settings: Settings) -> Any:
    """Merge groups of one and the same class; returns how many are left."""
    one = 0
    while one < n - 1:
        c = 0
        while c < len(room.totals) - 1 and 10 * room.side[one][c] < settings.case_units:
            c += 1
        if is_pure(room.side[one], room.size[one], c, settings):
            other = one + 1
            while other < n:
                if is_pure(room.side[other], room.size[other], c, settings):
                    merge(one, other, n, room, branch_of, settings)
                    n -= 1
                else:
                    other += 1
        one += 1
    return n


def merge_by_worth(n: Any, best: Any, here: Here, room: Room, branch_of: Any, settings: Settings) -> Any:
    """Merge pairs of groups as long as that makes a better test, or must be; returns how many are left, and it."""
    for one in range(n):
        for other in range(one + 1, n):
            pair_up(one, other, room, settings)
    least = best[0] / 2
    while n > 2:
        ample, heaviest = 0, 0
        for g in range(n):
            ample += 1 * (room.size[g] >= settings.min_units)
            if room.size[g] > room.size[heaviest]:
                heaviest = g
        must = (not settings.ratio) | (ample < 2)
        one, other, pair = best_pair(n, NONE if ample >= 3 else heaviest, must, least, here, room, settings)
        if not must and (one == NONE or pair[1] < best[1] + IMPROVEMENT):
            break
        merge_pair(one, other, n, room, branch_of, settings)
        n, best = n - 1, pair
    return n, best


def best_pair(n: Any, barred: Any, must: Any, least: Any, here: Here, room: Room, settings: Settings) -> Any:
    """The pair of groups that makes the best test when merged, and the test; the pair is NONE if there is none.

    A pair is taken in the place of one before it if it is worth as much, or if only it has the `least` gain.
    """
    inner, branches, large = sums_of_groups(n, room, settings)
    best, best_one, best_other, floor = (-EPSILON, 0.0, 0), NONE, NONE, 0.0
    for one in range(n - 1):
        more_inner, more_branch = room.more_inner[one], room.more_branch[one]
        for other in range(one + 1, n):
            left, of_pair = inner + more_inner[other], branches + more_branch[other]
            if one == barred or other == barred or falls_short(here.base - left, of_pair, floor, here, settings):
                continue
            lost = is_large(room.size[one], settings) + is_large(room.size[other], settings)
            ample = large - lost + is_large(room.size[one] + room.size[other], settings)
            found = judged(left, of_pair, ample, here, settings)
            first = must & (best_one == NONE)
            if first | (found[1] >= best[1]) | ((found[0] >= least) & (best[0] < least)):
                best, best_one, best_other = found, one, other
                floor = NEARLY * best[1] if best[0] >= least else 0.0
    return best_one, best_other, best


def falls_short(gain: Any, branches: Any, floor: Any, here: Here, settings: Settings) -> Any:
    """Whether a test is worth less than a floor above 0 for sure: for most that is all that there is to know."""
    if floor <= 0:
        return False
    if settings.ratio:
        return gain < floor * (here.of_branches - branches)
    return gain < floor * here.gain_unit


def one_against_all(table: Any, weight: Any, zero_bound: Any, settings: Settings, room: Room, branch_of: Any) -> Any:
    """The test on one value (branch 0) that gains most, of equals the first; see :func:`group_values`."""
    here = look_at(table, weight, zero_bound, room, settings)
    best, best_inner, best_split = NONE, 0, 0
    for v in range(len(table)):
        size = sum_of(table[v])
        rest = here.known - size
        if branch_counts(size, settings) + branch_counts(rest, settings) >= 2:
            for c in range(len(room.totals)):
                room.joined[c] = room.totals[c] - table[v][c]
            inner = inner_of(table[v], room.totals, settings) + inner_of(room.joined, room.totals, settings)
            if best == NONE or inner < best_inner:
                branches = q_log_q(size, settings.scale_bits) + q_log_q(rest, settings.scale_bits)
                best, best_inner, best_split = v, inner, split_of(here, branches, settings)
    for v in range(len(branch_of)):
        branch_of[v] = 1 * (v != best)
    return here.base - best_inner, best_split, best != NONE


def group_nodes(
    tables: Any, weight: Any, zero_bound: Any, way: Any, settings: Settings, room: Room, found: Any
) -> None:
    """The test of one attribute at each of some nodes.

    Parameters
    ----------
    tables : sequence of tables, one for each node
    weight : sequence of int
        Of each node.
    zero_bound : int
    way : int
        GROUPS or ONE_VALUE.
    settings : Settings
    room : Room
    found : tuple
        What :func:`group_values` returns of each node, and the branch of each value there: to be filled in.
    """
    gain, split, possible, branch_of = found
    for m in range(len(weight)):
        if way == GROUPS:
            test = group_values(tables[m], weight[m], zero_bound, settings, room, branch_of[m])
        else:
            test = one_against_all(tables[m], weight[m], zero_bound, settings, room, branch_of[m])
        gain[m], split[m], possible[m] = test


SHARED: Final = (
    group_values,
    start_groups,
    without_rare,
    is_pure,
    merge_pure_groups,
    merge_by_worth,
    best_pair,
    falls_short,
    one_against_all,
)
