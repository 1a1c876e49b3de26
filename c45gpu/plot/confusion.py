"""Which classes are taken for which."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from c45gpu.errors import OptionError
from c45gpu.kernels.engine import frequencies_in_place
from c45gpu.model.decide import smoothed
from c45gpu.model.evaluate import Evaluation, evaluate
from c45gpu.plot.colours import INK
from c45gpu.plot.labels import drawn, model_in, short, training_cases
from c45gpu.plot.measure import new_panels
from c45gpu.show.text import amount

INCHES_OF_CLASS: Final = 0.62
MOST_NUMBERS: Final = 30  # classes; of more, cells are too small for numbers


def plot_confusion(
    model: Any, X: Any, y: Any = None, ax: Any = None, *, weights: Any = None, unpruned: bool = False
) -> Any:
    """Draw the confusion matrix: true classes in rows, predicted ones in columns.

    A cell is as dark as the part of the cases of its row that it holds, and has their weight written in it.

    Parameters
    ----------
    model : Model, or fitted C45Classifier
        Whose predictions are counted.
    X : Table, data frame, array_like, or Evaluation
        Cases with the attributes of the model; or an evaluation of it, which has the matrix.
    y : array_like, optional
        Their classes; a table has them.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new ones if absent.
    weights : array_like, optional
        Of the cases.
    unpruned : bool
        What the tree as grown says, not the pruned one.

    Returns
    -------
    matplotlib.axes.Axes
        What it was drawn on.

    Raises
    ------
    DataError
        When the cases do not fit the model, or have no classes.
    MissingPackageError
        When matplotlib is not installed.
    OptionError
        When there is no tree in the model, or it answers by rules.
    """
    kept = model_in(model)
    found = X if isinstance(X, Evaluation) else _evaluated(model, X, y, weights, unpruned)
    confusion, names = found.confusion, [short(name) for name in kept.schema.classes]
    side = 2.2 + INCHES_OF_CLASS * len(names)
    ax = new_panels(side, side - 0.6) if ax is None else ax
    of_row = confusion.sum(axis=1, keepdims=True)
    parts = np.divide(confusion, of_row, out=np.zeros_like(confusion), where=of_row > 0)
    ax.imshow(parts, cmap="Blues", vmin=0.0, vmax=1.0)
    numbers = range(len(names))
    ax.set_xticks(numbers, names, rotation=45, ha="right", rotation_mode="anchor", parse_math=False)
    ax.set_yticks(numbers, names, parse_math=False)
    ax.set_xlabel("predicted class")
    ax.set_ylabel("true class")
    if len(names) <= MOST_NUMBERS:
        for row, column in np.argwhere(confusion > 0).tolist():
            colour = "white" if parts[row, column] > 0.6 else INK
            words = amount(round(float(confusion[row, column]), 1))
            ax.text(column, row, words, ha="center", va="center", color=colour)
    wrong = amount(round(found.errors, 1))
    ax.set_title(f"{wrong} of {amount(round(found.weight, 1))} wrong ({found.error_percent:.1f} %)", fontsize="medium")
    return ax


def _evaluated(model: Any, X: Any, y: Any, weights: Any, unpruned: bool) -> Evaluation:
    if hasattr(model, "rules_"):
        raise OptionError("this answers by rules, not by a tree: give its model_, or an Evaluation")
    kept = model_in(model)
    shown, table = drawn(kept, unpruned), training_cases(kept, X, y, weights)
    if not (table.classes >= 0).any():
        raise OptionError("the cases have no classes: give y, or a table that has them")
    soft = shown.soft if kept is not model else None  # as a classifier predicts, and a model does not
    tree = smoothed(shown.tree) if getattr(model, "laplace", False) else shown.tree
    return evaluate(shown.tree, table.classes, frequencies_in_place(tree, table, soft), table.weights, kept.costs)
