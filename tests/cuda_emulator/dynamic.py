"""Dynamic shared memory: one range of bytes that a kernel divides among arrays of several types by slicing."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cuda_emulator.arrays import Vector
from tests.cuda_emulator.faults import KernelFault
from tests.cuda_emulator.memory import Memory, Root


class DynamicRoot(Root):
    """The bytes of a block's dynamic shared memory as elements of one type; a cell for each byte, the first is used."""

    def __init__(self, memory: Memory, first: int, count: int, dtype: np.dtype[Any], owners: dict[int, str]) -> None:
        super().__init__(memory, "dynamic shared memory", 0, dtype)
        self.first, self.count, self.owners = first, count, owners

    def index_of(self, address: int) -> tuple[int, ...]:
        """Which element, of all dynamic shared memory, has an address."""
        return ((address - self.first) // self.dtype.itemsize,)

    def holds(self, address: int) -> bool:
        """Whether the byte at an address is used as this type."""
        return self.owners.get(address) == self.dtype.name

    def bytes_of(self, addresses: np.ndarray[Any, Any]) -> int:
        """Bytes that accesses as this type move."""
        low, high = np.searchsorted(addresses, [self.first, self.first + self.count])
        return sum(self.dtype.itemsize for address in addresses[low:high].tolist() if self.holds(address))

    def claim(self, address: int) -> None:
        """See that the bytes of an element are used as no other type in this block."""
        for byte in range(address, address + self.dtype.itemsize):
            owner = self.owners.setdefault(byte, self.dtype.name)
            if owner != self.dtype.name:
                what = f"byte {byte - self.first} is used as {owner} and as {self.dtype.name}"
                raise KernelFault(what, self.name)


class DynamicVector(Vector):
    """An array of one type on dynamic shared memory."""

    __slots__ = ()

    def __getitem__(self, i: Any) -> Any:
        if not isinstance(i, slice):
            self.address("reads", i)
        return super().__getitem__(i)

    def __setitem__(self, i: Any, value: Any) -> None:
        self.address("writes", i)
        super().__setitem__(i, value)

    def address(self, what: str, i: Any) -> int:
        """The address of an element, whose bytes belong to this type from now on."""
        address = super().address(what, i)
        root = self.root
        assert isinstance(root, DynamicRoot)
        if root.owners.get(address) != root.dtype.name:
            root.claim(address)
        return address


class DynamicMemory:
    """The dynamic shared memory of a block."""

    def __init__(self, memory: Memory, size: int) -> None:
        self._memory, self._size = memory, size
        self._first = len(memory.cells)
        memory.cells += [None] * size
        self._owners: dict[int, str] = {}
        self._arrays: dict[np.dtype[Any], DynamicVector] = {}

    def array(self, dtype: np.dtype[Any]) -> DynamicVector:
        """All of it as elements of a type."""
        if dtype not in self._arrays:
            root = DynamicRoot(self._memory, self._first, self._size, dtype, self._owners)
            self._memory.roots.append(root)
            length = self._size // dtype.itemsize
            self._arrays[dtype] = DynamicVector(root.name, root, self._first, length, dtype.itemsize)
        return self._arrays[dtype]
