"""Every option of the learner, validated once."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, get_args

from c45gpu.errors import OptionError

Criterion = Literal["gain_ratio", "gain", "gini", "chi2"]
CutPoints = Literal["all", "class_boundaries"]
Pruning = Literal["ebp", "pep", "interval", "rep", "none"]
Compat = Literal["r8"]
Features = int | float | Literal["sqrt", "log2"] | None


@dataclass(frozen=True)
class Options:
    """What the learner is asked to do.

    Parameters
    ----------
    criterion : {"gain_ratio", "gain", "gini", "chi2"}
        What the chosen test maximises. "gain" is the original's -g: no average-gain filter, no ratio. "gini" is the
        decrease of Gini impurity, "chi2" the chi-square statistic of the test's branches and the classes; no cut pays
        for the choice by these two, a price in bits.
    min_cases : int
        At least two branches of a test must have this weight (-m), in cases; 1 or more.
    confidence : float
        The confidence of error-based pruning, 0 < confidence <= 1 (-c, there in percent), and of "interval", there at
        most 0.5. Smaller prunes more.
    prune : {"ebp", "pep", "interval", "rep", "none"}
        "ebp" is C4.5's error-based pruning, "pep" Quinlan's pessimistic error pruning of 1987, "interval" cuts where
        the upper end of the score interval of the error rate says so, "rep" where held-out cases do.
    compat : "r8" or None
        "r8" does four things as release 8 does: values are rounded to float32, no cut between values closer than
        1e-5, midpoints in float32, and -999 is unknown. None does none of them.
    n_trials, initial_window, window_increment : int or None
        Windowing: so many trials (-t), the cases that a trial's first tree is grown on (-w), and by how many cases
        its window may grow at a time (-i); see :class:`c45gpu.induction.window.Windows` for what None stands for.
        Without any of them a tree is grown on all cases at once.
    random_state : int
        The seed of whatever is left to chance; the same seed gives the same tree.
    min_gain_ratio : float
        No test is made whose gain ratio is less; with the criterion "gain_ratio" only.
    min_samples_split : int
        A node of less weight is a leaf, in cases; 2 or more.
    min_samples_leaf : int
        Every branch that holds cases has this weight; 1 asks for nothing.
    max_depth : int or None
        Edges on the longest path from the root.
    max_leaf_nodes : int or None
        Of leaves that hold cases; the tests that tell most, in bits times cases, are made first.
    max_features : int, float, "sqrt", "log2" or None
        How many attributes are looked at in each node, drawn at random: so many, a share, or a root or logarithm of
        their number.
    significance : float or None
        No test is made that leaves the classes as they are at this level by the chi-square test.
    cut_points : {"all", "class_boundaries"}
        Which cuts are tried and counted: all, or only those between values of different classes.
    threshold_cost : bool
        A cut pays log2(tries) / cases for the choice it had. False is J48's -J.
    standard_errors : float
        By how many standard errors of it a leaf may be worse than a subtree with "pep"; 0 or more.
    subtree_raising : bool
        "ebp" may put a branch in the place of its parent.
    held_out : float
        The share of the cases that "rep" prunes with and does not grow on, above 0 and below 1.
    group_values : bool
        A discrete attribute of more than two values is tested with a branch for each group of values (-s).
    binary_splits : bool
        A discrete attribute of more than two values is tested for the one value that gains most: J48's -B.
    soft_thresholds : bool
        Find out how far each threshold of the pruned tree could be moved (-p); see :mod:`c45gpu.induction.soften`.
    screen : int, float, "sqrt", "log2" or None
        Of a very wide table only so many attributes are scored exactly in a node, those that rank highest on a sample
        of its cases; see :mod:`c45gpu.induction.screen`.

    Raises
    ------
    OptionError
        When an option is out of range, or two exclude each other.
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
    min_gain_ratio: float = 0.0
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    max_features: Features = None
    significance: float | None = None
    cut_points: CutPoints = "all"
    threshold_cost: bool = True
    standard_errors: float = 1.0
    subtree_raising: bool = True
    held_out: float = 1 / 3
    group_values: bool = False
    binary_splits: bool = False
    soft_thresholds: bool = False
    screen: Features = None

    def __post_init__(self) -> None:
        for name, words in _WORDS.items():
            _require_word(name, getattr(self, name), words)
        for name, (least, most) in _WHOLE.items():
            value = getattr(self, name)
            if value is not None or name not in _MAY_BE_NONE:
                _require_whole(name, value, least, most)
        for name, (above, at_most, wanted) in _REAL.items():
            value = getattr(self, name)
            if value is not None or name not in _MAY_BE_NONE:
                _require(_is_number(value) and above <= value <= at_most and value != above, name, value, wanted)
        for name in ("threshold_cost", "subtree_raising", "group_values", "binary_splits", "soft_thresholds"):
            _require(isinstance(getattr(self, name), bool), name, getattr(self, name), "True or False")
        for name in ("max_features", "screen"):
            _require_features(name, getattr(self, name))
        self._require_agreement()

    @property
    def windowed(self) -> bool:
        """Whether trees are grown on windows of the cases; any option of windowing asks for it."""
        return (self.n_trials, self.initial_window, self.window_increment) != (None, None, None)

    def with_changes(self, **changes: Any) -> Options:
        """A copy with some options changed, validated anew.

        Parameters
        ----------
        **changes : any
            Options by their names.

        Returns
        -------
        Options
            With all other options as they are here.
        """
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a model file.

        Returns
        -------
        dict of str to plain values
            Every option by its name.
        """
        return asdict(self)

    def _require_agreement(self) -> None:
        if self.group_values and self.binary_splits:
            raise OptionError(
                "group_values and binary_splits exclude each other, as both say which values share a branch: "
                "give one of them"
            )
        if self.screen is not None and self.max_features is not None:
            raise OptionError(
                f"screen={self.screen!r} and max_features={self.max_features!r} exclude each other, as both say which "
                "attributes a node may test: give one of them"
            )
        if self.min_gain_ratio > 0 and self.criterion != "gain_ratio":
            raise OptionError(
                f"min_gain_ratio={self.min_gain_ratio!r} and criterion={self.criterion!r} exclude each other: "
                "leave min_gain_ratio at 0, or take criterion='gain_ratio'"
            )
        if self.cut_points == "class_boundaries" and self.compat is not None:
            raise OptionError(
                f"cut_points='class_boundaries' and compat={self.compat!r} exclude each other, as the original tries "
                "all cuts: leave one of them out"
            )
        if self.prune == "interval" and self.confidence > 0.5:
            raise OptionError(
                f"prune='interval' and confidence={self.confidence!r} exclude each other, as the bound would lie below "
                "the rate that is seen: give a confidence of at most 0.5"
            )
        if self.windowed and self.prune == "rep":
            raise OptionError(
                "windowing and prune='rep' exclude each other, as windows grow over all cases: take another pruning, "
                "or leave n_trials, initial_window and window_increment out"
            )


_WORDS: Final = {
    "criterion": get_args(Criterion),
    "prune": get_args(Pruning),
    "compat": (*get_args(Compat), None),
    "cut_points": get_args(CutPoints),
}
_WHOLE: Final = {
    "min_cases": (1, 1_000_000),
    "n_trials": (1, 10_000),
    "initial_window": (1, 1_000_000),
    "window_increment": (1, 1_000_000),
    "random_state": (0, 2**63 - 1),
    "min_samples_split": (2, 2**53),
    "min_samples_leaf": (1, 2**53),
    "max_depth": (1, 2**31),
    "max_leaf_nodes": (2, 2**53),
}
_BELOW_ZERO: Final = -math.ulp(0.0)  # above it is 0 or more
_REAL: Final = {
    "confidence": (0.0, 1.0, "a number above 0 and at most 1"),
    "min_gain_ratio": (_BELOW_ZERO, math.inf, "a number that is not negative"),
    "significance": (0.0, 1.0, "a number above 0 and at most 1"),
    "standard_errors": (_BELOW_ZERO, math.inf, "a number that is not negative"),
    "held_out": (0.0, 1.0 - 2.0**-53, "a number above 0 and below 1"),
}
_MAY_BE_NONE: Final = frozenset(
    ("n_trials", "initial_window", "window_increment", "max_depth", "max_leaf_nodes", "significance")
)


def n_features(asked: Features, of: int) -> int:
    """How many of so many attributes `max_features` asks for; 1 or more, where there are any."""
    if asked is None:
        return of
    if asked == "sqrt":
        count = math.isqrt(of)
    elif asked == "log2":
        count = max(of, 1).bit_length() - 1
    else:
        count = int(asked * of) if isinstance(asked, float) else int(asked)
    return min(max(count, 1), of)


def _require(condition: bool, name: str, value: object, wanted: str) -> None:
    if not condition:
        raise OptionError(f"{name}={value!r} will not do: give {wanted}")


def _require_word(name: str, value: object, words: tuple[object, ...]) -> None:
    *most, last = map(repr, words)
    _require(value is None or isinstance(value, str), name, value, f"{', '.join(most)} or {last}")
    _require(value in words, name, value, f"{', '.join(most)} or {last}")


def _require_whole(name: str, value: object, least: int, most: int) -> None:
    fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    _require(fits, name, value, f"a whole number from {least} to {most}")


def _is_number(value: object) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)


def _require_features(name: str, value: object) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    share = isinstance(value, float) and 0 < value <= 1
    named = value is None or value in ("sqrt", "log2")
    wanted = "None, 'sqrt', 'log2', a whole number from 1, or a share above 0 and at most 1.0"
    _require(whole or share or named, name, value, wanted)
