"""``c45gpu predict``."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from c45gpu.cli.cases import table_for
from c45gpu.cli.output import write
from c45gpu.data.values import Unseen
from c45gpu.errors import OptionError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from c45gpu.data.table import Table
    from c45gpu.model.store import Model


def predict(
    model: str,
    file: str,
    /,
    *,
    proba: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    laplace: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    soft_thresholds: Annotated[
        bool, Parameter(name=("--soft-thresholds", "-p"), negative=(), show_default=False)
    ] = False,
    explain: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    unseen: Unseen = "unknown",
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
    output: Annotated[str | None, Parameter(name=("--output", "-o"))] = None,
) -> None:
    """Print the class of each case, one a line.

    Parameters
    ----------
    model : str
        A model file.
    file : str
        The cases: a .data or .test file in C4.5's layout, or a CSV, ARFF or Parquet file; the class may be missing.
    proba : bool
        Print the probability of each class instead, as CSV.
    laplace : bool
        Take (n_c + 1) / (n + C) for the probability of a class at a leaf, as J48's -A does.
    soft_thresholds : bool
        A case near a threshold takes both branches, in parts; the model was trained with -p.
    explain : bool
        Print why instead: the path of each case in words, the shares of a case that divides because a value is unknown,
        and what would have to be different for another class.
    unseen : {"unknown", "error"}
        What a value is that the model does not know: unknown, or an error that names it.
    as_json : bool
        Print one JSON document: classes and probabilities, or with --explain the explanations.
    output : str
        Write to this file instead; it appears when it is complete.
    """
    from c45gpu.model.decide import smoothed
    from c45gpu.model.predict import class_frequencies, predicted_classes
    from c45gpu.model.store import load
    from c45gpu.show.verdict import as_trained

    if explain and (proba or laplace or soft_thresholds):
        raise OptionError("--explain goes with --json and -o only: leave out --proba, --laplace and -p")
    trained = load(model)
    classes = trained.schema.classes
    tree = smoothed(trained.pruned) if laplace else trained.pruned
    if soft_thresholds and trained.soft is None:
        raise OptionError(f"{model} has no soft thresholds: train it with -p, or leave -p out here")
    cases = as_trained(trained, table_for(trained, file, unseen=unseen))
    if explain:
        _explain(trained, cases, as_json, output)
        return
    frequencies = class_frequencies(tree, cases, trained.soft if soft_thresholds else None)
    names = [classes[c] for c in predicted_classes(frequencies, trained.costs)]
    if as_json:
        facts = {"classes": classes, "predicted": names, "probabilities": frequencies.tolist()}
        _put(json.dumps(facts) + "\n", output)
    elif proba:
        _put(_csv(classes, frequencies), output)
    else:
        _put("".join(f"{name}\n" for name in names), output)


def _explain(model: Model, cases: Table, as_json: bool, output: str | None) -> None:
    from c45gpu.explanation import explain

    explained = explain(model, cases)
    if as_json:
        facts = {"classes": model.schema.classes, "explanations": [why.to_dict() for why in explained]}
        _put(json.dumps(facts) + "\n", output)
    else:
        _put("\n".join(f"case {number}: {why}\n" for number, why in enumerate(explained, 1)), output)


def _csv(classes: tuple[str, ...], frequencies: npt.NDArray[np.float64]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(classes)
    table.writerows(frequencies.tolist())
    return text.getvalue()


def _put(text: str, path: str | None) -> None:
    if path is None:
        sys.stdout.write(text)
        return
    write(text.encode(), path)
