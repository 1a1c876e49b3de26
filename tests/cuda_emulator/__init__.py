"""Runs Numba CUDA kernels, source unchanged, without a GPU, and finds the faults that a GPU hides.

Each CUDA thread is a greenlet that runs from barrier to barrier; the order of blocks, and of the threads between two
barriers, is random from a seed. Faults are exceptions (:mod:`tests.cuda_emulator.faults`): races in shared and global
memory, indices out of bounds, reads of memory that nobody wrote, barriers and warp operations that threads miss,
integers that do not fit. What is told of hardware here:

* Only ``syncthreads`` orders the threads of a block, only ``syncwarp`` those of a warp; shuffles, votes and fences
  order no memory. Blocks are not ordered in a launch at all: what one block writes, another must not touch, but both
  may use atomics.
* Two threads that write the same value to one element race.
* A slice must lie inside its array, and a negative index is a mistake.
* ``activemask`` is any set that holds the caller.
* Blocks run one after the other, so a block that spins until another one writes ends as a fault.

What it cannot see, :mod:`tests.cuda_compile` looks for in the types of the compiled kernel.
"""

from tests.cuda_emulator.faults import (
    BadLaunch,
    DivergentBarrier,
    DivisionByZero,
    Endless,
    KernelFault,
    MissingLane,
    OutOfBounds,
    Overflow,
    Place,
    Race,
    Unwritten,
)
from tests.cuda_emulator.host import Emulation, emulation
from tests.cuda_emulator.launch import Launch, Shifted, Traffic, launch, uninitialised

empty = uninitialised.empty

__all__ = [
    "BadLaunch",
    "DivergentBarrier",
    "DivisionByZero",
    "Emulation",
    "Endless",
    "KernelFault",
    "Launch",
    "MissingLane",
    "OutOfBounds",
    "Overflow",
    "Place",
    "Race",
    "Shifted",
    "Traffic",
    "Unwritten",
    "empty",
    "emulation",
    "launch",
]
