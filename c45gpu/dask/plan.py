"""How much memory each worker needs, before any of it is allocated.

    sorting, growing   rows: a share of the cases, all columns    its columns, all cases    the engine's lists of them
    pruning            rows                                                                 its cases at leaves

A worker keeps its share of the input by rows, gets some attributes of all cases to grow with, and prunes its own rows;
what the CPU engine needs for each is planned as on one machine (:mod:`c45gpu.kernels.cpu_plan`). Where one worker
prunes all cases, it is sent the others' columns while its share is still there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from c45gpu.dask.connect import Worker, workers_of
from c45gpu.dask.placed import LITTLE as PRUNED_BY_ONE
from c45gpu.dask.share import ignoring
from c45gpu.dask.shares import GROUPS_OF_A_WORKER, balanced
from c45gpu.dask.survey import CODE_COST, LIST_COST
from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.errors import MemoryPlanError
from c45gpu.kernels.cpu_plan import GROWING, LITTLE, PRUNING, SORTING, STAGES, MemoryPlan, Part, plan, size
from c45gpu.kernels.cpu_work import SAMPLE, Work, looks_short, share_of_unknown, work_of_schema
from c45gpu.kernels.level import Int64s

if TYPE_CHECKING:
    from distributed import Client

    from c45gpu.dask.rows import RowParts
    from c45gpu.induction.options import Options

COMMON_BYTES: Final = 12  # of the class and the weight of a case
SENT_BYTES: Final = 40  # of a case while it goes down: its number, units and branch, and as it is packed and sent


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


class Known(NamedTuple):
    """What a sample of the cases tells of all.

    Attributes
    ----------
    work : Work
        All attributes of all cases, one thread.
    dtypes : list of dtype or None
        Of each attribute's column, None where it is ignored.
    few : list of bool
        For each attribute whether it is continuous and has few values.
    """

    work: Work
    dtypes: list[Any]
    few: list[bool]


def plans(client: Client, rows: RowParts, options: Options) -> list[WorkerPlan]:
    """The plan of every worker of a cluster, by the CPU engine."""
    workers, known = workers_of(client), _known(client, rows, options)
    used = np.array(rows.schema.used, np.int64)
    lists = [rows.schema.attributes[a].kind == "continuous" and not known.few[a] for a in used]
    shares = balanced(np.where(lists, LIST_COST, CODE_COST), [worker.threads for worker in workers])
    return [
        WorkerPlan(worker, len(share), _memory(rows.schema, known, worker, used[share], len(workers)))
        for worker, share in zip(workers, shares, strict=True)
    ]


def _memory(schema: Schema, known: Known, worker: Worker, share: Int64s, n_workers: int) -> MemoryPlan:
    """What one worker needs; it may be the one that prunes all rows, where one does."""
    whole, n_cases = known.work, known.work.n_cases
    n_rows = -(-n_cases // n_workers)
    by_one = whole.divided or n_cases * _bytes_of(known, schema.used) <= PRUNED_BY_ONE
    n_pruned = n_cases if by_one else n_rows
    of_share = work_of_schema(ignoring(schema, share), known.dtypes, n_cases, worker.threads, known.few)
    facts = {name: getattr(whole, name) for name in ("whole", "divided", "unknown", "near")}
    of_row = COMMON_BYTES + _bytes_of(known, schema.used)
    columns = n_cases * (COMMON_BYTES + _bytes_of(known, share))
    return MemoryPlan(
        (
            Part("cases by rows", n_rows * of_row * (2 if whole.near else 1), STAGES),  # as read, and as release 8 does
            Part("columns on their way", columns, (SORTING,)),
            Part("columns to grow with", columns, (SORTING, GROWING)),
            Part("cases on their way down", max(n_cases * SENT_BYTES, _small_bytes(whole, n_workers)), (GROWING,)),
            *_of_stages(plan(of_share._replace(**facts)), (SORTING, GROWING)),
            Part("columns to prune with", n_pruned * of_row, (PRUNING,)),
            *_of_values(whole, n_pruned, (n_pruned - n_rows) * of_row if by_one else 0),
            *_of_pruning(plan(whole._replace(n_cases=n_pruned, threads=worker.threads))),
        )
    )


def _small_bytes(whole: Work, n_workers: int) -> int:
    """What the largest group of small nodes takes: its lists as they came, put together and spare, and the next."""
    most = -(-whole.n_cases // (GROUPS_OF_A_WORKER * n_workers))
    return int(4 * most * 4 * (whole.listed + 1))


def _of_values(whole: Work, n_pruned: int, sent: int) -> list[Part]:
    """What pruning needs beside the columns: so many bytes of these are sent, while the share is still there."""
    parts = [Part("columns on their way to prune", sent, (GROWING, PRUNING))] if sent else []
    if not whole.divided:  # of divided cases the values are read where they are
        parts.append(Part("values to prune with", n_pruned * whole.columns * whole.row_bytes, (PRUNING,)))
    return parts


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


def _known(client: Client, rows: RowParts, options: Options) -> Known:
    n_cases = sum(rows.n_cases)
    step = max(1, n_cases // SAMPLE)
    sampled = client.gather(client.map(_sample, rows.parts, step=step, pure=False))
    samples = [_joined([one.columns[a] for one in sampled]) for a in range(len(rows.schema.attributes))]
    weighted = any(one.weights is not None and bool((one.weights != 1).any()) for one in sampled)
    few = [x is not None and x.dtype.kind == "f" and looks_short(x, step == 1) for x in samples]
    dtypes = [None if x is None else x.dtype for x in samples]
    unknown, near = share_of_unknown([x for x in samples if x is not None]), options.compat == "r8"
    work = work_of_schema(rows.schema, dtypes, n_cases, 1, few)._replace(
        whole=not (weighted or unknown or near), divided=unknown > 0, unknown=float(unknown), near=near
    )
    return Known(work, dtypes, few)


def _sample(table: Table, step: int) -> Table:
    return table.take(np.arange(0, table.n_cases, step))


def _joined(columns: list[Any]) -> Any:
    return None if columns[0] is None else np.concatenate(columns)


def _bytes_of(known: Known, attributes: Iterable[int]) -> int:
    return sum(known.dtypes[a].itemsize for a in attributes)


def _of_pruning(memory: MemoryPlan) -> list[Part]:
    """What pruning needs that does not find the lists of growing: the values are counted elsewhere."""
    taken = ("lists", "spare lists", "values in order")
    return [part for part in _of_stages(memory, (PRUNING,)) if part.name not in taken]


def _of_stages(memory: MemoryPlan, stages: tuple[str, ...]) -> list[Part]:
    kept = [(part, tuple(stage for stage in part.stages if stage in stages)) for part in memory.parts]
    return [part._replace(stages=held) for part, held in kept if held]
