"""Parquet and Arrow IPC files a few rows at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from c45gpu.data.arrowfile import ArrowFile
from c45gpu.data.blocks import Progress
from c45gpu.data.partedfile import Part, PartedFile


class ArrowBlocks(PartedFile):
    """A file with Arrow types; of an IPC file, a batch of its own is read at a time, however large it is.

    Parameters
    ----------
    file : ArrowFile
    """

    def __init__(self, file: ArrowFile) -> None:
        super().__init__(file.path)
        self._file = file
        self.names = file.names

    def types(self, names: Sequence[str], as_text: Collection[str], progress: Progress | None = None) -> dict[str, Any]:
        """The types that the file says."""
        types = self._file.types()
        return {name: types[name] for name in names}

    def parts(self, types: Mapping[str, Any], progress: Progress | None = None) -> Iterator[Part]:
        """The columns that `types` names."""
        for file, columns in self._file.parts(list(types), progress):
            if columns.num_rows:
                yield Part(file, columns)
