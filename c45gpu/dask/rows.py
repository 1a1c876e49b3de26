"""Rows on a cluster."""

from __future__ import annotations

from typing import Any, NamedTuple

from distributed import Future

from c45gpu.data.schema import Schema


class RowParts(NamedTuple):
    """The rows of a data set in parts, each persisted on some worker.

    Attributes
    ----------
    schema : Schema
        Of all parts.
    parts : list of Future
        Each of a :class:`~c45gpu.data.table.Table`: all columns of consecutive rows, which lie in the order of parts.
    n_cases : list of int
        Rows of each part.
    """

    schema: Schema
    parts: list[Future[Any]]
    n_cases: list[int]
