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
    for k, a in enumerate(used.tolist()):
        columns[a] = np.concatenate([part.columns[k] for part in parts])
    weighted = any(part.weights is not None for part in parts)
    weights = [np.ones(len(part.classes)) if part.weights is None else part.weights for part in parts]
    classes = np.concatenate([part.classes for part in parts])
    return Table(ignoring(schema, used), columns, classes, np.concatenate(weights) if weighted else None)
