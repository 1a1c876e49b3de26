"""``c45gpu show``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from c45gpu.cli.colours import Colouring, Page
from c45gpu.cli.screen import note
from c45gpu.errors import OptionError


def show(
    model: str,
    /,
    *,
    unpruned: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    max_depth: int | None = None,
    colouring: Colouring | None = None,
) -> None:
    """Print the tree of a model.

    Parameters
    ----------
    model : str
        A model file.
    unpruned : bool
        The tree as grown, not the pruned one.
    max_depth : int
        Leave out what is deeper; the root's depth is 0.
    colouring : Colouring
        Whether results are printed for a person.
    """
    from c45gpu.model.store import load
    from c45gpu.show.text import tree_text

    if max_depth is not None and max_depth < 0:
        raise OptionError(f"--max-depth {max_depth} will not do: give 0 or more")
    kept = load(model)
    tree, soft = (kept.unpruned, None) if unpruned else (kept.pruned, kept.soft)
    mark = Page.of(colouring).mark(kept.schema)
    print(tree_text(tree, kept.schema, max_depth=max_depth, soft=soft, mark=mark), end="")
    if max_depth is not None and tree.depth > max_depth:
        left_out = sum(map(len, tree.levels[max_depth + 1 :]))
        note(f"{left_out} of {tree.n_nodes} nodes are left out: the tree is {tree.depth} deep")
