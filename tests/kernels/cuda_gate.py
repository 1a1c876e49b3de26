"""Which kernels the engine launches, with which types: ``python -m tests.kernels.cuda_gate`` compiles all of them.

Trees are grown under the emulator from tables that need every kernel, and each launch's types are noted. The figures
of the machine code are kept in cuda_figures.txt, which this program writes anew.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import typeof, void

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.kernels.cuda import CudaEngine
from c45gpu.kernels.cuda_counts import Layout
from c45gpu.kernels.cuda_device import Sizes
from tests.cuda_compile import CAPABILITIES, HEADING, Capability, Report, compile_kernel
from tests.cuda_emulator import Emulation
from tests.kernels.cuda_here import EmulatedLauncher

FIGURES = Path(__file__).parent / "cuda_figures.txt"
MADE_BY = ("numba-cuda", "nvidia-cuda-nvcc", "nvidia-nvvm")  # figures are theirs as much as the kernels'


class Launched(NamedTuple):
    """A kernel with the types of its arguments."""

    name: str
    kernel: Any
    signature: Any


class Recorder(EmulatedLauncher):
    """Notes what it launches, and the most shared memory of it."""

    def __init__(self, gpu: Emulation) -> None:
        super().__init__(gpu)
        self.launched: dict[tuple[Any, Any], int] = {}

    def __call__(self, kernel: Any, blocks: int, threads: int, shared_bytes: int, arguments: tuple[Any, ...]) -> None:
        key = (kernel, void(*map(typeof, arguments)))
        self.launched[key] = max(shared_bytes, self.launched.get(key, 0))
        super().__call__(kernel, blocks, threads, shared_bytes, arguments)


def table(n: int, classes: int, values: int, unknown: float) -> Table:
    """Cases of two long columns and two of codes, one with many values that decide the class."""
    random = np.random.default_rng(values)
    long = random.random((2, n)).astype(np.float32)
    long[random.random((2, n)) < unknown] = np.nan
    code = random.integers(0, values, n, np.int32)
    label = (code + (long[0] > 0.5) + (long[1] > 0.5)) % classes
    names = [tuple(f"v{v}" for v in range(count)) for count in (values, 2)]
    attributes = [
        Attribute("x", "continuous"),
        Attribute("y", "continuous"),
        Attribute("u", "discrete", names[0]),
        Attribute("v", "discrete", names[1]),
    ]
    schema = Schema(tuple(attributes), tuple(f"k{c}" for c in range(classes)))
    return Table(schema, [*long, code, random.integers(0, 2, n, np.int32)], label.astype(np.int32))


def launched(sizes: Sizes) -> dict[Launched, int]:
    """Every kernel at every type, with the most dynamic shared memory (bytes) that it asks for."""
    tables = [table(60, 2, 3, 0.0), table(60, 20, 3, 0.2), table(150, 2, 40, 0.2), table(60, 2, 300, 0.0)]
    recorder = Recorder(Emulation(0, checks=False))
    for wide in (False, True):
        for cases in [*tables, *(table(30, 2, 70_000, 0.0) for _ in range(1))]:
            engine = CudaEngine(recorder.gpu.xp, recorder, sizes)
            with widened(wide):
                train(cases, Options(prune="none", min_cases=1, criterion="gain"), engine)
    return {Launched(k.__name__, k, s): shared for (k, s), shared in recorder.launched.items()}


class widened:
    """While this lasts, entries are wide, as of very many cases, if asked for."""

    def __init__(self, wide: bool) -> None:
        self._wide = wide

    def __enter__(self) -> None:
        self._narrow = Layout.__dict__["holding"]
        if self._wide:
            Layout.holding = classmethod(lambda cls, n, n_classes, bits=32: self._narrow.__func__(cls, n, n_classes, 64))

    def __exit__(self, *error: object) -> None:
        Layout.holding = self._narrow


def reports(capability: Capability, sizes: Sizes) -> list[tuple[Report, int]]:
    """What each kernel became for a card, and its dynamic shared memory."""
    found = sorted(launched(sizes).items(), key=lambda item: (item[0].name, str(item[0].signature)))
    return [(compile_kernel(one.kernel, one.signature, capability), shared) for one, shared in found]


def versions() -> str:
    """What made the figures."""
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in MADE_BY)


def main() -> None:
    """Write the figures."""
    rows = [report.row() for capability in CAPABILITIES for report, _ in reports(capability, Sizes())]
    FIGURES.write_text("\n".join([versions(), HEADING, *rows, ""]), "utf-8")


if __name__ == "__main__":
    main()
