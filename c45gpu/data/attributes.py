"""From a column of Arrow's to an attribute and its column in a table: learned from the values, or matched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from c45gpu.data.arrowcolumns import Column, Fault, coded, is_discrete, numbers
from c45gpu.data.schema import Attribute
from c45gpu.data.table import Int32s
from c45gpu.data.values import Unseen, in_order, listed, number, shown
from c45gpu.errors import DataError

Array = npt.NDArray[Any]
Spelling = Callable[[Any], str | None]  # the name of a value, None where it is unknown


def literal(value: Any) -> str | None:
    """The name of a value as it is: a text stays, 2.0 is named like 2, None and NaN are unknown."""
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def row_fault(name: str, message: str, row: int | None) -> DataError:
    """The error of a column that comes from memory."""
    return DataError(f"column {shown(name)}{'' if row is None else f', row {row}'}: {message}")


def column_of(name: str, values: Any) -> Column:
    """An array or a list of values as a column.

    Raises
    ------
    DataError
        When its values are of several types, or of a type that Arrow does not know.
    """
    try:
        return as_column(pa.array(values, from_pandas=True))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise mixed(name, error) from None


def as_column(array: Any) -> Column:
    """An Arrow array as a column of one chunk; a column stays what it is."""
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def mixed(name: str, error: Exception) -> DataError:
    """The error of a column whose values Arrow cannot hold together."""
    reason = str(error).partition("\n")[0]
    return DataError(
        f"column {shown(name)} does not hold values of one type ({reason}): give numbers only, or texts only"
    )


def learned(
    name: str,
    column: Column,
    *,
    discrete: bool = False,
    spelling: Spelling = literal,
    keep_order: bool = True,
    fault: Fault | None = None,
) -> tuple[Attribute, Array]:
    """The attribute that a column makes, and its codes or numbers.

    Parameters
    ----------
    name : str
    column : pyarrow.ChunkedArray
    discrete : bool
        Whether it is discrete whatever its type.
    spelling : callable
        The names of its values.
    keep_order : bool
        Whether a dictionary says the order of the values; else, as for any other type, they are sorted.
    fault : callable, optional
        Makes the error of a message and a row.

    Raises
    ------
    DataError
        When its type can be neither.
    """
    fault = fault or partial(row_fault, name)
    if not (discrete or is_discrete(column.type)):
        return Attribute(name, "continuous"), numbers(column, fault)
    names, codes = named(column, spelling, fault)
    attribute = Attribute(name, "discrete", values_of(names, column.type, keep_order=keep_order))
    return attribute, _translated(names, codes, attribute.code_of)


def values_of(names: Iterable[str | None], kind: Any, *, keep_order: bool) -> tuple[str, ...]:
    """The values that a column of an Arrow type has, in order, from the names of what is in it."""
    values = list(dict.fromkeys(name for name in names if name is not None))
    return tuple(values if keep_order and pa.types.is_dictionary(kind) else in_order(values))


def matched(
    attribute: Attribute,
    column: Column,
    *,
    spelling: Spelling = literal,
    fault: Fault | None = None,
    unseen: Unseen = "unknown",
) -> Array:
    """The codes or numbers of a column whose attribute is known.

    Parameters
    ----------
    attribute : Attribute
    column : pyarrow.ChunkedArray
    spelling, fault : callable, optional
        As for :func:`learned`.
    unseen : {"error", "unknown"}
        What a value is that the attribute does not have.

    Raises
    ------
    DataError
        When the column holds texts where the attribute has numbers, or numbers where all its values are texts.
    """
    fault = fault or partial(row_fault, attribute.name)
    if attribute.kind == "continuous":
        return numbers(column, partial(_texts_for_numbers, fault) if is_discrete(column.type) else fault)
    names, codes = named(column, spelling, fault)
    if _is_number(column.type) and any(names) and attribute.values and not any(map(_spells_number, attribute.values)):
        held = f"numbers ({column.type}), but the model knows it with the values {listed(attribute.values)}"
        raise fault(f"holds {held}: give it those, and no codes", None)
    found = _translated(names, codes, attribute.code_of)
    if unseen == "error":
        foreign = (found < 0) & np.array([*(name is not None for name in names), False])[codes]
        if foreign.any():
            row = int(np.argmax(foreign))
            seen = listed(attribute.values)
            raise fault(f"{shown(str(names[codes[row]]))} is none of the values in training ({seen}): correct it", row)
    return found


def _texts_for_numbers(fault: Fault, message: str, row: int | None) -> DataError:
    return fault(f"{message}, but the model knows the column with numbers: give it those, or None for unknown", row)


def _is_number(kind: Any) -> bool:
    inside = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_integer(inside) or pa.types.is_floating(inside) or pa.types.is_decimal(inside))


def _spells_number(name: str) -> bool:
    try:
        number(name)
    except ValueError:
        return False
    return True


def classes_of(
    column: Column,
    spelling: Spelling,
    fault: Fault,
    known: Sequence[str] | None = None,
    *,
    keep_order: bool = False,
) -> tuple[tuple[str, ...], Int32s]:
    """The classes that a column names, in order, and each case's; -1 for none, if the classes are known.

    With `keep_order` a dictionary says which classes there are, used or not, and their order; else they are sorted.

    Raises
    ------
    DataError
        At the first case without a class, where they are to be learned, or whose class is not among the known.
    """
    names, codes = named(column, spelling, fault)
    classes = values_of(names, column.type, keep_order=keep_order) if known is None else tuple(known)
    found = _translated(names, codes, {name: number for number, name in enumerate(classes)})
    lacking = found < 0
    if known is None and lacking.any():
        raise fault("the case has no class: give it one, or leave it out of the training data", int(np.argmax(lacking)))
    foreign = lacking & np.array([*(name is not None for name in names), False])[codes]
    if foreign.any():
        row = int(np.argmax(foreign))
        raise fault(f"{shown(str(names[codes[row]]))} is not one of the classes ({listed(classes)})", row)
    return classes, found


def named(column: Column, spelling: Spelling, fault: Fault) -> tuple[list[str | None], Int32s]:
    """The names of the distinct values of a column, None for what is unknown, and the position of each row's.

    Raises
    ------
    DataError
        When its type has no distinct values.
    """
    try:
        distinct, codes = coded(column)
    except pa.ArrowException:
        raise fault(f"has the type {column.type}, which has no distinct values: ignore it", None) from None
    return [spelling(value) for value in distinct], codes


def _translated(names: list[str | None], codes: Int32s, code_of: dict[str, int]) -> Int32s:
    """Codes of the names in place of their positions; -1 stays -1."""
    new = [-1 if name is None else code_of.get(name, -1) for name in names]
    return np.array([*new, -1], np.int32)[codes]
