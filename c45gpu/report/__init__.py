"""The interactive report: a model in one HTML file that opens in a browser from disk."""

from __future__ import annotations

from c45gpu.data.table import Table
from c45gpu.model.store import Model
from c45gpu.report.document import Cases, report_document
from c45gpu.report.page import page

__all__ = ["report_html"]


def report_html(
    model: Model, table: Table | None = None, *, name: str = "these cases", title: str = "c45gpu report"
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

    Returns
    -------
    str
        HTML that needs no network: script, style and model are in it.

    Raises
    ------
    DataError
        When no case has a class.
    """
    cases = None if table is None else Cases.of(model, table, name)
    return page(report_document(model, cases, title), title)
