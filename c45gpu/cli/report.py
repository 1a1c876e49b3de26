"""``c45gpu report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from c45gpu.cli.cases import table_for
from c45gpu.cli.output import write
from c45gpu.cli.screen import note


def report(
    model: str,
    /,
    *,
    output: Annotated[str, Parameter(name=("--output", "-o"))],
    data: str | None = None,
    title: str | None = None,
    record: str | None = None,
) -> None:
    """Write a page to look at a tree in a browser: one HTML file that needs no network.

    Parameters
    ----------
    model : str
        A model file.
    output : str
        The HTML file; it appears when it is complete.
    data : str
        Cases whose classes are known, the training data best: a .data or .test file in C4.5's layout, or a CSV or
        Parquet file. The page then shows where they go, how the trees do on them, and what other tests would have
        gained.
    title : str
        The heading of the page. [default: the name of the model file]
    record : str
        What c45gpu train --record saved: the page then shows engine, times and memory.
    """
    from c45gpu.induction.record import load_record
    from c45gpu.model.store import load
    from c45gpu.report import report_html

    kept = load(model)
    table, name = (None, "") if data is None else (table_for(kept, data), Path(data).name)
    training = None if record is None else load_record(record, kept)
    heading = Path(model).name if title is None else title
    content = report_html(kept, table, name=name, title=heading, record=training)
    write(content.encode("utf-8", "replace"), output)
    note(f"the report is saved in {output}")
