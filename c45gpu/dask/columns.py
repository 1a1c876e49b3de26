"""Columns of parts, on their way to the share that has all of their rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.dask.share import ignoring
from c45gpu.data.table import Int32s, Table
from c45gpu.kernels.level import Int64s, Problem


class Columns(NamedTuple):
    """Some columns of a part, with its classes and weights."""

    columns: list[npt.NDArray[Any]]
    classes: Int32s
    weights: npt.NDArray[np.float64] | None


def columns_of(part: Table, attributes: list[int]) -> Columns:
    """Some attributes of a part."""
    return Columns([part.column(a) for a in attributes], part.classes, part.weights)


def joined(problem: Problem, owned: Int64s, parts: list[Columns]) -> Table:
    """The table of some attributes, of all parts one after the other."""
    schema = problem.table.schema
    used = np.array(problem.used, np.int64)[owned]
    columns: list[Any] = [None] * len(schema.attributes)
    for a, column in zip(used.tolist(), _joined([part.columns for part in parts]), strict=True):
        columns[a] = column
    weighted = any(part.weights is not None for part in parts)
    weights = [np.ones(len(part.classes)) if part.weights is None else part.weights for part in parts]
    classes = np.concatenate([part.classes for part in parts])
    return Table(ignoring(schema, used), columns, classes, np.concatenate(weights) if weighted else None)


def _joined(parts: list[list[npt.NDArray[Any]]]) -> list[npt.NDArray[Any]]:
    """The columns of all parts, those of a type in one piece of memory: the system gives it larger pages."""
    types = [np.result_type(*column) for column in zip(*parts, strict=True)]
    n_cases = sum(len(part[0]) for part in parts if part)
    rooms = {word: iter(np.empty((types.count(word), n_cases), word)) for word in set(types)}
    return [
        np.concatenate(column, out=next(rooms[word]))
        for word, column in zip(types, zip(*parts, strict=True), strict=True)
    ]
