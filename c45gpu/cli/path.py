"""``c45gpu path``."""

from __future__ import annotations

import json
from typing import Annotated

from cyclopts import Parameter

from c45gpu.cli.cases import Columns, training_table
from c45gpu.cli.colours import Colouring, Page
from c45gpu.cli.learning import Learning, Stopping
from c45gpu.cli.screen import Loudness, speak


def path(
    source: str,
    /,
    *,
    columns: Columns | None = None,
    learning: Learning | None = None,
    stopping: Stopping | None = None,
    tolerance: float = 1e-3,
    engine: str = "auto",
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
    loudness: Loudness | None = None,
    colouring: Colouring | None = None,
) -> None:
    """Print the confidences of pruning at which the pruned tree changes, and how large each tree is.

    Parameters
    ----------
    source : str
        The stem of .names and .data files, or a CSV or Parquet file.
    columns : Columns
        How to read a file whose columns have names.
    learning : Learning
        What the tree is grown by; its confidence does not matter.
    stopping : Stopping
        Where growing stops, and what it leaves out.
    tolerance : float
        The least confidence tried, and to what the others are exact.
    engine : str
        What grows and prunes the tree.
    as_json : bool
        Print one JSON document.
    loudness : Loudness
        What is told beside the result.
    colouring : Colouring
        Whether results are printed for a person.
    """
    speak(loudness)
    from c45gpu.induction.path import pruning_path

    options = (learning or Learning()).options(stopping or Stopping())
    found = pruning_path(training_table(source, columns or Columns()), options, engine, tolerance)
    rows = list(zip(found.confidences.tolist(), found.sizes.tolist(), found.leaves.tolist(), strict=True))
    if as_json:
        print(json.dumps([dict(zip(("confidence", "nodes", "leaves"), row, strict=True)) for row in rows], indent=1))
        return
    if (page := Page.of(colouring)).is_rich:
        from c45gpu.cli.tables import print_table

        cells = [(f"{confidence:.4f}", nodes, leaves) for confidence, nodes, leaves in rows]
        print_table(page, "Where the pruned tree changes", ("confidence", "nodes", "leaves"), cells, n_texts=0)
        return
    print(f"{'confidence':>10}  {'nodes':>8}  {'leaves':>8}")
    for confidence, nodes, leaves in rows:
        print(f"{confidence:10.4f}  {nodes:8d}  {leaves:8d}")
