"""``c45gpu train``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from c45gpu.cli.cases import Columns, stem_of, table_for
from c45gpu.cli.colours import Colouring, Page
from c45gpu.cli.kept import Checkpoints, Outputs
from c45gpu.cli.learning import Learning, Stopping, letters_of
from c45gpu.cli.places import cases_of
from c45gpu.cli.screen import Loudness, note, speak
from c45gpu.errors import OptionError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from c45gpu.data.schema import Schema
    from c45gpu.data.table import Table
    from c45gpu.induction.record import Recording
    from c45gpu.model.store import Model
    from c45gpu.show.document import Judged


@Parameter(name="*")
@dataclass(frozen=True)
class Costs:
    """What mistakes cost.

    Parameters
    ----------
    costs : str
        A file of lines 'PREDICTED, ACTUAL: COST', as C5.0 reads it; what is not listed costs 1. [default: STEM.costs,
        where there is one]
    ignore_costs : bool
        Every mistake counts the same, whether or not there is a STEM.costs.
    """

    costs: str | None = None
    ignore_costs: Annotated[bool, Parameter(negative=(), show_default=False)] = False

    def matrix(self, source: str, schema: Schema) -> npt.NDArray[np.float64] | None:
        """The costs; None where there are none.

        Raises
        ------
        DataError
            When the file cannot be read.
        OptionError
            When a file is named, and to be ignored.
        """
        if self.ignore_costs:
            if self.costs is not None:
                raise OptionError("--costs and --ignore-costs exclude each other: give one of them")
            return None
        path, stem = self.costs, stem_of(source)
        from c45gpu.data.compressed import beside
        from c45gpu.data.costsfile import read_costs

        if path is None and stem is not None and Path(beside(stem, ".costs")).exists():
            path = beside(stem, ".costs")
        if path is None:
            return None
        costs = read_costs(path, schema)
        note(f"costs of mistakes are read from {path}")
        return costs


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
        from c45gpu.data.compressed import beside

        return beside(stem, ".test")


def train(
    source: str | None = None,
    /,
    *,
    stem: Annotated[str | None, Parameter(name="-f")] = None,
    columns: Columns | None = None,
    learning: Learning | None = None,
    stopping: Stopping | None = None,
    costs: Costs | None = None,
    class_weight: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = (),
    unseen: Unseen | None = None,
    outputs: Outputs | None = None,
    engine: str = "auto",
    dask: str | None = None,
    dry_run: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
    checkpoints: Checkpoints | None = None,
    loudness: Loudness | None = None,
    colouring: Colouring | None = None,
) -> None:
    """Grow a tree, prune it, print both and how they do.

    Parameters
    ----------
    source : str
        The stem of .names and .data files, or a CSV, ARFF or Parquet file.
    stem : str
        The original's letter for SOURCE.
    columns : Columns
        How to read a file whose columns have names.
    learning : Learning
        What the learner is asked to do.
    stopping : Stopping
        Where it stops, and what it leaves out.
    costs : Costs
        What mistakes cost.
    class_weight : tuple of str
        What the weights of the cases of a class are multiplied by, CLASS=WEIGHT, once or several times; or balanced,
        so that all classes weigh the same.
    unseen : Unseen
        Cases that the tree is not trained on.
    outputs : Outputs
        Files that training leaves.
    engine : str
        What grows the tree; c45gpu info lists the engines. The tree does not depend on it.
    dask : str
        Train on a Dask cluster: the address of its scheduler, or local:N for N workers of this machine. The tree does
        not depend on it. Parquet files, and folders of them, are read by the workers.
    dry_run : bool
        Read the data, say which engine would be used and how much memory it would need, and leave it at that.
    as_json : bool
        Print one JSON document.
    checkpoints : Checkpoints
        Training that outlives a crash.
    loudness : Loudness
        What is told beside the result.
    colouring : Colouring
        Whether results are printed for a person.
    """
    speak(loudness)
    where = one_source(source, stem)
    options, test_path = (learning or Learning()).options(stopping or Stopping()), (unseen or Unseen()).path(where)
    with cases_of(dask, where, columns or Columns(), class_weight) as cases:
        if dry_run:
            cases.print_plan(options, engine, as_json)
            return
        from c45gpu.induction.record import Recording

        kept, recording = (checkpoints or Checkpoints()).announced(), Recording(cases.seconds)
        model = cases.trained(options, engine, (costs or Costs()).matrix(where, cases.schema), kept, recording)
        test = None if test_path is None else table_for(model, test_path, unseen="error")
        (outputs or Outputs()).write(model, recording)
        on_train = cases.judged(model)
    _print(model, on_train, test, recording if as_json else None, Page.of(colouring))


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


def _print(model: Model, on_train: Judged, test: Table | None, recording: Recording | None, page: Page) -> None:
    """Print trees and verdicts; one JSON document if there is a recording to go into it."""
    from c45gpu.show.verdict import judged

    on_test = None if test is None else judged(model, test)
    if recording is not None:
        from c45gpu.show.document import document, write_json

        whole = document(model, letters_of(model), train=on_train, test=on_test)
        trials = {"trials": model.record["trials"]} if "trials" in model.record else {}
        write_json(whole | trials | {"training": recording.record(model)}, sys.stdout)
        return
    from c45gpu.show.text import trees_text
    from c45gpu.show.trials import trials_text

    print(trials_text(model.record), end="")
    print(trees_text(model.unpruned, model.pruned, model.schema, soft=model.soft, mark=page.mark(model.schema)))
    _print_verdicts(model, on_train, on_test, page)


def _print_verdicts(model: Model, on_train: Judged, on_test: Judged | None, page: Page) -> None:
    if page.is_rich:
        from c45gpu.cli.tables import print_confusion, print_evaluation

        print_evaluation(page, on_train.before, on_train.after, "training data")
        if on_test is not None:
            print_evaluation(page, on_test.before, on_test.after, "test data")
            print_confusion(page, on_test.after, model.schema)
        return
    from c45gpu.show.text import evaluation_text

    print(evaluation_text(on_train.before, on_train.after, model.schema), end="")
    if on_test is not None:
        text = evaluation_text(on_test.before, on_test.after, model.schema, data="test data", confusion=True)
        print(text, end="")
