"""What the memory that the CPU engine needs depends on: how much of what there is in a problem.

Whether a continuous column has few values, and how many values are unknown, is told by a sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.kernels.cpu_lists import MOST_CODES
from c45gpu.kernels.level import Problem

SAMPLE = 4096  # values of a column that tell whether it has few


class Work(NamedTuple):
    """What a plan depends on.

    Attributes
    ----------
    n_cases, n_classes, threads : int
    columns : int
        Used attributes.
    value_bytes : tuple of int
        Bytes of a value, for each continuous column that needs a list.
    coded_lists : int
        Discrete attributes that need a list.
    codes, n_codes : int
        Columns with few values, and all their values together.
    most_branches : int
        Of a test.
    row_bytes : int
        Of a value in the rows that pruning makes: 4 if float32 holds all, else 8.
    whole : bool
        Cases weigh 1, and no value is unknown.
    divided : bool
        Some value is unknown.
    unknown : float
        Share of unknown values.
    spread : float
        The most instances of a case that a test on a discrete attribute makes: one if it is known, else one a branch.
    near : bool
        Values are compared as release 8 does.
    finishes : bool
        Workers may finish nodes.
    weighted : bool
        Cases have weights of their own.
    copied : int
        Bytes of a case's values in columns that are not in one piece, or not of the precision that all have together.
    most_unknown : float
        Share of unknown values in the column that has most.
    listed_unknown : float, optional
        Share of unknown values in lists, where that is not `unknown`.
    """

    n_cases: int
    n_classes: int
    threads: int
    columns: int
    value_bytes: tuple[int, ...]
    coded_lists: int
    codes: int
    n_codes: int
    most_branches: int
    row_bytes: int
    whole: bool = True
    divided: bool = False
    unknown: float = 0.0
    spread: float = 1.0
    near: bool = False
    finishes: bool = True
    weighted: bool = False
    copied: int = 0
    most_unknown: float = 0.0
    listed_unknown: float | None = None

    @property
    def known(self) -> float:
        """Share of the values that lists hold."""
        return 1 - (self.unknown if self.listed_unknown is None else self.listed_unknown)

    @property
    def listed(self) -> float:
        """Entries that a case has in all lists of attributes."""
        return (len(self.value_bytes) + self.coded_lists) * self.known

    @property
    def mark_bytes(self) -> int:
        """Of the number of a branch, beside weights that are units."""
        return 1 if self.most_branches <= 1 << 7 else 4

    def among(self, most: int) -> Work:
        """The most that so many of the attributes can be, whichever they are: lists take more than codes."""
        value_bytes = tuple(sorted(self.value_bytes, reverse=True)[:most])
        coded_lists = min(self.coded_lists, most - len(value_bytes))
        return self._replace(
            columns=min(self.columns, most),
            value_bytes=value_bytes,
            coded_lists=coded_lists,
            codes=min(self.codes, most - len(value_bytes) - coded_lists),
            n_codes=min(self.n_codes, most * MOST_CODES),
            unknown=self.most_unknown,
            listed_unknown=0.0,
        )


def work_of_schema(
    schema: Schema, dtypes: Sequence[npt.DTypeLike | None], n_cases: int, threads: int, few: Sequence[bool] = ()
) -> Work:
    """The work on whole cases, as far as it shows without the cases.

    Parameters
    ----------
    schema : Schema
    dtypes : sequence of dtype or None
        Of each attribute's column; only those of continuous attributes matter.
    n_cases, threads : int
    few : sequence of bool, optional
        For each attribute whether it is continuous and has few values; it is assumed to have many otherwise.
    """
    used = [schema.attributes[a] for a in schema.used]
    short = [a for a in schema.used if few and few[a]]
    long = [a for a in schema.used if schema.attributes[a].kind == "continuous" and a not in short]
    discrete = [len(attribute.values) for attribute in used if attribute.kind == "discrete"]
    coded = [n for n in discrete if n <= MOST_CODES]
    wide = any(np.dtype(dtypes[a]).itemsize > 4 for a in [*long, *short])
    return Work(
        n_cases=n_cases,
        n_classes=schema.n_classes,
        threads=threads,
        columns=len(used),
        value_bytes=tuple(np.dtype(dtypes[a]).itemsize for a in long),
        coded_lists=len(discrete) - len(coded),
        codes=len(coded) + len(short),
        n_codes=sum(coded) + MOST_CODES * len(short),
        most_branches=max([2, *discrete]),
        row_bytes=8 if wide else 4,
    )


def work_of(problem: Problem, threads: int) -> Work:
    """The work that a problem is; some of its values are looked at."""
    table = problem.table
    rows = sample_rows(table.n_cases)
    samples = [None if column is None else table.rows(a, rows) for a, column in enumerate(table.columns)]
    few = [x is not None and x.dtype.kind == "f" and looks_short(x, len(x) == table.n_cases) for x in samples]
    dtypes = [None if column is None else column.dtype for column in table.columns]
    near, divided = problem.settings.gap > 0, not problem.whole and table.has_unknown()
    work = work_of_schema(table.schema, dtypes, table.n_cases, threads, few)
    unknown = [share_of_unknown([x]) for x in samples if x is not None] if divided else []
    return work._replace(
        whole=problem.whole and not near and bool((problem.units == 1).all()),
        divided=divided,
        unknown=float(np.mean(unknown)) if unknown else 0.0,
        most_unknown=max([0.0, *unknown]),
        spread=max([1.0, *(_spread(table, a, samples[a]) for a in table.schema.used)]) if divided else 1.0,
        near=near,
        finishes=problem.may_finish,
        weighted=table.weights is not None,
        copied=sum(_copied_bytes(table, a, work.row_bytes) for a in table.schema.used),
    )


def _spread(table: Table, attribute: int, sample: npt.NDArray[Any] | None) -> float:
    """Instances of a case that a test on an attribute makes; those of two branches are in other figures."""
    n_values = len(table.schema.attributes[attribute].values)
    return 1.0 if sample is None or n_values <= 2 else 1 + (n_values - 1) * share_of_unknown([sample])


def _copied_bytes(table: Table, attribute: int, row_bytes: int) -> int:
    """What a value takes if its column cannot be read where it is, else 0."""
    column = table.column_in_place(attribute)
    n_bytes = 4 if table.schema.attributes[attribute].kind == "discrete" else row_bytes
    in_place = isinstance(column, np.ndarray) and column.flags.c_contiguous and column.itemsize == n_bytes
    return 0 if in_place else n_bytes


def sample_rows(n_cases: int) -> npt.NDArray[np.int64]:
    """Cases that stand for all of them."""
    return np.arange(0, n_cases, max(1, n_cases // SAMPLE))


def looks_short(sample: npt.NDArray[Any], is_all: bool, most: int = MOST_CODES) -> bool:
    """Whether a column has few values, as far as a sample can tell: none of them occurs only once."""
    distinct, counts = np.unique(sample[~np.isnan(sample)], return_counts=True)
    return len(distinct) <= most and (is_all or bool((counts > 1).all()))


def share_of_unknown(samples: list[npt.NDArray[Any]]) -> float:
    """The share of unknown values in samples of columns."""
    unknown = [np.isnan(x).mean() if x.dtype.kind == "f" else (x < 0).mean() for x in samples]
    return float(np.mean(unknown)) if unknown else 0.0
