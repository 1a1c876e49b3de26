"""Parquet data sets on a cluster: every worker reads row groups, no process reads them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from c45gpu.dask.connect import require_workers
from c45gpu.dask.rows import PART_BYTES, Piece, Pieces, RowParts, gathered, piece_of
from c45gpu.errors import DataError

if TYPE_CHECKING:
    from distributed import Client

    from c45gpu.data.readfile import Roles
    from c45gpu.data.rowgroups import RowGroups
    from c45gpu.data.tokens import FilePath

PARTS_OF_A_THREAD: Final = 2  # so that threads that end early find more to do


def rows_of_parquet(
    client: Client,
    paths: FilePath | Sequence[FilePath],
    *,
    target: str,
    weight: str | None = None,
    categorical: Sequence[str] = (),
    continuous: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> RowParts:
    """Cases of Parquet files, read by row groups on the workers; all of them must see the files by the same paths.

    Parameters
    ----------
    client : distributed.Client
        The cluster's.
    paths : path or sequence of paths
        Files, folders with all Parquet files in them, or patterns such as ``part-*.parquet``; in their order, and by
        name within a folder or a pattern.
    target, weight, categorical, continuous, ignore : str, or sequence of str
        As for :func:`c45gpu.data.frames.read_file`, which makes the same schema of one file.

    Returns
    -------
    RowParts
        The rows, on the workers that read them.

    Raises
    ------
    DataError
        When a file cannot be read or something in it does not fit; the message names file, row group and row.
    EngineError
        When the cluster has no workers.
    OptionError
        When options do not go together.
    """
    from c45gpu.data.readfile import Roles

    roles = Roles(target, weight, tuple(categorical), tuple(continuous), tuple(ignore))
    pieces = pieces_of_parquet(client, paths, roles)
    pieces.weighing()
    return pieces.rows(client, pieces.whole())


def pieces_of_parquet(
    client: Client, paths: FilePath | Sequence[FilePath], roles: Roles, *, finite: bool = False
) -> Pieces:
    """The pieces of a data set; with `finite` an infinite value is refused, as the command does."""
    from c45gpu.data.rowgroups import cut_by_row_groups, files_of, footer_of

    threads = sum(client.nthreads()[worker] for worker in require_workers(client))
    footers = client.gather(client.map(footer_of, files_of(paths), pure=False))
    total = sum(sum(footer.sizes) for footer in footers)
    parts = cut_by_row_groups(footers, min(PART_BYTES, total // (PARTS_OF_A_THREAD * threads)))
    if not parts:
        raise DataError("has columns but no rows: give at least one case", footers[0].path)
    return gathered(client, client.map(_piece, parts, roles=roles, finite=finite, pure=False))


def _piece(groups: RowGroups, roles: Any, finite: bool) -> Piece:
    from dataclasses import replace

    from c45gpu.data.readfile import learned_part
    from c45gpu.data.rowgroups import RowGroupsFile

    file = RowGroupsFile(groups)
    table = learned_part(file, roles)
    if finite:
        _refuse_infinities(file, table)
    return piece_of(replace(table, weights=None), groups.place, weights=table.weights)


def _refuse_infinities(file: Any, table: Any) -> None:
    import numpy as np

    for a in table.schema.used:
        infinite = np.isinf(table.column(a))
        if infinite.any():
            message = "the value is infinite: write a number, or leave it out"
            raise file.fault(table.schema.attributes[a].name, message, int(infinite.argmax()))
