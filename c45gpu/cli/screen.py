"""What a person sees while a command works: notes, warnings and progress, all on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from c45gpu.induction.grow import Progress as Growing


def note(text: str) -> None:
    """Tell something that is no result."""
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


@contextmanager
def progress_of(n_cases: int) -> Iterator[Callable[[Growing], None] | None]:
    """A bar that fills as cases reach leaves, or None where nobody watches."""
    with _bar(n_cases, "growing") as update:
        if update is None:
            yield None
            return
        yield lambda at: update(n_cases - at.open_weight, f"level {at.depth}: {at.nodes} nodes, {at.open_nodes} open")


@contextmanager
def bar_of(n_cases: int, doing: str) -> Iterator[Callable[[int], None] | None]:
    """A bar that fills as cases are done, or None where nobody watches."""
    with _bar(n_cases, doing) as update:
        yield None if update is None else lambda done: update(done, doing)


@contextmanager
def _bar(total: float, doing: str) -> Iterator[Callable[[float, str], None] | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda done, said: bar.update(task, completed=done, description=said)
