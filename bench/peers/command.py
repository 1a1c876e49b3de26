"""Peers that are programs of their own: they read text files, and print what they did."""

from __future__ import annotations

import re
import resource
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from bench.peers.peer import Peer, peak_mb, timed
from bench.text import STEM


class CommandPeer(Peer):
    """A program; its peak of memory is that of the child process (never below some 40 MB, this process's own)."""

    reads_text = True

    def stem(self, folder: Path) -> Path:
        """The file names without their suffix."""
        return folder / "text" / STEM


def printed(command: Sequence[str], folder: Path) -> tuple[str, float, float]:
    """What a program prints, the seconds it ran, and the highest memory of all programs run so far, in MB.

    Raises
    ------
    RuntimeError
        With the end of what it wrote, when it fails.
    """
    done, seconds = timed(
        lambda: subprocess.run(command, cwd=folder, capture_output=True, text=True, preexec_fn=_deep_stack, check=False)
    )
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise RuntimeError(f"{Path(command[0]).name} ended with {done.returncode}: {''.join(last)[-200:]}")
    return done.stdout, seconds, peak_mb(resource.RUSAGE_CHILDREN)


def number(pattern: str, text: str, of: Callable[[str], float] = float) -> float:
    """The number that the first group of a pattern finds.

    Raises
    ------
    RuntimeError
        When the text has none.
    """
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"nothing like {pattern!r} in what was printed: {text[-200:].strip()}")
    return of(found[1])


def _deep_stack() -> None:
    """Programs that recurse over a deep tree need all the stack they can get."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_STACK, (most, most))
