"""Who gets what: attributes and small nodes in shares that take about equally long."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.level import Int64s

GROUPS_OF_A_WORKER = 2  # of what is left, the largest group there may be


def balanced(costs: npt.NDArray[np.float64], speeds: list[int]) -> list[Int64s]:
    """Divide things among workers, the costliest first, each to the one that will be done with it soonest.

    Parameters
    ----------
    costs : ndarray of float64, shape (n,)
    speeds : list of int
        Of each worker, its threads.

    Returns
    -------
    list of ndarray of int64
        For each worker the numbers of its things, in ascending order.
    """
    shares: list[list[int]] = [[] for _ in speeds]
    heap = [(0.0, w) for w in range(len(speeds))]
    for thing in np.argsort(-costs, kind="stable").tolist():
        load, w = heapq.heappop(heap)
        shares[w].append(thing)
        heapq.heappush(heap, (load + float(costs[thing]) / speeds[w], w))
    return [np.array(sorted(share), np.int64) for share in shares]


def grouped(weights: Int64s, workers: int, least: int) -> list[Int64s]:
    """Put things into groups that workers take one after the other, the heaviest first.

    Groups get smaller towards the end, so that all workers end at about the same time.

    Parameters
    ----------
    weights : ndarray of int64, shape (n,)
    workers : int
    least : int
        What a group may always weigh.

    Returns
    -------
    list of ndarray of int64
        The numbers of each group's things, in ascending order.
    """
    groups: list[Int64s] = []
    order = np.argsort(-weights, kind="stable")
    ends = np.cumsum(weights[order])
    first, done = 0, 0
    while first < len(order):
        most = max(least, (int(ends[-1]) - done) // (GROUPS_OF_A_WORKER * workers))
        stop = max(first + 1, int(np.searchsorted(ends, done + most, side="right")))
        groups.append(np.sort(order[first:stop]))
        first, done = stop, int(ends[stop - 1])
    return groups
