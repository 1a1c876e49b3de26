"""A tree before and after pruning, side by side."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from c45gpu.model.origin import Origin, origin_of
from c45gpu.model.store import Model
from c45gpu.model.tree import LEAF, Tree
from c45gpu.plot.board import Board, Picture
from c45gpu.plot.colours import CUT, FAINT, RAISED
from c45gpu.plot.labels import drawn, model_in
from c45gpu.plot.measure import new_figure
from c45gpu.plot.tree import Mark, Orientation, picture_of

BETWEEN: Final = 24.0  # points between the two trees


def plot_pruning(
    model: Any,
    axes: Any = None,
    *,
    max_depth: int | None = None,
    orientation: Orientation = "auto",
    font_size: float = 9.0,
) -> Any:
    """Draw a tree as grown and pruned, side by side, with what pruning did to it.

    A node that became a leaf, and a branch that took the place of a node above it, have a heavy edge in both trees; on
    the left, what is gone is pale.

    Parameters
    ----------
    model : Model, or fitted C45Classifier or C45Rules
        Whose trees are drawn.
    axes : sequence of two matplotlib.axes.Axes, optional
        Where to draw. Without them, a figure that is large enough.
    max_depth, orientation, font_size : int or None, str, float
        As in :func:`c45gpu.plot.plot_tree`.

    Returns
    -------
    tuple of two matplotlib.axes.Axes
        Of the tree as grown, and of the pruned one.

    Raises
    ------
    MissingPackageError
        When matplotlib is not installed.
    OptionError
        When there is no tree in the model, or an option is out of range.
    """
    kept = model_in(model)
    before, after = pruning_marks(kept)
    title = _title("as grown", kept.unpruned)
    grown = picture_of(drawn(kept, True), max_depth, None, orientation, font_size, before, title)
    same: Orientation = "down" if grown.down else "right"
    title = _title("pruned", kept.pruned)
    pictures = [grown, picture_of(drawn(kept, False), max_depth, None, same, font_size, after, title)]
    left, right = _side_by_side(pictures) if axes is None else axes
    return Board(pictures[0], left).draw(), Board(pictures[1], right).draw()


def pruning_marks(model: Model) -> tuple[dict[int, Mark], dict[int, Mark]]:
    """What is to be said of the nodes of the tree as grown, and of the pruned tree."""
    unpruned, pruned = model.unpruned, model.pruned
    origin = origin_of(unpruned, pruned)
    before = {node: Mark("", FAINT, faint=True) for node in _gone(unpruned, origin)}
    after = {}
    for p, (node, place) in enumerate(zip(origin.node.tolist(), origin.place.tolist(), strict=True)):
        mark = None
        if pruned.kind[p] == LEAF and unpruned.kind[node] != LEAF:
            mark = Mark("cut to a leaf", CUT)
        elif node != place:
            mark = Mark("raised", RAISED)
        if mark is not None:
            before[node] = after[p] = mark
    return before, after


def _gone(unpruned: Tree, origin: Origin) -> list[int]:
    gone = np.ones(unpruned.n_nodes, np.bool_)
    gone[origin.node] = False
    return np.flatnonzero(gone).tolist()


def _title(words: str, tree: Tree) -> str:
    return f"{words}: {tree.n_nodes} node{'' if tree.n_nodes == 1 else 's'}, {tree.n_leaves} leaves".replace(
        " 1 leaves", " 1 leaf"
    )


def _side_by_side(pictures: list[Picture]) -> tuple[Any, Any]:
    """Axes in a new figure, each as large as its picture."""
    (left, one), (right, other) = (picture.size for picture in pictures)
    width, height = left + BETWEEN + right, max(one, other)
    figure = new_figure(width, height)
    places = ((0.0, left, one), (left + BETWEEN, right, other))
    first, second = (
        figure.add_axes((x / width, 1 - high / height, wide / width, high / height)) for x, wide, high in places
    )
    return first, second
