"""A tree in Graphviz's language, and pictures that its program ``dot`` makes of it."""

from __future__ import annotations

import shutil
import subprocess
from os import PathLike
from pathlib import Path
from typing import Any, Final

from c45gpu.data.wholefile import write_whole
from c45gpu.errors import DataError, MissingPackageError, OptionError
from c45gpu.model.tree import LEAF, THRESHOLD
from c45gpu.plot.colours import Colour, class_colours, purity, tinted
from c45gpu.plot.labels import Drawn, branch_values, drawn, model_in, node_lines, threshold_labels
from c45gpu.plot.layout import part_of

FORMATS: Final = ("dot", "eps", "json", "pdf", "png", "ps", "svg")
VALUES_IN_LINE: Final = 5


def to_dot(model: Any, *, max_depth: int | None = None, unpruned: bool = False) -> str:
    """A tree as a graph in Graphviz's language.

    Parameters
    ----------
    model : Model, or fitted C45Classifier or C45Rules
        Whose tree is drawn.
    max_depth : int, optional
        Nodes at this depth (the root's is 0) are ``(…)`` where there is more below. None leaves out nothing.
    unpruned : bool
        The tree as grown, not the pruned one.

    Returns
    -------
    str
        What is drawn of it shows every name as it is, quotes, backslashes and line ends included, but for characters
        that cannot be printed, which are blanks. Nodes have the numbers of the tree.

    Raises
    ------
    OptionError
        When there is no tree in the model, or `max_depth` is negative.
    """
    if max_depth is not None and max_depth < 0:
        raise OptionError(f"max_depth={max_depth!r} will not do: give 0 or more")
    shown = drawn(model_in(model), unpruned)
    tree = shown.tree
    part = part_of(tree, max_depth, tree.n_nodes)
    colours, strength = class_colours(tree.n_classes), purity(tree.class_weights)
    lines = [
        "digraph tree {",
        '  charset="UTF-8";',
        '  node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=11];',
        '  edge [fontname="Helvetica", fontsize=10, arrowhead=none];',
    ]
    for node, below in zip(part.nodes.tolist(), part.below.tolist(), strict=True):
        face = tinted(colours[tree.label[node]], float(strength[node]))
        lines.append(
            f"  {node} [label={_text(node_lines(shown, node, below, _whole))}, {_look(tree.weight[node] > 0, face)}];"
        )
        if tree.kind[node] != LEAF and not below:
            lines += _edges(shown, node)
    return "\n".join([*lines, "}", ""])


def render(model: Any, path: str | PathLike[str], format: str | None = None, **how: Any) -> None:
    """Have Graphviz draw a tree.

    Parameters
    ----------
    model : Model, or fitted C45Classifier or C45Rules
        Whose tree is drawn.
    path : str or os.PathLike
        The picture; it appears when it is complete.
    format : {"dot", "eps", "json", "pdf", "png", "ps", "svg"}, optional
        The ending of the path if absent. "dot" needs no Graphviz.
    **how
        As in :func:`to_dot`.

    Raises
    ------
    DataError
        When Graphviz fails, or the file cannot be written.
    MissingPackageError
        When its program ``dot`` is not on the path.
    OptionError
        When the format is another, and as :func:`to_dot` does.
    """
    wanted = Path(path).suffix.removeprefix(".").lower() if format is None else format
    if wanted not in FORMATS:
        raise OptionError(f"format {wanted!r} will not do: give one of {', '.join(FORMATS)}")
    content = to_dot(model, **how).encode()
    try:
        write_whole(content if wanted == "dot" else _drawn_by_graphviz(content, wanted), path)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise DataError(f"cannot be written ({reason}): choose a place with room where you may write", path) from fault


def _drawn_by_graphviz(graph: bytes, wanted: str) -> bytes:
    program = shutil.which("dot")
    if program is None:
        raise MissingPackageError(
            "Graphviz is not installed, there is no program 'dot' on the path: install it (Debian: apt install"
            " graphviz), or write a .dot file"
        )
    done = subprocess.run([program, f"-T{wanted}"], input=graph, capture_output=True)
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise DataError(f"Graphviz could not draw the tree ({told}): leave out deeper nodes with max_depth")
    return done.stdout


def _look(held: bool, face: Colour) -> str:
    if not held:
        return 'fillcolor="#ffffff", style="dashed,rounded"'
    code = "".join(f"{round(255 * channel):02x}" for channel in face)
    return f'fillcolor="#{code}"'


def _edges(shown: Drawn, node: int) -> list[str]:
    if shown.tree.kind[node] == THRESHOLD:
        labels = list(threshold_labels(shown, node))
    else:
        labels = [_group(values) for values in branch_values(shown, node)]
    branches = shown.tree.branches(node).tolist()
    return [f"  {node} -> {b} [label={_text([label])}];" for b, label in zip(branches, labels, strict=True)]


def _group(values: list[str]) -> str:
    names = [_whole(value) for value in values]
    lines = [", ".join(names[i : i + VALUES_IN_LINE]) for i in range(0, len(names), VALUES_IN_LINE)]
    return ",\n".join(lines) or "no value"


def _whole(name: str) -> str:
    """A name with all it has, line ends too; an empty one is two quotes."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in name) or "''"


def _text(lines: list[str]) -> str:
    """Lines as a quoted string: in a label Graphviz reads backslashes and, alas, the entities of HTML."""
    text = "\n".join(lines).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return '"' + text.replace("\n", "\\n") + '"'
