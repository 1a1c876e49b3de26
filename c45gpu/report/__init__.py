"""The interactive report: a model in one HTML file that opens in a browser from disk."""

from __future__ import annotations

from c45gpu.model.store import Model
from c45gpu.report.document import Cases, report_document
from c45gpu.report.page import page

__all__ = ["Cases", "report_html"]


def report_html(model: Model, cases: Cases | None = None, *, title: str = "c45gpu report") -> str:
    """A model as a page to look at.

    Parameters
    ----------
    model : Model
    cases : Cases, optional
        Cases with classes: the page then tells how the trees do on them, and where they go.
    title : str

    Returns
    -------
    str
        HTML that needs no network: script, style and model are in it.
    """
    return page(report_document(model, cases, title), title)
