"""``c45gpu evaluate``."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from c45gpu.cli.cases import table_for
from c45gpu.errors import DataError

if TYPE_CHECKING:
    from c45gpu.model.evaluate import Evaluation


def evaluate(
    model: str,
    file: str,
    /,
    *,
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
) -> None:
    """Print how a model does on cases whose classes are known.

    Parameters
    ----------
    model : str
        A model file.
    file : str
        The cases: a .data or .test file in C4.5's layout, or a CSV, ARFF or Parquet file.
    as_json : bool
        Print one JSON document.
    """
    from c45gpu.cli.verdict import judged
    from c45gpu.model.store import load
    from c45gpu.show.text import evaluation_text

    kept = load(model)
    verdict = judged(kept, table_for(kept, file))
    if not verdict.after.n_cases:
        raise DataError("no case has a class: there is nothing to hold the model against", file)
    if as_json:
        trees = {"unpruned": _facts(verdict.before), "pruned": _facts(verdict.after)}
        print(json.dumps({"classes": kept.schema.classes, **trees}, allow_nan=False))
        return
    print(evaluation_text(verdict.before, verdict.after, kept.schema, data=file, confusion=True), end="")
    print(f"accuracy {verdict.after.accuracy:.4f}   macro F1 {verdict.after.macro_f1:.4f}")


def _facts(evaluation: Evaluation) -> dict[str, Any]:
    """Plain values; null where a ratio has no denominator."""
    ratios = {name: getattr(evaluation, name).tolist() for name in ("precision", "recall", "f1")}
    return {
        "size": evaluation.size,
        "cases": evaluation.n_cases,
        "errors": evaluation.errors,
        "accuracy": _or_none(evaluation.accuracy),
        "macro_f1": _or_none(evaluation.macro_f1),
        **({} if evaluation.cost is None else {"cost": evaluation.cost}),
        **{name: [_or_none(value) for value in values] for name, values in ratios.items()},
        "confusion": evaluation.confusion.tolist(),
    }


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
