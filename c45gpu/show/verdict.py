"""What a model says of cases whose classes are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from c45gpu.model.evaluate import evaluate
from c45gpu.model.predict import class_frequencies
from c45gpu.show.document import Judged

if TYPE_CHECKING:
    from c45gpu.data.table import Table
    from c45gpu.model.store import Model


def as_trained(model: Model, table: Table) -> Table:
    """The cases as the model's training data were read."""
    return table.as_release8() if model.options.get("compat") == "r8" else table


def judged(model: Model, table: Table) -> Judged:
    """Both trees of a model, held against the classes of a table."""
    table = as_trained(model, table)
    before, after = (class_frequencies(tree, table) for tree in (model.unpruned, model.pruned))
    return Judged(
        evaluate(model.unpruned, table.classes, before, table.weights, model.costs),
        evaluate(model.pruned, table.classes, after, table.weights, model.costs),
        before,
        after,
    )
