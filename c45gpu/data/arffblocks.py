"""ARFF a block at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from c45gpu.data.arfffile import ArffFile, end_of_head
from c45gpu.data.blocks import Progress
from c45gpu.data.partedfile import Part, PartedFile
from c45gpu.data.textblocks import LONGEST_ROW, TextBlock, TextBlocks, end_of_lines, line_feed_blocks
from c45gpu.data.tokens import FilePath


class ArffBlocks(PartedFile):
    """An ARFF file; its last attribute is the class, if it is nominal and no other is named.

    Parameters
    ----------
    path : str or os.PathLike
        Decompressed when its suffix says that it is compressed.

    Raises
    ------
    DataError
        When it cannot be read, or its head is not as ARFF has it.
    """

    keeps_order = True

    def __init__(self, path: FilePath) -> None:
        super().__init__(path)
        self._text = TextBlocks(path, end_of_lines)
        self._file = ArffFile(path, _beginning(line_feed_blocks(self._text)))
        self.names, self.header, self.own_target = self._file.names, self._file.header, self._file.own_target

    def types(self, names: Sequence[str], as_text: Collection[str], progress: Progress | None = None) -> dict[str, Any]:
        """The types declared, for which no row is read."""
        return self._file.types(names)

    def parts(self, types: Mapping[str, Any], progress: Progress | None = None) -> Iterator[Part]:
        """The columns that `types` names."""
        for rows in self._rows(progress):
            part = self._file.part(rows.text, rows.line)
            columns = part.read_rows(list(types))
            if columns.num_rows:
                yield Part(part, columns)

    def _rows(self, progress: Progress | None) -> Iterator[TextBlock]:
        blocks = line_feed_blocks(self._text, progress)
        text = _beginning(blocks)
        end = end_of_head(text)
        yield TextBlock(text[end:], text.count(b"\n", 0, end) + 1)
        yield from blocks


def _beginning(blocks: Iterator[TextBlock]) -> bytes:
    """The blocks up to the one in which the head ends, as one text; a long one has no head."""
    text = b""
    for block in blocks:
        text += block.text
        if end_of_head(text) or len(text) > LONGEST_ROW:
            break
    return text
