"""``c45gpu compare``."""

from __future__ import annotations

import json
from typing import Annotated

from cyclopts import Parameter

from c45gpu.cli.colours import Colouring, Page


def compare(
    one: str,
    other: str,
    /,
    *,
    unpruned: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
    colouring: Colouring | None = None,
) -> None:
    """Print where the trees of two models part, node by node.

    Parameters
    ----------
    one : str
        A model file.
    other : str
        Another one; attributes, values and classes are matched by name.
    unpruned : bool
        The trees as grown, not the pruned ones.
    as_json : bool
        Print one JSON document.
    colouring : Colouring
        Whether results are printed for a person.
    """
    from c45gpu.exchange import compare as compared
    from c45gpu.model.store import load

    found = compared(load(one), load(other), unpruned=unpruned)
    page = Page.of(colouring)
    if as_json or not page.is_rich:
        print(json.dumps(found.to_dict(), indent=1) if as_json else found)
        return
    from c45gpu.cli.tables import print_table

    rows = [(d.where, d.one or "nothing", d.other or "nothing") for d in found.differences]
    print_table(page, found.summary, ("where", one, other), rows, n_texts=3)
