"""Every option of the learner, validated once."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from c45gpu.errors import OptionError

Criterion = Literal["gain_ratio", "gain"]
Pruning = Literal["ebp", "pep", "none"]
Compat = Literal["r8"]


@dataclass(frozen=True)
class Options:
    """What the learner is asked to do.

    Parameters
    ----------
    criterion : {"gain_ratio", "gain"}
        What the chosen test maximises. "gain" is the original's -g: no average-gain filter, no ratio.
    min_cases : int
        At least two branches of a test must have this weight (-m), in cases; 1 or more.
    confidence : float
        The confidence of error-based pruning, 0 < confidence <= 1 (-c, there in percent). Smaller prunes more.
    prune : {"ebp", "pep", "none"}
        "ebp" is C4.5's error-based pruning with subtree raising, "pep" Quinlan's pessimistic error pruning of 1987.
    compat : "r8" or None
        "r8" does four things as release 8 does: values are rounded to float32, no cut between values closer than
        1e-5, midpoints in float32, and -999 is unknown. None does none of them.
    n_trials, initial_window, window_increment : int or None
        Windowing: so many trials (-t), the cases that a trial's first tree is grown on (-w), and by how many cases
        its window may grow at a time (-i); see :class:`c45gpu.induction.window.Windows` for what None stands for.
        Without any of them a tree is grown on all cases at once.
    random_state : int
        The seed of whatever is left to chance; the same seed gives the same tree.

    Raises
    ------
    OptionError
        When an option is out of range.
    """

    criterion: Criterion = "gain_ratio"
    min_cases: int = 2
    confidence: float = 0.25
    prune: Pruning = "ebp"
    compat: Compat | None = None
    n_trials: int | None = None
    initial_window: int | None = None
    window_increment: int | None = None
    random_state: int = 0

    def __post_init__(self) -> None:
        _require(self.criterion in get_args(Criterion), "criterion", self.criterion, "'gain_ratio' or 'gain'")
        _require(self.prune in get_args(Pruning), "prune", self.prune, "'ebp', 'pep' or 'none'")
        _require(self.compat is None or self.compat in get_args(Compat), "compat", self.compat, "'r8' or None")
        _require_whole("min_cases", self.min_cases, 1, 1_000_000)
        number = isinstance(self.confidence, float | int) and math.isfinite(self.confidence)
        _require(number and 0 < self.confidence <= 1, "confidence", self.confidence, "a number above 0 and at most 1")
        _require_whole("random_state", self.random_state, 0, 2**63 - 1)
        if self.n_trials is not None:
            _require_whole("n_trials", self.n_trials, 1, 10_000)
        if self.initial_window is not None:
            _require_whole("initial_window", self.initial_window, 1, 1_000_000)
        if self.window_increment is not None:
            _require_whole("window_increment", self.window_increment, 1, 1_000_000)

    @property
    def windowed(self) -> bool:
        """Whether trees are grown on windows of the cases; any option of windowing asks for it."""
        return (self.n_trials, self.initial_window, self.window_increment) != (None, None, None)

    def with_changes(self, **changes: Any) -> Options:
        """A copy with some options changed, validated anew."""
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a model file."""
        return asdict(self)


def _require(condition: bool, name: str, value: object, wanted: str) -> None:
    if not condition:
        raise OptionError(f"{name}={value!r} will not do: give {wanted}")


def _require_whole(name: str, value: object, least: int, most: int) -> None:
    fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    _require(fits, name, value, f"a whole number from {least} to {most}")
