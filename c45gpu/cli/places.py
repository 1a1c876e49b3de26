"""Where the training cases are: in this process, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from c45gpu.cli.cases import Columns, no_target, nothing_known, stem_of, tell, tell_kinds, training_table
from c45gpu.cli.progress import timed
from c45gpu.cli.training import trained, watched

if TYPE_CHECKING:
    from c45gpu.cli.kept import Checkpoints
    from c45gpu.dask.connect import Client
    from c45gpu.dask.rows import RowParts
    from c45gpu.data.schema import Schema
    from c45gpu.data.table import Table
    from c45gpu.induction.options import Options
    from c45gpu.induction.record import Recording
    from c45gpu.model.store import Model
    from c45gpu.show.document import Judged


@contextmanager
def cases_of(
    dask: str | None, source: str, columns: Columns, class_weight: tuple[str, ...]
) -> Iterator[Here | OnCluster]:
    """The training cases of a source, read here or, where `dask` names a cluster, on it.

    Raises
    ------
    DataError
        When they cannot be read, or there is nothing to learn from.
    EngineError
        When there is no such cluster.
    OptionError
        When the options do not suit the source.
    """
    if dask is None:
        table, seconds = timed(partial(training_table, source, columns))
        yield Here(_weighted(table, class_weight), seconds)
        return
    from c45gpu.dask.connect import cluster_of
    from c45gpu.dask.rows import rows_of_table

    with cluster_of(dask) as client:
        if _is_data_set(source):
            rows, seconds = timed(partial(_rows_of_parquet, client, source, columns, class_weight))
        else:
            table, seconds = timed(partial(training_table, source, columns))
            rows = rows_of_table(client, _weighted(table, class_weight))
        yield OnCluster(client, rows, seconds)


class Here:
    """Cases in the memory of this process, and the seconds that reading them took."""

    def __init__(self, table: Table, seconds: float) -> None:
        self._table, self.seconds = table, seconds

    @property
    def schema(self) -> Schema:
        """What they share."""
        return self._table.schema

    def print_plan(self, options: Options, engine: str, as_json: bool) -> None:
        """Print what training would take; see :func:`c45gpu.cli.dry_run.print_plan`."""
        from c45gpu.cli.dry_run import print_plan

        print_plan(self._table, options, engine, as_json)

    def trained(self, options: Options, engine: str, costs: Any, kept: Checkpoints, recording: Recording) -> Model:
        """A model of them, with progress for whoever watches."""
        return trained(self._table, options, engine, costs, kept, recording)

    def judged(self, model: Model) -> Judged:
        """What a model says of them."""
        from c45gpu.show.verdict import judged

        return judged(model, self._table)


class OnCluster:
    """Cases on the workers of a cluster, by rows, and the seconds that reading them took."""

    def __init__(self, client: Client, rows: RowParts, seconds: float) -> None:
        self._client, self._rows, self.seconds = client, rows, seconds

    @property
    def schema(self) -> Schema:
        """What they share."""
        return self._rows.schema

    def print_plan(self, options: Options, engine: str, as_json: bool) -> None:
        """Print what training would take of each worker.

        Raises
        ------
        MemoryPlanError
            When a worker may not have that much.
        """
        from c45gpu.cli.dry_run import print_plan_of_workers

        print_plan_of_workers(self._client, self._rows, options, engine, as_json)

    def trained(self, options: Options, engine: str, costs: Any, kept: Checkpoints, recording: Recording) -> Model:
        """A model of them, with progress for whoever watches."""
        from c45gpu.dask.plan import require_room
        from c45gpu.dask.rows import weight_of
        from c45gpu.dask.train import train_on

        require_room(self._client, self._rows, options, engine)
        learn = partial(train_on, self._client, self._rows, options, engine)
        return watched(learn, weight_of(self._client, self._rows), costs, kept, recording)

    def judged(self, model: Model) -> Judged:
        """What a model says of them."""
        from c45gpu.dask.evaluate import judged_on

        return judged_on(self._client, model, self._rows)


def _weighted(table: Table, class_weight: tuple[str, ...]) -> Table:
    if not class_weight:
        return table
    from c45gpu.data.classweights import class_weights_of_text, weighted_by_class

    return weighted_by_class(table, class_weights_of_text(class_weight))


def _is_data_set(source: str) -> bool:
    """Whether a source is read by row groups, and never whole: Parquet files, and folders of them."""
    return stem_of(source) is None and (Path(source).suffix.lower() in (".parquet", ".pq") or Path(source).is_dir())


def _rows_of_parquet(client: Client, source: str, columns: Columns, class_weight: tuple[str, ...]) -> RowParts:
    from c45gpu.dask.parquet import pieces_of_parquet
    from c45gpu.data.classweights import class_weights_of_text, factors_of
    from c45gpu.data.readfile import Roles

    given = columns.given()
    if columns.target is None:
        raise no_target(source)
    kinds = (tuple(given.get(name, ())) for name in ("categorical", "continuous", "ignore"))
    pieces = pieces_of_parquet(client, source, Roles(columns.target, columns.weight, *kinds), finite=True)
    if not pieces.any_known():
        raise nothing_known(source)
    pieces.weighing()
    whole = pieces.whole()
    wanted = class_weights_of_text(class_weight) if class_weight else None
    factors = None if wanted is None else factors_of(whole.schema, pieces.counts(whole), wanted)
    rows = pieces.rows(client, whole, factors)
    tell(source, sum(rows.n_cases), rows.schema)
    tell_kinds(rows.schema)
    return rows
