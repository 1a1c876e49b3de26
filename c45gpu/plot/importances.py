"""How much each attribute tells, as bars."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from c45gpu.model.importance import Importance, importances
from c45gpu.plot.colours import INK
from c45gpu.plot.labels import drawn, model_in, short
from c45gpu.plot.measure import new_panels

MOST_BARS: Final = 30
_BAR: Final = "#0072B2"
_WORDS: Final = {"gain": "share of all information that the tests gain", "count": "share of the tests"}


def plot_importances(
    model: Any, kind: Importance = "gain", ax: Any = None, *, unpruned: bool = False, most: int = MOST_BARS
) -> Any:
    """Draw how important each attribute is in a tree, the most important on top.

    Parameters
    ----------
    model : Model, or fitted C45Classifier or C45Rules
        Whose tree it is.
    kind : {"gain", "count"}
        The share of all information that the tests of an attribute gain, or the share of the tests.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new ones if absent.
    unpruned : bool
        In the tree as grown, not the pruned one.
    most : int
        How many attributes are drawn at most.

    Returns
    -------
    matplotlib.axes.Axes
        What it was drawn on.

    Raises
    ------
    MissingPackageError
        When matplotlib is not installed.
    OptionError
        When there is no tree in the model, or no such kind.
    """
    shown = drawn(model_in(model), unpruned)
    attributes = shown.schema.attributes
    values = importances(shown.tree, len(attributes), kind)
    used = np.array(shown.schema.used, np.int64)
    order = used[np.argsort(-values[used], kind="stable")][: max(most, 1)]
    ax = new_panels(6.4, 1.0 + 0.3 * len(order)) if ax is None else ax
    heights = values[order]
    ax.barh(range(len(order)), heights, color=_BAR)
    ax.set_yticks(range(len(order)), [short(attributes[a].name) for a in order.tolist()], parse_math=False)
    ax.invert_yaxis()
    for row, value in enumerate(heights.tolist()):
        ax.annotate(f"{100 * value:.1f} %", (value, row), (4, 0), textcoords="offset points", va="center", color=INK)
    ax.set_xlim(0, 1.15 * max(float(heights.max(initial=0.0)), 0.01))
    ax.set_xlabel(_WORDS[kind])
    left_out = len(used) - len(order)
    if left_out:
        ax.set_title(f"{left_out} less important attributes left out", fontsize="small", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
