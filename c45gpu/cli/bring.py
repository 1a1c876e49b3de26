"""``c45gpu import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from c45gpu.cli.screen import note
from c45gpu.errors import OptionError

_ORIGINAL = (".tree", ".unpruned")


def bring(
    source: str,
    /,
    *,
    output: Annotated[str, Parameter(name=("--output", "-o"))],
    names: str | None = None,
) -> None:
    """Make a model of a tree that the original C4.5 or Weka's J48 grew.

    Parameters
    ----------
    source : str
        The stem of the files that c4.5 saved (.tree, .unpruned and .names), or a text file with what J48 printed.
    output : str
        Save the model in this file.
    names : str
        For J48: a .names file with the attributes and classes. Without it they are taken from the tree.
    """
    from c45gpu.exchange import read_j48, read_original
    from c45gpu.model.store import save

    if source.endswith(_ORIGINAL) or Path(f"{source}.tree").exists():
        if names is not None:
            raise OptionError("--names is for J48: c4.5's names are in its .names file")
        model = read_original(source)
    else:
        from c45gpu.data.c45files import read_names
        from c45gpu.data.compressed import read_text

        text = read_text(source).decode()
        model = read_j48(text, None if names is None else read_names(names))
    save(model, output)
    note(f"the model is saved in {output}")
