"""Launches one kernel under the emulator."""

from __future__ import annotations

import inspect
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tests.cuda_emulator.arrays import Matrix, Vector, argument
from tests.cuda_emulator.block import THREAD_BITS, THREADS, Block, Clock
from tests.cuda_emulator.device import DEVICE
from tests.cuda_emulator.faults import (
    BadLaunch,
    DivisionByZero,
    KernelFault,
    Overflow,
    Place,
    Race,
    line_of_error,
)
from tests.cuda_emulator.memory import Memory, Uninitialised
from tests.cuda_emulator.races import KINDS, Access, Conflict, conflicts_of
from tests.cuda_emulator.rewrite import emulated, python_function, refresh
from tests.cuda_emulator.words import Mode, scalar
from tests.cuda_emulator.workers import workers

Shape = tuple[int, int, int]
DYNAMIC_SHARED = 227 * 1024  # bytes at most, on compute capability 9.0

uninitialised = Uninitialised()


class Traffic(NamedTuple):
    """Bytes that a launch moved to and from an array, as its threads asked for them."""

    read: int = 0
    written: int = 0
    atomic: int = 0

    def plus(self, other: Traffic) -> Traffic:
        """Both together."""
        return Traffic(*(mine + more for mine, more in zip(self, other, strict=True)))


@dataclass(frozen=True)
class Launch:
    """What a launch did; traffic by parameter, of shared memory by the name that the kernel gives it."""

    kernel: str
    grid: Shape
    block: Shape
    barriers: int
    traffic: dict[str, Traffic]
    shared: dict[str, Traffic]

    @property
    def bytes(self) -> int:
        """Bytes moved to and from arguments."""
        return sum(sum(traffic) for traffic in self.traffic.values())


class Shifted(NamedTuple):
    """An argument whose least index is `lower`: the end of an array that is too large to be there."""

    array: Any
    lower: int


class Options(NamedTuple):
    """How a launch is emulated; see :func:`launch`."""

    seed: int = 0
    shared_bytes: int = 0
    checks: bool = True
    wrap: bool = False
    early_exit: bool = False


def launch(
    kernel: Any,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    *arguments: Any,
    seed: int = 0,
    shared_bytes: int = 0,
    checks: bool = True,
    wrap: bool = False,
    early_exit: bool = False,
) -> Launch:
    """Run a kernel: a Python function written for Numba CUDA, decorated or not.

    Parameters
    ----------
    kernel : function or dispatcher
    grid, block : int or tuple of int
        Blocks of the grid and threads of a block.
    *arguments
        NumPy arrays, numbers, tuples and NamedTuples of them, :class:`Shifted`.
    seed : int
        Of the order of blocks and threads.
    shared_bytes : int
        Dynamic shared memory.
    checks : bool
        Record who reads and look for races. Bounds, unwritten memory and barriers are checked anyway.
    wrap : bool
        Integers that do not fit wrap around instead of being faults.
    early_exit : bool
        Threads that have left the kernel need not reach barriers. Cards from compute capability 7.0 up work so, but
        nothing else may depend on it.

    Returns
    -------
    Launch

    Raises
    ------
    KernelFault
        The host's arrays are as they were before then.
    """
    options = Options(seed, shared_bytes, checks, wrap, early_exit)
    refresh()
    run = Run(kernel, _shape(grid), _shape(block), arguments, options)
    try:
        run.execute()
    except Exception as error:
        raise run.first_cause() or error from error
    fault = run.first_cause() or run.first_race()
    if fault is not None:
        raise fault
    run.memory.write_back()
    return run.summary()


def _shape(lengths: Any) -> Shape:
    numbers = [int(length) for length in (lengths if isinstance(lengths, (tuple, list)) else (lengths,))]
    x, y, z = [*numbers, 1, 1][:3]
    return x, y, z


