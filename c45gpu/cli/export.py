"""``c45gpu export``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from cyclopts import Parameter

from c45gpu.cli.output import write
from c45gpu.cli.screen import note
from c45gpu.errors import OptionError

Format = Literal["python", "c", "sql", "onnx", "pmml", "treelite"]
Unknown = Literal["fractions", "refuse", "most_common"]
_TAKES: Final[dict[str, tuple[str, ...]]] = {
    "python": ("name",),
    "c": ("name",),
    "sql": ("unknown", "probability_of"),
    "onnx": ("unknown",),
    "pmml": ("unknown",),
    "treelite": ("unknown",),
}
_BINARY: Final = frozenset(("onnx", "treelite"))
_OPTIONS: Final = {"name": "--name", "unknown": "--unknown", "probability_of": "--probability-of"}


def export(
    model: str,
    /,
    *,
    to: Format,
    output: Annotated[str | None, Parameter(name=("--output", "-o"))] = None,
    unpruned: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    unknown: Unknown | None = None,
    name: str | None = None,
    probability_of: str | None = None,
) -> None:
    """Write the tree of a model in another program's language.

    Parameters
    ----------
    model : str
        A model file.
    to : {"python", "c", "sql", "onnx", "pmml", "treelite"}
        The language.
    output : str
        Write to this file instead; it appears when it is complete.
    unpruned : bool
        The tree as grown, not the pruned one.
    unknown : {"fractions", "refuse", "most_common"}
        What is done with a case whose value is unknown where the tree asks for it. "fractions" is what C4.5 does and,
        where a language can say it, the default; else "refuse" is, which gives such a case no class. "most_common" has
        it take the branch of most training cases.
    name : str
        What the Python or C function is called. [default: classify]
    probability_of : str
        SQL: the class whose probability the expression is. Without it, it is the name of the class.
    """
    from c45gpu.model.store import load

    given = {"unknown": unknown, "name": name, "probability_of": probability_of}
    chosen = {option: value for option, value in given.items() if value is not None}
    for option in chosen:
        if option not in _TAKES[to]:
            raise OptionError(f"{_OPTIONS[option]} means nothing for --to {to}: leave it out")
    if output is None and to in _BINARY:
        raise OptionError(f"-o is missing: --to {to} makes a binary file")
    content = _writer(to)(load(model), unpruned=unpruned, **chosen)
    if output is None:
        sys.stdout.write(content.removesuffix("\n") + "\n")
        return
    write(_bytes(content), output)
    note(f"the tree is saved in {output}")


def _writer(to: Format) -> Callable[..., Any]:
    from c45gpu import exchange

    writer: Callable[..., Any] = getattr(exchange, f"to_{to}")
    return writer


def _bytes(content: Any) -> bytes:
    if isinstance(content, str):
        return content.encode()
    made: bytes = content.serialize_bytes() if hasattr(content, "serialize_bytes") else content.SerializeToString()
    return made
