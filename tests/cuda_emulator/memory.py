"""The memory of one launch: cells that hold scalars, and arrays that are windows on them.

Every element that a kernel can touch has a cell with an address of its own, counted through the whole launch::

    cells   | entries (argument) | counts (argument) | shared array of block 3 | local array of a thread | ...
    address   0 1 2 3 ...          1000 1001 ...       1200 ...                  1264 ...

An argument's cell is None until somebody reads or writes it; any other cell is None until somebody writes it. Each
access appends its address to one of three lists; who made it follows from the marks that the scheduler sets when it
lets another thread run.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tests.cuda_emulator.faults import BadLaunch, Overflow, Unwritten, line_of_frame
from tests.cuda_emulator.words import converter

Note = Callable[[int], object]
Array = np.ndarray[Any, Any]
POISON = 0xA5  # fills memory that nobody wrote


forget: Note = deque[int](maxlen=0).append  # a list of no length records nothing


def address_of(array: Array) -> int:
    """Where an array's first element lies in the host's memory."""
    address: int = array.__array_interface__["data"][0]
    return address


def flat_view(base: Array, dtype: np.dtype[Any], shift: int) -> tuple[int, np.dtype[Any], Array]:
    """How many elements of a type an allocation holds from a byte on, the type, and all of them in a row."""
    flat = base.reshape(-1, order="A")
    if dtype != base.dtype:
        count = (flat.nbytes - shift) // dtype.itemsize
        flat = flat.view(np.uint8)[shift : shift + count * dtype.itemsize].view(dtype)
    return flat.size, dtype, flat


class Uninitialised:
    """Arrays that the host allocated and did not fill: which elements a kernel has written since."""

    def __init__(self) -> None:
        self._written: dict[int, Array] = {}

    def empty(self, shape: Any, dtype: Any = np.float64) -> Array:
        """An array like ``numpy.empty``, whose elements must be written before a kernel reads them."""
        array = np.empty(shape, dtype)
        array.reshape(-1).view(np.uint8)[:] = POISON
        self._written[id(array)] = np.zeros(array.size, np.bool_)
        weakref.finalize(array, self._written.pop, id(array), None)
        return array

    def written(self, base: Array) -> Array | None:
        """The elements of an array that kernels wrote, None if it did not come from :meth:`empty`."""
        return self._written.get(id(base))


class PendingRead(NamedTuple):
    """The first read in a launch of memory that nobody had written."""

    address: int
    stamp: int
    line: str
    fault: Unwritten


class View(Protocol):
    """An array as a kernel sees it."""

    name: str

    def index_of(self, address: int) -> tuple[int, ...]:
        """Which of its elements has an address."""


class Root:
    """A range of cells that was allocated at once."""

    def __init__(
        self,
        memory: Memory,
        name: str,
        count: int,
        dtype: np.dtype[Any],
        data: Array | None = None,
        private: bool = False,
    ) -> None:
        self.memory, self.name, self.count, self.dtype, self.data = memory, name, count, dtype, data
        self.private = private
        self.first = len(memory.cells)
        memory.cells += [None] * count
        self.written: Array | None = None
        self.shape: View | None = None  # the array that was made of it, if it was made for one
        self.convert = converter(dtype)
        self.exact = {"int64": np.int64, "float64": np.float64}.get(
            dtype.name
        )  # values of this type need no converting
        self.note_read: Note = forget if private or not memory.checks else memory.note_read
        self.note_write: Note = forget if private else memory.note_write
        self.note_atomic: Note = forget if private else memory.note_atomic

    def index_of(self, address: int) -> tuple[int, ...]:
        """Which element has an address."""
        return (address - self.first,) if self.shape is None else self.shape.index_of(address)

    def holds(self, address: int) -> bool:
        """Whether a cell is one of these."""
        return self.first <= address < self.first + self.count

    def load(self, address: int, view: View) -> Any:
        """The value of a cell that no thread has touched yet, read through a view."""
        position = address - self.first
        if self.data is None or self._is_unwritten(position):
            return self._unwritten(address, view)
        value = self.memory.cells[address] = self.convert(self.data[position])
        return value

    def _unwritten(self, address: int, view: View) -> Any:
        """Report a read of memory that nobody wrote.

        If another thread writes it later between the same two barriers, then the fault is a race; so the kernel goes
        on for a while with a value that it cannot have on a GPU.
        """
        fault = Unwritten("reads memory that nobody wrote", view.name, view.index_of(address))
        if not self.memory.checks or self.private:
            raise fault
        if self.memory.unwritten is None:
            line = line_of_frame(sys._getframe(3))
            self.memory.unwritten = PendingRead(address, self.memory.marks[-1], line, fault)
        return self.convert(0)

    def store(self, address: int, value: Any, view: View) -> None:
        """Put a value into a cell through a view, as the type of the array has it."""
        try:
            self.memory.cells[address] = self.convert(value)
        except Overflow as fault:
            fault.array, fault.index = view.name, view.index_of(address)
            raise

    def _is_unwritten(self, position: int) -> bool:
        if self.written is None or self.written[position]:
            return False
        assert self.data is not None
        return all(byte == POISON for byte in self.data[position : position + 1].tobytes())

    def bytes_of(self, addresses: Array) -> int:
        """Bytes that accesses of these cells (ascending addresses of the whole memory) move."""
        low, high = np.searchsorted(addresses, [self.first, self.first + self.count])
        return int(high - low) * self.dtype.itemsize

    def write_back(self, touched: Array) -> None:
        """Hand what the kernel wrote (addresses, ascending) to the host's array."""
        low, high = np.searchsorted(touched, [self.first, self.first + self.count])
        if self.data is None or low == high:
            return
        mine = touched[low:high]
        cells = self.memory.cells
        self.data[mine - self.first] = [cells[k] for k in mine.tolist()]
        if self.written is not None:
            self.written[mine - self.first] = True


