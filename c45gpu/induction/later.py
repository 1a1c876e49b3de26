"""What an engine that takes whole levels by itself has still to tell about a tree: thresholds, and subtrees."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from c45gpu.induction.cuts import Cuts
from c45gpu.kernels.level import Int64s, Subtrees
from c45gpu.kernels.level_engine import LevelEngine
from c45gpu.model.growing import GrowingTree


class Later:
    """Notes which nodes wait for it.

    Parameters
    ----------
    engine : LevelEngine
    cuts : Cuts
    """

    def __init__(self, engine: LevelEngine, cuts: Cuts) -> None:
        self._engine, self._cuts = engine, cuts
        self._forget()

    def note(self, tested: Int64s, attribute: Int64s, taken: Int64s) -> None:
        """These nodes test these used attributes, and subtrees are missing below those that were taken."""
        self._tested.append(tested)
        self._attribute.append(attribute)
        self._taken.append(taken)

    def put_into(self, growing: GrowingTree) -> None:
        """Ask the engine, and put into the tree what is missing."""
        if not self._tested:
            return
        tested, attribute, taken = map(np.concatenate, (self._tested, self._attribute, self._taken))
        details = self._engine.details()
        below, above = details.below[: len(tested)], details.above[: len(tested)]  # a level may have been interrupted
        growing.set_thresholds(tested, self._cuts.thresholds(attribute, below, above))
        if details.finished is not None:
            growing.add(self._cuts.grafts(_first(details.finished, len(taken)), taken))
        self._forget()

    def _forget(self) -> None:
        self._tested: list[Int64s] = []
        self._attribute: list[Int64s] = []
        self._taken: list[Int64s] = []


def _first(subtrees: Subtrees, n_roots: int) -> Subtrees:
    """The subtrees whose roots are named by positions below `n_roots`."""
    root = subtrees.parent < 0
    known = (-1 - subtrees.parent[root] < n_roots)[np.cumsum(root) - 1]
    if known.all():
        return subtrees
    number = np.cumsum(known) - 1
    kept = {field.name: getattr(subtrees, field.name)[known] for field in fields(Subtrees)}
    return Subtrees(**kept | {"parent": np.where(kept["parent"] < 0, kept["parent"], number[kept["parent"]])})
