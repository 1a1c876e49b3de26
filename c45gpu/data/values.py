"""What a name in a field means: a number, the code of a value, the number of a class.

What does not fit is told in a ValueError without a place; who knows the file and the line makes a DataError of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Literal

from c45gpu.data.schema import Attribute, Schema

Unseen = Literal["error", "unknown"]

UNKNOWN = "?"
_SHOWN = 8  # names listed in a message; more would not be read
_LONGEST_SHOWN = 60
_NUMBER = re.compile(
    r"""[+-]? (?: (?: \d+ \.? \d* | \. \d+ ) (?: e [+-]? \d+ )?
                | inf (?: inity )?
                | nan (?P<payload> \( \w* \) )?
                | (?P<hexadecimal> 0x (?: [\da-f]+ \.? [\da-f]* | \. [\da-f]+ ) (?: p [+-]? \d+ )? ) )""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)


def number(name: str) -> float:
    """The number that a name spells in the syntax of C's ``strtod``; NaN for ``?`` and for any spelling of NaN.

    Raises
    ------
    ValueError
        When it spells none.
    """
    if name == UNKNOWN:
        return math.nan
    found = _NUMBER.fullmatch(name)
    if found is None:
        raise ValueError(f"{shown(name)} is not a number: correct it, or write ? for unknown")
    if found["hexadecimal"]:
        return _hexadecimal(name)
    return math.nan if found["payload"] else float(name)


def _hexadecimal(name: str) -> float:
    try:
        return float.fromhex(name)
    except OverflowError:
        return -math.inf if name.startswith("-") else math.inf


class Codes:
    """The codes of a discrete attribute's values, collected as they come where it is a ``discrete N``.

    Parameters
    ----------
    attribute : Attribute
    training : bool
        Whether a ``discrete N`` takes new values, up to its N. Where it does not, a new value is unknown.
    unseen : {"error", "unknown"}
        What an undeclared value of any other attribute is.
    """

    def __init__(self, attribute: Attribute, *, training: bool, unseen: Unseen) -> None:
        collected = attribute.capacity is not None
        self._attribute = attribute
        self._code_of = {**attribute.code_of, UNKNOWN: -1}
        self._collects = collected and training
        self._refuses = unseen == "error" and not collected

    def code(self, name: str) -> int:
        """The code of a value, -1 where it is unknown.

        Raises
        ------
        ValueError
            When the attribute has no such value and can take none.
        """
        code = self._code_of.get(name)
        return self._new(name) if code is None else code

    @property
    def attribute(self) -> Attribute:
        """The attribute with all values collected so far."""
        a = self._attribute
        return Attribute(a.name, a.kind, tuple(value for value in self._code_of if value != UNKNOWN), a.capacity)

    def _new(self, name: str) -> int:
        if not name:
            raise ValueError("there is no value: write ? for unknown")
        if self._collects:
            return self._collect(name)
        if self._refuses:
            raise ValueError(
                f"{shown(name)} is not one of its values ({listed(self._attribute.values)}): correct it, or declare it "
                "in the .names file"
            )
        return -1

    def _collect(self, name: str) -> int:
        n_values, capacity = len(self._code_of) - 1, self._attribute.capacity
        if n_values == capacity:
            raise ValueError(
                f"{shown(name)} is one value too many for 'discrete {capacity}': raise that number in the .names file"
            )
        return self._code_of.setdefault(name, n_values)


def class_number(schema: Schema, name: str, *, training: bool) -> int:
    """The number of a class; -1 for ``?``, which only cases that are not trained on may have.

    Raises
    ------
    ValueError
        When there is no such class.
    """
    if name == UNKNOWN and not training:
        return -1
    if name in ("", UNKNOWN):
        raise ValueError("the case has no class: give it one, or leave it out of the training data")
    if name in schema.class_number:
        return schema.class_number[name]
    raise ValueError(
        f"{shown(name)} is not one of the classes ({listed(schema.classes)}): correct it, or declare it in "
        "the .names file"
    )


def in_order(names: Iterable[str]) -> list[str]:
    """Names sorted: by size when all of them are numbers, else by code points."""
    names = list(names)
    try:
        sizes = {name: number(name) for name in names}
    except ValueError:
        return sorted(names)
    if any(math.isnan(size) for size in sizes.values()):
        return sorted(names)
    return sorted(names, key=lambda name: (sizes[name], name))


def shown(name: str) -> str:
    """A name in quotes, cut where it is too long to be read."""
    return repr(name if len(name) <= _LONGEST_SHOWN else name[:_LONGEST_SHOWN] + "...")


def listed(names: Iterable[str]) -> str:
    """Some names for a message of one line, the first few when there are many."""
    names = list(names)
    first = ", ".join(_plainly(name) for name in names[:_SHOWN])
    return f"{first}, and {len(names) - _SHOWN} more" if len(names) > _SHOWN else first or "none so far"


def _plainly(name: str) -> str:
    """A name without quotes, if it has nothing in it that would not print."""
    return name if name.isprintable() and len(name) <= _LONGEST_SHOWN else shown(name)
