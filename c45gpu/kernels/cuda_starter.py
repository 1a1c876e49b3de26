"""Starts compiled kernels on the current device, without numba's work on the arguments where that can be spared.

A kernel starts as numba has it when its arguments are of these types for the first time. What was made ready of its
arguments (:mod:`.cuda_arguments`) is compared with what numba makes of them then; only where both are the same does
numba's launch take what is ready from then on. So a numba that hands arguments over otherwise costs time, no more.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from c45gpu.kernels.cuda_arguments import Arguments, same
from c45gpu.kernels.cuda_views import Views


@cache
def _compiled(kernel: Any) -> Any:
    """A kernel that numba compiles on its first use, once for each machine."""
    from numba import cuda

    return cuda.jit(kernel, cache=True)


class Known:
    """A compiled kernel that is started with arguments that are ready; to numba's launch it is the kernel itself."""

    argument_types = (None,)  # one argument: all of them, ready

    def __init__(self, kernel: Any) -> None:
        self._kernel, self._launch = kernel, type(kernel).launch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    @staticmethod
    def _prepare_args(_: Any, values: list[Any], *others: Any) -> None:
        others[-1].extend(values)

    def start(self, values: list[Any], blocks: int, threads: int, stream: Any, shared_bytes: int) -> None:
        """Start it."""
        self._launch(self, (values,), (int(blocks), 1, 1), (int(threads), 1, 1), stream, int(shared_bytes))


class Starter:
    """Starts kernels."""

    def __init__(self) -> None:
        self._views, self._arguments = Views(), Arguments(self._prepared)
        self._known: dict[tuple[Any, ...], Known | None] = {}
        self._streams: dict[int, Any] = {}

    def __call__(
        self, kernel: Any, blocks: int, threads: int, pointer: int, shared_bytes: int, arguments: tuple[Any, ...]
    ) -> None:
        """Start a kernel on the stream that a pointer names, 0 for the default one."""
        ready = self._arguments.of(arguments)
        name = (kernel, ready.kinds)
        known = self._known.get(name)
        if known is not None:
            known.start(ready.values, blocks, threads, self._stream(pointer), shared_bytes)
            return
        views = tuple(map(self._views.of, arguments))
        _compiled(kernel)[int(blocks), threads, self._numbas(pointer), shared_bytes](*views)
        if name not in self._known:
            self._known[name] = self._found(kernel, views, ready.values)

    def _found(self, kernel: Any, views: tuple[Any, ...], values: list[Any]) -> Known | None:
        """The kernel that was started, if it can be with arguments that are ready."""
        dispatcher, expected = _compiled(kernel), list[Any]()
        try:
            found = dispatcher.overloads[tuple(map(dispatcher.typeof_pyval, views))]
            for kind, view in zip(found.argument_types, views, strict=True):
                found._prepare_args(kind, view, 0, [], expected)
            return Known(found) if same(values, expected) else None
        except (AttributeError, KeyError, TypeError, ValueError):  # another numba than this was written for
            return None

    def _prepared(self, value: Any) -> list[Any]:
        """What numba makes of an argument; nothing, which is never the same, where it cannot be asked."""
        from numba.cuda import dispatcher

        values: list[Any] = []
        try:
            view = self._views.of(value)
            kind = _compiled(_nothing).typeof_pyval(view)
            dispatcher._Kernel._prepare_args(_Nobody(), kind, view, 0, [], values)
        except (AttributeError, TypeError, RuntimeError):  # the last for a type that numba does not hand over
            return []
        return values

    def _stream(self, pointer: int) -> Any:
        """A stream as numba's launch takes it."""
        if pointer not in self._streams:
            self._streams[pointer] = _compiled(_nothing)[1, 1, self._numbas(pointer), 0].stream
        return self._streams[pointer]

    @staticmethod
    def _numbas(pointer: int) -> Any:
        from numba import cuda

        return cuda.external_stream(pointer) if pointer else 0  # 0 is the default stream to numba


class _Nobody:
    """In the place of a kernel when numba makes an argument ready."""

    extensions = ()


def _nothing() -> None:
    """A kernel that is never started."""
