"""Files whose columns have names, a block of rows at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from c45gpu.data.blocks import Progress
from c45gpu.data.namedfiles import NamedColumns, NamedFile


class Part(NamedTuple):
    """Some rows of a file, as a pyarrow.Table, and the file that says what they mean and where their faults are."""

    file: NamedFile
    columns: Any


class PartedFile(NamedColumns, ABC):
    """A file whose columns have names, and whose rows are read in parts, as often as wanted."""

    @abstractmethod
    def types(self, names: Sequence[str], as_text: Collection[str], progress: Progress | None = None) -> dict[str, Any]:
        """The Arrow type of each column, as reading the whole file gives it.

        Parameters
        ----------
        names : sequence of str
        as_text : collection of str
            Those that keep their spelling where the file has one.
        progress : callable, optional
            Is told how many bytes of the file are done, where the rows are read for it.
        """

    @abstractmethod
    def parts(self, types: Mapping[str, Any], progress: Progress | None = None) -> Iterator[Part]:
        """The columns that `types` names, none of the parts without rows.

        Raises
        ------
        DataError
            At the first row that does not fit.
        """
