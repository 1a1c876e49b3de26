"""Arrays as a kernel sees them: windows on the cells of a launch that check bounds and record who touches what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.cuda_emulator.faults import BadLaunch, KernelFault, OutOfBounds
from tests.cuda_emulator.memory import Memory, Note, Root, Uninitialised
from tests.cuda_emulator.words import index

ATOMIC_TYPES = ("int32", "uint32", "int64", "uint64", "float32", "float64")


class Vector:
    """A one-dimensional array.

    `lower` is the least index: above 0 only in an array that stands for the end of a huge one.
    """

    __slots__ = (
        "cells",
        "exact",
        "lower",
        "name",
        "note_atomic",
        "note_read",
        "note_write",
        "offset",
        "root",
        "stride",
        "upper",
    )
    ndim = 1

    def __init__(self, name: str, root: Root, offset: int, length: int, stride: int = 1, lower: int = 0) -> None:
        self.name, self.root, self.cells, self.exact = name, root, root.memory.cells, root.exact
        self.note_read, self.note_write, self.note_atomic = root.note_read, root.note_write, root.note_atomic
        self.stride, self.lower, self.upper = stride, lower, lower + length
        self.offset = offset - lower * stride

    @property
    def shape(self) -> tuple[int]:
        """One number: the first index beyond the end."""
        return (self.upper,)

    @property
    def size(self) -> int:
        """The first index beyond the end."""
        return self.upper

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return self.root.dtype

    def __len__(self) -> int:
        return self.upper

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.lower, self.upper))

    def __getitem__(self, i: Any) -> Any:
        try:
            i = index(i)
        except TypeError:
            return self._part(i)
        if not self.lower <= i < self.upper:
            raise self._outside("reads", i)
        k = self.offset + i * self.stride
        self.note_read(k)
        value = self.cells[k]
        return self.root.load(k, self) if value is None else value

    def __setitem__(self, i: Any, value: Any) -> None:
        i = index(i)
        if not self.lower <= i < self.upper:
            raise self._outside("writes", i)
        k = self.offset + i * self.stride
        self.note_write(k)
        if type(value) is self.exact:
            self.cells[k] = value
        else:
            self.root.store(k, value, self)

    def address(self, what: str, i: Any) -> int:
        """The address of an element, for what is done less often."""
        k = index(i)
        if not self.lower <= k < self.upper:
            raise self._outside(what, k)
        return self.offset + k * self.stride

    def index_of(self, address: int) -> tuple[int]:
        """Which element has an address."""
        return ((address - self.offset) // self.stride,)

    @property
    def range(self) -> tuple[int, int]:
        """Addresses from the first element's to the one after the last element's."""
        first = self.offset + self.lower * self.stride
        length = self.upper - self.lower
        return first, first + (length - 1) * self.stride + 1 if length else first

    def covers(self, address: int) -> bool:
        """Whether an element has an address."""
        low, high = self.range
        return low <= address < high and (address - low) % self.stride == 0

    def _outside(self, what: str, i: int) -> OutOfBounds:
        return OutOfBounds(f"{what} beyond the array's {self.lower}..{self.upper - 1}", self.name, (i,))

    def _part(self, i: Any) -> Any:
        if not isinstance(i, slice):
            raise TypeError(f"{i!r} is no index")
        start, length, step = span(i, self.lower, self.upper, self.name)
        part = type(self)(self.name, self.root, self.offset + start * self.stride, length, self.stride * step)
        part.note_write, part.note_atomic = self.note_write, self.note_atomic
        return part


class Matrix:
    """An array of two or more dimensions."""

    __slots__ = ("cells", "name", "note_atomic", "note_read", "note_write", "offset", "root", "shape", "strides")

    def __init__(self, name: str, root: Root, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.name, self.root, self.cells = name, root, root.memory.cells
        self.note_read, self.note_write, self.note_atomic = root.note_read, root.note_write, root.note_atomic
        self.offset, self.shape, self.strides = offset, shape, strides

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return self.root.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.shape[0]))

    def __getitem__(self, key: Any) -> Any:
        if type(key) is not tuple or len(key) != len(self.shape) or any(type(i) is slice for i in key):
            return self._part(key if type(key) is tuple else (key,))
        k = self.address("reads", key)
        self.note_read(k)
        value = self.cells[k]
        return self.root.load(k, self) if value is None else value

    def __setitem__(self, key: Any, value: Any) -> None:
        k = self.address("writes", key)
        self.note_write(k)
        self.root.store(k, value, self)

    def address(self, what: str, key: tuple[Any, ...]) -> int:
        """The address of an element."""
        if type(key) is not tuple or len(key) != len(self.shape):
            raise TypeError(f"{key!r} does not name one element of an array of {len(self.shape)} dimensions")
        k = self.offset
        for i, length, stride in zip(key, self.shape, self.strides, strict=True):
            i = index(i)
            if not 0 <= i < length:
                raise OutOfBounds(f"{what} beyond the shape {self.shape}", self.name, tuple(map(int, key)))
            k += i * stride
        return k

    def index_of(self, address: int) -> tuple[int, ...]:
        """Which element has an address."""
        rest, found = address - self.offset, [0] * len(self.shape)
        for axis in sorted(range(len(self.shape)), key=lambda axis: -self.strides[axis]):
            found[axis], rest = divmod(rest, self.strides[axis])
        return tuple(found)

    @property
    def range(self) -> tuple[int, int]:
        """Addresses from the first element's to the one after the last element's."""
        last = sum((length - 1) * stride for length, stride in zip(self.shape, self.strides, strict=True))
        return self.offset, self.offset + last + 1 if self.size else self.offset

    def covers(self, address: int) -> bool:
        """Whether an element has an address."""
        low, high = self.range
        return low <= address < high and all(
            i < length for i, length in zip(self.index_of(address), self.shape, strict=True)
        )

    def _part(self, key: tuple[Any, ...]) -> Any:
        if len(key) > len(self.shape):
            raise TypeError(f"{key!r} has more numbers than the array has dimensions")
        offset, shape, strides = self.offset, [], []
        for axis, length in enumerate(self.shape):
            part = key[axis] if axis < len(key) else slice(None)
            if not isinstance(part, slice):
                part = index(part)
                if not 0 <= part < length:
                    raise OutOfBounds(f"goes beyond the shape {self.shape}", self.name, (part,))
                offset += part * self.strides[axis]
                continue
            start, count, step = span(part, 0, length, self.name)
            offset += start * self.strides[axis]
            shape.append(count)
            strides.append(step * self.strides[axis])
        part = window(self.name, self.root, offset, tuple(shape), tuple(strides))
        part.note_write, part.note_atomic = self.note_write, self.note_atomic
        return part


def span(part: slice, lower: int, upper: int, name: str) -> tuple[int, int, int]:
    """Start, length and step of a slice; one that leaves the array is a fault, though Python would cut it short."""
    step = 1 if part.step is None else index(part.step)
    start = lower if part.start is None else index(part.start)
    stop = upper if part.stop is None else index(part.stop)
    if step < 1:
        raise TypeError("slices go upwards in kernels")
    if not (lower <= start <= upper and lower <= stop <= upper):
        raise OutOfBounds(f"slice leaves the array's {lower}..{upper - 1}", name, (start, stop))
    return start, max(0, -(-(stop - start) // step)), step


def window(name: str, root: Root, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Vector | Matrix:
    """An array on cells that exist."""
    if len(shape) == 1:
        return Vector(name, root, offset, shape[0], strides[0])
    return Matrix(name, root, offset, shape, strides)


def argument(memory: Memory, name: str, array: np.ndarray[Any, Any], lower: int = 0) -> Vector | Matrix:
    """What a kernel sees of an array of the host."""
    root, first = memory.root_of(name, array)
    strides = tuple(stride // array.itemsize for stride in array.strides)
    if array.ndim == 0 or any(stride < 1 and n > 1 for stride, n in zip(strides, array.shape, strict=True)):
        raise BadLaunch("the argument has no dimension, or repeats elements, or runs backwards", name)
    view = window(name, root, first, array.shape, strides)
    if lower:
        view = Vector(name, root, first, array.shape[0], strides[0], lower)
    if not array.flags.writeable:
        view.note_write = view.note_atomic = refusal(view)
    return view


def refusal(view: Vector | Matrix) -> Note:
    """A note that reports a write to an array that is read-only."""

    def refuse(address: int) -> None:
        raise KernelFault("writes to an array that is read-only", view.name, view.index_of(address))

    return refuse


def constant(name: str, array: np.ndarray[Any, Any]) -> Vector | Matrix:
    """A table that is part of the program; nobody writes to it, so nothing is recorded."""
    memory = Memory(Uninitialised(), checks=False)
    table = array.copy()
    table.flags.writeable = False
    return argument(memory, name, table)


def fresh(root: Root, shape: tuple[int, ...]) -> Vector | Matrix:
    """An array on new memory, in C order."""
    strides = [1]
    for length in shape[:0:-1]:
        strides.insert(0, strides[0] * length)
    view = window(root.name, root, root.first, shape, tuple(strides))
    root.shape = view
    return view


def update(array: Any, i: Any, operation: Callable[[Any], Any]) -> Any:
    """Change an element atomically; returns what was there before."""
    if array.dtype.name not in ATOMIC_TYPES:
        raise TypeError(f"there are no atomic operations on {array.dtype}")
    k = array.address("updates", i)
    note: Note = array.note_atomic
    note(k)
    old = array.cells[k]
    if old is None:
        old = array.root.load(k, array)
    array.root.store(k, operation(old), array)
    return old
