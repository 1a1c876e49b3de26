"""Files whose columns have names, each as columns of Arrow's: what CSV, Parquet and Arrow IPC have in common.

Every error is one line of our own: Arrow's messages run over several and do not always know the line.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import first_duplicate
from c45gpu.data.tokens import FilePath
from c45gpu.data.values import listed, shown
from c45gpu.errors import DataError


class NamedColumns:
    """The columns of a file, by name.

    Parameters
    ----------
    path : str or os.PathLike

    Attributes
    ----------
    names : list of str
        The columns, in order.
    header : int or None
        The line that names them, in a text.
    keeps_order : bool
        Whether the file says in which order values and classes come; else they are sorted.
    own_target : str or None
        The column that holds the class, where the format says which.
    """

    keeps_order = False

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self.names: list[str] = []
        self.header: int | None = None
        self.own_target: str | None = None

    def require_names(self, wanted: Sequence[str]) -> None:
        """Refuse a file that lacks a column, or has one without a name or two of the same.

        Raises
        ------
        DataError
            With the columns there are.
        """
        if "" in self.names:
            at = self.names.index("") + 1
            raise DataError(f"column {at} has no name: give it one, or leave the column out", self.path, self.header)
        if (twice := first_duplicate(self.names)) is not None:
            raise DataError(f"two columns are named {shown(twice)}: rename one", self.path, self.header)
        if missing := [name for name in wanted if name not in self.names]:
            there = listed(self.names)
            raise DataError(f"there is no column {shown(missing[0])}: the columns are {there}", self.path, self.header)

    def require_rows(self, n_rows: int) -> None:
        """Refuse a file without rows.

        Raises
        ------
        DataError
        """
        if not n_rows:
            raise DataError("has columns but no rows: give at least one case", self.path)


class NamedFile(NamedColumns, ABC):
    """A file whose columns have names, read whole.

    Attributes
    ----------
    weights : ndarray or None
        The weights of the cases read, where the format has a place for them beside the columns.
    """

    def __init__(self, path: FilePath) -> None:
        super().__init__(path)
        self.weights: npt.NDArray[np.float64] | None = None

    @abstractmethod
    def read(self, names: Sequence[str], as_text: Collection[str]) -> Any:
        """Some columns as a pyarrow.Table; those in `as_text` keep their spelling where the file has one."""

    @abstractmethod
    def spelling(self, value: Any) -> str | None:
        """The name of a value, None where it stands for unknown."""

    @abstractmethod
    def fault(self, name: str, message: str, row: int | None) -> DataError:
        """The error of a column, at a row counted from 0."""
