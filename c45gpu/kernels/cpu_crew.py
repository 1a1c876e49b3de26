"""Workers: plain threads that run kernels without Python's lock, and how work is cut into tasks for them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from c45gpu.kernels.level import Int64s

LEAST_TASK = 1 << 12  # cases: less work is done sooner than handed to another thread
TASKS_PER_WORKER = 4  # so that workers end at about the same time
LISTS_PER_WORKER = 16  # groups of lists: handing a task over takes as long as scanning or sorting a thousand entries


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Crew:
    """A number of workers.

    Which worker does which task cannot change a result: sums are of integers, and tasks write to places of their own.

    Parameters
    ----------
    size : int, optional
        How many; all :func:`cores` if absent.
    """

    def __init__(self, size: int | None = None) -> None:
        self.size = size or cores()
        self.pool = ThreadPoolExecutor(self.size, thread_name_prefix="c45gpu")

    def run(self, job: Callable[..., Any], tasks: list[tuple[Any, ...]]) -> list[Any]:
        """Do a job for each tuple of arguments; results in their order."""
        if len(tasks) == 1 or self.size == 1:
            return [job(*task) for task in tasks]
        return [future.result() for future in [self.pool.submit(job, *task) for task in tasks]]

    def shares(self, counts: Int64s, groups: int = 1) -> list[slice]:
        """Cut nodes into runs of about equally many cases, enough for all workers if each is done `groups` times."""
        ends = np.cumsum(counts)
        if not len(ends):
            return []
        wanted = min(-(-TASKS_PER_WORKER * self.size // groups), 1 + int(ends[-1]) // LEAST_TASK)
        cuts = np.searchsorted(ends, ends[-1] * np.arange(1, wanted) / wanted) + 1
        edges = np.unique(np.concatenate([[0], np.minimum(cuts, len(counts)), [len(counts)]]))
        return [slice(int(a), int(b)) for a, b in pairwise(edges)]

    def groups(self, lists: Int64s) -> list[Int64s]:
        """Lists in groups, each for one task: of one where there are few, more where there are many."""
        return [group for group in np.array_split(lists, LISTS_PER_WORKER * self.size) if len(group)]

    def dismiss(self) -> None:
        """End the threads."""
        self.pool.shutdown()
