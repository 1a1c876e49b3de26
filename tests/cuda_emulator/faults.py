"""What the emulator reports: one class of exception for each kind of fault."""

from __future__ import annotations

from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import NamedTuple

HERE = str(Path(__file__).parent)


class Place(NamedTuple):
    """A thread of a launch: the number of its block in the grid, and its number in the block."""

    block: int
    thread: int


class KernelFault(Exception):
    """A kernel did what a GPU does not promise to do well.

    Attributes
    ----------
    what : str
        What happened.
    kernel : str
        Name of the kernel.
    array : str
        The array it happened to: a parameter's name, or the name that the kernel gives to a shared or local array.
    index : tuple of int
        Where in that array; empty where that has no meaning.
    places : tuple of Place
        The threads that had a part in it.
    lines : tuple of str
        Where in the source, one for each place where they differ.
    """

    def __init__(
        self,
        what: str,
        array: str = "",
        index: tuple[int, ...] = (),
        places: tuple[Place, ...] = (),
        lines: tuple[str, ...] = (),
    ) -> None:
        super().__init__(what)
        self.what, self.array, self.index, self.places, self.lines = what, array, index, places, lines
        self.kernel = ""

    def __str__(self) -> str:
        element = f": {self.array}[{', '.join(map(str, self.index))}]" if self.array and self.index else ""
        array = f": {self.array}" if self.array and not self.index else ""
        parts = [f"{self.kernel}: {self.what}{element or array}"]
        if self.places:
            shown = [f"block {place.block} thread {place.thread}" for place in self.places[:8]]
            more = [f"{len(self.places) - 8} more"] if len(self.places) > 8 else []
            parts.append(", ".join(shown + more))
        return "; ".join([*parts, *self.lines])


class Race(KernelFault):
    """Two threads touched one element, nothing ordered them, one of them wrote, and not both by an atomic."""


class OutOfBounds(KernelFault):
    """An index below 0 or beyond the end; Python's negative indices are mistakes in a kernel."""


class Unwritten(KernelFault):
    """A read of memory into which nobody wrote."""


class DivergentBarrier(KernelFault):
    """Not all threads of a block reach a barrier, or they reach different ones."""


class MissingLane(KernelFault):
    """A lane that a warp operation's mask names, or that a shuffle reads from, takes no part in it."""


class Overflow(KernelFault):
    """A number that does not fit its type: in arithmetic, in a cast or where it is stored."""


class DivisionByZero(KernelFault):
    """A division by zero, which a GPU answers with whatever it likes."""


class Endless(KernelFault):
    """A thread waits for a value that no running thread will write."""


class BadLaunch(KernelFault):
    """A launch that no card accepts: too many threads, too much shared memory, arguments that share memory."""


def source(filename: str, line: int | None) -> str:
    """A line of the kernel's source, for a message."""
    return f"{Path(filename).name}:{line}"


class Site:
    """Where a kernel's code calls something. There is one object for each place, so they are compared by identity."""

    def __init__(self, code: CodeType, instruction: int) -> None:
        self.code, self.instruction = code, instruction

    @property
    def line(self) -> int | None:
        """The line in the source."""
        lines = [line for start, stop, line in self.code.co_lines() if start <= self.instruction < stop]
        return lines[0]

    def __str__(self) -> str:
        return source(self.code.co_filename, self.line)


_SITES: dict[tuple[int, int], Site] = {}  # by id of the code and instruction; a code object's hash is slow


def site_of(frame: FrameType) -> Site:
    """Where a frame is."""
    code, instruction = frame.f_code, frame.f_lasti
    site = _SITES.get((id(code), instruction))
    if site is None or site.code is not code:
        site = _SITES[id(code), instruction] = Site(code, instruction)
    return site


def line_of_frame(frame: FrameType | None) -> str:
    """The line of the innermost function that is not the emulator's."""
    while frame is not None and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    return source(frame.f_code.co_filename, frame.f_lineno) if frame is not None else "?"


def line_of_error(traceback: TracebackType | None) -> str:
    """The line of the innermost function that is not the emulator's, where an exception came by."""
    line = ""
    while traceback is not None:
        filename = traceback.tb_frame.f_code.co_filename
        if not filename.startswith(HERE):
            line = source(filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return line
