"""Progress on standard error, while a person watches it: reading, sorting, growing level by level, pruning."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

from c45gpu.cli.screen import is_watched

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import Task

    from c45gpu.data.watching import Watched
    from c45gpu.induction.progress import Progress, Stage

Done = TypeVar("Done")

SHARE_THAT_TELLS: Final = 0.05  # of the work; from less than that no one can say how long the rest will take
BAR_WIDTH: Final = 14  # columns; a level's text and both times fit beside it into 80
MEGABYTE: Final = 1e6


def timed(work: Callable[[], Done]) -> tuple[Done, float]:
    """What work gives, and the seconds that it takes."""
    start = time.perf_counter()
    return work(), time.perf_counter() - start


class Meter:
    """How fast a file was read."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def told(self, n_cases: int) -> str:
        """Seconds and cases a second, for the end of a note; nothing where nobody watches."""
        seconds = time.monotonic() - self._start
        return f", in {seconds:.1f} s: {n_cases / seconds:,.0f} cases a second" if is_watched() and seconds > 0 else ""


class Training:
    """Shows what training tells: `level` and `stage` are for :func:`c45gpu.induction.train.train`."""

    def __init__(self, bar: Bar, weight: float | None) -> None:
        self._bar, self._weight = bar, weight
        self._task = bar.add_task("training", total=None)

    def stage(self, at: Stage) -> None:
        """Begin another stage, or go on with pruning."""
        if at.share == 0.0:
            self._bar.refresh()  # with what the last stage came to
            self._bar.reset(self._task, description=at.name, total=1.0 if at.name == "pruning" else None)
        if at.name == "pruning":
            self._bar.update(self._task, completed=at.share)

    def level(self, at: Progress) -> None:
        """Show a level."""
        where = f"level {at.depth}: {at.nodes} nodes, {at.open_nodes} open"
        cases = f", {at.open_weight:,.0f} cases there" if at.open_nodes else ""
        done = 0.0 if self._weight is None else max(self._weight - at.open_weight, 0.0)
        self._bar.update(self._task, description=where + cases, total=self._weight, completed=done)


@contextmanager
def training_of(weight: float | None) -> Iterator[Training | None]:
    """Shows training on cases of a total weight, None where nobody watches.

    The bar fills as cases arrive at leaves, and what remains is told by their share. With windows, whose size is not
    known before, the weight is None.
    """
    if not is_watched():
        yield None
        return
    with _bar() as bar:
        yield Training(bar, weight)


@contextmanager
def reading_of(name: str) -> Iterator[Meter]:
    """Shows how much of a file is read."""
    if not is_watched():
        yield Meter()
        return
    from c45gpu.data.watching import watched

    with watched() as watch:

        def look(bar: Bar) -> None:
            _show_position(bar, watch, f"reading {name}")

        with _bar(look) as bar:
            bar.add_task(f"reading {name}", total=None)
            yield Meter()


@contextmanager
def bar_of(n_cases: int, doing: str) -> Iterator[Callable[[int], None] | None]:
    """A bar that fills as cases are done, or None where nobody watches."""
    if not is_watched():
        yield None
        return
    with _bar() as bar:
        task = bar.add_task(doing, total=n_cases)
        yield lambda done: bar.update(task, completed=done)


def _show_position(bar: Bar, watch: Watched, doing: str) -> None:
    share = watch.share()
    if share is None:
        return
    for task in bar.tasks:
        megabytes = watch.size / MEGABYTE
        how_much = f": {share * megabytes:,.0f} of {megabytes:,.0f} MB" if megabytes >= 1 else ""
        bar.update(task.id, description=doing + how_much, total=1.0, completed=share)


def remaining(elapsed: float, share: float) -> str:
    """What remains of work of which a share is done, if it goes on like that; nothing where that cannot be said."""
    if not SHARE_THAT_TELLS <= share < 1.0:
        return ""
    return f"about {timedelta(seconds=round(elapsed * (1.0 - share) / share))} left"


@contextmanager
def _bar(look: Callable[[Bar], None] | None = None) -> Iterator[Bar]:
    """A bar with times beside it; `look` is called whenever it is drawn."""
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Remaining(ProgressColumn):
        def render(self, task: Task) -> Text:
            share = task.completed / task.total if task.total else 0.0
            return Text(remaining(task.elapsed or 0.0, share), style="progress.remaining")

    class Looking(Bar):
        def get_renderables(self) -> Any:
            if look is not None:
                look(self)
            return super().get_renderables()

    columns = TextColumn("{task.description}", markup=False), BarColumn(BAR_WIDTH), TimeElapsedColumn(), Remaining()
    with Looking(*columns, console=Console(stderr=True), transient=True) as bar:
        yield bar