class Run:
    """One execution of a launch."""

    def __init__(
        self,
        kernel: Any,
        grid: Shape,
        block: Shape,
        arguments: tuple[Any, ...],
        options: Options,
        watched: frozenset[int] = frozenset(),
    ) -> None:
        self._repeat = partial(Run, kernel, grid, block, arguments, options)
        self.name = python_function(kernel).__name__
        self.grid, self.block, self.options = grid, block, options
        self.memory, self.clock = Memory(uninitialised, options.checks, watched), Clock()
        self.views: dict[str, Vector | Matrix] = {}
        self._refuse_shape()
        bound = inspect.signature(python_function(kernel)).bind(*arguments).arguments
        values = [self._argument(name, value) for name, value in bound.items()]
        self._task = partial(emulated(kernel), *values)

    def _refuse_shape(self) -> None:
        threads = int(np.prod(self.block))
        problem = ""
        if min(self.grid) < 1 or min(self.block) < 1 or max(self.grid[1:]) > 65535 or self.grid[0] >= 1 << 31:
            problem = f"a grid of {self.grid} blocks of {self.block} threads"
        elif threads > THREADS or self.block[2] > 64:
            problem = f"{threads} threads in a block of {self.block}"
        elif not 0 <= self.options.shared_bytes <= DYNAMIC_SHARED:
            problem = f"{self.options.shared_bytes} bytes of dynamic shared memory"
        if problem:
            raise self._named(BadLaunch(problem))

    def _named(self, fault: KernelFault) -> KernelFault:
        fault.kernel = self.name
        return fault

    def _argument(self, name: str, value: Any) -> Any:
        if isinstance(value, Shifted):
            return self._array(name, np.asarray(value.array), value.lower)
        if isinstance(value, tuple):
            names = getattr(value, "_fields", range(len(value)))
            parts = [self._argument(f"{name}.{part}", item) for part, item in zip(names, value, strict=True)]
            return type(value)._make(parts) if hasattr(value, "_make") else tuple(parts)
        if isinstance(value, np.generic) or type(value) in (int, float, bool):
            return scalar(value)
        return self._array(name, np.asarray(value)) if hasattr(value, "__array_interface__") else value

    def _array(self, name: str, array: np.ndarray[Any, Any], lower: int = 0) -> Vector | Matrix:
        try:
            self.views[name] = argument(self.memory, name, array, lower)
        except KernelFault as fault:
            raise self._named(fault) from None
        return self.views[name]

    def execute(self) -> None:
        """Run all blocks, one after the other in random order."""
        random = np.random.default_rng(self.options.seed)
        pool = workers()
        Mode.wrap = self.options.wrap
        DEVICE.begin_launch(self.grid, self.block, pool.hub.switch, random)
        size = int(np.prod(self.block))
        columns, rows, _ = self.grid
        for number in random.permutation(int(np.prod(self.grid))).tolist():
            position = (number % columns, number // columns % rows, number // (columns * rows))
            DEVICE.begin_block(position, self.memory, self.options.shared_bytes)
            block = Block(
                number, size, self._task, DEVICE.enter, self.memory, self.clock, random, self.options.early_exit
            )
            try:
                block.run(pool)
            except Exception as error:
                pool.abandon()
                raise self._explained(error, number) from error
            except BaseException:
                pool.abandon()
                raise

    def _explained(self, error: Exception, block: int) -> Exception:
        """The fault that an exception in a thread stands for."""
        line, place = line_of_error(error.__traceback__), Place(block, DEVICE.thread)
        fault: KernelFault
        if isinstance(error, KernelFault):
            fault = error
        elif isinstance(error, ZeroDivisionError) or "divide by zero" in str(error):
            fault = DivisionByZero(str(error))
        elif isinstance(error, (FloatingPointError, OverflowError)):
            fault = Overflow(str(error))
        else:
            error.add_note(f"in kernel {self.name}, {place}, {line}")
            return error
        fault.places = fault.places or (place,)
        fault.lines = fault.lines or ((line,) if line else ())
        return self._named(fault)

    def first_cause(self) -> KernelFault | None:
        """The fault of the first read of memory that nobody wrote: a race, if it was written soon after."""
        pending = self.memory.unwritten
        if pending is None:
            return None
        for conflict in conflicts_of(self.memory, self.clock, only=pending.address):
            return self.race(conflict)
        count, thread = divmod(pending.stamp, 1 << THREAD_BITS)
        pending.fault.places, pending.fault.lines = (Place(self.clock.block_at(count), thread),), (pending.line,)
        return self._named(pending.fault)

    def first_race(self) -> KernelFault | None:
        """The fault of a race, if there is one."""
        if self.options.checks:
            for conflict in conflicts_of(self.memory, self.clock):
                return self.race(conflict)
        return None

    def race(self, conflict: Conflict) -> KernelFault:
        """The fault that a conflict is; the launch is run again to see at which lines it happens."""
        again = self._repeat(watched=frozenset([conflict.address]))
        with suppress(Exception):  # the one that was raised the first time, if any
            again.execute()
        lines = []
        for access in (conflict.first, conflict.second):
            line = again.memory.seen.get((access.time << THREAD_BITS | access.place.thread, access.kind), "?")
            lines.append(f"{_said(access)} at {line}")
        array, index = self._element(conflict.address)
        what = "nothing orders accesses of two threads"
        return self._named(Race(what, array, index, (conflict.first.place, conflict.second.place), tuple(lines)))

    def _element(self, address: int) -> tuple[str, tuple[int, ...]]:
        """Name and index of what has an address."""
        for name, view in self.views.items():
            if view.covers(address):
                return name, view.index_of(address)
        root = next(root for root in self.memory.roots if root.holds(address))
        return root.name, root.index_of(address)

    def summary(self) -> Launch:
        """What the launch did."""
        lists = [np.sort(np.array(list_, np.int64)) for list_ in self.memory.lists]
        shared: dict[str, Traffic] = {}
        for root in self.memory.roots:
            if root.data is None:
                moved = Traffic(*map(root.bytes_of, lists))
                shared[root.name] = shared.get(root.name, Traffic()).plus(moved)
        return Launch(self.name, self.grid, self.block, len(self.clock.barriers), self._traffic(lists), shared)

    def _traffic(self, lists: list[Any]) -> dict[str, Traffic]:
        """By argument; where two share memory, the first has it all."""
        traffic = {}
        for name, view in self.views.items():
            low, high = view.range
            moved = []
            for kind, addresses in enumerate(lists):
                begin, end = np.searchsorted(addresses, [low, high])
                moved.append(int(end - begin) * view.dtype.itemsize)
                lists[kind] = np.concatenate([addresses[:begin], addresses[end:]])
            traffic[name] = Traffic(*moved)
        return traffic


def _said(access: Access) -> str:
    return f"block {access.place.block} thread {access.place.thread} {KINDS[access.kind]}"
