"""Keep compiled kernels on disk, so that a machine compiles each of them once.

This is numba's cache with four things put right: code that calls changed code is compiled anew, whichever file the
change is in; processes that compile at the same time cannot mix up their files; a disk that is full, read-only or
damaged costs time but breaks nothing; and whoever waits for the compiler is told so.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Iterator
from functools import cached_property
from glob import escape
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache

PACKAGE = __name__.partition(".")[0]
FAULTS = (OSError, EOFError, pickle.UnpicklingError)

_log = logging.getLogger(PACKAGE)
_told: set[str] = set()


def tell_once(message: str) -> None:
    """Log a warning that this process has not logged before."""
    if message not in _told:
        _told.add(message)
        _log.warning(message)


def _tell_compiling(folder: str) -> None:
    tell_once(
        f"compiling for this machine, which may take some minutes: only once, the result is kept in {folder} "
        f"('c45gpu info --warm-up' does it ahead)"
    )


def _tell_unkept(fault: object) -> None:
    tell_once(
        f"compiled code cannot be kept on disk, so each process compiles for a minute ({fault}): "
        "set NUMBA_CACHE_DIR to a folder that can be written to"
    )


def digest_of(function: FunctionType) -> str:
    """A hash of what a kernel is made of: the package's files that its code comes from, and the constants it names."""
    functions, pending, constants = {function}, [function], set()
    while pending:
        one = pending.pop()
        for name in one.__code__.co_names:
            value = one.__globals__.get(name)
            inner = getattr(value, "py_func", value)
            if isinstance(inner, FunctionType) and inner.__module__.startswith(PACKAGE) and inner not in functions:
                functions.add(inner)
                pending.append(inner)
            elif not callable(value) and not isinstance(value, ModuleType):
                constants.add(f"{one.__module__}.{name}={value!r}")
    sources = [Path(file).read_bytes() for file in sorted({f.__code__.co_filename for f in functions})]
    return hashlib.sha256(b"\0".join([*sources, *(text.encode() for text in sorted(constants))])).hexdigest()


def fields_of(signature: Any) -> list[str]:
    """The fields of the named tuples among argument types: compiled code knows them by their position only."""
    found, pending = [], list(getattr(signature, "args", signature))
    while pending:
        one = pending.pop()
        pending += getattr(one, "types", ())
        if hasattr(one, "fields"):
            found.append(f"{one.name}: {' '.join(map(str, one.fields))}")
    return found


class KernelFiles(IndexDataCacheFile):
    """The files of one kernel, one for each signature; no index, which one process could overwrite for another.

    ``cpu_move.partition-120.py311.MACHINE.CODE.SIGNATURE.nbc``, the words in capitals being hashes.
    """

    def load(self, key: tuple[Any, ...]) -> Any:
        """What was saved under a key, None if nothing was."""
        try:
            return self._load_data(".".join(self._words(key)))
        except FileNotFoundError:
            return None

    def save(self, key: tuple[Any, ...], data: Any) -> None:
        """Save under a key, and remove what other code was compiled to on machines like this."""
        kernel, machine, code, *_ = words = self._words(key)
        self._save_data(".".join(words), data)
        for path in self._files(kernel, machine):
            if not path.name.startswith(f"{kernel}.{machine}.{code}."):
                path.unlink(missing_ok=True)

    def holds(self, key: tuple[Any, ...]) -> bool:
        """Whether anything was saved under a key that may differ in its signature."""
        return any(self._files(*self._words(key)[:3]))

    def _files(self, *words: str) -> Iterator[Path]:
        return Path(self._cache_path).glob(f"{escape('.'.join(words))}.*.nbc")

    def _words(self, key: tuple[Any, ...]) -> list[str]:
        signature, machine, code, digest, *fields = key
        parts = (self._version, machine), (self._source_stamp, code, digest), (signature, fields)
        hashes = [hashlib.sha256(repr(part).encode()).hexdigest()[:16] for part in parts]
        return [self._index_name.removesuffix(".nbi"), *hashes, "nbc"]


class KernelCache(FunctionCache):
    """What numba asks for compiled code and gives it to."""

    def __init__(self, function: FunctionType) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = KernelFiles(self._cache_path, self._impl.filename_base, stamp)

    @cached_property
    def _digest(self) -> str:
        return digest_of(self._py_func)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), self._digest, *fields_of(sig))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for a signature, None if it is not there."""
        try:
            found = super().load_overload(sig, target_context)
        except FAULTS as fault:
            tell_once(f"{self._cache_path}: what is kept there cannot be read ({fault})")
            found = None
        if found is None:
            _tell_compiling(self._cache_path)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, if that is possible."""
        try:
            super().save_overload(sig, data)
        except FAULTS as fault:
            _tell_unkept(fault)

    def holds_code(self, target_context: Any) -> bool:
        """Whether there is code for this machine that can be used."""
        return self._cache_file.holds(self._index_key((), target_context.codegen()))


class Unkept(NullCache):
    """Takes the place of :class:`KernelCache` where numba finds no folder to write to."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Nothing is kept."""
        _tell_unkept("no folder can be written to")

    def holds_code(self, target_context: Any) -> bool:
        """Nothing is kept."""
        return False


def cache_for(function: FunctionType) -> KernelCache | Unkept:
    """The cache of one kernel."""
    try:
        return KernelCache(function)
    except RuntimeError:  # numba's word for: no folder
        return Unkept()


class Kept(NamedTuple):
    """How much of the compiled code is on disk.

    Attributes
    ----------
    ready : int
        Kernels that a new process finds there for some types of arguments.
    all : int
        Kernels that there are.
    folder : str or None
        Where they are kept, None where no folder can be written to.
    """

    ready: int
    all: int
    folder: str | None


def kept(kernels: list[Any]) -> Kept:
    """How many of some kernels are on disk."""
    ready = sum(kernel._cache.holds_code(kernel.targetctx) for kernel in kernels)
    folder = next((kernel._cache.cache_path for kernel in kernels), None)
    return Kept(ready, len(kernels), folder)
