"""A tree as a picture."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import numpy as np

from c45gpu.errors import OptionError
from c45gpu.exchange.encoded import table_of
from c45gpu.model.parts import shares_in_parts
from c45gpu.model.predict import leaf_probabilities
from c45gpu.plot.board import Board, Box, Picture
from c45gpu.plot.colours import FAINT, class_colours, purity, tinted
from c45gpu.plot.labels import Drawn, branch_labels, drawn, model_in, node_lines, short
from c45gpu.plot.layout import Floats, Part, part_of

Orientation = Literal["auto", "down", "right"]
MOST_NODES: Final = 300  # more than that nobody looks at
MOST_LEAVES_DOWN: Final = 14  # a page is not wider
MOST_CLASSES_TOLD: Final = 40
LEAST_SHARE_TOLD: Final = 0.01  # smaller ones would stand in most nodes and tell nothing


class Mark(NamedTuple):
    """What is special about a node: a line of words, and the colour of its edge."""

    words: str
    edge: str
    faint: bool = False


def plot_tree(
    model: Any,
    ax: Any = None,
    *,
    max_depth: int | None = None,
    unpruned: bool = False,
    cases: Any = None,
    orientation: Orientation = "auto",
    font_size: float = 9.0,
) -> Any:
    """Draw a tree.

    A node has the colour of its class, the stronger the purer it is, and a bar of the classes of its cases. Branches
    that no training case took are dashed. Labels never overlap, however many branches a node has.

    Parameters
    ----------
    model : Model, or fitted C45Classifier or C45Rules
        Of rules it is the tree that they were made of.
    ax : matplotlib.axes.Axes, optional
        Where to draw; the picture is made as small as they are. Without them, a figure that is large enough.
    max_depth : int, optional
        Nodes at this depth (the root's is 0) are drawn as ``(…)`` where there is more below. None draws as many levels
        as have no more than 300 nodes in all.
    unpruned : bool
        The tree as grown, not the pruned one.
    cases : Table, data frame or array_like, optional
        With the attributes of the model, such as the training cases. They are sent down the tree, and nodes say what
        share of their weight arrived in parts, because a value was unknown.
    orientation : {"auto", "down", "right"}
        Where the leaves are; "auto" is "down" as long as that is not too wide.
    font_size : float
        In points.

    Returns
    -------
    matplotlib.axes.Axes
        What it was drawn on.

    Raises
    ------
    DataError
        When the cases do not fit the model.
    MissingPackageError
        When matplotlib is not installed.
    OptionError
        When there is no tree in the model, or an option is out of range.
    """
    kept = model_in(model)
    shown = drawn(kept, unpruned)
    parts = None if cases is None else shares_in_parts(shown.tree, table_of(kept, cases))
    return Board(picture_of(shown, max_depth, parts, orientation, font_size), ax).draw()


def picture_of(
    shown: Drawn,
    max_depth: int | None,
    parts: Floats | None = None,
    orientation: Orientation = "auto",
    font_size: float = 9.0,
    marks: dict[int, Mark] | None = None,
    title: str = "",
) -> Picture:
    """The picture of a tree, some of whose nodes may be marked.

    Raises
    ------
    OptionError
        When an option is out of range.
    """
    if max_depth is not None and max_depth < 0:
        raise OptionError(f"max_depth={max_depth!r} will not do: give 0 or more")
    if orientation not in ("auto", "down", "right"):
        raise OptionError(f"orientation={orientation!r} will not do: give 'auto', 'down' or 'right'")
    if not font_size > 0:
        raise OptionError(f"font_size={font_size!r} will not do: give a number above 0")
    tree = shown.tree
    part = part_of(tree, max_depth, MOST_NODES)
    parts = np.zeros(tree.n_nodes) if parts is None else parts
    n_leaves = len(part.nodes) - len(np.unique(part.parent[1:]))
    return Picture(
        part,
        _boxes(shown, part, parts, marks or {}),
        _labels(shown, part),
        class_colours(tree.n_classes),
        _legend(shown, part),
        _notes(shown, part, parts),
        orientation == "down" or (orientation == "auto" and n_leaves <= MOST_LEAVES_DOWN),
        font_size,
        title,
    )


def _boxes(shown: Drawn, part: Part, parts: Floats, marks: dict[int, Mark]) -> list[Box]:
    tree, colours = shown.tree, class_colours(shown.tree.n_classes)
    strength, shares = purity(tree.class_weights[part.nodes]), leaf_probabilities(tree)
    boxes = []
    for i, (node, below) in enumerate(zip(part.nodes.tolist(), part.below.tolist(), strict=True)):
        lines, mark = node_lines(shown, node, below), marks.get(node)
        if parts[node] >= LEAST_SHARE_TOLD:
            lines.append(f"{100 * parts[node]:.0f} % in parts")
        lines += [mark.words] if mark is not None and mark.words else []
        held = tree.weight[node] > 0
        face = tinted(colours[tree.label[node]], float(strength[i]))
        boxes.append(
            Box(
                lines,
                face,
                shares[node].tolist() if held else [],
                FAINT if mark is None else mark.edge,
                mark is not None and not mark.faint,
                mark is not None and mark.faint,
            )
        )
    return boxes


def _labels(shown: Drawn, part: Part) -> list[str]:
    """The label of the branch that leads to each drawn node."""
    label = {0: ""}
    for node in np.unique(part.nodes[part.parent[1:]]).tolist():
        branches = shown.tree.branches(node).tolist()
        label.update(zip(branches, branch_labels(shown, node), strict=True))
    return [label[node] for node in part.nodes.tolist()]


def _legend(shown: Drawn, part: Part) -> list[tuple[str, tuple[float, float, float]]]:
    """The classes that cases at the root have, or labels name."""
    colours = class_colours(shown.tree.n_classes)
    present = shown.tree.class_weights[0] > 0
    present[shown.tree.label[part.nodes]] = True
    classes = np.flatnonzero(present).tolist()
    entries = [(short(shown.schema.classes[c]), colours[c]) for c in classes[:MOST_CLASSES_TOLD]]
    more = len(classes) - MOST_CLASSES_TOLD
    return [*entries, (f"and {more} more", (1.0, 1.0, 1.0))] if more > 0 else entries


def _notes(shown: Drawn, part: Part, parts: Floats) -> list[str]:
    notes = ["colour: the class, stronger where a node is purer; bar: all classes of its cases"]
    if bool((shown.tree.weight[part.nodes] <= 0).any()):
        notes.append("dashed: no training case took this branch")
    if bool((parts[part.nodes] >= LEAST_SHARE_TOLD).any()):
        notes.append("in parts: a value was unknown above, so a case went down several branches (from 1 %)")
    if bool((part.below > 0).any()):
        notes.append(f"(…): more below, {int(part.below.sum())} nodes in all")
    return notes
