"""``c45gpu evaluate``."""

from __future__ import annotations

import json
from typing import Annotated

from cyclopts import Parameter

from c45gpu.cli.cases import table_for
from c45gpu.cli.colours import Colouring, Page
from c45gpu.data.values import Unseen
from c45gpu.errors import DataError


def evaluate(
    model: str,
    file: str,
    /,
    *,
    unseen: Unseen = "unknown",
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
    colouring: Colouring | None = None,
) -> None:
    """Print how a model does on cases whose classes are known.

    Parameters
    ----------
    model : str
        A model file.
    file : str
        The cases: a .data or .test file in C4.5's layout, or a CSV, ARFF or Parquet file.
    unseen : {"unknown", "error"}
        What a value is that the model does not know: unknown, or an error that names it.
    as_json : bool
        Print one JSON document.
    colouring : Colouring
        Whether results are printed for a person.
    """
    from c45gpu.cli.tables import print_confusion, print_evaluation
    from c45gpu.model.store import load
    from c45gpu.show.document import evaluation_facts
    from c45gpu.show.text import evaluation_text
    from c45gpu.show.verdict import judged

    kept = load(model)
    verdict = judged(kept, table_for(kept, file, unseen=unseen))
    if not verdict.after.n_cases:
        raise DataError("no case has a class: there is nothing to hold the model against", file)
    if as_json:
        trees = {"unpruned": evaluation_facts(verdict.before), "pruned": evaluation_facts(verdict.after)}
        print(json.dumps({"classes": kept.schema.classes, **trees}, allow_nan=False))
        return
    page = Page.of(colouring)
    if page.is_rich:
        print_evaluation(page, verdict.before, verdict.after, file)
        print_confusion(page, verdict.after, kept.schema)
    else:
        print(evaluation_text(verdict.before, verdict.after, kept.schema, data=file, confusion=True), end="")
    print(f"accuracy {verdict.after.accuracy:.4f}   macro F1 {verdict.after.macro_f1:.4f}")
