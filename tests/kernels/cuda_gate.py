"""Which kernels the engine launches, with which types: ``python -m tests.kernels.cuda_gate`` compiles all of them.

Trees are grown under the emulator from tables that need every kernel, and each launch's types are noted. The figures
of the machine code are kept in cuda_figures.txt, which this program writes anew.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numba import typeof, void

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.train import train
from c45gpu.kernels import cuda_moving, cuda_siblings, cuda_sort, cuda_splitting
from c45gpu.kernels.cuda import CudaEngine
from c45gpu.kernels.cuda_counts import Layout
from c45gpu.kernels.cuda_device import Sizes
from c45gpu.kernels.cuda_sort import CODE_TYPES
from c45gpu.kernels.engine import Pairs
from c45gpu.model.store import Model
from tests.cuda_compile import CAPABILITIES, HEADING, Capability, Report, compile_kernel
from tests.cuda_emulator import Emulation
from tests.kernels.cuda_here import SMALL, EmulatedLauncher

FIGURES = Path(__file__).parent / "cuda_figures.txt"
MADE_BY = ("numba-cuda", "nvidia-cuda-nvcc", "nvidia-nvvm")  # figures are theirs as much as the kernels'


class Launched(NamedTuple):
    """A kernel with the types of its arguments."""

    name: str
    kernel: Any
    signature: Any


class Recorder(EmulatedLauncher):
    """Notes what it launches."""

    def __init__(self, gpu: Emulation) -> None:
        super().__init__(gpu)
        self.launched: dict[tuple[Any, Any], None] = {}

    def __call__(self, kernel: Any, blocks: int, threads: int, shared_bytes: int, arguments: tuple[Any, ...]) -> None:
        self.launched[kernel, void(*map(typeof, arguments))] = None
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


def rarely_unknown(cases: Table, unknown: list[tuple[int, int]]) -> Table:
    """The same cases with these values (attribute and case) unknown."""
    columns = [cases.column(a).copy() for a in range(len(cases.columns))]
    for a, case in unknown:
        columns[a][case] = np.nan if columns[a].dtype.kind == "f" else -1
    return Table(cases.schema, columns, cases.classes)


@cache
def launched() -> tuple[Launched, ...]:
    """Every kernel at every type, in the order of their names."""
    recorder = Recorder(Emulation(0, checks=False))
    tables = [table(24, 2, 3, 0.0), table(24, 20, 3, 0.3), table(30, 2, 20, 0.3)]
    for cases, wide, kind in [(tables[i], wide, CODE_TYPES[i]) for i in range(3) for wide in (False, True)]:
        patched = mock.patch.object(cuda_sort, "CODE_TYPES", (kind,))
        with patched, wide_numbers() if wide else nullcontext(), mock.patch.object(cuda_siblings, "CELL_BYTES", 0):
            model = grown(cases, SMALL, recorder)
            weighted = replace(tables[0], weights=np.linspace(0.5, 2.0, tables[0].n_cases), _ranks={})
            for finished in (tables[0], weighted, rarely_unknown(tables[0], [(0, 0), (2, 1)])):
                grown(finished, SMALL._replace(finish_cases=16, histogram_bytes=1 << 20), recorder)
        columns = [cases.column(a) for a in range(len(cases.columns))]
        columns = [c.astype(np.float64) if wide and c.dtype.kind == "f" else c for c in columns]
        router = CudaEngine(recorder.gpu.xp, recorder, SMALL)
        typed = Table(cases.schema, columns, cases.classes)
        router.route(model.unpruned, typed)
        place_and_send(typed, recorder)
        one = Schema(cases.schema.attributes[:1], cases.schema.classes)
        place_and_send(Table(one, columns[:1], np.greater(columns[0], 0.5).astype(np.int32)), recorder)
    found = [Launched(kernel.__name__, kernel, signature) for kernel, signature in recorder.launched]
    return tuple(sorted(found, key=lambda one: (one.name, str(one.signature))))


def grown(cases: Table, sizes: Sizes, recorder: Recorder) -> Model:
    """Grow to the end."""
    engine = CudaEngine(recorder.gpu.xp, recorder, sizes)
    return train(cases, Options(prune="none", min_cases=1, criterion="gain"), engine)


def place_and_send(cases: Table, recorder: Recorder) -> None:
    """Ask about pruning; the values are laid out otherwise where only one attribute is tested."""
    tree = train(cases, Options(prune="none", min_cases=1, criterion="gain"), "reference").unpruned
    engine = CudaEngine(recorder.gpu.xp, recorder, SMALL)
    engine.load(pose(cases, Options()))
    pairs = Pairs(np.zeros(1, np.int64), tree.branches(0)[:1], np.array([1 << 60]))
    engine.place(tree).send(tree, np.zeros((tree.n_nodes, tree.n_classes), np.int64), pairs)


@contextmanager
def wide_numbers() -> Iterator[None]:
    """While this lasts, entries have 64 bits, as for very many cases, and so have numbers; branches have 32."""
    narrow = Layout.holding
    with (
        mock.patch.object(Layout, "holding", lambda n, n_classes, least_bits=32: narrow(n, n_classes, 64)),
        mock.patch.object(cuda_moving, "place_type", return_value=np.int64),
        mock.patch.object(cuda_splitting, "MOST_OF_A_BYTE", 0),
    ):
        yield


def report_of(one: Launched, capability: Capability) -> Report:
    """What a kernel became for a card."""
    return compile_kernel(one.kernel, one.signature, capability)


def versions() -> str:
    """What made the figures."""
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in MADE_BY)


def main() -> None:
    """Write the figures."""
    every = launched()
    rows = [report_of(one, capability).row() for capability in CAPABILITIES for one in every]
    FIGURES.write_text("\n".join([versions(), HEADING, *rows, ""]), "utf-8")


if __name__ == "__main__":
    main()
