"""``c45gpu train --dry-run``: which engine, and how much memory it would need."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from c45gpu.data.table import Table
    from c45gpu.induction.options import Options


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
    from c45gpu.kernels.engine import open_engine

    problem = pose(table, options)
    worker = open_engine(engine, problem.table.n_cases * len(problem.used))
    worker.close()
    if worker.name != "cpu":
        print(json.dumps({"engine": worker.name}) if as_json else f"engine {worker.name}: its memory is not planned")
        return
    from c45gpu.kernels.cpu_crew import cores
    from c45gpu.kernels.cpu_plan import plan, require, work_of
    from c45gpu.kernels.memory import available_bytes

    work = work_of(problem, cores())
    facts = {"engine": worker.name, "threads": work.threads, "available": available_bytes()}
    needed = plan(work)
    parts = [part._asdict() for part in needed.parts]
    if as_json:
        print(json.dumps(facts | {"total": needed.total, "parts": parts}, indent=1))
    else:
        _print_text(facts, needed)
    require(problem, work.threads)


def _print_text(facts: dict[str, Any], needed: Any) -> None:
    from c45gpu.kernels.cpu_plan import STAGES, size

    print(f"engine {facts['engine']}, {facts['threads']} threads; memory that it needs beside the table:")
    print(f"{'':24}" + "".join(f"{stage:>12}" for stage in STAGES))
    for part in needed.parts:
        print(f"{part.name:24}" + "".join(f"{size(part.n_bytes) if s in part.stages else '-':>12}" for s in STAGES))
    print(f"{'together':24}" + "".join(f"{size(needed.of_stage(stage)):>12}" for stage in STAGES))
    available = facts["available"]
    print(f"at most {size(needed.total)}" + ("" if available is None else f" of {size(available)} that are free"))
