"""What a kernel finds under the name ``cuda``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tests.cuda_emulator.allocation import Constant, Local, Shared
from tests.cuda_emulator.atomic import PATIENCE, Atomic
from tests.cuda_emulator.block import Arrival
from tests.cuda_emulator.faults import site_of
from tests.cuda_emulator.memory import Memory
from tests.cuda_emulator.warp import Call
from tests.cuda_emulator.words import Word, Word32, bits_of, fit, signed, whole

FULL_MASK = 0xFFFFFFFF


class Position:
    """Three numbers: threadIdx, blockIdx, blockDim, gridDim."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: Any, y: Any, z: Any) -> None:
        self.x, self.y, self.z = x, y, z


class Device:
    """The object that stands for the module ``numba.cuda`` in a kernel."""

    warpsize = 32

    def __init__(self) -> None:
        self.shared, self.local, self.const, self.atomic = Shared(), Local(), Constant(), Atomic()
        self.threadIdx = self.blockIdx = self.blockDim = self.gridDim = Position(0, 0, 0)
        self.laneid = 0
        self._switch: Callable[[Any], Any]
        self._random: np.random.Generator
        self._positions: list[Position] = []
        self.thread = 0

    def begin_launch(
        self, grid: tuple[int, ...], block: tuple[int, ...], switch: Callable[[Any], Any], random: np.random.Generator
    ) -> None:
        """Take the shape of a launch and the way to the scheduler."""
        x, y, z = block
        self.gridDim, self.blockDim = Position(*map(signed, grid)), Position(*block)
        self._positions = [Position(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
        self._switch, self._random = switch, random

    def begin_block(self, position: tuple[int, ...], memory: Memory, dynamic_bytes: int) -> None:
        """Another block starts."""
        self.blockIdx = Position(*map(signed, position))
        self.shared.begin(memory, dynamic_bytes)
        self.local.memory = memory

    def enter(self, thread: int) -> None:
        """From here on it is this thread of the block that runs."""
        self.threadIdx, self.laneid, self.thread = self._positions[thread], thread & 31, thread
        self.atomic.patience = PATIENCE

    def grid(self, dimensions: int) -> Any:
        """Position of the thread in the grid."""
        at, block, size = self.threadIdx, self.blockIdx, self.blockDim
        position = (block.x * size.x + at.x, block.y * size.y + at.y, block.z * size.z + at.z)
        return position[0] if dimensions == 1 else position[:dimensions]

    def gridsize(self, dimensions: int) -> Any:
        """Threads of the grid."""
        count, size = self.gridDim, self.blockDim
        lengths = (count.x * size.x, count.y * size.y, count.z * size.z)
        return lengths[0] if dimensions == 1 else lengths[:dimensions]

    def syncthreads(self) -> None:
        """Wait for all threads of the block."""
        self._switch(Arrival("syncthreads", site_of(sys._getframe(1)), 0))

    def _barrier(self, kind: str, predicate: Any) -> Any:
        if isinstance(predicate, (bool, np.bool_)):
            raise TypeError(f"{kind} takes an integer in Numba, not a bool: write 1 if ... else 0")
        value = fit(whole(predicate), -(1 << 31), 32, f"the int32 of {kind}")
        return signed(self._switch(Arrival(kind, site_of(sys._getframe(2)), value)))

    def syncthreads_count(self, predicate: Any) -> Any:
        """Wait for all threads, and count those whose predicate is not 0."""
        return self._barrier("syncthreads_count", predicate)

    def syncthreads_and(self, predicate: Any) -> Any:
        """Wait for all threads; 1 if no predicate is 0."""
        return self._barrier("syncthreads_and", predicate)

    def syncthreads_or(self, predicate: Any) -> Any:
        """Wait for all threads; 1 if a predicate is not 0."""
        return self._barrier("syncthreads_or", predicate)

    def _warp(self, operation: str, mask: Any, value: Any = None, other: Any = 0) -> Any:
        bits = whole(mask) & FULL_MASK
        return self._switch(Call(operation, bits, site_of(sys._getframe(2)), value, whole(other)))

    def syncwarp(self, mask: Any = FULL_MASK) -> None:
        """Wait for the lanes of a mask."""
        self._warp("syncwarp", mask)

    def shfl_sync(self, mask: Any, value: Any, lane: Any) -> Any:
        """The value of a lane."""
        return self._warp("shfl_sync", mask, value, lane)

    def shfl_up_sync(self, mask: Any, value: Any, delta: Any) -> Any:
        """The value of the lane that is `delta` lower; one's own where there is none."""
        return self._warp("shfl_up_sync", mask, value, delta)

    def shfl_down_sync(self, mask: Any, value: Any, delta: Any) -> Any:
        """The value of the lane that is `delta` higher; one's own where there is none."""
        return self._warp("shfl_down_sync", mask, value, delta)

    def shfl_xor_sync(self, mask: Any, value: Any, lane_mask: Any) -> Any:
        """The value of the lane whose number differs in the bits of `lane_mask`."""
        return self._warp("shfl_xor_sync", mask, value, lane_mask)

    def ballot_sync(self, mask: Any, predicate: Any) -> Any:
        """The lanes whose predicate is true, as an int32."""
        return self._warp("ballot_sync", mask, predicate)

    def any_sync(self, mask: Any, predicate: Any) -> Any:
        """Whether a lane's predicate is true."""
        return self._warp("any_sync", mask, predicate)

    def all_sync(self, mask: Any, predicate: Any) -> Any:
        """Whether all lanes' predicates are true."""
        return self._warp("all_sync", mask, predicate)

    def eq_sync(self, mask: Any, predicate: Any) -> Any:
        """Whether all lanes' predicates are the same."""
        return self._warp("eq_sync", mask, predicate)

    def match_any_sync(self, mask: Any, value: Any) -> Any:
        """The lanes that have the same value, as an int32."""
        return self._warp("match_any_sync", mask, value)

    def match_all_sync(self, mask: Any, value: Any) -> Any:
        """The lanes, as an int32, and True if all have the same value; 0 and False if not."""
        return self._warp("match_all_sync", mask, value)

    def activemask(self) -> Word32:
        """Some lanes that may happen to run together: a card promises no more."""
        lanes = self._random.integers(0, 1 << 32, dtype=np.int64)
        return Word32(int(lanes) & self._existing() | 1 << self.laneid)

    def _existing(self) -> int:
        return (1 << min(32, len(self._positions) - (self.thread & ~31))) - 1

    def lanemask_lt(self) -> Word32:
        """The lanes below."""
        return Word32((1 << self.laneid) - 1)

    def threadfence(self) -> None:
        """Order memory, not threads: a race stays a race."""

    threadfence_block = threadfence_system = threadfence

    def nanosleep(self, nanoseconds: Any) -> None:
        """Do nothing."""

    @staticmethod
    def popc(value: Any) -> Any:
        """Bits that are 1."""
        return signed(bits_of(value, "popc")[0].bit_count())

    @staticmethod
    def clz(value: Any) -> Any:
        """Zeros before the first 1."""
        number, width = bits_of(value, "clz")
        return signed(width - number.bit_length())

    @staticmethod
    def ffs(value: Any) -> Word32:
        """Position of the last 1, counted from 1; 0 if there is none."""
        number = whole(value)
        return Word32((number & -number).bit_length())

    @staticmethod
    def brev(value: Any) -> Any:
        """The bits in reverse."""
        if not isinstance(value, Word):
            raise TypeError(f"brev of {value!r}: cast it to np.uint32 or np.uint64")
        return type(value)(int(f"{int(value):0{value.bits}b}"[::-1], 2))

    @staticmethod
    def selp(condition: Any, yes: Any, no: Any) -> Any:
        """One or the other."""
        return yes if condition else no

    @staticmethod
    def fma(a: Any, b: Any, c: Any) -> Any:
        """a * b + c, rounded once."""
        return np.float64(float(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))))


DEVICE = Device()
