"""How training went: engine, options, times and memory, which a model does not hold, as equal models have equal bytes.

{"format": "c45gpu-training", "format_number": 1, "model": SHA-256 of the model file,
 "c45gpu": "0.1.0", "python": "3.11.7", "packages": {"numpy": "2.4.6", ...}, "system": "Linux x86_64",
 "engine": "cpu", "threads": 2, "options": {...}, "cases": 344, "attributes": 7, "classes": 3,
 "nodes": {"unpruned": 15, "pruned": 15}, "levels": 4,
 "seconds": {"reading": 0.02, "sorting": 0.01, "growing": 0.1, "pruning": 0.01, "all": 0.15}, "resumed": false,
 "processor_seconds": 0.2, "peak_memory": 104857600, "finished": "2026-01-31T12:00:00+00:00"}     of the process so far
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import time
from datetime import UTC, datetime
from importlib import metadata
from os import PathLike
from pathlib import Path
from typing import Any, Final

from c45gpu import __version__
from c45gpu.data.wholefile import write_whole
from c45gpu.errors import ModelError
from c45gpu.induction.progress import StageName
from c45gpu.kernels.engine import Engine
from c45gpu.model.store import Model, model_bytes

FORMAT: Final = "c45gpu-training"
NUMBER: Final = 1
PACKAGES: Final = ("numpy", "numba", "pyarrow", "cupy-cuda12x", "cupy-cuda13x", "distributed")
KILOBYTE: Final = 1024


class Recording:
    """Takes down how one training goes; give it to :func:`c45gpu.induction.train.train`, then ask for :meth:`record`.

    Parameters
    ----------
    reading : float, optional
        Seconds that reading the cases took, where they were read.
    """

    def __init__(self, reading: float | None = None) -> None:
        self._seconds: dict[str, float] = {} if reading is None else {"reading": reading}
        self._stage: StageName | None = None
        self._since = self._start = time.perf_counter()
        self._engine, self._threads, self._levels, self._resumed = "", 1, 0, False
        self._end: dict[str, Any] = {}

    def opened(self, engine: Engine, resumed: bool) -> None:
        """Take down what trains, and whether it goes on from a checkpoint."""
        self._resumed = resumed
        self._engine, self._threads = engine.name, int(getattr(engine, "threads", 1))

    def stage(self, name: StageName | None) -> None:
        """Take down that a stage begins, or that none follows."""
        now = time.perf_counter()
        if self._stage is not None:
            self._seconds[self._stage] = self._seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = name, now

    def level(self) -> None:
        """Take down that a level is grown."""
        self._levels += 1

    def finished(self) -> None:
        """Take down that training is done."""
        self.stage(None)
        self._seconds["all"] = time.perf_counter() - self._start + self._seconds.get("reading", 0.0)
        self._end = {
            "processor_seconds": round(time.process_time(), 6),
            "peak_memory": peak_memory(),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def record(self, model: Model) -> dict[str, Any]:
        """How training of a model went, when it is done; plain values, listed at the top of this module.

        Parameters
        ----------
        model : Model
            What came of it.
        """
        return {
            "format": FORMAT,
            "format_number": NUMBER,
            "model": digest_of(model),
            "c45gpu": __version__,
            "python": platform.python_version(),
            "packages": {name: version for name in PACKAGES if (version := _version(name)) is not None},
            "system": f"{platform.system()} {platform.machine()}",
            "engine": self._engine,
            "threads": self._threads,
            "options": model.options,
            "cases": model.record["cases"],
            "attributes": len(model.schema.used),
            "classes": model.schema.n_classes,
            "nodes": {"unpruned": model.unpruned.n_nodes, "pruned": model.pruned.n_nodes},
            "levels": self._levels,
            "seconds": {name: round(seconds, 6) for name, seconds in self._seconds.items()},
            "resumed": self._resumed,
            **self._end,
        }


def digest_of(model: Model) -> str:
    """SHA-256 of a model's file, in hexadecimal."""
    return hashlib.sha256(model_bytes(model)).hexdigest()


def peak_memory() -> int | None:
    """The most memory that this process has had, in bytes; None where the system does not tell."""
    if sys.platform == "win32":
        return None
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * KILOBYTE


def save_record(record: dict[str, Any], path: str | PathLike[str]) -> None:
    """Write a record as JSON; the file appears when it is complete.

    Raises
    ------
    ModelError
        When it cannot be written.
    """
    try:
        write_whole((json.dumps(record, indent=1) + "\n").encode(), path)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise ModelError(f"{path}: the record is not saved ({reason}): choose a place where you may write") from fault


def load_record(path: str | PathLike[str], model: Model) -> dict[str, Any]:
    """Read the record of a model's training.

    Parameters
    ----------
    path : str or os.PathLike
    model : Model

    Raises
    ------
    ModelError
        When it cannot be read, is no record, or is of another model.
    """
    try:
        record = json.loads(Path(path).read_bytes())
    except (OSError, ValueError) as fault:
        raise ModelError(f"{path}: is no training record: give what c45gpu train --record made") from fault
    if not isinstance(record, dict) or (record.get("format"), record.get("format_number")) != (FORMAT, NUMBER):
        raise ModelError(f"{path}: is no training record of this version: give what c45gpu train --record made")
    require_record_of(model, record)
    return record


def require_record_of(model: Model, record: dict[str, Any]) -> None:
    """Refuse the record of another model.

    Raises
    ------
    ModelError
    """
    if record.get("model") != digest_of(model):
        raise ModelError("the training record is of another model: give the one that was made with this model")


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