class Memory:
    """All cells of a launch, and who touched them.

    Parameters
    ----------
    uninitialised : Uninitialised
        The host's arrays that are not filled.
    checks : bool
        Record reads too.
    watched : frozenset of int
        Addresses whose accesses are put into `seen` with the line that made them.
    """

    def __init__(self, uninitialised: Uninitialised, checks: bool, watched: frozenset[int] = frozenset()) -> None:
        self.cells: list[Any] = []
        self.roots: list[Root] = []
        self.reads: list[int] = []
        self.writes: list[int] = []
        self.atomics: list[int] = []
        self.marks: list[int] = []  # of each turn of a thread: lengths of the three lists, stamp
        self.seen: dict[tuple[int, int], str] = {}  # (stamp, kind) -> line
        notes: list[Note] = [self.reads.append, self.writes.append, self.atomics.append]
        if watched:
            notes = [self._watch(note, kind, watched) for kind, note in enumerate(notes)]
        self.note_read, self.note_write, self.note_atomic = notes
        self.checks = checks
        self.unwritten: PendingRead | None = None
        self._uninitialised = uninitialised
        self._of_host: dict[tuple[int, str, int], Root] = {}
        self._spans: list[tuple[str, tuple[int, str, int], int, int]] = []  # bytes of each argument

    @property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        """Addresses in the order of access: read, written, updated."""
        return self.reads, self.writes, self.atomics

    def _watch(self, note: Note, kind: int, watched: frozenset[int]) -> Note:
        def spy(address: int) -> None:
            note(address)
            if address in watched:
                self.seen.setdefault((self.marks[-1], kind), line_of_frame(sys._getframe(1)))

        return spy

    def mark(self, stamp: int) -> None:
        """From here on it is the thread with this stamp that touches memory."""
        self.marks += len(self.reads), len(self.writes), len(self.atomics), stamp

    def allocate(self, name: str, count: int, dtype: np.dtype[Any], private: bool = False) -> Root:
        """Shared or, if `private`, local memory, not written yet."""
        root = Root(self, name, count, dtype, private=private)
        if not private:
            self.roots.append(root)
        return root

    def root_of(self, name: str, array: Array) -> tuple[Root, int]:
        """The cells of an array's whole allocation, and the address of the array's first element among them."""
        base = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        if not base.flags.forc:
            raise BadLaunch("the argument is cut from an array with gaps", name)
        begin = address_of(array) - address_of(base) if array.size else 0
        position, shift = divmod(begin, array.itemsize)
        key = (id(base), array.dtype.str, shift)
        self._refuse_overlap(name, array, key)
        if key not in self._of_host:
            root = Root(self, name, *flat_view(base, array.dtype, shift))
            root.written = self._uninitialised.written(base) if array.dtype == base.dtype else None
            self._of_host[key] = root
            self.roots.append(root)
        return self._of_host[key], self._of_host[key].first + position

    def _refuse_overlap(self, name: str, array: Array, key: tuple[int, str, int]) -> None:
        low, high = byte_bounds(array)
        for other, other_key, other_low, other_high in self._spans:
            if key != other_key and low < other_high and other_low < high:
                raise BadLaunch(f"shares memory with {other}, which has another type", name)
        self._spans.append((name, key, low, high))

    def touched(self) -> Array:
        """Addresses that were written, ascending."""
        return np.unique(np.array(self.writes + self.atomics, np.int64))

    def write_back(self) -> None:
        """Hand what the kernel wrote to the host's arrays."""
        touched = self.touched()
        for root in self.roots:
            root.write_back(touched)
