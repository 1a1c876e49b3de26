"""Every exception that a caller of c45gpu may want to catch.

All of them derive from :class:`C45Error`; their messages are one or two lines that name the place and the remedy.
"""

from __future__ import annotations

from os import PathLike


class C45Error(Exception):
    """Anything that c45gpu refuses to do."""


class DataError(C45Error, ValueError):
    """The data cannot be used as they are.

    Parameters
    ----------
    message : str
        What is wrong and what to do about it.
    path : str or os.PathLike, optional
        The file at fault.
    line : int, optional
        Its line, counted from 1.
    """

    def __init__(self, message: str, path: str | PathLike[str] | None = None, line: int | None = None) -> None:
        self.path, self.line = path, line
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)


class OptionError(C45Error, ValueError):
    """An option is out of range, or two options exclude each other."""


class ModelError(C45Error, ValueError):
    """A model file is damaged, foreign, or from a newer version."""


class CheckpointError(C45Error, ValueError):
    """A checkpoint is damaged, or of other data or options than training is asked for."""


class EngineError(C45Error, RuntimeError):
    """The engine asked for is not to be had here, or cannot do the work; the message says what to do."""


class MemoryPlanError(EngineError, MemoryError):
    """The work would not fit into memory; raised before anything large is allocated."""


class MissingPackageError(C45Error, ImportError):
    """Something needs a package that is not installed; the message says which, and how to install it."""
