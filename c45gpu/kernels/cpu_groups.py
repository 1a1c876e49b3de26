"""Groups of discrete values on the CPU: class weights by value, and the tests that the host finds, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.grouping import group_nodes
from c45gpu.kernels.compiled import compiled
from c45gpu.kernels.cpu_entry import class_of, row_of

group_nodes_compiled = compiled(group_nodes)


@compiled
def fill_tables(
    rows: Any, layout: Any, first: Any, count: Any, codes: Any, unknown: Any, units: Any, tables: Any
) -> None:
    """Add up the known cases of some nodes by code and class.

    `units` are by entry of the row list, or none where each case counts 1; `unknown` is a code, beside negative ones.
    """
    tables[:] = 0
    for m in range(len(first)):
        for i in range(first[m], first[m] + count[m]):
            code = np.int64(codes[row_of(rows[i], layout)])
            if code >= 0 and code != unknown:
                tables[m, code, class_of(rows[i], layout)] += units[i] if len(units) else np.int64(1)


@compiled
def regroup(rows: Any, layout: Any, marks: Any, branch_of: Any) -> None:
    """Make marks that are codes those of the codes' branches; unknown ones stay."""
    for i in range(len(rows)):
        row = row_of(rows[i], layout)
        if np.int64(marks[row]) >= 0:
            marks[row] = branch_of[np.int64(marks[row])]
