"""How the tests of this folder compare what was read."""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.data.table import Table


def codes(*values: int) -> Any:
    return np.array(values, np.int32)


def assert_columns(table: Table, *expected: Any) -> None:
    """Equal values of the same type in every column; None stands for an ignored attribute."""
    for column, values in zip(table.columns, expected, strict=True):
        assert (column is None) == (values is None)
        if column is not None:
            np.testing.assert_array_equal(column, values, strict=True)


def assert_same(one: Table, other: Table) -> None:
    assert one.schema == other.schema
    np.testing.assert_array_equal(one.classes, other.classes, strict=True)
    assert_columns(one, *other.columns)
