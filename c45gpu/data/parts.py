r"""Parts of one table that were read apart: their schemas united, and each part brought under the whole's.

    part 0   sky: hail, sun        sun hail sun   1 0 1  \                sky: hail, rain, sun    2 0 2
    part 1   sky: rain, sun        rain           0      /  becomes                              1

A *part* is a table of consecutive rows; its *facts* are what has to be known of it to unite schemas, no cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Int32s, Table
from c45gpu.data.values import in_order, listed, shown
from c45gpu.errors import DataError


class PartFacts(NamedTuple):
    """What a part tells of the whole.

    Attributes
    ----------
    place : str
        What the part is called in messages.
    schema : Schema
        The part's own.
    keeps : tuple of bool
        For each attribute whether the data say the order of its values; else they are sorted.
    known : tuple of bool
        For each attribute whether any of its values is known.
    widths : tuple of int
        For each attribute the bytes of a value, 0 if it is ignored.
    n_cases : int
    """

    place: str
    schema: Schema
    keeps: tuple[bool, ...]
    known: tuple[bool, ...]
    widths: tuple[int, ...]
    n_cases: int


class Whole(NamedTuple):
    """What all parts are brought under.

    Attributes
    ----------
    schema : Schema
    widths : tuple of int
        For each attribute the bytes of a value, 0 if it is ignored.
    """

    schema: Schema
    widths: tuple[int, ...]


def columns_with_order(frame: Any) -> list[str]:
    """The columns of a data frame of pandas or cuDF whose type says which values there are, and in which order."""
    import narwhals.stable.v2 as nw

    types = nw.from_native(frame, eager_only=True).schema
    return [str(name) for name, kind in types.items() if isinstance(kind, nw.Categorical | nw.Enum)]


def facts_of(table: Table, place: str, keeps: Iterable[str] = ()) -> PartFacts:
    """The facts of a part; `keeps` are the names of the attributes whose order of values the data say."""
    attributes, columns, kept = table.schema.attributes, table.columns, set(keeps)
    return PartFacts(
        place,
        table.schema,
        tuple(a.name in kept for a in attributes),
        tuple(column is not None and _any_known(table.column(a)) for a, column in enumerate(columns)),
        tuple(0 if column is None else column.dtype.itemsize for column in columns),
        table.n_cases,
    )


def united(facts: Sequence[PartFacts], classes: Sequence[str] | None = None) -> Whole:
    """The schema that a table of all parts together would have had.

    Parameters
    ----------
    facts : sequence of PartFacts
        At least one, in the order of the parts.
    classes : sequence of str, optional
        The classes; those of all parts, sorted, if absent.

    Raises
    ------
    DataError
        When parts have other attributes than the first, or hold texts where others hold numbers.
    """
    first = facts[0].schema
    due = [a.name for a in first.attributes]
    for part in facts:
        names = [a.name for a in part.schema.attributes]
        if names != due:
            raise DataError(
                f"{part.place} has the columns {listed(names)} where {facts[0].place} has {listed(due)}: give every "
                "part the same columns"
            )
    attributes = [_united_attribute(facts, a) for a in range(len(due))]
    if classes is None:
        classes = in_order(dict.fromkeys(name for part in facts for name in part.schema.classes))
    widths = tuple(_united_width(facts, a, attribute) for a, attribute in enumerate(attributes))
    return Whole(Schema(tuple(attributes), tuple(classes), first.target), widths)


def under(whole: Whole, part: Table, class_numbers: npt.NDArray[Any] | None = None) -> Table:
    """A part as rows of the whole: codes renumbered, numbers as wide as they are elsewhere.

    Parameters
    ----------
    whole : Whole
    part : Table
    class_numbers : ndarray of int, optional
        For each class of the part its number in the whole; found by name if absent.
    """
    attributes = zip(part.schema.attributes, whole.schema.attributes, whole.widths, strict=True)
    columns = [_brought(part, a, *one) for a, one in enumerate(attributes)]
    if class_numbers is None:
        class_numbers = np.array([whole.schema.class_number[name] for name in part.schema.classes])
    return replace(part, schema=whole.schema, columns=columns, classes=_renumbered(part.classes, class_numbers))


def _any_known(column: npt.NDArray[Any]) -> bool:
    return bool((column == column).any() if column.dtype.kind == "f" else (column >= 0).any())


def _united_attribute(facts: Sequence[PartFacts], a: int) -> Attribute:
    first = facts[0].schema.attributes[a]
    discrete = [part for part in facts if part.schema.attributes[a].kind == "discrete"]
    if not discrete or first.kind == "ignored":
        return first
    for part in facts:
        if part.schema.attributes[a].kind == "continuous" and part.known[a]:
            raise DataError(
                f"column {shown(first.name)} holds numbers in {part.place} and texts in {discrete[0].place}: give it "
                "one type, or say that it is categorical"
            )
    values = list(dict.fromkeys(value for part in discrete for value in part.schema.attributes[a].values))
    if not all(part.keeps[a] for part in discrete):
        values = in_order(values)
    return Attribute(first.name, "discrete", tuple(values))


def _united_width(facts: Sequence[PartFacts], a: int, attribute: Attribute) -> int:
    """Of numbers the widest where any is known: a part of nulls only has no width of its own."""
    if attribute.kind != "continuous":
        return 4 if attribute.kind == "discrete" else 0
    return max([part.widths[a] for part in facts if part.known[a]] or [part.widths[a] for part in facts])


def _brought(part: Table, a: int, own: Attribute, due: Attribute, width: int) -> Any:
    if part.columns[a] is None:
        return None
    if due.kind == "continuous":
        return part.column(a).astype(f"f{width}", copy=False)
    if own.kind == "continuous":  # nothing but nulls
        return np.full(part.n_cases, -1, np.int32)
    return _renumbered(part.column(a), np.array([due.code_of[value] for value in own.values], np.int64))


def _renumbered(codes: Int32s, numbers: npt.NDArray[Any]) -> Int32s:
    """Codes by their new numbers; -1 stays -1."""
    if np.array_equal(numbers, np.arange(len(numbers))):
        return codes
    return np.append(numbers, -1).astype(np.int32)[codes]
