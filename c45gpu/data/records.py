"""The records of a ``.data`` or ``.test`` file, one a line: the values of a case, a comma after each, and its class.

The whole grammar is read here, field by field. Files that use little of it, nearly all, take the way of
`arrowrecords`, which is faster and gives the same table or none.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Int32s, Table
from c45gpu.data.tokens import FilePath, fields
from c45gpu.data.values import UNKNOWN, Codes, Unseen, class_number, number, shown
from c45gpu.errors import DataError

Columns = list[npt.NDArray[Any] | None]


class Reading:
    """What the fields of a record mean while a file is read.

    Parameters
    ----------
    schema : Schema
    training : bool
        Whether each case must have a class, and a ``discrete N`` takes new values.
    unseen : {"error", "unknown"}
        What an undeclared value of a discrete attribute is.
    classless : bool, optional
        Whether a case may have no class, or all of them; by default where they are not trained on.
    width : int
        How many fields each record has; 0 before the first.
    """

    def __init__(
        self, schema: Schema, *, training: bool, unseen: Unseen, classless: bool | None = None, width: int = 0
    ) -> None:
        self.schema, self.width = schema, width
        self.classless = not training if classless is None else classless
        self.codes: dict[int, Codes] = {
            a: Codes(schema.attributes[a], training=training, unseen=unseen)
            for a in schema.used
            if schema.attributes[a].kind == "discrete"
        }

    def class_number(self, name: str) -> int:
        """The number of a class, -1 where a case may have none and has none."""
        return class_number(self.schema, name, training=not self.classless)

    def due(self, width: int) -> int:
        """How many fields the first record must have, if it has so many."""
        n_attributes = len(self.schema.attributes)
        return n_attributes if width == n_attributes and self.classless else n_attributes + 1

    def table(self, columns: Columns, classes: Int32s) -> Table:
        """The table of what was read; its schema has the values that were collected on the way."""
        attributes: list[Attribute] = list(self.schema.attributes)
        for a, codes in self.codes.items():
            if attributes[a].capacity is not None:
                attributes[a] = codes.attribute
        return Table(Schema(tuple(attributes), self.schema.classes, self.schema.target), columns, classes)


def read_records(text: str, path: FilePath, reading: Reading, first_line: int = 1) -> Table:
    """The table of a text, by the whole grammar; it may hold no records.

    Raises
    ------
    DataError
        At the first record that does not fit.
    """
    schema = reading.schema
    n_attributes = len(schema.attributes)
    store = {a: array("i" if a in reading.codes else "d") for a in schema.used}
    classes = array("i")
    readers: list[tuple[int, Callable[[str], Any], Callable[[Any], None]]] = [
        (a, reading.codes[a].code if a in reading.codes else number, store[a].append) for a in schema.used
    ]
    readers.append((n_attributes, reading.class_number, classes.append))
    for line, names in _records(text, path, first_line):
        reading.width = reading.width or reading.due(len(names))
        if len(names) != reading.width:
            raise _wrong_width(len(names), reading.width, n_attributes, path, line)
        if reading.width == n_attributes:
            names.append(UNKNOWN)
        for a, read, append in readers:
            try:
                append(read(names[a]))
            except ValueError as fault:
                owner = f"attribute {shown(schema.attributes[a].name)}: " if a < n_attributes else ""
                raise DataError(f"{owner}{fault}", path, line) from None
    columns: Columns = [np.array(store[a]) if a in store else None for a in range(n_attributes)]
    return reading.table(columns, np.array(classes, np.int32))


def no_records(path: FilePath) -> DataError:
    """The error of a file without cases."""
    return DataError("holds no records, only blank lines and comments: give at least one case", path)


def _records(text: str, path: FilePath, first_line: int) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and fields of the lines that hold a record."""
    for line, content in enumerate(text.split("\n"), first_line):
        if names := fields(content, path, line):
            yield line, names


def _wrong_width(found: int, width: int, n_attributes: int, path: FilePath, line: int) -> DataError:
    wanted = f"{width} fields ({n_attributes} values{' and the class' if width > n_attributes else ''})"
    remedy = "is one missing?" if found < width else "write \\, \\: or \\. for one that belongs to a name"
    return DataError(f"the record has {found} fields where {wanted} are due: {remedy}", path, line)
