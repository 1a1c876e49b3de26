"""What a person is told while a command works: notes and warnings, on standard error."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from typing import TextIO


@Parameter(name="*")
@dataclass(frozen=True)
class Loudness:
    """What is told beside the result.

    Parameters
    ----------
    quiet : bool
        No notes and no progress; warnings and errors only.
    """

    quiet: Annotated[bool, Parameter(name=("--quiet", "-q"), negative=(), show_default=False)] = False


class _Voice:
    """Whether notes are told; one for the process, as its standard error is."""

    quiet = False


def speak(loudness: Loudness | None) -> None:
    """Tell notes and progress from now on, or not."""
    _Voice.quiet = loudness is not None and loudness.quiet


def is_watched() -> bool:
    """Whether a person watches standard error, and wants to."""
    return sys.stderr.isatty() and not _Voice.quiet


def note(text: str) -> None:
    """Tell something that is no result."""
    if not _Voice.quiet:
        print(text, file=sys.stderr)


def warn(text: str) -> None:
    """Tell something that is right but looks wrong."""
    print(f"warning: {text}", file=sys.stderr)


def complain(text: str) -> None:
    """Tell why there is no result."""
    print(f"error: {text}", file=sys.stderr)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Take the place of :func:`warnings.showwarning`: a user of the command does not care for our line numbers."""
    warn(str(message))
