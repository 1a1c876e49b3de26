"""Results as tables, for a person at a terminal; programs get the texts of :mod:`c45gpu.show`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from c45gpu.cli.colours import Page
    from c45gpu.data.schema import Schema
    from c45gpu.model.evaluate import Evaluation

RIGHT_STYLE = "green"
WRONG_STYLE = "red"


def print_table(
    page: Page, title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], n_texts: int = 1
) -> None:
    """Print a table.

    Parameters
    ----------
    page : Page
    title : str
    columns : sequence of str
    rows : iterable of sequences
        Cells: texts of rich, or anything that has a text.
    n_texts : int
        So many columns, the first, stand on the left; numbers stand on the right.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title, "bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(Text(column), justify="left" if i < n_texts else "right", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    page.console().print(table)


def print_evaluation(page: Page, before: Evaluation, after: Evaluation, data: str) -> None:
    """Print how the tree as grown and the pruned one do on some cases, and what a case costs where mistakes do."""
    from c45gpu.show.text import amount

    trees = {"as grown": before, "pruned": after}
    estimates = {"as grown": "", "pruned": f"{after.estimate:.1f} %"}
    costs = [] if after.cost is None else ["cost of a case"]
    rows = [
        (name, e.size, amount(e.errors), f"{e.error_percent:.1f} %", estimates[name], *(f"{e.cost:.4g}" for _ in costs))
        for name, e in trees.items()
    ]
    columns = ["tree", "nodes", "errors", "of the cases", "estimate for others", *costs]
    print_table(page, f"Evaluation on {data} ({before.n_cases} cases)", columns, rows)


def print_confusion(page: Page, evaluation: Evaluation, schema: Schema) -> None:
    """Print the confusion matrix, with precision, recall and F1 of each class; true classes are in rows."""
    from rich.text import Text

    from c45gpu.show.text import MOST_CLASSES_IN_CONFUSION, amount

    if schema.n_classes > MOST_CLASSES_IN_CONFUSION:
        return
    rows = []
    for c, name in enumerate(schema.classes):
        weights = evaluation.confusion[c].tolist()
        styles = [RIGHT_STYLE if i == c else WRONG_STYLE for i in range(len(weights))]
        cells = [Text(amount(w) if w else "", style) for w, style in zip(weights, styles, strict=True)]
        ratios = [_ratio(getattr(evaluation, measure)[c]) for measure in ("precision", "recall", "f1")]
        rows.append([name, *cells, *ratios])
    columns = ["class", *(f"as {name}" for name in schema.classes), "precision", "recall", "F1"]
    print_table(page, "Classes, in rows, and what the pruned tree takes their cases for", columns, rows)


def _ratio(value: float) -> str:
    return "" if value != value else f"{value:.3f}"
