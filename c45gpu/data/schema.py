"""What a model must remember of its data: the attributes in order, their values, and the classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

Kind = Literal["continuous", "discrete", "ignored"]


@dataclass(frozen=True)
class Attribute:
    """One attribute (a column).

    Parameters
    ----------
    name : str
        Its name, unique within a schema.
    kind : {"continuous", "discrete", "ignored"}
        Continuous attributes hold numbers; discrete ones hold one of `values`; ignored ones are read over.
    values : tuple of str
        The values of a discrete attribute. The position of a value is its code; unknown is -1.
    capacity : int, optional
        For a discrete attribute declared as ``discrete N`` its N: `values` were collected from the training data in
        order of appearance. None where the values were declared.
    """

    name: str
    kind: Kind
    values: tuple[str, ...] = ()
    capacity: int | None = None

    @cached_property
    def code_of(self) -> dict[str, int]:
        """The code of each value of a discrete attribute."""
        return {value: code for code, value in enumerate(self.values)}


@dataclass(frozen=True)
class Schema:
    """The attributes and classes of a table.

    Parameters
    ----------
    attributes : tuple of Attribute
        In the order of the columns, ignored ones included.
    classes : tuple of str
        The class names; the position of a class is its number.
    target : str
        What the class is called in files that name their columns.
    """

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...]
    target: str = field(default="class")

    @property
    def n_classes(self) -> int:
        """How many classes are declared, present in the data or not."""
        return len(self.classes)

    @cached_property
    def used(self) -> tuple[int, ...]:
        """Numbers of the attributes that are not ignored."""
        return tuple(a for a, attribute in enumerate(self.attributes) if attribute.kind != "ignored")

    @cached_property
    def class_number(self) -> dict[str, int]:
        """The number of each class name."""
        return {name: number for number, name in enumerate(self.classes)}

    def to_dict(self) -> dict[str, Any]:
        """The schema in plain values for JSON.

        Returns
        -------
        dict
            What :meth:`from_dict` takes.
        """
        return {
            "target": self.target,
            "classes": list(self.classes),
            "attributes": [
                {"name": a.name, "kind": a.kind, "values": list(a.values), "capacity": a.capacity}
                for a in self.attributes
            ],
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Schema:
        """The inverse of :meth:`to_dict`.

        Parameters
        ----------
        document : dict
            What :meth:`to_dict` gave.

        Returns
        -------
        Schema
            Equal to the one it was made of.
        """
        attributes = tuple(
            Attribute(a["name"], a["kind"], tuple(a["values"]), a["capacity"]) for a in document["attributes"]
        )
        return cls(attributes, tuple(document["classes"]), document["target"])


def first_duplicate(names: Iterable[str]) -> str | None:
    """The first name that occurs a second time, or None."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
