"""The protocol of an engine that takes whole levels by itself, where the host has no say in the choice of tests.

The host asks for level after level, and once for what it needs not know before the tree is done: a device would wait
for it at each level::

    frontier   o        o o o        o . o o          o open, . leaf
    level      split    split, 1 taken                nodes that are taken are grown to their leaves by the engine
    details    ................ thresholds of the splits, subtrees below the nodes that were taken
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Frontier, Int64s, Splits, Subtrees


@dataclass(frozen=True, eq=False)
class GrownLevel:
    """What became of the open nodes.

    Parameters
    ----------
    splits : Splits
        Those that were split, as :meth:`.Engine.choose` would have it. Nodes that are neither split nor taken stay
        leaves.
    taken : ndarray of int64
        Those below which the engine grows all by itself, ascending.
    frontier : Frontier
        The m branches of the splits that hold cases, in the order of splits and branches.
    split, branch : ndarray of int64, shape (m,)
        As of :class:`.Children`.
    """

    splits: Splits
    taken: Int64s
    frontier: Frontier
    split: Int64s
    branch: Int64s


@dataclass(frozen=True, eq=False)
class Details:
    """What is to be known of levels later.

    Parameters
    ----------
    below, above : ndarray of int64, shape (splits,)
        As of :class:`.Children`, of the splits of all levels since the last time.
    finished : Subtrees, optional
        What is below the nodes that were taken since then; the parent of a root is -1 - its number among these. Rows of
        a root stand together.
    """

    below: Int64s
    above: Int64s
    finished: Subtrees | None


@runtime_checkable
class LevelEngine(Engine, Protocol):
    """An engine that takes whole levels by itself."""

    def grow_level(self) -> GrownLevel:
        """Choose the tests of all open nodes, and split them; only where the problem says `may_finish`."""

    def details(self) -> Details:
        """What the levels since the last time did not tell."""
