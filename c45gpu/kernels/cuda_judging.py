"""What the host is told of the splits of a level, and which of their branches it finds open."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c45gpu.choose import is_leaf
from c45gpu.kernels.cuda_level import Level, Training
from c45gpu.kernels.cuda_scoring import ranks_of_cuts
from c45gpu.kernels.cuda_splitting import Marked
from c45gpu.kernels.level import Bools, Int64s, Splits


class Divided(NamedTuple):
    """What the branches got, on the host.

    Attributes
    ----------
    held : ndarray of int64, shape (m,)
        The slots that hold cases.
    split, branch : ndarray of int64, shape (m,)
        Of these.
    units : ndarray of int64, shape (m, C)
    is_open : ndarray of bool, shape (m,)
    """

    held: Int64s
    split: Int64s
    branch: Int64s
    units: Int64s
    is_open: Bools


class Division(NamedTuple):
    """What moving the cases needs to know.

    Attributes
    ----------
    spread : int
        New numbers of instances with an unknown value.
    arrived : ndarray of int64, shape (slots,)
        Instances of each slot.
    kept : ndarray of int64, shape (open,)
        The slots that are open.
    class_weights : ndarray of int64, shape (open, C)
    lengths : ndarray of int64, shape (n_lists, slots)
        The entries of each list that go to each slot.
    parent, siblings : ndarray of int64, shape (open,)
        The node that is split, and how many of its branches hold cases.
    is_flawed : ndarray of bool, shape (open,)
        It has a case with an unknown code.
    """

    spread: int
    arrived: Int64s
    kept: Int64s
    class_weights: Int64s
    lengths: Int64s
    parent: Int64s
    siblings: Int64s
    is_flawed: Bools


class Told(NamedTuple):
    """What the host is told of splits: of the first slots only, if it did not ask for more.

    Attributes
    ----------
    slots : ndarray of int64, shape (slots, C + 1)
        As in :class:`c45gpu.kernels.cuda_mark.Totals`.
    flawed : ndarray of int64, shape (slots,) or (0,)
    lengths : ndarray of int64, shape (n_lists, slots) or (0, slots)
        Entries of each list; without a row where there are as many as instances.
    below, above : ndarray of int64, shape (splits,)
        The cases on both sides of a cut of a list, else -1.
    spread : int
    """

    slots: Int64s
    flawed: Int64s
    lengths: Int64s
    below: Int64s
    above: Int64s
    spread: int


def of_slots(marked: Marked, lengths: Any, first: int, stop: int) -> list[Any]:
    """Device arrays that tell of the slots first..stop-1; see :func:`told_of_slots`."""
    cells, width = marked.totals
    return [cells[first * width : stop * width], marked.flawed[first:stop], lengths[:, first:stop].ravel()]


def told_of_slots(found: list[Any], n_classes: int) -> tuple[Int64s, Int64s, Int64s]:
    """The first three of :class:`Told`."""
    slots, flawed, lengths = found
    slots = slots.reshape(-1, n_classes + 1)
    return slots, flawed, lengths.reshape(-1, len(slots)) if len(slots) else lengths.reshape(0, 0)


def judged(
    training: Training, level: Level, splits: Splits, slot_start: Int64s, told: Told, dropped: Bools | None = None
) -> tuple[Divided, Division]:
    """Decide which branches are open.

    Parameters
    ----------
    training : Training
    level : Level
    splits : Splits
    slot_start : ndarray of int64, shape (splits + 1,)
    told : Told
    dropped : ndarray of bool, shape (splits,), optional
        Splits of which nothing is kept, as if their branches held no cases.
    """
    weights, arrived = told.slots[:, :-1], told.slots[:, -1]
    holds = weights.any(1)
    if dropped is not None:
        holds &= ~np.repeat(dropped, np.diff(slot_start))
    held = np.flatnonzero(holds)
    is_open = ~is_leaf(weights[held].sum(1), weights[held].max(1), training.settings)
    kept, split = held[is_open], np.searchsorted(slot_start, held, side="right") - 1
    n_lists = len(level.list_start)
    lengths = told.lengths if len(told.lengths) else np.broadcast_to(arrived, (n_lists, len(arrived)))
    of_kept = split[is_open]
    division = Division(
        spread=told.spread,
        arrived=arrived,
        kept=kept,
        class_weights=weights[kept],
        lengths=lengths,
        parent=splits.node[of_kept],
        siblings=np.bincount(split, minlength=len(splits))[of_kept],
        is_flawed=told.flawed[kept] > 0 if len(told.flawed) else np.zeros(len(kept), np.bool_),
    )
    return Divided(held, split, held - slot_start[split], weights[held], is_open), division


def sides_of(training: Training, splits: Splits, below: Int64s, above: Int64s) -> tuple[Int64s, Int64s]:
    """What is on both sides of cuts: of lists the cases that are given, of codes the ranks, else -1."""
    by_code = np.append((training.columns.list_of < 0) & training.continuous, False)[splits.attribute]
    low, high = ranks_of_cuts(splits.cut)
    return np.where(by_code, low, below), np.where(by_code, high, above)
