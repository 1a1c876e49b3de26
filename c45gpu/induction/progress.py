"""Where training stands, for whoever watches; how to show it is the watcher's business.

Stage("sorting", 0.0)   Stage("growing", 0.0)   Progress(1, ...) ... Progress(9, ...)   Stage("pruning", 0.0) ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

StageName = Literal["sorting", "growing", "pruning", "softening"]


class Recorder(Protocol):
    """Takes down what happens when; see :class:`c45gpu.induction.record.Recording`."""

    def stage(self, name: StageName | None) -> None:
        """A stage begins, or none follows."""

    def level(self) -> None:
        """A level is grown."""


class Progress(NamedTuple):
    """Where growing stands after a level.

    Parameters
    ----------
    depth : int
        Levels grown.
    nodes : int
        Nodes so far, without those below small nodes that an engine tells in the end.
    open_nodes : int
        Of them, how many may be tested yet.
    open_weight : float
        Weight of the cases at open nodes, in cases.
    """

    depth: int
    nodes: int
    open_nodes: int
    open_weight: float


class Stage(NamedTuple):
    """What training is at.

    Parameters
    ----------
    name : {"sorting", "growing", "pruning", "softening"}
        "sorting" is the engine taking the cases, "growing" is told of in detail by :class:`Progress`, "softening" is
        finding soft thresholds, where they are asked for.
    share : float
        How much of the stage is done, from 0 to 1; 0 when it begins. Of pruning, the nodes that were judged, among
        these and those that are known to be judged yet.
    """

    name: StageName
    share: float


class Watch(NamedTuple):
    """Who is told what.

    Attributes
    ----------
    level : callable, optional
        Called with a :class:`Progress` after each level of each tree.
    stage : callable, optional
        Called with a :class:`Stage` when one begins, and as it goes on.
    recorder : Recorder, optional
    """

    level: Callable[[Progress], None] | None = None
    stage: Callable[[Stage], None] | None = None
    recorder: Recorder | None = None

    def at(self, name: StageName, share: float = 0.0) -> None:
        """Tell what training is at."""
        if self.recorder is not None and share == 0.0:
            self.recorder.stage(name)
        if self.stage is not None:
            self.stage(Stage(name, share))

    def grown(self, step: Progress) -> None:
        """Tell that a level is grown."""
        if self.recorder is not None:
            self.recorder.level()
        if self.level is not None:
            self.level(step)


NOBODY = Watch()
