"""Who gets what: attributes and small nodes in shares that take about equally long."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from c45gpu.kernels.level import Int64s


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


def grouped(weights: Int64s, enough: int) -> list[Int64s]:
    """Things in groups that weigh so much at most, or are of one; the heaviest first."""
    order = np.argsort(-weights, kind="stable")
    groups: list[Int64s] = []
    first, weight = 0, 0
    for i, thing in enumerate(order.tolist()):
        weight += int(weights[thing])
        if weight > enough and i > first:
            groups.append(order[first:i])
            first, weight = i, int(weights[thing])
    return [np.sort(group) for group in [*groups, order[first:]] if len(group)]
