"""Tables as Weka's ARFF, dense or sparse; what `arfffile` reads back as it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from c45gpu.data.arfftokens import quoted
from c45gpu.data.blocks import Cases, Progress, numeral, small_blocks, spelled
from c45gpu.data.schema import Attribute
from c45gpu.data.table import Table
from c45gpu.data.tokens import FilePath
from c45gpu.data.values import UNKNOWN, shown
from c45gpu.errors import DataError

_UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")
_ZERO: Final = "0"


def arff_lines(
    cases: Cases, path: FilePath, *, sparse: bool = False, progress: Progress | None = None
) -> Iterator[str]:
    """The lines of an ARFF file, without their ends.

    Parameters
    ----------
    cases : Cases
        Ignored attributes are left out; the class comes last. Weights stand behind the rows, in braces.
    path : str or os.PathLike
        Where they will be written: its name is the relation's, and errors tell it.
    sparse : bool
        Leave out zeros and first values.
    progress : callable, optional
        Is told how much is done.

    Raises
    ------
    DataError
        When a name cannot be written: it holds a NUL or half a character.
    """
    schema = cases.schema
    used = [schema.attributes[a] for a in schema.used]
    declared = [*used, Attribute(schema.target, "discrete", schema.classes)]
    yield f"@relation {_quoted(Path(path).name.partition('.')[0], path)}"
    yield ""
    for attribute in declared:
        yield f"@attribute {_quoted(attribute.name, path)} {_type(attribute, path)}"
    yield ""
    yield "@data"
    for part in small_blocks(cases, progress):
        rows = zip(*_texts(part, declared, path), strict=True)
        ends = [""] * part.n_cases if part.weights is None else [f",{{{numeral(w)}}}" for w in part.weights.tolist()]
        left_out = [_left_out(attribute, path) for attribute in declared]
        for row, end in zip(rows, ends, strict=True):
            yield (_sparse(row, left_out) if sparse else ",".join(row)) + end


def _type(attribute: Attribute, path: FilePath) -> str:
    if attribute.kind == "continuous":
        return "numeric"
    values = ",".join(_quoted(value, path) for value in attribute.values)
    if not values:
        raise DataError(f"attribute {shown(attribute.name)} has no values, which ARFF cannot say: ignore it", path)
    return f"{{{values}}}"


def _texts(table: Table, declared: Iterable[Attribute], path: FilePath) -> Iterator[Iterable[str]]:
    columns = [*(table.column(a) for a in table.schema.used), table.classes]
    for attribute, column in zip(declared, columns, strict=True):
        if attribute.kind == "discrete":
            yield spelled([_quoted(value, path) for value in attribute.values], UNKNOWN, column)
        else:
            yield (_number(value) for value in column.tolist())


def _sparse(row: Iterable[str], left_out: Iterable[str]) -> str:
    pairs = zip(row, left_out, strict=True)
    return "{" + ",".join(f"{a} {text}" for a, (text, usual) in enumerate(pairs) if text != usual) + "}"


def _left_out(attribute: Attribute, path: FilePath) -> str:
    return _quoted(attribute.values[0], path) if attribute.kind == "discrete" else _ZERO


def _number(value: float) -> str:
    if value != value:
        return UNKNOWN
    return numeral(value).replace("inf", "Infinity")  # as Java reads it


def _quoted(name: str, path: FilePath) -> str:
    if _UNWRITABLE.search(name):
        raise DataError(f"the name {shown(name)} cannot be written in ARFF: rename it", path)
    return quoted(name)
