"""Cases as a matrix of numbers, for exports that know no texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.exchange.exported import model_of
from c45gpu.model.store import Model


def encode(model: Any, X: Any) -> npt.NDArray[np.float64]:
    """The cases as C, treelite, SHAP and scikit-learn's trees take them.

    Parameters
    ----------
    model : Model or fitted C45Classifier
        What the cases are encoded for.
    X : Table, data frame or array_like, n cases
        With the attributes of the model.

    Returns
    -------
    ndarray of float64, shape (n, attributes)
        Of a continuous attribute the values, of a discrete one the codes of the values; NaN is unknown, and so are
        all values of ignored attributes. If the model has compat="r8", values are rounded as it does.

    Raises
    ------
    DataError
        When the cases do not fit the model.
    """
    kept = model_of(model)
    table = table_of(kept, X)
    encoded = np.full((table.n_cases, len(kept.schema.attributes)), np.nan)
    for a in kept.schema.used:
        column = table.column(a)
        encoded[:, a] = np.where(column < 0, np.nan, column) if column.dtype.kind == "i" else column
    return encoded


def table_of(model: Model, X: Any) -> Table:
    """A table, a data frame or an array as the model's training data were read.

    Raises
    ------
    DataError
        When the cases do not fit the model.
    """
    table = _read(X, model.schema)
    return table.as_release8() if model.options.get("compat") == "r8" else table


def _read(X: Any, schema: Schema) -> Table:
    if isinstance(X, Table):
        return X
    if hasattr(X, "columns"):
        from c45gpu.data.frames import from_frame

        return from_frame(X, schema=schema)
    from c45gpu.data.arrays import from_arrays

    return from_arrays(X, schema=schema)
