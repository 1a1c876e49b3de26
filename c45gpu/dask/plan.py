"""How much memory each worker needs, before any of it is allocated.

    sorting, growing   rows: a share of the cases, all columns    its columns, all cases    the engine's lists of them
    pruning            rows                                                                 its cases at leaves

A worker keeps its share of the input by rows, gets some attributes of all cases to grow with, and prunes its own rows;
what the CPU engine needs for each is planned as on one machine (:mod:`c45gpu.kernels.cpu_plan`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from c45gpu.dask.connect import Worker, workers_of
from c45gpu.data.table import Table
from c45gpu.errors import MemoryPlanError
from c45gpu.kernels.cpu_plan import (
    GROWING,
    LITTLE,
    PRUNING,
    SAMPLE,
    SORTING,
    STAGES,
    MemoryPlan,
    Part,
    Work,
    looks_short,
    plan,
    share_of_unknown,
    size,
    work_of_schema,
)

if TYPE_CHECKING:
    from distributed import Client

    from c45gpu.dask.rows import RowParts
    from c45gpu.induction.options import Options

COMMON_BYTES: Final = 12  # of the class and the weight of a case


class WorkerPlan(NamedTuple):
    """What a worker will need.

    Attributes
    ----------
    worker : Worker
    attributes : int
        How many it grows with.
    memory : MemoryPlan
    """

    worker: Worker
    attributes: int
    memory: MemoryPlan


def plans(client: Client, rows: RowParts, options: Options) -> list[WorkerPlan]:
    """The plan of every worker of a cluster, by the CPU engine."""
    workers, whole = workers_of(client), _work(client, rows, options)
    n_workers, n_cases = len(workers), whole.n_cases
    share = -(-n_cases // n_workers)
    of_row = COMMON_BYTES + _bytes_of_row(rows, whole)
    found = []
    for w, worker in enumerate(workers):
        shard = _shard(whole, w, n_workers)._replace(threads=worker.threads)
        own = whole._replace(n_cases=share, threads=worker.threads)
        of_columns = COMMON_BYTES + sum(shard.value_bytes) + 4 * (shard.columns - len(shard.value_bytes))
        parts = [
            Part("cases by rows", share * of_row, STAGES),
            Part("columns on their way", n_cases * of_columns, (SORTING,)),
            Part("columns to grow with", n_cases * of_columns, (SORTING, GROWING)),
            *_of_stages(plan(shard), (SORTING, GROWING)),
            *_of_stages(plan(own), (PRUNING,)),
        ]
        found.append(WorkerPlan(worker, shard.columns, MemoryPlan(tuple(parts))))
    return found


def require_room(client: Client, rows: RowParts, options: Options, engine: str) -> None:
    """See that growing and pruning fit the memory that each worker may have.

    Raises
    ------
    MemoryPlanError
        When they do not; the message says which worker, and what to do.
    """
    if engine not in ("auto", "cpu"):
        return
    for one in plans(client, rows, options):
        require(one, len(rows.schema.used), sum(rows.n_cases))


def require(one: WorkerPlan, n_attributes: int, n_cases: int) -> None:
    """See that a worker's memory limit holds what it will need.

    Raises
    ------
    MemoryPlanError
        When it does not.
    """
    limit, needed = one.worker.limit, one.memory.total
    if limit is not None and needed > max(limit, LITTLE):
        raise MemoryPlanError(
            f"worker {one.worker.address} would need {size(needed)} for {n_cases} cases with {n_attributes} attributes "
            f"and may have {size(limit)}: add workers, or start them with a larger --memory-limit"
        )


def _work(client: Client, rows: RowParts, options: Options) -> Work:
    """The work on all cases, as far as a sample of them tells."""
    n_cases = sum(rows.n_cases)
    step = max(1, n_cases // SAMPLE)
    sampled = client.gather(client.map(_sample, rows.parts, step=step, pure=False))
    samples = [_joined([one.columns[a] for one in sampled]) for a in range(len(rows.schema.attributes))]
    weighted = any(one.weights is not None and bool((one.weights != 1).any()) for one in sampled)
    few = [x is not None and x.dtype.kind == "f" and looks_short(x, step == 1) for x in samples]
    dtypes = [None if x is None else x.dtype for x in samples]
    unknown = share_of_unknown([x for x in samples if x is not None])
    near = options.compat == "r8"
    work = work_of_schema(rows.schema, dtypes, n_cases, 1, few)
    return work._replace(
        whole=not (weighted or unknown or near), divided=unknown > 0, unknown=float(unknown), near=near
    )


def _sample(table: Table, step: int) -> Table:
    return table.take(np.arange(0, table.n_cases, step))


def _joined(columns: list[Any]) -> Any:
    return None if columns[0] is None else np.concatenate(columns)


def _shard(whole: Work, w: int, n_workers: int) -> Work:
    """The work on one worker's attributes: of each kind its share, the first workers one more."""
    lists, coded, codes = whole.value_bytes[w::n_workers], _share(whole.coded_lists, w, n_workers), whole.codes
    own = _share(codes, w, n_workers)
    return whole._replace(
        value_bytes=lists,
        coded_lists=coded,
        codes=own,
        n_codes=whole.n_codes * own // max(1, codes),
        columns=len(lists) + coded + own,
    )


def _share(number: int, w: int, n_workers: int) -> int:
    return len(range(w, number, n_workers))


def _bytes_of_row(rows: RowParts, whole: Work) -> int:
    return sum(whole.value_bytes) + (len(rows.schema.used) - len(whole.value_bytes)) * max(4, whole.row_bytes)


def _of_stages(memory: MemoryPlan, stages: tuple[str, ...]) -> list[Part]:
    kept = [(part, tuple(stage for stage in part.stages if stage in stages)) for part in memory.parts]
    return [part._replace(stages=held) for part, held in kept if held]
