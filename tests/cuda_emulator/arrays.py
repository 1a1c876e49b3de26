"""Arrays as a kernel sees them: windows on the cells of a launch that check bounds and record who touches what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.cuda_emulator.faults import KernelFault, OutOfBounds
from tests.cuda_emulator.memory import Memory, Note, Root
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
        "note_atomic",
        "note_read",
        "note_write",
        "offset",
        "root",
        "stride",
        "upper",
    )
    ndim = 1

    def __init__(self, root: Root, offset: int, length: int, stride: int = 1, lower: int = 0) -> None:
        self.root, self.cells, self.exact = root, root.memory.cells, root.exact
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
        return self.root.load(k) if value is None else value

    def __setitem__(self, i: Any, value: Any) -> None:
        k = self.address("writes", i)
        self.note_write(k)
        if type(value) is self.exact:
            self.cells[k] = value
        else:
            self.root.store(k, value)

    def address(self, what: str, i: Any) -> int:
        """The address of an element."""
        if type(i) is tuple and len(i) == 1:
            i = i[0]
        i = index(i)
        if not self.lower <= i < self.upper:
            raise self._outside(what, i)
        return self.offset + i * self.stride

    def _outside(self, what: str, i: int) -> OutOfBounds:
        return OutOfBounds(f"{what} beyond the array's {self.lower}..{self.upper - 1}", self.root.name, (i,))

    def _part(self, i: Any) -> Any:
        if type(i) is tuple and len(i) == 1:
            return self[i[0]]
        if not isinstance(i, slice):
            raise TypeError(f"{i!r} is no index")
        start, length, step = span(i, self.lower, self.upper, self.root.name)
        part = type(self)(self.root, self.offset + start * self.stride, length, self.stride * step)
        part.note_write, part.note_atomic = self.note_write, self.note_atomic
        return part


class Grid:
    """An array of two or more dimensions."""

    __slots__ = ("cells", "note_atomic", "note_read", "note_write", "offset", "root", "shape", "strides")

    def __init__(self, root: Root, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.root, self.cells = root, root.memory.cells
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
        return self.root.load(k) if value is None else value

    def __setitem__(self, key: Any, value: Any) -> None:
        k = self.address("writes", key)
        self.note_write(k)
        self.root.store(k, value)

    def address(self, what: str, key: tuple[Any, ...]) -> int:
        """The address of an element."""
        if type(key) is not tuple or len(key) != len(self.shape):
            raise TypeError(f"{key!r} does not name one element of an array of {len(self.shape)} dimensions")
        k = self.offset
        for i, length, stride in zip(key, self.shape, self.strides, strict=True):
            i = index(i)
            if not 0 <= i < length:
                raise OutOfBounds(f"{what} beyond the shape {self.shape}", self.root.name, tuple(map(int, key)))
            k += i * stride
        return k

    def _part(self, key: tuple[Any, ...]) -> Any:
        offset, shape, strides = self.offset, [], []
        for axis, length in enumerate(self.shape):
            part = key[axis] if axis < len(key) else slice(None)
            if not isinstance(part, slice):
                part = index(part)
                if not 0 <= part < length:
                    raise OutOfBounds(f"goes beyond the shape {self.shape}", self.root.name, (part,))
                offset += part * self.strides[axis]
                continue
            start, count, step = span(part, 0, length, self.root.name)
            offset += start * self.strides[axis]
            shape.append(count)
            strides.append(step * self.strides[axis])
        return window(self.root, offset, tuple(shape), tuple(strides), self)


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


def window(
    root: Root, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], parent: Grid | None = None
) -> Vector | Grid:
    """An array on cells that exist; it may write if its parent may."""
    view = Vector(root, offset, shape[0], strides[0]) if len(shape) == 1 else Grid(root, offset, shape, strides)
    if parent is not None:
        view.note_write, view.note_atomic = parent.note_write, parent.note_atomic
    return view


def argument(memory: Memory, name: str, array: np.ndarray[Any, Any], lower: int = 0) -> Vector | Grid:
    """What a kernel sees of an array of the host."""
    root, first = memory.root_of(name, array)
    strides = tuple(stride // array.itemsize for stride in array.strides)
    if any(stride < 0 for stride in strides):
        raise KernelFault("the argument runs backwards through memory", name)
    view = window(root, first, array.shape, strides)
    if lower:
        assert isinstance(view, Vector)
        view = Vector(root, first, array.shape[0], strides[0], lower)
    if not array.flags.writeable:
        view.note_write = view.note_atomic = root.refuse
    return view


def fresh(root: Root, shape: tuple[int, ...], step: int = 1) -> Vector | Grid:
    """An array on new memory, in C order; `step` is the number of cells of an element."""
    strides = [step]
    for length in shape[:0:-1]:
        strides.insert(0, strides[0] * length)
    return window(root, root.first, shape, tuple(strides))


def update(array: Any, i: Any, operation: Callable[[Any], Any]) -> Any:
    """Change an element atomically; returns what was there before."""
    if array.dtype.name not in ATOMIC_TYPES:
        raise TypeError(f"there are no atomic operations on {array.dtype}")
    k = array.address("updates", i)
    note: Note = array.note_atomic
    note(k)
    old = array.cells[k]
    if old is None:
        old = array.root.load(k)
    array.root.store(k, operation(old))
    return old
