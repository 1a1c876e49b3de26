"""Rows: the plain record that every peer is fed from, in memory and on disk.

kinds are told by `values`:   salary ()              continuous, float32 or float64, NaN is unknown
                              elevel ("0", .. "4")   discrete, int32 codes 0..4, -1 is unknown
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Kind = Literal["continuous", "discrete"]
Column = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns and classes, independent of c45gpu.

    Parameters
    ----------
    names : tuple of str
        One for each column.
    values : tuple of tuple of str
        The values of each discrete column in the order of their codes; empty for a continuous one.
    columns : list of ndarray
        Each of shape (n_rows,).
    classes : ndarray of int32, shape (n_rows,)
        Class codes.
    class_names : tuple of str
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    columns: list[Column]
    classes: npt.NDArray[np.int32]
    class_names: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.classes)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Whether each column is continuous or discrete."""
        return tuple("discrete" if values else "continuous" for values in self.values)

    @property
    def n_bytes(self) -> int:
        """Bytes that the columns take."""
        return sum(column.nbytes for column in self.columns)

    def part(self, first: int, stop: int) -> Rows:
        """Rows first..stop-1, copied."""
        columns = [column[first:stop].copy() for column in self.columns]
        return Rows(self.names, self.values, columns, self.classes[first:stop].copy(), self.class_names)

    def take_matrix(self, dtype: type[np.floating[Any]]) -> npt.NDArray[Any]:
        """The columns as one row-major matrix, codes as numbers and unknown as NaN; empties `columns`.

        Each column is let go as soon as it is copied, so that the input never lies in memory twice: what is measured
        as a peer's memory is then the peer's.
        """
        matrix = np.empty((self.n_rows, len(self.names)), dtype)
        kinds = self.kinds
        for a in reversed(range(len(kinds))):
            column = self.columns.pop()
            matrix[:, a] = column
            if kinds[a] == "discrete":
                matrix[column < 0, a] = np.nan
        return matrix


def together(parts: list[Rows]) -> Rows:
    """The rows of several parts, one after the other."""
    first = parts[0]
    columns = [np.concatenate([part.columns[a] for part in parts]) for a in range(len(first.names))]
    classes = np.concatenate([part.classes for part in parts])
    return Rows(first.names, first.values, columns, classes, first.class_names)


def forget(rows: Rows, share: float, stream: np.random.Generator) -> None:
    """Make a share of all values unknown, each value by its own throw; the others stay what they are."""
    for column in rows.columns:
        column[stream.random(rows.n_rows) < share] = np.nan if column.dtype.kind == "f" else -1


def save(rows: Rows, folder: Path) -> None:
    """Write rows to a new folder, one ``.npy`` file for each column."""
    folder.mkdir(parents=True)
    header = {"names": rows.names, "values": rows.values, "class_names": rows.class_names}
    (folder / "header.json").write_text(json.dumps(header))
    np.save(folder / "classes.npy", rows.classes)
    for a, column in enumerate(rows.columns):
        np.save(folder / f"column{a}.npy", column)


def load(folder: Path) -> Rows:
    """Read what :func:`save` wrote."""
    header = json.loads((folder / "header.json").read_text())
    columns = [np.load(folder / f"column{a}.npy") for a in range(len(header["names"]))]
    values = tuple(tuple(one) for one in header["values"])
    return Rows(tuple(header["names"]), values, columns, np.load(folder / "classes.npy"), tuple(header["class_names"]))
