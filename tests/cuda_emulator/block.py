"""Runs one block: its threads in random order, from barrier to barrier."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tests.cuda_emulator.faults import DivergentBarrier, MissingLane, Place, Site
from tests.cuda_emulator.memory import Memory
from tests.cuda_emulator.warp import Call, meet, members
from tests.cuda_emulator.workers import Done, Workers

THREADS = 1024  # at most, in a block
THREAD_BITS = 10
COMBINE: dict[str, Callable[[list[int]], int | None]] = {
    "syncthreads": lambda values: None,
    "syncthreads_count": lambda values: sum(1 for value in values if value),
    "syncthreads_and": lambda values: int(all(values)),
    "syncthreads_or": lambda values: int(any(values)),
}


class Arrival(NamedTuple):
    """A thread at a barrier of its block."""

    kind: str
    site: Site
    value: int


class Clock:
    """Counts barriers through a launch; a stamp is a count and a thread.

    Two accesses of different threads of a block are ordered if a barrier of the block lies between their stamps, or a
    ``syncwarp`` that both threads took part in.
    """

    def __init__(self) -> None:
        self.now = 0
        self.barriers: list[int] = []  # counts at which all threads of a block were together
        self.blocks: list[tuple[int, int]] = []  # of each block its first count and its number
        self.warps: list[tuple[int, frozenset[int]]] = []  # counts at which some threads of a warp were together

    def tick(self) -> int:
        """The next count, as the part of a stamp that goes before the thread."""
        self.now += 1
        return self.now << THREAD_BITS

    def block_at(self, count: int) -> int:
        """The block that ran at a count."""
        return self.blocks[bisect_right(self.blocks, (count, 1 << 62)) - 1][1]


class Block:
    """The threads of one block.

    Parameters
    ----------
    number : int
        The block's number in the grid.
    size : int
        Threads.
    task : callable
        The kernel with its arguments.
    enter : callable
        Called with a thread's number before it runs.
    early_exit : bool
        Threads that have left the kernel need not reach barriers.
    """

    def __init__(
        self,
        number: int,
        size: int,
        task: Callable[[], object],
        enter: Callable[[int], None],
        memory: Memory,
        clock: Clock,
        random: np.random.Generator,
        early_exit: bool,
    ) -> None:
        self._number, self._size, self._task, self._enter = number, size, task, enter
        self._memory, self._clock, self._random, self._early_exit = memory, clock, random, early_exit
        self._stamps: list[int] = []
        self._ready: list[int] = []
        self._arrived: dict[int, Arrival] = {}
        self._calls: dict[tuple[int, int], dict[int, Call]] = {}  # (warp, mask) -> lane -> what it called
        self._left: list[int] = []
        self._answers: dict[int, Any] = {}

    def run(self, workers: Workers) -> None:
        """Run all threads to their end."""
        clock = self._clock
        clock.blocks.append((clock.now + 1, self._number))
        self._together()
        greenlets = workers.take(self._size)
        self._answers = dict.fromkeys(range(self._size), self._task)
        mark, enter, stamps, answers = self._memory.mark, self._enter, self._stamps, self._answers
        ready, arrived = self._ready, self._arrived
        while ready or self._release():
            thread = ready.pop()
            enter(thread)
            mark(stamps[thread])
            request = greenlets[thread].switch(answers[thread])
            if type(request) is Arrival:
                arrived[thread] = request
            else:
                self._receive(thread, request)

    def _receive(self, thread: int, request: Any) -> None:
        """What a thread says when it stops running: it waits for its warp, or it is over."""
        if type(request) is Call:
            self._call(thread, request)
        elif isinstance(request, Done):
            self._left.append(thread)
            if request.error is not None:
                raise request.error
        else:
            raise TypeError(f"a worker said {request!r}")

    def _together(self) -> None:
        """All threads that are left go on from here, after all that any of them did before."""
        stamp = self._clock.tick()
        self._clock.barriers.append(self._clock.now)
        self._stamps[:] = range(stamp, stamp + self._size)
        self._ready[:] = self._shuffled(self._arrived or range(self._size))

    def _shuffled(self, threads: Iterable[int]) -> list[int]:
        order: list[int] = self._random.permutation(list(threads)).tolist()
        return order

    def _release(self) -> bool:
        """Let the threads pass the barrier at which all of them wait; False if the block is over."""
        if self._calls:
            raise self._lanes_missing()
        if not self._arrived:
            return False
        barriers = {arrival[:2] for arrival in self._arrived.values()}
        if len(barriers) > 1 or (self._left and not self._early_exit):
            raise self._divergence()
        ((kind, _),) = barriers
        values = [arrival.value for arrival in self._arrived.values()]
        answer = COMBINE[kind](values)
        self._together()
        self._answers.update(dict.fromkeys(self._arrived, answer))
        self._arrived.clear()
        return True

    def _call(self, thread: int, call: Call) -> None:
        """A lane reaches a warp operation; when all lanes of its mask have, they go on."""
        warp, lane = divmod(thread, 32)
        existing = members(call.mask, min(32, self._size - 32 * warp))
        if lane not in existing:
            what = f"{call.operation} with mask {call.mask:#010x}, which leaves out the lane that calls"
            raise MissingLane(what, places=self._places([thread]))
        group = self._calls.setdefault((warp, call.mask), {})
        group[lane] = call
        if len(group) < len(existing):
            return
        del self._calls[warp, call.mask]
        for other, answer in meet(group, partial(self._lane_fault, warp)).items():
            self._answers[32 * warp + other] = answer
        threads = [32 * warp + other for other in group]
        if call.operation == "syncwarp":
            stamp = self._clock.tick()
            self._clock.warps.append((self._clock.now, frozenset(threads)))
            for other in threads:
                self._stamps[other] = stamp + other
        at = len(self._ready) if self._random.random() < 0.5 else 0  # they go on at once, or after all others
        self._ready[at:at] = self._shuffled(threads)

    def _lane_fault(self, warp: int, what: str, lanes: Iterable[int]) -> MissingLane:
        return MissingLane(what, places=self._places([32 * warp + lane for lane in lanes]))

    def _places(self, threads: Iterable[int]) -> tuple[Place, ...]:
        return tuple(Place(self._number, thread) for thread in sorted(threads))

    def _lanes_missing(self) -> MissingLane:
        (warp, mask), group = next(iter(self._calls.items()))
        lanes = members(mask, min(32, self._size - 32 * warp)) - group.keys()
        missing = [32 * warp + lane for lane in lanes]
        call = next(iter(group.values()))
        what = f"{call.operation} with mask {mask:#010x}, but lanes {sorted(lanes)} do not take part"
        states = {self._state(thread) for thread in missing}
        return MissingLane(what, places=self._places(missing), lines=(f"called at {call.site}", *sorted(states)))

    def _state(self, thread: int) -> str:
        if thread in self._left:
            return "they left the kernel"
        if thread in self._arrived:
            return f"they wait at {self._arrived[thread].site}"
        return "they wait in another warp operation"

    def _divergence(self) -> DivergentBarrier:
        waiting: dict[str, list[int]] = {}
        for thread, arrival in self._arrived.items():
            waiting.setdefault(f"{arrival.kind} at {arrival.site}", []).append(thread)
        lines = [f"{len(threads)} threads wait at {where}" for where, threads in sorted(waiting.items())]
        fewest = min(waiting.values(), key=len)
        if self._left:
            lines.append(f"{len(self._left)} threads left the kernel")
            fewest = min(fewest, self._left, key=len)
        return DivergentBarrier("not all threads reach a barrier", places=self._places(fewest), lines=tuple(lines))
