"""Keep training in a file from time to time, so that it can go on where it was after a crash.

    header.json      c45gpu's version, the options, a hash of the data, and plain values of what was done
    nodes/kind.npy   one member for each array
    ...
    comment          SHA-256 of every byte before it; see c45gpu.model.sealed

What is kept is the tree after a level (and its open nodes), or the trials of windowing that have run. It does not tell
which engine grew it, so any engine goes on.
"""

from __future__ import annotations

import json
import math
import re
import time
import warnings
import zipfile
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from c45gpu import __version__
from c45gpu.errors import CheckpointError, ModelError, OptionError
from c45gpu.induction.options import Options
from c45gpu.model.sealed import (
    FORMAT_NAME,
    FORMAT_NUMBER,
    MALFORMED,
    array_bytes,
    array_of,
    opened,
    read_sealed,
    sealed,
    stored,
    write_sealed,
)

CHECKPOINT: Final = "checkpoint"
Arrays = dict[str, npt.NDArray[Any]]

_TIME: Final = re.compile(r"(\d+(?:\.\d+)?) ?(s|min|h)")
_SECONDS: Final = {"s": 1.0, "min": 60.0, "h": 3600.0}


class Kept(NamedTuple):
    """What training has done so far.

    Attributes
    ----------
    facts : dict
        Plain values.
    arrays : dict of ndarray
    """

    facts: dict[str, Any]
    arrays: Arrays


class Keeps(Protocol):
    """Training that can be kept."""

    def kept(self) -> Kept:
        """What is done so far."""


class Checkpoint:
    """The file that training is kept in.

    Parameters
    ----------
    path : str or os.PathLike
    every : str or float
        How often, at most: seconds, or a text such as "30s", "5min" or "1h".
    data : str
        What is trained on, by :func:`c45gpu.data.digest.digest_of`.
    options : Options

    Attributes
    ----------
    begun : Kept or None
        What the file held when training began; None where there was no file.

    Raises
    ------
    CheckpointError
        When the file cannot be read, or is of other data, options or another version; it is left as it is. When there
        is no folder for it.
    OptionError
        When `every` is no time.
    """

    def __init__(self, path: str | PathLike[str], every: str | float, data: str, options: Options) -> None:
        self._path, self._seconds = Path(path), seconds_of(every)
        self._of = {"c45gpu": __version__, "options": options.to_dict(), "data": data}
        if not self._path.absolute().parent.is_dir():
            raise CheckpointError(f"{path}: there is no folder for the checkpoint: make it, or name another place")
        self.begun = self._read() if self._path.exists() else None
        self._written = time.monotonic()

    def offer(self, training: Keeps) -> None:
        """Keep what is done, if the time has come."""
        if time.monotonic() - self._written >= self._seconds:
            self.keep(training)

    def keep(self, training: Keeps) -> None:
        """Keep what is done, now."""
        kept = training.kept()
        header = {
            "format": FORMAT_NAME,
            "format_number": FORMAT_NUMBER,
            "kind": CHECKPOINT,
            "of": self._of,
            "facts": kept.facts,
            "arrays": {name: array.dtype.str for name, array in kept.arrays.items()},
        }
        members = {f"{name}.npy": array_bytes(array) for name, array in kept.arrays.items()}
        try:
            write_sealed(sealed(header, members), self._path, "the checkpoint is")
        except ModelError as fault:  # hours of work are worth more than one checkpoint
            warnings.warn(f"{fault}. Training goes on without it.", stacklevel=2)
        self._written = time.monotonic()

    def remove(self) -> None:
        """Delete the file: training is done."""
        with suppress(FileNotFoundError):
            self._path.unlink()

    def _read(self) -> Kept:
        try:
            of, kept = read_sealed(self._path, _understood)
        except ModelError as fault:
            raise CheckpointError(
                f"{self._path}: training cannot go on from this file, it is damaged or no checkpoint: delete it to "
                "begin anew, or name another"
            ) from fault
        if (reason := self._differs(of)) is not None:
            raise CheckpointError(
                f"{self._path}: this checkpoint is of {reason}: go on with what it is of, delete it to begin anew, or "
                "name another"
            )
        return kept

    def _differs(self, of: dict[str, Any]) -> str | None:
        """What the checkpoint is of that training is not; None if it is of the same."""
        if of["c45gpu"] != __version__:
            return f"version {of['c45gpu']}, and this is {__version__}"
        mine = json.loads(json.dumps(self._of["options"]))
        for name, value in mine.items():
            if of["options"].get(name) != value:
                return f"{name}={of['options'].get(name)!r}, and now it is {value!r}"
        return "other data" if of["data"] != self._of["data"] else None


def seconds_of(every: str | float) -> float:
    """The seconds of a time such as 90, "30s", "5min" or "1h".

    Raises
    ------
    OptionError
        When it is none.
    """
    found = _TIME.fullmatch(every) if isinstance(every, str) else None
    if found is not None:
        return float(found[1]) * _SECONDS[found[2]]
    if isinstance(every, str | bool) or not (math.isfinite(every) and every >= 0):
        raise OptionError(f"every={every!r} will not do: give a time such as 30s, 5min or 1h, or seconds")
    return float(every)


def _understood(content: bytes) -> tuple[dict[str, Any], Kept]:
    """Whose checkpoint a file's content is, and what it keeps."""
    header, archive = opened(content, CHECKPOINT)
    try:
        arrays = {name: _array(archive, name, kind) for name, kind in header["arrays"].items()}
        of = {"c45gpu": header["of"]["c45gpu"], "options": dict(header["of"]["options"]), "data": header["of"]["data"]}
        return of, Kept(dict(header["facts"]), arrays)
    except MALFORMED as fault:
        raise ModelError(f"this is no checkpoint ({fault})") from fault


def _array(archive: zipfile.ZipFile, name: str, kind: str) -> npt.NDArray[Any]:
    return array_of(stored(archive, archive.getinfo(f"{name}.npy")), np.dtype(kind))
