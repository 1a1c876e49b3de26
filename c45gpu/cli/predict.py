"""``c45gpu predict``."""

from __future__ import annotations

import csv
import json
import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from c45gpu.cli.cases import table_for

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def predict(
    model: str,
    file: str,
    /,
    *,
    proba: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
) -> None:
    """Print the class of each case, one a line.

    Parameters
    ----------
    model : str
        A model file.
    file : str
        The cases: a .data or .test file in C4.5's layout, or a CSV or Parquet file; the class may be missing.
    proba : bool
        Print the probability of each class instead, as CSV.
    as_json : bool
        Print one JSON document with both.
    """
    from c45gpu.cli.verdict import as_trained
    from c45gpu.model.predict import class_frequencies, predicted_classes
    from c45gpu.model.store import load

    trained = load(model)
    frequencies = class_frequencies(trained.pruned, as_trained(trained, table_for(trained, file)))
    names = [trained.schema.classes[c] for c in predicted_classes(frequencies)]
    if as_json:
        facts = {"classes": trained.schema.classes, "predicted": names, "probabilities": frequencies.tolist()}
        print(json.dumps(facts))
    elif proba:
        _write_csv(trained.schema.classes, frequencies)
    else:
        sys.stdout.writelines(f"{name}\n" for name in names)


def _write_csv(classes: tuple[str, ...], frequencies: npt.NDArray[np.float64]) -> None:
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(classes)
    table.writerows(frequencies.tolist())
