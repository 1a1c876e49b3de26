"""``c45gpu train``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from c45gpu.cli.cases import Columns, stem_of, table_for, training_table
from c45gpu.cli.screen import note, progress_of, warn
from c45gpu.errors import OptionError
from c45gpu.induction.options import Compat, Criterion, Options, Pruning

if TYPE_CHECKING:
    from c45gpu.data.table import Table
    from c45gpu.model.store import Model

_WINDOWING: Final = {"n_trials": "-t", "initial_window": "-w", "window_increment": "-i"}


@Parameter(name="*")
@dataclass(frozen=True)
class Learning:
    """What the learner is asked to do; see :class:`c45gpu.induction.options.Options`.

    Parameters
    ----------
    criterion : {"gain_ratio", "gain"}
        What the chosen test maximises.
    gain : bool
        The original's letter for --criterion gain.
    min_cases : int
        At least two branches of a test must have this weight, in cases.
    confidence : float
        The confidence of error-based pruning, above 0 and at most 1. Smaller prunes more. [default: 0.25]
    percent : float
        The original's letter for --confidence, in percent: -c 10 is --confidence 0.1.
    prune : {"ebp", "pep", "none"}
        How to prune: C4.5's error-based pruning, pessimistic error pruning, or not at all.
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
    seed: int = 0

    def options(self) -> Options:
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
            criterion, self.min_cases, confidence, self.prune, self.compat, random_state=self.seed, **windows
        )


@Parameter(name="*")
@dataclass(frozen=True)
class Unseen:
    """Cases that the tree is not trained on.

    Parameters
    ----------
    test : str
        Evaluate on the cases of this file, too.
    unseen : bool
        The original's letter: evaluate on STEM.test, too.
    """

    test: str | None = None
    unseen: Annotated[bool, Parameter(name="-u", negative=(), show_default=False)] = False

    def path(self, source: str) -> str | None:
        """The file, None where none is asked for.

        Raises
        ------
        OptionError
            When there are two, or it is not clear which.
        """
        if not self.unseen:
            return self.test
        stem = stem_of(source)
        if self.test is not None or stem is None:
            raise OptionError("-u means STEM.test: give it with a stem, or --test FILE instead")
        return f"{stem}.test"


def train(
    source: str | None = None,
    /,
    *,
    stem: Annotated[str | None, Parameter(name="-f")] = None,
    columns: Columns | None = None,
    learning: Learning | None = None,
    unseen: Unseen | None = None,
    output: Annotated[str | None, Parameter(name=("--output", "-o"))] = None,
    engine: str = "auto",
    dry_run: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
) -> None:
    """Grow a tree, prune it, print both and how they do.

    Parameters
    ----------
    source : str
        The stem of .names and .data files, or a CSV or Parquet file.
    stem : str
        The original's letter for SOURCE.
    columns : Columns
        How to read a file whose columns have names.
    learning : Learning
        What the learner is asked to do.
    unseen : Unseen
        Cases that the tree is not trained on.
    output : str
        Save the model in this file.
    engine : str
        What grows the tree; c45gpu info lists the engines. The tree does not depend on it.
    dry_run : bool
        Read the data, say which engine would be used and how much memory it would need, and leave it at that.
    as_json : bool
        Print one JSON document.
    """
    where = one_source(source, stem)
    options, test_path = (learning or Learning()).options(), (unseen or Unseen()).path(where)
    table = training_table(where, columns or Columns())
    if dry_run:
        from c45gpu.cli.dry_run import print_plan

        print_plan(table, options, engine, as_json)
        return
    model = trained(table, options, engine)
    test = None if test_path is None else table_for(model, test_path, unseen="error")
    if output is not None:
        from c45gpu.model.store import save

        save(model, output)
        note(f"the model is saved in {output}")
    _print(model, table, test, as_json)


def one_source(source: str | None, stem: str | None) -> str:
    """What to train on, which two ways of saying it name.

    Raises
    ------
    OptionError
        When it is named twice, or not at all.
    """
    if (source is None) == (stem is None):
        raise OptionError("name what to train on, once: c45gpu train STEM, or c45gpu train FILE --target NAME")
    return source or stem or ""


def trained(table: Table, options: Options, engine: str) -> Model:
    """A model of a table, with progress for whoever watches."""
    from c45gpu.induction.train import train as grown_and_pruned

    with progress_of(table.n_cases) as progress:
        model = grown_and_pruned(table, options, engine, progress)
    present = [
        name for name, weight in zip(model.schema.classes, model.unpruned.class_weights[0], strict=True) if weight
    ]
    if len(present) == 1:
        warn(f"all cases are of the class {present[0]!r}: the tree is a single leaf")
    return model


def _print(model: Model, table: Table, test: Table | None, as_json: bool) -> None:
    from c45gpu.cli.verdict import judged

    on_train = judged(model, table)
    on_test = None if test is None else judged(model, test)
    if as_json:
        from c45gpu.show.document import document, write_json

        whole = document(model, _letters(model), train=on_train, test=on_test)
        trials = {"trials": model.record["trials"]} if "trials" in model.record else {}
        write_json(whole | trials, sys.stdout)
        return
    from c45gpu.show.text import evaluation_text, trees_text
    from c45gpu.show.trials import trials_text

    print(trials_text(model.record), end="")
    print(trees_text(model.unpruned, model.pruned, model.schema))
    print(evaluation_text(on_train.before, on_train.after, model.schema), end="")
    if on_test is not None:
        text = evaluation_text(on_test.before, on_test.after, model.schema, data="test data", confusion=True)
        print(text, end="")


def _letters(model: Model) -> list[str]:
    """The options that differ from the original's defaults, in its letters where it has them."""
    chosen, default = Options(**model.options), Options()
    letters = ["-g"] if chosen.criterion != default.criterion else []
    letters += ["-m", str(chosen.min_cases)] if chosen.min_cases != default.min_cases else []
    letters += ["-c", f"{100 * chosen.confidence:g}"] if chosen.confidence != default.confidence else []
    for name, letter in _WINDOWING.items():
        letters += [letter, str(getattr(chosen, name))] if getattr(chosen, name) is not None else []
    letters += ["--seed", str(chosen.random_state)] if chosen.random_state != default.random_state else []
    letters += ["--prune", chosen.prune] if chosen.prune != default.prune else []
    return letters + (["--compat", chosen.compat] if chosen.compat else [])
