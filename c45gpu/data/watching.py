"""How far a reader is, for whoever watches: the reader says once where to look, the watcher looks when it likes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Watched:
    """What is being read."""

    def __init__(self) -> None:
        self._position: Callable[[], int] | None = None
        self._size = 0

    def look_at(self, position: Callable[[], int], size: int) -> None:
        """From now on `position` tells how many of `size` bytes are read; it may be called from another thread."""
        self._position, self._size = position, size

    def share(self) -> float | None:
        """The share of the bytes that are read, from 0 to 1; None where no reader has said where to look."""
        if self._position is None or self._size == 0:
            return None
        try:
            return min(self._position() / self._size, 1.0)
        except ValueError:  # the reader has closed what it read from
            return 1.0

    @property
    def size(self) -> int:
        """The bytes to be read; 0 where no reader has said it."""
        return self._size


_watched: ContextVar[Watched | None] = ContextVar("watched", default=None)


@contextmanager
def watched() -> Iterator[Watched]:
    """Watch whatever this thread reads meanwhile."""
    watch = Watched()
    token = _watched.set(watch)
    try:
        yield watch
    finally:
        _watched.reset(token)


def tell_position(position: Callable[[], int], size: int) -> None:
    """Tell whoever watches this thread where to look; nobody may be watching."""
    watch = _watched.get()
    if watch is not None:
        watch.look_at(position, size)
