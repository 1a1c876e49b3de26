"""CSV and TSV a block at a time, with the types that the whole file has."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from c45gpu.data.arrowcolumns import TEXT
from c45gpu.data.blocks import Progress
from c45gpu.data.csvfile import CsvFile
from c45gpu.data.partedfile import Part, PartedFile
from c45gpu.data.textblocks import TextBlocks, end_of_lines
from c45gpu.data.tokens import FilePath, empty

_LADDERS: Final = (  # each type holds what the ones before it hold, in the order in which Arrow tries them
    (pa.int64(), pa.float64()),
    (pa.date32(), pa.timestamp("s"), pa.timestamp("ns")),
    (pa.timestamp("s", "UTC"), pa.timestamp("ns", "UTC")),
)


class CsvBlocks(PartedFile):
    """Delimited text with a header.

    Parameters
    ----------
    path : str or os.PathLike
        Decompressed when its suffix says that it is compressed.
    delimiter : str

    Raises
    ------
    DataError
        When it cannot be read, is blank, or is no text.
    """

    def __init__(self, path: FilePath, delimiter: str) -> None:
        super().__init__(path)
        self._text = TextBlocks(path, _end_of_rows(delimiter))
        first = next((block for block in self._text.blocks() if block.text.strip()), None)
        if first is None:
            raise empty(path)
        self._head = CsvFile(path, delimiter, first.text, first.line - 1)
        self.names, self.header = self._head.names, self._head.header

    def types(self, names: Sequence[str], as_text: Collection[str], progress: Progress | None = None) -> dict[str, Any]:
        """The type that each column has when all rows are looked at; for that they are read once, or twice."""
        found = {**dict.fromkeys(names, pa.null()), **dict.fromkeys(as_text, TEXT)}
        mixed: set[str] = set()
        for part in self._parts(progress):
            columns = part.read_as(names, {name: TEXT for name, kind in found.items() if kind == TEXT})
            for name in names if columns.num_rows else ():
                one, other = found[name], columns.schema.field(name).type
                if one != other and not (pa.types.is_null(one) or pa.types.is_null(other)):
                    mixed.add(name)
                found[name] = joined(one, other)
        loosened = {name: found[name] for name in mixed if found[name] != TEXT}
        return {**found, **self._sure(loosened)}

    def _sure(self, types: dict[str, Any]) -> dict[str, Any]:
        """The same, or text where a part does not hold the type: 0x1F is whole, but no number with a fraction."""
        for part in self._parts(None) if types else ():
            if not part.holds(types):
                types = {name: kind if part.holds({name: kind}) else TEXT for name, kind in types.items()}
        return types

    def parts(self, types: Mapping[str, Any], progress: Progress | None = None) -> Iterator[Part]:
        """The columns that `types` names, of those types."""
        for part in self._parts(progress):
            columns = part.read_as(list(types), types)
            if columns.num_rows:
                yield Part(part, columns)

    def _parts(self, progress: Progress | None) -> Iterator[CsvFile]:
        at_head = True
        for block in self._text.blocks(progress):
            if not block.text.strip():
                continue
            if at_head:
                at_head = False
                yield self._head
            else:
                yield self._head.part(block.text, block.line)


def joined(one: Any, other: Any) -> Any:
    """The type that Arrow infers for a column from those that it infers for two parts of it."""
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    for ladder in _LADDERS:
        if one in ladder and other in ladder:
            return ladder[max(ladder.index(one), ladder.index(other))]
    return TEXT


def _end_of_rows(delimiter: str) -> Callable[[bytes], int]:
    """Finds the end of the last whole row: a line break within quotes, which open where a field begins, ends none."""
    mark = re.escape(delimiter.encode())
    field = rb'(?:"[^"]*+(?:""[^"]*+)*+"[^%b\r\n]*+|[^"%b\r\n][^%b\r\n]*+)?+' % (mark, mark, mark)
    rows = re.compile(rb"(?:%b(?:%b%b)*+(?:\r\n?|\n))*+" % (field, mark, field))

    def end(text: bytes) -> int:
        if b'"' not in text:
            return end_of_lines(text)
        found = rows.match(text)
        assert found is not None  # it matches the empty text
        return found.end()

    return end
