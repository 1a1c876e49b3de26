"""``c45gpu plot``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import Parameter

from c45gpu.cli.cases import table_for
from c45gpu.cli.output import write
from c45gpu.cli.screen import note
from c45gpu.errors import OptionError

if TYPE_CHECKING:
    from c45gpu.data.table import Table
    from c45gpu.model.store import Model

What = Literal["tree", "importances", "pruning", "confusion", "gain-scan"]
_FORMATS: Final = ("dot", "pdf", "png", "svg")
_NEED_CASES: Final = ("confusion", "gain-scan")
_TAKES: Final[dict[str, tuple[str, ...]]] = {
    "tree": ("--max-depth", "--unpruned", "--data"),
    "importances": ("--unpruned",),
    "pruning": ("--max-depth",),
    "confusion": ("--unpruned", "--data"),
    "gain-scan": ("--unpruned", "--data", "--attribute", "--node"),
}


def plot(
    model: str,
    /,
    *,
    output: Annotated[str, Parameter(name=("--output", "-o"))],
    what: What = "tree",
    max_depth: int | None = None,
    unpruned: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    data: str | None = None,
    attribute: str | None = None,
    node: int | None = None,
) -> None:
    """Draw a model.

    Parameters
    ----------
    model : str
        A model file.
    output : str
        The picture: a .png, .svg or .pdf file, or a tree as .dot for Graphviz.
    what : {"tree", "importances", "pruning", "confusion", "gain-scan"}
        The tree; how important each attribute is; the trees before and after pruning; which classes are taken for
        which; or the gain of every threshold of an attribute at a node.
    max_depth : int
        Leave out what is deeper; the root's depth is 0. Without it, levels are drawn as long as they are readable.
    unpruned : bool
        Of the tree as grown, not the pruned one.
    data : str
        A file with cases. A tree shows with them which cases arrive in parts; the confusion is of them; a gain scan
        needs those that the model was trained on.
    attribute : str
        The attribute of a gain scan.
    node : int
        The node of a gain scan, in the order in which the tree is printed with branches in their order; the root's, if
        absent, is 0.
    """
    wanted = Path(output).suffix.removeprefix(".").lower()
    _require(what, wanted, output, {"--data": data, "--attribute": attribute, "--node": node})
    given = {"--max-depth": max_depth, "--unpruned": unpruned or None, "--data": data}
    given |= {"--attribute": attribute, "--node": node}
    for option, value in given.items():
        if value is not None and option not in _TAKES[what]:
            raise OptionError(f"{option} means nothing for --what {what}: leave it out")
    from c45gpu.model.store import load

    kept = load(model)
    table = None if data is None else table_for(kept, data)
    write(_picture(kept, table, what, wanted, max_depth, unpruned, attribute, node or 0), output)
    note(f"the picture is saved in {output}")


def _require(what: What, wanted: str, output: str, given: dict[str, Any]) -> None:
    if wanted not in _FORMATS:
        raise OptionError(f"-o {output}: end the name with one of .{', .'.join(_FORMATS)}")
    if wanted == "dot" and (what != "tree" or given["--data"] is not None):
        raise OptionError("a .dot file holds a tree and nothing else: take .svg, or leave out --what and --data")
    if what in _NEED_CASES and given["--data"] is None:
        raise OptionError(f"--data is missing: --what {what} needs a file with cases")
    if what == "gain-scan" and given["--attribute"] is None:
        raise OptionError("--attribute is missing: name the continuous attribute whose thresholds are to be drawn")


def _picture(
    model: Model,
    table: Table | None,
    what: What,
    wanted: str,
    max_depth: int | None,
    unpruned: bool,
    attribute: str | None,
    node: int,
) -> bytes:
    os.environ["MPLBACKEND"] = "Agg"  # pictures go to files, whatever screen there is
    from c45gpu import plot

    if wanted == "dot":
        return plot.to_dot(model, max_depth=max_depth, unpruned=unpruned).encode()
    if what == "tree":
        axes = plot.plot_tree(model, max_depth=max_depth, unpruned=unpruned, cases=table)
    elif what == "importances":
        axes = plot.plot_importances(model, unpruned=unpruned)
    elif what == "pruning":
        axes = plot.plot_pruning(model, max_depth=max_depth)
    elif what == "confusion":
        axes = plot.plot_confusion(model, table, unpruned=unpruned)
    else:
        axes = plot.plot_gain_scan(model, table, attribute=attribute or "", node=node, unpruned=unpruned)
    return plot.as_bytes(axes, wanted)
