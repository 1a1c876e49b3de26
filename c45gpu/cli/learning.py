"""What ``c45gpu train`` is asked to learn, and how that is written down again."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from c45gpu.errors import OptionError
from c45gpu.induction.options import Compat, Criterion, CutPoints, Options, Pruning

if TYPE_CHECKING:
    from c45gpu.model.store import Model

_WINDOWING: Final = {"n_trials": "-t", "initial_window": "-w", "window_increment": "-i"}

_LETTERED: Final = frozenset(
    ("min_cases", "confidence", "random_state", "group_values", "soft_thresholds", *_WINDOWING)
)


@Parameter(name="*")
@dataclass(frozen=True)
class Learning:
    """What the learner is asked to do; see :class:`c45gpu.induction.options.Options`.

    Parameters
    ----------
    criterion : {"gain_ratio", "gain", "gini", "chi2"}
        What the chosen test maximises.
    gain : bool
        The original's letter for --criterion gain.
    min_cases : int
        At least two branches of a test must have this weight, in cases.
    confidence : float
        The confidence of error-based pruning, above 0 and at most 1. Smaller prunes more. [default: 0.25]
    percent : float
        The original's letter for --confidence, in percent: -c 10 is --confidence 0.1.
    prune : {"ebp", "pep", "interval", "rep", "none"}
        How to prune: C4.5's error-based pruning, pessimistic error pruning, by the score interval of the error rate,
        on held-out cases, or not at all.
    compat : "r8"
        Read values, place cuts and take -999 for unknown as release 8 of the original does.
    n_trials : int
        Windowing, in so many trials: a tree is grown on some cases, those that it gets wrong are added, until it gets
        all others right; the best tree of all trials stays. [default: 10 with --window or --increment, else none]
    initial_window : int
        Windowing: the cases that a trial starts with. [default: a fifth of all, or twice their square root]
    window_increment : int
        Windowing: how many cases may be added at a time. [default: a fifth of those at the start]
    batch : bool
        The original's letter for what is so without the three above: one tree, on all cases.
    group_values : bool
        A branch for each group of values of a discrete attribute, not for each value.
    binary_splits : bool
        One value of a discrete attribute against all others: J48's -B.
    seed : int
        Chance is the same whenever this is.
    """

    criterion: Criterion = "gain_ratio"
    gain: Annotated[bool, Parameter(name="-g", negative=(), show_default=False)] = False
    min_cases: Annotated[int, Parameter(name=("--min-cases", "-m"))] = 2
    confidence: float | None = None
    percent: Annotated[float | None, Parameter(name="-c")] = None
    prune: Pruning = "ebp"
    compat: Compat | None = None
    n_trials: Annotated[int | None, Parameter(name=("--trials", "-t"))] = None
    initial_window: Annotated[int | None, Parameter(name=("--window", "-w"))] = None
    window_increment: Annotated[int | None, Parameter(name=("--increment", "-i"))] = None
    batch: Annotated[bool, Parameter(name="-b", negative=(), show_default=False)] = False
    group_values: Annotated[bool, Parameter(name=("--group-values", "-s"), negative=(), show_default=False)] = False
    binary_splits: Annotated[bool, Parameter(negative=(), show_default=False)] = False
    seed: int = 0

    def options(self, stopping: Stopping) -> Options:
        """The learner's options.

        Raises
        ------
        OptionError
            When one is out of range, or two exclude each other.
        """
        windows: dict[str, Any] = {name: getattr(self, name) for name in _WINDOWING}
        for name, letter in _WINDOWING.items():
            if self.batch and windows[name] is not None:
                raise OptionError(f"-b (all cases at once) and {letter} (windows) exclude each other: give one of them")
        confidence = 0.25 if self.confidence is None else self.confidence
        if self.percent is not None:
            if self.confidence is not None:
                raise OptionError("-c and --confidence say the same thing: give one of them")
            if not 0.001 <= self.percent <= 100:
                raise OptionError(f"-c {self.percent:g} will not do: give a percentage from 0.001 to 100")
            confidence = self.percent / 100
        criterion: Criterion = "gain" if self.gain else self.criterion
        return Options(
            criterion,
            self.min_cases,
            confidence,
            self.prune,
            self.compat,
            random_state=self.seed,
            group_values=self.group_values,
            binary_splits=self.binary_splits,
            **windows,
            **stopping.chosen(),
        )


@Parameter(name="*")
@dataclass(frozen=True)
class Stopping:
    """Where the learner stops, and what it leaves out; see :class:`c45gpu.induction.options.Options`.

    Parameters
    ----------
    min_gain_ratio : float
        No test of a lower gain ratio.
    min_samples_split : int
        A node of less weight is a leaf.
    min_samples_leaf : int
        Every branch that holds cases has this weight.
    max_depth : int
        Edges on the longest path.
    max_leaf_nodes : int
        Leaves that hold cases; the tests that tell most are made first.
    max_features : str
        How many attributes are looked at in a node, drawn at random: sqrt, log2, a number, or a share such as 0.5.
    screen : str
        For very wide tables: how many attributes are scored exactly in a node, those that are best on a sample of its
        cases; sqrt, log2, a number, or a share.
    significance : float
        No test that is not significant at this level by chi-square.
    cut_points : {"all", "class_boundaries"}
        Which thresholds are tried.
    threshold_cost : bool
        A threshold pays for the number of those tried. The other is J48's -J.
    standard_errors : float
        By how many standard errors --prune pep forgives a leaf.
    subtree_raising : bool
        A branch may take the place of its parent when pruned.
    held_out : float
        The share of the cases that --prune rep prunes with. [default: a third]
    soft_thresholds : bool
        Find out how far each threshold could be moved, and print it behind the threshold: c45gpu predict -p can use it.
    """

    min_gain_ratio: float = 0.0
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    max_features: str | None = None
    screen: str | None = None
    significance: float | None = None
    cut_points: CutPoints = "all"
    threshold_cost: bool = True
    standard_errors: float = 1.0
    subtree_raising: bool = True
    held_out: Annotated[float, Parameter(show_default=False)] = 1 / 3
    soft_thresholds: Annotated[bool, Parameter(name=("--soft-thresholds", "-p"), negative=(), show_default=False)] = (
        False
    )

    def chosen(self) -> dict[str, Any]:
        """The options of the learner that these stand for."""
        counts = {name: _features(getattr(self, name)) for name in ("max_features", "screen")}
        return {f.name: getattr(self, f.name) for f in fields(self)} | counts


def _features(text: str | None) -> Any:
    """A number if it reads as one, else the text."""
    for kind in (int, float):
        try:
            return None if text is None else kind(text)
        except ValueError:
            continue
    return text


def letters_of(model: Model) -> list[str]:
    """The options that differ from the original's defaults, in its letters where it has them."""
    chosen, default = Options(**model.options), Options()
    letters = ["-g"] if chosen.criterion == "gain" else []
    letters += ["-s"] if chosen.group_values else []
    letters += ["-m", str(chosen.min_cases)] if chosen.min_cases != default.min_cases else []
    letters += ["-c", f"{100 * chosen.confidence:g}"] if chosen.confidence != default.confidence else []
    for name, letter in _WINDOWING.items():
        letters += [letter, str(getattr(chosen, name))] if getattr(chosen, name) is not None else []
    letters += ["-p"] if chosen.soft_thresholds else []
    letters += ["--seed", str(chosen.random_state)] if chosen.random_state != default.random_state else []
    for f in fields(chosen):
        value = getattr(chosen, f.name)
        if f.name not in _LETTERED and value != getattr(default, f.name) and value != "gain":
            word = "--" + f.name.replace("_", "-")
            letters += [f"--no-{word[2:]}"] if value is False else [word] if value is True else [word, str(value)]
    return letters
