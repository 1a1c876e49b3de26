"""The values of a discrete attribute in groups, at one node: what the groups tell, and what merging two changes.

Plain functions on rows of integers, lists or arrays, so that the host may compile them; what they do is in
:mod:`c45gpu.grouping`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from c45gpu.choose import Settings, net_gain, worth
from c45gpu.formulas import EPSILON, information_of, q_log_q
from c45gpu.measures import CHI2, CHI2_SCALE, ENTROPY, term


class Room(NamedTuple):
    """Memory for an attribute of V values and C classes; of groups only the first are in use."""

    totals: Any  # [C]: class weights of the known cases
    side: Any  # [V][C]: class weights of each group
    size: Any  # [V]: its weight
    inner: Any  # [V]: what is left to tell about its classes
    branch: Any  # [V]: H of its weight
    more_inner: Any  # [V][V]: by how much `inner` would be more for two groups together
    more_branch: Any  # [V][V]
    joined: Any  # [C]


class Here(NamedTuple):
    """What is the same for all tests of an attribute at a node."""

    weight: Any  # of the node, unknown values included
    known: Any
    base: Any  # what is left to tell without a test
    of_branches: Any  # the split information, but for the branches
    zero_bound: Any  # a gain up to this is 0
    gain_unit: Any  # float64: what a net gain of 1 is, about


def sum_of(row: Any) -> Any:
    """The weight of a row of class weights."""
    total = 0
    for c in range(len(row)):
        total += row[c]
    return total


def inner_of(side: Any, totals: Any, settings: Settings) -> Any:
    """What is left to tell about the classes of some cases, given the class weights of their node."""
    weight, inner = sum_of(side), 0
    if settings.measure == ENTROPY:
        inner = q_log_q(weight, settings.scale_bits)
    for c in range(len(side)):
        if side[c] == 0:
            continue  # most classes of most values
        if settings.measure == ENTROPY:
            inner -= q_log_q(side[c], settings.scale_bits)
        else:
            inner -= int(term(side[c], weight, totals[c], settings.measure, settings.scale))
    return inner


def split_of(here: Here, branches: Any, settings: Settings) -> Any:
    """Split information, given the sum of H over the branches; by chi-square the known weight stands there."""
    return here.known if settings.measure == CHI2 else here.of_branches - branches


def is_large(size: Any, settings: Settings) -> Any:
    """1 for the weight of a case or more, else 0."""
    return 1 * (size >= settings.case_units)


def sums_of_groups(n: Any, room: Room, settings: Settings) -> Any:
    """Of the first groups: what they leave to tell, the sum of H over them, and how many weigh a case or more."""
    inner, branches, large = 0, 0, 0
    for g in range(n):
        inner += room.inner[g]
        branches += room.branch[g]
        large += is_large(room.size[g], settings)
    return inner, branches, large


def take_value(g: Any, row: Any, room: Room, settings: Settings) -> None:
    """Make the cases of a value a group."""
    for c in range(len(row)):
        room.side[g][c] = row[c]
    weigh_group(g, room, settings)


def weigh_group(g: Any, room: Room, settings: Settings) -> None:
    """Bring the numbers of a group up to date with its class weights."""
    room.size[g] = sum_of(room.side[g])
    room.inner[g] = inner_of(room.side[g], room.totals, settings)
    room.branch[g] = q_log_q(room.size[g], settings.scale_bits)


def look_at(table: Any, weight: Any, zero_bound: Any, room: Room, settings: Settings) -> Here:
    """What is the same for all tests, all values being branches."""
    for c in range(len(room.totals)):
        room.totals[c] = 0
    for v in range(len(table)):
        for c in range(len(room.totals)):
            room.totals[c] += table[v][c]
    known = sum_of(room.totals)
    of_branches = q_log_q(weight, settings.scale_bits) - q_log_q(weight - known, settings.scale_bits)
    unit = weight * settings.scale if settings.measure != CHI2 else CHI2_SCALE * weight / max(known, 1)
    return Here(weight, known, inner_of(room.totals, room.totals, settings), of_branches, zero_bound, unit)


def judged(inner: Any, branches: Any, large: Any, here: Here, settings: Settings) -> Any:
    """Net gain, worth and split information of a test that leaves `inner` to tell; `large` branches weigh a case.

    No gain is too small here, unless it is below 0; `branches` is the sum of H over the branches.
    """
    split = split_of(here, branches, settings)
    net = -EPSILON
    if large >= 2:
        net = net_gain(here.weight, here.base - inner, split, 0, here.zero_bound, settings)
    return net, worth(net, information_of(split, here.weight, settings.scale), EPSILON, settings), split


def judged_groups(n: Any, here: Here, room: Room, settings: Settings) -> Any:
    """:func:`judged` with a branch for each of the first groups."""
    inner, branches, large = sums_of_groups(n, room, settings)
    return judged(inner, branches, large, here, settings)


def merge(one: Any, other: Any, n: Any, room: Room, branch_of: Any, settings: Settings) -> None:
    """Put the second group into the first, and the last of `n` groups in its place."""
    last = n - 1
    for c in range(len(room.totals)):
        room.side[one][c] += room.side[other][c]
        room.side[other][c] = room.side[last][c]
    weigh_group(one, room, settings)
    weigh_group(other, room, settings)
    for v in range(len(branch_of)):
        if branch_of[v] == other:
            branch_of[v] = one
        if branch_of[v] == last:
            branch_of[v] = other


def pair_up(one: Any, other: Any, room: Room, settings: Settings) -> None:
    """Note what changes if two groups are merged."""
    for c in range(len(room.totals)):
        room.joined[c] = room.side[one][c] + room.side[other][c]
    inner = inner_of(room.joined, room.totals, settings) - room.inner[one] - room.inner[other]
    branch = q_log_q(room.size[one] + room.size[other], settings.scale_bits) - room.branch[one] - room.branch[other]
    room.more_inner[one][other], room.more_inner[other][one] = inner, inner
    room.more_branch[one][other], room.more_branch[other][one] = branch, branch


def merge_pair(one: Any, other: Any, n: Any, room: Room, branch_of: Any, settings: Settings) -> None:
    """:func:`merge`, and keep what is noted of pairs up to date."""
    merge(one, other, n, room, branch_of, settings)
    for g in range(n - 1):
        if g != other:
            room.more_inner[g][other] = room.more_inner[other][g] = room.more_inner[g][n - 1]
            room.more_branch[g][other] = room.more_branch[other][g] = room.more_branch[g][n - 1]
    for g in range(n - 1):
        if g != one:
            pair_up(one, g, room, settings)


SHARED: Final = (
    sum_of,
    inner_of,
    split_of,
    judged,
    is_large,
    sums_of_groups,
    take_value,
    weigh_group,
    look_at,
    judged_groups,
    merge,
    pair_up,
    merge_pair,
)
