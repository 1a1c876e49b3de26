"""Small nodes, whose subtrees are finished by one worker each: which of them now, and what workers made together."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from c45gpu.kernels.level import Bools, Int64s, Subtrees

FINISH_ALONE = 1 << 15  # entries of a node for whose finishing, about two milliseconds, others may wait


def finished_now(counts: Int64s, entries_of_case: int, workers: int) -> Bools:
    """Which small nodes to finish now: not one that others would wait for; all are scored by all workers.

    Parameters
    ----------
    counts : ndarray of int64, shape (m,)
        Cases of each node.
    entries_of_case, workers : int
    """
    order = np.argsort(counts, kind="stable")
    ascending = counts[order]
    fine = (ascending * workers <= np.cumsum(ascending)) | (ascending * entries_of_case <= FINISH_ALONE)
    chosen = np.zeros(len(counts), np.bool_)
    chosen[order[: 1 + np.flatnonzero(fine).max(initial=-1)]] = True
    return chosen


def joined(parts: list[Subtrees]) -> Subtrees:
    """The subtrees that several workers finished, whose rows are numbered anew in place."""
    start = np.cumsum([0] + [len(part.parent) for part in parts])
    for part, offset in zip(parts, start, strict=False):
        part.parent[part.parent >= 0] += offset
    return Subtrees(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Subtrees)))
