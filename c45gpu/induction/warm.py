"""Compile what the CPU engine needs, before anyone waits for it.

Small tables that between them take every path of the engine are trained on; what gets compiled stays on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.train import train
from c45gpu.kernels.compiled import KERNELS
from c45gpu.kernels.compiled_files import Kept, kept
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.kernels.cpu_counting import FINISH_CASES
from c45gpu.kernels.cpu_crew import Crew
from c45gpu.kernels.cpu_prune_divided import DividedPlacement
from c45gpu.kernels.engine import Pairs
from c45gpu.kernels.level import Splits
from c45gpu.model.tree import LEAF, Tree

CASES = 2 * FINISH_CASES  # so that the root is split with all workers, and its branches are finished by one
MANY_VALUES = 300  # more than fit a byte


def warm_up() -> None:
    """Compile the kernels for columns of float32 and float64 and codes, for whole cases and divided ones."""
    for table in tables():
        compile_for(table)


def compile_for(table: Table) -> None:
    """Compile what training on such a table, and predicting, takes."""
    train(table, Options(group_values=True, prune="none"), CpuEngine())
    model = train(table, engine=CpuEngine())
    engine = CpuEngine()
    engine.route(model.pruned, table)
    engine.load(replace(pose(table, Options()), may_finish=False))
    first = np.zeros(1, np.int64)
    engine.taken(Splits(first, first, engine.score(0, 1).cut[:, 0]))  # as on a cluster, where others split, too
    if not table.has_unknown():
        problem = pose(table, Options())
        all_small = problem.settings._replace(split_units=CASES + 1)
        engine.load(replace(problem, may_finish=False, settings=all_small, apart=problem.settings))
        engine.apart.columns(first)
    else:
        raise_above_leaves(table, model.unpruned)
    engine.close()


def raise_above_leaves(table: Table, tree: Tree) -> None:
    """Raise a branch where instances are held further up, as in large tables."""
    crew, top = Crew(), np.flatnonzero(tree.kind != LEAF)[-1:]
    placed = DividedPlacement(pose(table, Options()), tree, crew, spread=1.0)
    placed.raise_branches(tree, Pairs(top, tree.branch[tree.branch_start[top]], np.zeros(1, np.int64)))
    crew.dismiss()


def kernels_kept() -> Kept:
    """How many of all kernels a new process would find on disk."""
    for module in ("rule_cover", "rule_match"):  # those for rules; training has loaded all others
        import_module(f"c45gpu.kernels.{module}")
    return kept(KERNELS)


def tables() -> Iterator[Table]:
    """Tables of every kind that has compiled code of its own; neighbours share little."""
    numbers: tuple[type[np.floating[Any]], ...] = (np.float32, np.float64)
    for n_values, number, divided in product((3, MANY_VALUES), numbers, (False, True)):
        yield _table(number, divided, n_values)
    for n_values in (3, MANY_VALUES):
        yield _spread_out(_table(np.float32, True, n_values))


def _spread_out(table: Table) -> Table:
    """The code is tested first then, and its branches have far more than all cases."""
    long, short, code = (table.column(a) for a in range(3))
    chance, share = np.random.default_rng(1), 0.3 if len(table.schema.attributes[2].values) > 3 else 0.7
    by_code = chance.random(CASES) < 0.6
    classes = np.where(by_code, code % 3 == 0, long + short / 20 > 0.7).astype(np.int32)
    code = np.where(chance.random(CASES) < share, -1, code).astype(np.int32)
    return replace(table, columns=[long, short, code], classes=classes, _ranks={})


def _table(number: type[np.floating[Any]], divided: bool, n_values: int) -> Table:
    chance = np.random.default_rng(0)
    long, short, code = chance.random(CASES), chance.integers(0, 9, CASES), chance.integers(0, n_values, CASES)
    columns = [long.astype(number), short.astype(number), code.astype(np.int32)]
    if divided:
        columns[0][::7] = np.nan
    noise = chance.random(CASES) < 0.1
    classes = ((long > 0.5) ^ (short > 4) ^ (code % 3 == 0) ^ noise).astype(np.int32)
    values = tuple(map(str, range(n_values)))
    attributes = (
        Attribute("long", "continuous"),
        Attribute("short", "continuous"),
        Attribute("code", "discrete", values),
    )
    return Table(Schema(attributes, ("no", "yes")), list(columns), classes)
