"""The interactive report: a model in one HTML file that opens in a browser from disk."""

from __future__ import annotations

from typing import Any

from c45gpu.data.table import Table
from c45gpu.induction.record import require_record_of
from c45gpu.model.store import Model
from c45gpu.report.document import Cases, report_document
from c45gpu.report.page import page

__all__ = ["report_html"]


def report_html(
    model: Model,
    table: Table | None = None,
    *,
    name: str = "these cases",
    title: str = "c45gpu report",
    record: dict[str, Any] | None = None,
) -> str:
    """A model as a page to look at.

    Parameters
    ----------
    model : Model
        What the page is about.
    table : Table, optional
        Cases with classes, the training data best: the page then tells how the trees do on them, where they go, and
        what other tests would have gained.
    name : str
        What the page calls the cases.
    title : str
        The heading of the page.
    record : dict, optional
        How the model was trained; see :mod:`c45gpu.induction.record`.

    Returns
    -------
    str
        HTML that needs no network: script, style and model are in it.

    Raises
    ------
    DataError
        When no case has a class.
    ModelError
        When the record is of another model.
    """
    if record is not None:
        require_record_of(model, record)
    cases = None if table is None else Cases.of(model, table, name)
    return page(report_document(model, cases, title, record), title)
