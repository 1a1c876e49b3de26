"""Have workers send whole cases down branches: many nodes each, or near the root one node together.

Where all work on one node, each sends a part of its cases in a round, as if there were no others, and what they add at
leaves is put together afterwards. More cases never lower the errors, so a branch is out, too, if one part alone is too
much::

    cases of the other branches   | worker 0 | worker 1 || worker 0 | worker 1 ||
                                          round 0                round 1
"""

from __future__ import annotations

from collections.abc import Iterable
from queue import Empty, LifoQueue

import numpy as np

from c45gpu.estimates import wrong_as_leaves
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_send import Cases, Room, Spans, Standing, send_pairs
from c45gpu.kernels.cpu_walk import ABREAST, Steps
from c45gpu.kernels.engine import Changes, Pairs
from c45gpu.kernels.level import Int64s

PART = 1 << 15  # cases that a worker sends in a round: a millisecond, several times what handing them over takes


class Sender:
    """Sends cases that stand in the order of their leaves.

    Parameters
    ----------
    crew : Crew
    standing : Standing
    cases : Cases
    steps : Steps
    part : int
        How many cases a worker sends in a round; nodes with more than all of them can send then are worked on together.
    """

    def __init__(self, crew: Crew, standing: Standing, cases: Cases, steps: Steps, part: int = PART) -> None:
        self._crew, self._part = crew, part
        self._standing, self._cases, self._steps = standing, cases, steps
        self._rooms: LifoQueue[Room] = LifoQueue()

    def take_room(self, shape: tuple[int, ...]) -> Room:
        """Memory of one worker for :func:`c45gpu.kernels.cpu_send.send_one`, clean."""
        try:
            return self._rooms.get_nowait()
        except Empty:
            n, walking = shape[0], (np.empty(ABREAST, np.int64), np.empty(ABREAST, np.int64))
            return np.zeros(shape, np.int64), np.empty(n, np.int64), np.full(n, -1, np.int64), walking

    def give_room(self, room: Room) -> None:
        """Let others have it; it must be clean."""
        self._rooms.put(room)

    def send(self, units: Int64s, pairs: Pairs) -> Changes:
        """What the leaves below each branch would gain if all cases of its top were sent down it."""
        others = self._standing.held(pairs.top) - self._standing.held(pairs.branch)
        is_large = others > self._part * self._crew.size if self._crew.size > 1 else np.zeros(len(others), np.bool_)
        small, large = np.flatnonzero(~is_large), np.flatnonzero(is_large)
        spans = Spans(np.zeros_like(others), others)
        shares = [small[share] for share in self._crew.shares(others[small] + 1)]
        parts = [self._together(units, pairs, p, int(others[p])) for p in large.tolist()]
        parts += self._crew.run(self._alone, [(units, pairs, share, _of(spans, share)) for share in shares])
        changes = joined(parts, units)
        order = np.argsort(changes.pair, kind="stable") if len(large) else slice(None)
        hopeless = np.zeros(len(others), np.bool_)
        hopeless[np.concatenate([large, *shares])] = changes.hopeless
        return Changes(hopeless, changes.pair[order], changes.leaf[order], changes.units[order])

    def _alone(self, units: Int64s, pairs: Pairs, which: Int64s, spans: Spans) -> Changes:
        """What some of the cases of some pairs' other branches would change, sent by one worker."""
        some, room = Pairs(*(x[which] for x in pairs)), self.take_room(units.shape)
        most = int(np.minimum(self._standing.end[some.branch] - some.branch, spans.stop - spans.first).sum())
        found = (np.empty(most, np.int64), np.empty(most, np.int64), np.empty((most, units.shape[1]), np.int64))
        hopeless = np.zeros(len(which), np.bool_)
        out = (hopeless, *found)
        filled = send_pairs(self._standing, some, spans, self._cases, self._steps, units, room, out)
        self.give_room(room)
        return Changes(hopeless, which[found[0][:filled]], found[1][:filled], found[2][:filled])

    def _together(self, units: Int64s, pairs: Pairs, p: int, n_others: int) -> Changes:
        """What all cases of one pair's other branches would change, sent by all workers."""
        branch, which, in_a_round = int(pairs.branch[p]), np.array([p]), self._part * self._crew.size
        old = units[branch : self._standing.end[branch]]
        added, is_reached = np.zeros_like(old), np.zeros(len(old), np.bool_)
        for begun in range(0, n_others, in_a_round):
            edges = np.minimum(np.arange(begun, begun + in_a_round + 1, self._part), n_others)
            spans = [Spans(edges[i : i + 1], edges[i + 1 : i + 2]) for i in np.flatnonzero(np.diff(edges))]
            sent = self._crew.run(self._alone, [(units, pairs, which, span) for span in spans])
            for changes in sent:
                added[changes.leaf - branch] += changes.units
                is_reached[changes.leaf - branch] = True
            reached = np.flatnonzero(is_reached)
            risen = wrong_as_leaves(old[reached] + added[reached]) - wrong_as_leaves(old[reached])
            if risen.sum() > pairs.allowed[p] or any(changes.hopeless[0] for changes in sent):
                return Changes(np.ones(1, np.bool_), which[:0], which[:0], units[:0])
        return Changes(np.zeros(1, np.bool_), np.full(len(reached), p), reached + branch, added[reached])


def joined(parts: Iterable[Changes], units: Int64s) -> Changes:
    """The rows of all parts, one part's after the other's; `units` are of nodes."""
    none = Changes(np.zeros(0, np.bool_), np.empty(0, np.int64), np.empty(0, np.int64), units[:0])
    return Changes(*(np.concatenate(x) for x in zip(none, *parts, strict=True)))


def _of(spans: Spans, which: Int64s) -> Spans:
    return Spans(spans.first[which], spans.stop[which])
