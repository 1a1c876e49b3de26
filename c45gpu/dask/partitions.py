"""Pieces of Dask's arrays and data frames, each read where it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from warnings import catch_warnings, filterwarnings

import numpy as np
import numpy.typing as npt

from c45gpu.dask.connect import require_workers
from c45gpu.dask.rows import Piece, Pieces, gathered, piece_of
from c45gpu.data.devicearrays import labels_of, on_device, on_host
from c45gpu.data.labels import encode_classes
from c45gpu.data.table import Table
from c45gpu.errors import DataError

if TYPE_CHECKING:
    from distributed import Client

ROWS_OF_X: Final = "the partitions of X"


def is_collection(values: Any) -> bool:
    """Whether something is an array, a data frame or a column of Dask's."""
    from dask import is_dask_collection

    return bool(is_dask_collection(values))


def pieces_of(client: Client, X: Any, y: Any, weights: Any = None, categorical: Any = None) -> Pieces:
    """The pieces of Dask's collections, on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
    X : dask.array.Array or dask.dataframe.DataFrame, n_cases rows
        Cut by rows; chunks of columns are put together.
    y : collection of Dask's or array_like, shape (n_cases,)
        A label for each case. A collection has as many partitions as `X`, row for row.
    weights : collection of Dask's or array_like, shape (n_cases,), optional
    categorical : sequence of str or int, or boolean mask, optional
        As for :func:`c45gpu.data.frames.from_frame`.

    Returns
    -------
    Pieces
        Those that have rows.

    Raises
    ------
    DataError
        When partitions do not go together, or something in one does not fit; the message says in which.
    EngineError
        When the cluster has no workers.
    """
    from dask import delayed

    require_workers(client)
    read = delayed(_piece, pure=False)
    rows = rows_together(client, X, y, weights)
    work = [read(categorical, f"partition {i}", *parts) for i, parts in enumerate(rows)]
    with catch_warnings():
        filterwarnings("ignore", "Sending large graph", UserWarning)  # labels from here: what is sent can be sent again
        return gathered(client, client.compute(work))


def cut_by_rows(X: Any) -> Any:
    """A collection with all columns in each partition.

    Raises
    ------
    DataError
        When it is neither an array of two dimensions nor a data frame.
    """
    if hasattr(X, "columns"):
        return X
    if getattr(X, "ndim", None) != 2:
        raise DataError("X is no Dask array of shape (n_cases, n_attributes) and no Dask data frame: give one of them")
    return X.rechunk({1: -1})


def rows_together(client: Client, X: Any, y: Any, weights: Any) -> Iterator[tuple[Any, Any, Any]]:
    """For each partition of X, with all columns, its labels and weights, as Dask's delayed values.

    Raises
    ------
    DataError
        When they do not go together.
    """
    X = cut_by_rows(X)
    blocks = _delayed(X)
    others = (_beside(client, name, values, X, blocks) for name, values in (("y", y), ("sample_weight", weights)))
    return zip(blocks, *others, strict=True)


def _beside(client: Client, name: str, values: Any, X: Any, blocks: list[Any]) -> list[Any]:
    """The rows of `values` that belong to each block, None for each if there are no values."""
    if values is None:
        return [None] * len(blocks)
    if not is_collection(values):
        return _cut(name, np.asarray(values), _lengths(client, X, blocks))
    if hasattr(values, "chunks"):
        if values.ndim != 1:
            raise DataError(f"{name} has {values.ndim} dimensions where one is due: give one value for each case")
        due, there = _told_lengths(X), _told_lengths(values)
        if due is not None and there is not None and due != there:
            if sum(due) != sum(there):
                raise DataError(f"{name} has {sum(there)} rows, X has {sum(due)}: give one for each case")
            values = values.rechunk((tuple(due),))
    parts = _delayed(values)
    if len(parts) != len(blocks):
        raise DataError(
            f"{name} has {len(parts)} partitions, X has {len(blocks)}: give it {ROWS_OF_X}, such as a column of the "
            "same frame has"
        )
    return parts


def _delayed(values: Any) -> list[Any]:
    """The partitions of an array or a frame, as many as it says.

    Optimising a frame would put partitions together where few of their bytes are asked for, of y other ones than of X;
    simplifying it only sees to it that no other columns are read.
    """
    if hasattr(values, "chunks"):
        return list(values.to_delayed().ravel())
    simple = values.simplify() if hasattr(values, "simplify") else values
    return list(simple.to_delayed(optimize_graph=False))


def _told_lengths(values: Any) -> list[int] | None:
    """The rows of each chunk of an array, None where Dask does not know them."""
    lengths = values.chunks[0] if hasattr(values, "chunks") else (np.nan,)
    return None if any(n != n for n in lengths) else [int(n) for n in lengths]


def _lengths(client: Client, X: Any, blocks: list[Any]) -> list[int]:
    from dask import delayed

    told = _told_lengths(X)
    return told or client.gather(client.compute([delayed(len, pure=False)(block) for block in blocks]))


def _cut(name: str, values: npt.NDArray[Any], lengths: list[int]) -> list[Any]:
    if values.shape[:1] != (sum(lengths),):
        raise DataError(f"{name} has the shape {values.shape}, X has {sum(lengths)} rows: give one for each case")
    return np.split(values, np.cumsum(lengths)[:-1])


def _piece(categorical: Any, place: str, X: Any, y: Any, weights: Any) -> Piece | None:
    """A partition, read on a worker; None where it has no rows."""
    if not len(X):
        return None
    try:
        labels, classes = labels_of(y)[:2] if on_device(y) else encode_classes(y)
        if len(classes) != len(X):
            raise DataError(f"y has {len(classes)} labels for {len(X)} cases: give it {ROWS_OF_X}")
        table, keeps = _table(X, classes, categorical)
    except DataError as fault:
        raise DataError(f"{place}: {fault}") from None
    return piece_of(table, place, keeps, labels, None if weights is None else np.asarray(on_host(weights)))


def _table(X: Any, classes: npt.NDArray[np.int32], categorical: Any) -> tuple[Table, list[str]]:
    if hasattr(X, "columns"):
        from c45gpu.data.frames import from_frame
        from c45gpu.data.parts import columns_with_order

        chosen = "from_dtype" if categorical is None else categorical
        return replace(from_frame(X, categorical=chosen), classes=classes), columns_with_order(X)
    from c45gpu.data.arrays import from_arrays

    return replace(from_arrays(X, categorical=categorical), classes=classes), []
