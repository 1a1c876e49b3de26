"""The compile gate: kernels to machine code for every card that is supported, without a driver, and what is in it.

``numba.cuda`` makes PTX, ``ptxas`` from the ``nvidia-cuda-nvcc`` package makes machine code and says what it needs.
On the way the types that Numba found are searched for arithmetic in which :mod:`tests.cuda_emulator` differs from a
GPU, so that what passes there, and here, is right on a card.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import operator
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

Capability = tuple[int, int]
CAPABILITIES: tuple[Capability, ...] = ((7, 5), (8, 0), (9, 0), (10, 0), (12, 0))
REGISTERS = 65536  # of a multiprocessor, on all of these
SHARED = {(7, 5): 64, (8, 0): 163, (9, 0): 227, (10, 0): 227, (12, 0): 99}  # KiB that a block may ask for
STATIC_SHARED = 48 * 1024  # bytes that it has without asking
ASSEMBLERS = ("nvidia-cuda-nvcc", "nvidia-cuda-nvcc-cu12")


class CompileError(Exception):
    """ptxas refuses a kernel."""


@dataclass(frozen=True)
class Report:
    """What a kernel became.

    Attributes
    ----------
    kernel : str
    capability : (int, int)
    ptx : str
    registers : int
        Of a thread.
    shared : int
        Bytes of static shared memory of a block.
    stack : int
        Bytes of a thread's local memory, arrays that did not fit registers and spills.
    spills : int
        Bytes written to local memory because registers ran out, and bytes read back.
    constants : int
        Bytes of tables in constant memory.
    fused : int
        Multiplications and additions that Numba's compiler made one operation with one rounding.
    fusible : int
        Additions of a product, both with no rounding of their own, which another version of ptxas may fuse.
    gaps : tuple of str
        Arithmetic that the emulator does otherwise than a GPU, with its line. Of functions that several kernels call,
        only where they were compiled first.
    """

    kernel: str
    capability: Capability
    ptx: str
    registers: int
    shared: int
    stack: int
    spills: int
    constants: int
    fused: int
    fusible: int
    gaps: tuple[str, ...]

    def fits(self, threads: int, dynamic_shared: int = 0) -> bool:
        """Whether a card can run a block of so many threads with so much dynamic shared memory (bytes)."""
        of_warp = -(-self.registers * 32 // 256) * 256  # handed out to warps in units of 256
        most = SHARED[self.capability] * 1024
        return -(-threads // 32) * of_warp <= REGISTERS and self.shared + dynamic_shared <= most

    def row(self) -> str:
        """One line of a table of figures."""
        major, minor = self.capability
        figures = (self.registers, self.shared, self.stack, self.spills, self.constants, self.fused + self.fusible)
        return f"{self.kernel:24} {major}.{minor:<3}" + "".join(f"{figure:11}" for figure in figures)


HEADING = f"{'kernel':24} card " + "".join(
    f"{title:>11}" for title in ("registers", "shared", "stack", "spills", "constants", "fused")
)


def table(reports: Iterable[Report]) -> str:
    """The figures of kernels, a line for each."""
    return "\n".join([HEADING, *(report.row() for report in reports)])


@cache
def assembler() -> Path | None:
    """The ptxas of the nvidia-cuda-nvcc package, or of the machine."""
    for name in ASSEMBLERS:
        try:
            files = importlib.metadata.files(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name in ("ptxas", "ptxas.exe"):
                return Path(str(file.locate()))
    found = shutil.which("ptxas")
    return Path(found) if found else None


def missing() -> str | None:
    """Why nothing can be compiled here; None if it can."""
    if importlib.util.find_spec("numba_cuda") is None:
        return "the compile gate needs numba-cuda: pip install 'c45gpu[cuda-test]'"
    if assembler() is None:
        return "the compile gate needs ptxas: pip install 'c45gpu[cuda-test]'"
    return None


def compile_kernel(kernel: Any, signature: Any, capability: Capability, max_registers: int | None = None) -> Report:
    """Compile a kernel for a card, to machine code.

    Parameters
    ----------
    kernel : function or dispatcher
        It may call functions that Numba knows: jitted ones, or registered with ``numba.extending.register_jitable``.
    signature : numba signature
        ``numba.void(...)`` with the types of the arguments.
    capability : (int, int)
    max_registers : int, optional
        Registers of a thread at most.

    Raises
    ------
    CompileError
        If ptxas refuses it; what Numba refuses is an exception of Numba's.
    """
    import numba.cuda as numba_cuda

    cuda: Any = numba_cuda
    function = getattr(kernel, "py_func", kernel)
    with _card(capability), _typed_functions() as gaps:
        ptx, _ = cuda.compile_ptx(function, signature, cc=capability)
    said = _assemble(ptx, capability, max_registers)
    return Report(
        kernel=function.__name__,
        capability=capability,
        ptx=ptx,
        registers=max(_numbers(r"Used (\d+) registers", said)),
        shared=sum(_numbers(r"(\d+) bytes smem", said)),
        stack=sum(_numbers(r"(\d+) bytes stack frame", said)),
        spills=sum(_numbers(r"(\d+) bytes spill", said)),
        constants=sum(_numbers(r"^\.(?:visible )?\.?const .*?\[(\d+)\] =", ptx)),
        fused=len(re.findall(r"\bfma\.r[nzmp]\.(?:ftz\.)?f(?:32|64)\b", ptx)),
        fusible=sum(_fusible(ptx, width) for width in ("f32", "f64")),
        gaps=tuple(dict.fromkeys(gaps)),
    )


def _numbers(pattern: str, text: str) -> list[int]:
    return [int(found) for found in re.findall(pattern, text, re.MULTILINE)]


@contextmanager
def _card(capability: Capability) -> Iterator[None]:
    """Numba asks the current device for its capability before it compiles a function that a kernel calls."""
    device = SimpleNamespace(compute_capability=capability)
    with mock.patch("numba.cuda.dispatcher.get_current_device", return_value=device):
        yield


def _assemble(ptx: str, capability: Capability, max_registers: int | None) -> str:
    """What ptxas says of its work."""
    limit = [] if max_registers is None else [f"--maxrregcount={max_registers}"]
    major, minor = capability
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.ptx"
        source.write_text(ptx, "utf-8")
        command = [
            str(assembler()),
            "-v",
            f"-arch=sm_{major}{minor}",
            *limit,
            "-o",
            f"{folder}/kernel.cubin",
            str(source),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(done.stderr.strip() or done.stdout.strip())
    return done.stderr + done.stdout


def _fusible(ptx: str, width: str) -> int:
    """Additions without a rounding of their own whose operand is a product without one, perhaps copied or negated."""
    products = set(re.findall(rf"\bmul(?:\.ftz)?\.{width}\s+(%\w+)", ptx))
    while True:
        copies = re.findall(rf"\b(?:mov|neg|abs)(?:\.ftz)?\.{width}\s+(%\w+), (%\w+)", ptx)
        more = {target for target, source in copies if source in products} - products
        if not more:
            break
        products |= more
    additions = re.findall(rf"\b(?:add|sub)(?:\.ftz)?\.{width}\s+%\w+, ([^;]*);", ptx)
    return sum(1 for operands in additions if products & set(operands.split(", ")))


# ---- what Numba's types say


@contextmanager
def _typed_functions() -> Iterator[list[str]]:
    """While this lasts, each function that Numba has typed is searched for gaps."""
    from numba.cuda.core.typed_passes import AnnotateTypes

    gaps: list[str] = []
    run_pass: Callable[[Any, Any], bool] = AnnotateTypes.run_pass

    def run_and_search(self: Any, state: Any) -> bool:
        if state.func_id.modname.split(".")[0] not in ("numba", "numba_cuda"):
            gaps.extend(_gaps_of(state))
        return run_pass(self, state)

    with mock.patch.object(AnnotateTypes, "run_pass", run_and_search):
        yield gaps


def _gaps_of(state: Any) -> Iterator[str]:
    for block in state.func_ir.blocks.values():
        for statement in block.body:
            if not hasattr(statement, "target") or not hasattr(statement, "value"):
                continue
            gap = _gap(statement, state)
            if gap:
                where = f"{Path(statement.loc.filename).name}:{statement.loc.line}"
                yield f"{where} {state.func_id.func_name}: {gap}"


def _gap(statement: Any, state: Any) -> str:
    """What the emulator does otherwise in a statement, if anything."""
    types, value = state.typemap, statement.value
    if not hasattr(statement.target, "name"):
        return ""
    target = types[statement.target.name]
    operation = getattr(value, "op", None)
    if operation in ("binop", "inplace_binop"):
        return _gap_of_binary(value.fn, types[value.lhs.name], types[value.rhs.name], target)
    if operation == "unary" and value.fn in (operator.invert, "~") and _is(types[value.value.name], "Boolean"):
        return "~ of a bool is a bool on a GPU, an integer in Python"
    if operation == "call" and _is_called(value, state, (min, max)) and _is(target, "Float"):
        return _gap_of_widening(target, [types[argument.name] for argument in value.args])
    sources = value.incoming_values if operation == "phi" else [value] if operation is None else []
    names = [source.name for source in sources if hasattr(source, "name") and source.name in types]
    return _gap_of_widening(target, [types[name] for name in names])


def _gap_of_binary(function: Any, left: Any, right: Any, result: Any) -> str:
    if _is(left, "Boolean") and _is(right, "Boolean") and _is(result, "Integer"):
        return "arithmetic on two bools makes an integer on a GPU, a bool in NumPy"
    if str(result) == "float32":
        return "float32 arithmetic is done in float64 by the emulator"
    return ""


def _gap_of_widening(target: Any, sources: list[Any]) -> str:
    if _is(target, "Float") and any(_is(source, "Integer") or _is(source, "Boolean") for source in sources):
        return f"an integer becomes {target}, since a variable or a choice has one type"
    return ""


def _is(kind: Any, name: str) -> bool:
    return any(base.__name__ == name for base in type(kind).__mro__)


def _is_called(call: Any, state: Any, functions: tuple[Any, ...]) -> bool:
    key = getattr(state.typemap[call.func.name], "typing_key", None)
    return key in functions
