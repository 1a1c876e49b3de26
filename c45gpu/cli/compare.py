"""``c45gpu compare``."""

from __future__ import annotations

import json
from typing import Annotated

from cyclopts import Parameter


def compare(
    one: str,
    other: str,
    /,
    *,
    unpruned: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
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
    """
    from c45gpu.exchange import compare as compared
    from c45gpu.model.store import load

    found = compared(load(one), load(other), unpruned=unpruned)
    print(json.dumps(found.to_dict(), indent=1) if as_json else found)
