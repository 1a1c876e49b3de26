"""Greenlets that run the threads of a block, kept from block to block: starting one costs twenty times a switch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from greenlet import getcurrent, greenlet

from tests.cuda_emulator.words import Mode

Task = Callable[[], object]


class Abandoned(BaseException):
    """Ends a thread whose block has a fault."""


class Done:
    """What a worker says when its thread is over; `error` is what ended it, if anything did."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


DONE = Done()


class Workers:
    """Greenlets under one hub. Each takes a task, runs it, says :data:`DONE` and waits for the next task."""

    def __init__(self) -> None:
        self.hub = getcurrent()
        self._greenlets: list[greenlet] = []

    def take(self, count: int) -> list[greenlet]:
        """So many idle workers."""
        while len(self._greenlets) < count:
            worker = greenlet(self._work, parent=self.hub)
            worker.switch()
            self._greenlets.append(worker)
        return self._greenlets[:count]

    def abandon(self) -> None:
        """End the threads that are not over."""
        for worker in self._greenlets:
            worker.throw(Abandoned)
        self._greenlets = [worker for worker in self._greenlets if not worker.dead]

    def _work(self) -> None:
        wrap, answer = None, DONE
        while True:
            try:
                task: Task = self.hub.switch(answer)
                if wrap is not Mode.wrap:
                    wrap = Mode.wrap
                    over: Any = "ignore" if wrap else "raise"
                    np.seterr(over=over, divide="raise")  # of this greenlet only
                task()
                answer = DONE
            except Abandoned:
                answer = DONE
            except Exception as error:
                answer = Done(error)


_POOLS: list[Workers] = []


def workers() -> Workers:
    """The workers of the greenlet that asks."""
    if not _POOLS or _POOLS[0].hub is not getcurrent():
        _POOLS[:] = [Workers()]
    return _POOLS[0]
