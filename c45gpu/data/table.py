"""The table: a schema and its columns.

Glossary: a *case* is a row; a *code* is the number of a discrete value in its attribute's `values`; the *rank* of a
continuous value is its number among the sorted distinct values of its whole column; unknown is -1 for both, and NaN
among the values themselves.

    column of values    3.5   NaN   1.0   3.5        (float32 or float64, as it came)
    distinct            1.0   3.5
    ranks                 1    -1     0     1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.devicearrays import DeviceColumn
from c45gpu.data.schema import Schema
from c45gpu.errors import DataError

Floats = npt.NDArray[np.floating[Any]]
Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns, classes and weights of cases that share a schema.

    Parameters
    ----------
    schema : Schema
        What the columns mean.
    columns : list of ndarray, DeviceColumn or None
        One array of shape (n_cases,) for each attribute of the schema: int32 codes with -1 for unknown (discrete),
        float32 or float64 values with NaN for unknown (continuous), None (ignored).
    classes : ndarray of int32, shape (n_cases,)
        Class numbers; -1 where a case has none (cases that are only to be predicted).
    weights : ndarray of float64, shape (n_cases,), optional
        Finite and not negative; None means that every case weighs 1.
    classes_on_device : (ndarray, device array), optional
        The classes, and the same in the memory of a GPU, where they came from.
    """

    schema: Schema
    columns: Sequence[npt.NDArray[Any] | DeviceColumn | None]
    classes: Int32s
    weights: npt.NDArray[np.float64] | None = None
    classes_on_device: tuple[Int32s, Any] | None = field(default=None, repr=False)
    _ranks: dict[int, tuple[Int32s, Floats]] = field(default_factory=dict, repr=False)
    _distinct: dict[int, Floats] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.schema.attributes):
            n, m = len(self.columns), len(self.schema.attributes)
            raise DataError(f"{n} columns for {m} attributes: give one column each")
        for attribute, column in zip(self.schema.attributes, self.columns, strict=True):
            if column is not None and len(column) != len(self.classes):
                raise DataError(
                    f"attribute {attribute.name!r} has {len(column)} values for {len(self.classes)} cases: give as many"
                )

    @property
    def n_cases(self) -> int:
        """The number of rows."""
        return len(self.classes)

    def column(self, attribute: int) -> npt.NDArray[Any]:
        """The column of an attribute, on the host.

        Parameters
        ----------
        attribute : int
            The number of an attribute that is not ignored.

        Returns
        -------
        ndarray, shape (n_cases,)
            Codes or values.
        """
        column = self._held(attribute)
        return column.on_host() if isinstance(column, DeviceColumn) else column

    def column_in_place(self, attribute: int) -> Any:
        """The column of an attribute, where it is.

        Parameters
        ----------
        attribute : int
            The number of an attribute that is not ignored.

        Returns
        -------
        ndarray or device array, shape (n_cases,)
            Codes or values.
        """
        column = self._held(attribute)
        return column.array if isinstance(column, DeviceColumn) else column

    @property
    def is_on_device(self) -> bool:
        """Whether a column is in the memory of a GPU."""
        return any(isinstance(column, DeviceColumn) for column in self.columns)

    def classes_in_place(self) -> Any:
        """The classes, where they are.

        Returns
        -------
        ndarray or device array of int32, shape (n_cases,)
            On a device if they came from there.
        """
        pair = self.classes_on_device
        return pair[1] if pair is not None and pair[0] is self.classes else self.classes

    def _held(self, attribute: int) -> npt.NDArray[Any] | DeviceColumn:
        column = self.columns[attribute]
        if column is None:
            raise DataError(f"attribute {self.schema.attributes[attribute].name!r} is ignored and has no values")
        return column

    def rows(self, attribute: int, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Some values of the column of an attribute, on the host.

        Parameters
        ----------
        attribute : int
            The number of an attribute that is not ignored.
        rows : ndarray of int64, shape (k,)
            Numbers of cases.

        Returns
        -------
        ndarray, shape (k,)
            Codes or values.
        """
        column = self._held(attribute)
        return column.rows(rows) if isinstance(column, DeviceColumn) else column[rows]

    def ranks(self, attribute: int) -> tuple[Int32s, Floats]:
        """Ranks and sorted distinct values of a continuous column (kept after the first call).

        Parameters
        ----------
        attribute : int
            The number of a continuous attribute.

        Returns
        -------
        ranks : ndarray of int32, shape (n_cases,)
            -1 where the value is unknown. -0.0 and 0.0 are one value.
        distinct : ndarray, shape (n_distinct,)
            In the column's own precision.
        """
        if attribute not in self._ranks:
            values = self.column(attribute) + 0.0  # turns -0.0 into 0.0
            ranks = np.full(self.n_cases, -1, np.int32)
            known = ~np.isnan(values)
            distinct, inverse = np.unique(values[known], return_inverse=True)
            ranks[known] = inverse
            self._ranks[attribute] = (ranks, distinct)
        return self._ranks[attribute]

    def distinct(self, attribute: int) -> Floats:
        """The sorted distinct values of a continuous column, without the ranks (kept after the first call).

        Parameters
        ----------
        attribute : int
            The number of a continuous attribute.

        Returns
        -------
        ndarray, shape (n_distinct,)
            In the column's own precision.
        """
        if attribute in self._ranks:
            return self._ranks[attribute][1]
        if attribute not in self._distinct:
            values = self.column(attribute) + 0.0
            self._distinct[attribute] = np.unique(values[~np.isnan(values)])
        return self._distinct[attribute]

    def has_unknown(self) -> bool:
        """Whether any value of a used attribute is unknown.

        Returns
        -------
        bool
            Ignored attributes do not count.
        """
        return any(_any_unknown(self._held(a)) for a in self.schema.used)

    def take(self, cases: npt.NDArray[Any] | slice) -> Table:
        """The table of some of the cases.

        Parameters
        ----------
        cases : ndarray of int or of bool, or slice
            Their numbers, a mask over all cases, or a slice, which copies nothing.

        Returns
        -------
        Table
            Of the same schema, in the order asked for.
        """
        columns = [None if column is None else column[cases] for column in self.columns]
        weights = None if self.weights is None else self.weights[cases]
        return Table(self.schema, columns, self.classes[cases], weights)

    def as_release8(self) -> Table:
        """The table as the original program reads it.

        Returns
        -------
        Table
            Values are rounded to float32, and -999 is unknown.
        """
        columns = list(self.columns)
        for a in self.schema.used:
            column = columns[a]
            if isinstance(column, DeviceColumn):
                columns[a] = column.as_release8() if column.dtype.kind == "f" else column
            elif self.schema.attributes[a].kind == "continuous":
                with np.errstate(over="ignore"):  # beyond float32 the original has infinities
                    values = np.array(column, np.float32)
                values[values == -999] = np.nan
                columns[a] = values
        return Table(self.schema, columns, self.classes, self.weights)


def _any_unknown(column: npt.NDArray[Any] | DeviceColumn) -> bool:
    if isinstance(column, DeviceColumn):
        return column.any_unknown()
    if column.dtype.kind == "f":
        return bool(np.isnan(column).any())
    return bool((column < 0).any())
