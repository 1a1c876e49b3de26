"""Which rule fires first for each case, compiled, on all cores: every case is asked once, and by itself.

Cases lie in rows (see :mod:`.cpu_route`); a condition is one record, so that asking costs one visit to memory.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from c45gpu.data.table import Table
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cover import ABOVE, AT_MOST, Conditions
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_walk import ROWS_AT_A_TIME, fill_rows, row_type
from c45gpu.kernels.level import Int32s, Int64s

QUESTION: Final = np.dtype([("threshold", "f8"), ("first", "i8"), ("stop", "i8"), ("column", "i4"), ("sign", "i4")])


@compiled
def is_satisfied(value: Any, question: Any, member: Any) -> Any:
    """Whether a value satisfies a condition; an unknown one, which is NaN or -1, never does."""
    if question.sign == AT_MOST:
        return value <= question.threshold
    if question.sign == ABOVE:
        return value > question.threshold
    found = False
    for i in range(question.first, question.stop):
        found |= value == member[i]
    return found


@compiled
def match_rows(rows: Any, questions: Any, start: Any, member: Any, out: Any) -> None:
    """For each row the first rule all of whose questions are answered with yes, -1 for none."""
    n_rules = len(start) - 1
    for i in range(len(rows)):
        out[i] = -1
        for rule in range(n_rules):
            k, stop = start[rule], start[rule + 1]
            while k < stop and is_satisfied(rows[i, questions[k].column], questions[k], member):
                k += 1
            if k == stop:
                out[i] = rule
                break


def match(table: Table, conditions: Conditions, start: Int64s, threads: int | None = None) -> Int32s:
    """The first rule that fires for each case.

    Parameters
    ----------
    table : Table
    conditions : Conditions
        Of all rules, one rule after the other.
    start : ndarray of int64, shape (R + 1,)
        The conditions of rule r are start[r]..start[r + 1] - 1.
    threads : int, optional
        How many workers; all cores that the process may use if absent.

    Returns
    -------
    ndarray of int32, shape (n_cases,)
        -1 where no rule fires.
    """
    tested = np.unique(conditions.attribute).astype(np.int64)
    questions = np.empty(len(conditions.sign), QUESTION)
    questions["threshold"], questions["sign"] = conditions.threshold, conditions.sign
    questions["first"], questions["stop"] = conditions.member_start[:-1], conditions.member_start[1:]
    questions["column"] = np.searchsorted(tested, conditions.attribute)
    out, word = np.empty(table.n_cases, np.int32), row_type(table, tested)

    def job(first: int, stop: int) -> None:
        rows = np.empty((stop - first, len(tested)), word)
        fill_rows(table, tested, first, rows)
        match_rows(rows, questions, start, conditions.member, out[first:stop])

    crew = Crew(threads)
    try:
        starts = range(0, table.n_cases, ROWS_AT_A_TIME)
        crew.run(job, [(first, min(first + ROWS_AT_A_TIME, table.n_cases)) for first in starts])
    finally:
        crew.dismiss()
    return out
