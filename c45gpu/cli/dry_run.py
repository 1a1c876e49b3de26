"""``c45gpu train --dry-run``: which engine, and how much memory it would need."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from c45gpu.dask.connect import Client
    from c45gpu.dask.rows import RowParts
    from c45gpu.data.table import Table
    from c45gpu.induction.options import Options
    from c45gpu.kernels.cpu_plan import MemoryPlan
    from c45gpu.kernels.level import Problem


def print_plan(table: Table, options: Options, engine: str, as_json: bool) -> None:
    """Print what training would take.

    Raises
    ------
    DataError
        When there is nothing to learn from.
    EngineError
        When the engine cannot be had, or the memory would not do.
    """
    from c45gpu.induction.problem import pose
    from c45gpu.kernels.engine import pick

    problem = pose(table, options)
    name = pick(engine, problem.table.n_cases * len(problem.used))
    if name == "cpu":
        _plan_cpu(problem, options, as_json)
    elif name == "cuda":
        _plan_cuda(problem, as_json)
    else:
        print(json.dumps({"engine": name}) if as_json else f"engine {name}: its memory is not planned")


def _plan_cpu(problem: Problem, options: Options, as_json: bool) -> None:
    from c45gpu.induction.options import n_features
    from c45gpu.induction.screen import SAMPLE
    from c45gpu.kernels.cpu_crew import cores
    from c45gpu.kernels.cpu_plan import STAGES, plan, plan_screened, require, require_work
    from c45gpu.kernels.cpu_work import work_of
    from c45gpu.kernels.memory import available_bytes

    work = work_of(problem, cores())
    facts = {"engine": "cpu", "threads": work.threads, "available": available_bytes()}
    title = f"engine cpu, {work.threads} threads; memory that it needs beside the table:"
    if options.screen is None:
        _print(facts, plan(work), STAGES, title, as_json)
        require(problem, work.threads)
        return
    most = n_features(options.screen, work.columns)
    title += f"\na node may test {most} of {work.columns} attributes; pruning needs most if the tree tests all of them"
    _print(facts, plan_screened(work, most, SAMPLE), STAGES, title, as_json)
    require_work(work.among(most))


def _plan_cuda(problem: Problem, as_json: bool) -> None:
    """Without a GPU the plan is for one that has room for all lists at a time; then it says what is missing."""
    from c45gpu.errors import EngineError
    from c45gpu.kernels.cpu_plan import GROWING, SORTING, STAGES
    from c45gpu.kernels.cuda_device import Sizes
    from c45gpu.kernels.cuda_plan import lists_that_fit, needs_of, plan, require
    from c45gpu.kernels.engine import available

    needs, sizes, reason = needs_of(problem, Sizes()), Sizes(), available()["cuda"]
    free = None if reason else _free_device_memory()
    lists = needs.n_lists if free is None else lists_that_fit(needs, free, sizes)
    needed = plan(needs, sizes, lists)
    chunks = -(-needs.n_lists // max(1, lists))
    stay = sum(part.n_bytes for part in needed.parts if {SORTING, GROWING} <= set(part.stages)) / needs.n_entries
    level = needed.of_stage(GROWING) / needs.n_entries
    facts = {
        "engine": "cuda",
        "available": free,
        "lists": needs.n_lists,
        "lists_at_a_time": lists,
        "bytes_of_entry": stay,
        "bytes_of_entry_and_level": level,
    }
    title = (
        f"engine cuda, {needs.n_lists} lists in {chunks} chunks; device memory that it needs,\n"
        f"for each value {stay:.3g} bytes that stay, {level:.3g} while a level grows:"
    )
    _print(facts, needed, STAGES if needs.placed else STAGES[:-1], title, as_json)
    if free is None:
        raise EngineError(f"engine='cuda' {reason}")
    require(needs, free, sizes)


def print_plan_of_workers(client: Client, rows: RowParts, options: Options, engine: str, as_json: bool) -> None:
    """Print what training on a cluster would take of each worker, the table by rows included.

    Raises
    ------
    MemoryPlanError
        When a worker may not have that much.
    """
    from c45gpu.dask.plan import plans, require
    from c45gpu.kernels.cpu_plan import STAGES

    n_cases, n_attributes = sum(rows.n_cases), len(rows.schema.used)
    planned = plans(client, rows, options)
    if as_json:
        told = [
            {
                "worker": one.worker.address,
                "threads": one.worker.threads,
                "attributes": one.attributes,
                "available": one.worker.limit,
                "total": one.memory.total,
                "parts": [part._asdict() for part in one.memory.parts],
            }
            for one in planned
        ]
        print(json.dumps({"engine": engine, "cases": n_cases, "workers": told}, indent=1))
    else:
        most = max(planned, key=lambda one: one.memory.total)
        title = (
            f"{len(planned)} workers, {n_cases} cases; worker {most.worker.address} grows with {most.attributes} of "
            f"{n_attributes} attributes\nand needs with the cpu engine, the cases by rows included:"
        )
        _print({"available": most.worker.limit}, most.memory, STAGES, title, as_json)
    for one in planned:
        require(one, n_attributes, n_cases)


def _free_device_memory() -> int:
    from c45gpu.kernels.cuda_card import free_memory

    return free_memory()


def _print(facts: dict[str, Any], needed: MemoryPlan, stages: tuple[str, ...], title: str, as_json: bool) -> None:
    from c45gpu.kernels.cpu_plan import size

    if as_json:
        parts = [part._asdict() for part in needed.parts]
        print(json.dumps(facts | {"total": needed.total, "parts": parts}, indent=1))
        return
    print(title)
    print(f"{'':24}" + "".join(f"{stage:>12}" for stage in stages))
    for part in needed.parts:
        print(f"{part.name:24}" + "".join(f"{size(part.n_bytes) if s in part.stages else '-':>12}" for s in stages))
    print(f"{'together':24}" + "".join(f"{size(needed.of_stage(stage)):>12}" for stage in stages))
    available = facts["available"]
    print(f"at most {size(needed.total)}" + ("" if available is None else f" of {size(available)} that are free"))
