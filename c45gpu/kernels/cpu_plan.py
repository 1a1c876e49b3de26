"""How much memory the CPU engine needs, beside the table, before any of it is allocated.

Memory is needed in three stages; a part that outlives a stage counts in each::

    sorting    lists  distinct values  codes                        scratch of the workers that sort
    growing    lists  distinct values  codes  spare lists  H marks  scratch of the workers  tree
    pruning                                   values in order       scratch of the workers  tree

Whole cases leave their lists and spare lists to the values that pruning writes in the order of leaves. The values of
divided cases are read where they are, if each column is in one piece.

What depends on the values is estimated: whether a continuous column has few values, from a sample of it; the size of
the tree, and how often unknown values divide cases, from what tables of that kind were seen to take
(bench/bench_memory.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from c45gpu.errors import MemoryPlanError
from c45gpu.kernels.cpu_counting import FINISH_BYTES, FINISH_COUNTS
from c45gpu.kernels.cpu_finishing import AHEAD, SPREADING, most_finished
from c45gpu.kernels.cpu_lists import layout_for
from c45gpu.kernels.cpu_prune_divided import HELD, HELD_AT_LEAST, LARGE
from c45gpu.kernels.cpu_score import room_bytes
from c45gpu.kernels.cpu_separate import SPREAD
from c45gpu.kernels.cpu_work import Work, work_of, work_of_schema
from c45gpu.kernels.level import Problem
from c45gpu.kernels.memory import available_bytes

SORTING, GROWING, PRUNING = "sorting", "growing", "pruning"
STAGES = (SORTING, GROWING, PRUNING)
LITTLE = 64 << 20  # bytes; not worth a look at the values and at what is free
CASES_OF_A_NODE = 8  # one node for so many cases; trees with 0.01 to 0.24 nodes for each were seen
NODE_BYTES, NODE_CLASS_BYTES = 220, 56  # of a node and each of its classes, in all arrays that pruning has at once
DIVISIONS = 20  # a share u of unknown values makes 1 + 20 u instances of a case at a level
LEVEL_DIVISIONS = 1.5  # 1 + 1.5 u times as many with each halving of nodes, before these are finished
LEAF_DIVISIONS = 34  # and so many at the leaves of a tree
# More where a test has B > 2 branches: (20 + 13 sqrt(B - 2)) u, and (34 + 45 sqrt(B - 2)) u at leaves. Where the latter
# makes 19, 24, 39 and 126 instances (u = 0.1), there were 3, 24, 12 and 89 (B = 12, 20, 60 and 700).
BRANCH_DIVISIONS, BRANCH_LEAF_DIVISIONS = 13, 45
STACKED = 2.5  # instances that a worker holds for each case of a node that it finishes
IN_MOTION = 1.25  # of a level's lists, when parts of the level above are given up as they are moved


class Part(NamedTuple):
    """Some memory, and the stages in which it is needed."""

    name: str
    n_bytes: int
    stages: tuple[str, ...]


class MemoryPlan(NamedTuple):
    """What the engine will need beside the table.

    Attributes
    ----------
    parts : tuple of Part
    """

    parts: tuple[Part, ...]

    def of_stage(self, stage: str) -> int:
        """Bytes needed in a stage."""
        return sum(part.n_bytes for part in self.parts if stage in part.stages)

    @property
    def total(self) -> int:
        """Bytes needed in the stage that needs most."""
        return max(map(self.of_stage, STAGES))


def plan(work: Work) -> MemoryPlan:
    """What the engine will need for this work."""
    return MemoryPlan(tuple(part for part in [*_columns(work), *_workers(work), *_pruning(work)] if part.n_bytes))


def plan_screened(work: Work, most: int, ranked: int) -> MemoryPlan:
    """What the engine will need at the most where nodes test some attributes only (c45gpu.induction.screen).

    It is given so many attributes of all cases to grow with, or all attributes of some to rank them, with copies of
    their values; at last those that the tree tests, maybe all of them, of all cases, to be pruned with.

    Parameters
    ----------
    work : Work
        With all attributes and cases.
    most : int
        How many attributes a node may test.
    ranked : int
        Cases that attributes are ranked on.
    """
    given = [work.among(most), work.among(work.columns)._replace(n_cases=min(ranked, work.n_cases))]
    if work.weighted and not work.divided:
        given += [one._replace(whole=True) for one in given]  # a node where all happen to weigh 1
    while_growing: dict[str, Part] = {}
    for one in given:
        copied = one.n_cases * (one.row_bytes * one.columns + 4)
        for part in (*plan(one).parts, Part("values of a node", copied, (SORTING, GROWING))):
            other = while_growing.get(part.name, part)
            stages = tuple(stage for stage in part.stages if stage != PRUNING)
            while_growing[part.name] = part._replace(n_bytes=max(part.n_bytes, other.n_bytes), stages=stages)
    held = work.among(work.columns)._replace(whole=False)  # without lists, whose memory pruning might take
    pruning = max((plan(held), plan(held._replace(divided=False))), key=lambda one: one.of_stage(PRUNING))
    kept = [part._replace(stages=(PRUNING,)) for part in pruning.parts if PRUNING in part.stages]
    return MemoryPlan((*(part for part in while_growing.values() if part.stages), *kept))


def _columns(work: Work) -> Iterator[Part]:
    """What is allocated for all workers together, while the tree grows."""
    n, both, instances = work.n_cases, (SORTING, GROWING), instances_at_level(work)
    layout, lists = layout_for(n, work.n_classes), _list_bytes(work)
    kept = (PRUNING,) if work.whole else ()
    yield Part("weights", 8 * n if work.weighted else 0, STAGES)
    yield Part("lists", lists + n * (1 if layout.class_bits <= 8 else 2), both + kept)
    yield Part("distinct values", int(n * sum(work.value_bytes) * work.known), both)
    yield Part("codes", n * work.codes, (SORTING,))  # by column, and then by row
    yield Part("codes by row", n * (work.codes + 4 * work.coded_lists), both)
    yield Part("spare lists", int(lists * max(1.0, IN_MOTION * instances - 1)), (GROWING, *kept))
    yield Part("table of H", 8 * (n + 1), (GROWING,))
    if work.whole:
        marks = n + n // 8 if work.most_branches <= 256 else 4 * n
        yield Part("local numbers", 4 * n, (GROWING,))
        yield Part("order of leaves", 4 * n, (GROWING,))
    else:
        marks = int(work.mark_bytes * n * instances)
        yield Part("units", int(16 * n * instances), (GROWING,))  # of a level and the one above
        moving = int((IN_MOTION - 1) * instances * lists + (8 + work.mark_bytes) * n * instances)
        yield Part("nodes being finished", max(0, _finishing(work) - moving), (GROWING,))  # not while others move
    yield Part("marks", marks, (GROWING,))
    if work.near:
        yield Part("values that may be near", 4 * n * len(work.value_bytes), (GROWING,))


def _list_bytes(work: Work) -> int:
    """Of all lists, before any case is divided."""
    new_bit = layout_for(work.n_cases, work.n_classes).new_bit
    return int((work.listed + 1) * work.n_cases * (4 if new_bit == 31 else 8))


def _finishing(work: Work) -> int:
    """What workers take for finishing nodes with divided cases."""
    of_case = STACKED * (4 * work.listed + (4 if layout_for(work.n_cases, work.n_classes).new_bit == 31 else 8) + 8)
    cases, most_of_branch = work.threads * _most_finished(work), 2 * work.unknown * work.n_cases
    if cases and work.spread > SPREADING:  # branches are finished from their node: a worker has copied it in part
        cases = max(cases, int(AHEAD * work.n_cases), int(most_of_branch))
    return int(cases * (of_case + 8 + (8 if work.near else 0)))


def _most_finished(work: Work) -> int:
    most = most_finished(work.n_cases, work.n_classes, work.most_branches, work.threads)
    return most if work.finishes else 0


def _workers(work: Work) -> Iterator[Part]:
    """What each worker has for itself, while the tree grows."""
    n, sorting = work.n_cases, len(work.value_bytes) + work.coded_lists
    scratch = 20 + max([4, *work.value_bytes]) + (24 if work.near else 0)
    yield Part("scratch for sorting", min(work.threads, sorting) * n * scratch, (SORTING,))
    histogram = work.n_codes * work.n_classes * 8
    branches = work.most_branches * (work.n_classes + 4) * 8
    by_row = 0 if work.whole else 8 + work.mark_bytes + (8 if work.near else 0)
    scan = room_bytes(n, work.n_classes)
    small = 2 * FINISH_BYTES + min(branches, 8 * FINISH_COUNTS) if work.whole else 16 * work.most_branches
    yield Part("scratch for growing", work.threads * (n * by_row + 2 * histogram + small + scan), (GROWING,))


def _pruning(work: Work) -> Iterator[Part]:
    n = work.n_cases
    nodes = n // CASES_OF_A_NODE + 2 * work.most_branches
    yield Part("tree", nodes * (NODE_BYTES + NODE_CLASS_BYTES * work.n_classes), (GROWING, PRUNING))
    if work.divided:
        yield from _pruning_divided(work)
        return
    again = 2 * _list_bytes(work) if work.whole else 0
    yield Part("values in order", max(0, n * work.columns * work.row_bytes - again), (PRUNING,))
    yield Part("cases at leaves", 20 * n if work.whole else 36 * n, (PRUNING,))


def _pruning_divided(work: Work) -> Iterator[Part]:
    n, mark = work.n_cases, work.mark_bytes
    yield Part("values in one piece", n * work.copied, (PRUNING,))
    at_leaves = 1 + (LEAF_DIVISIONS + BRANCH_LEAF_DIVISIONS * math.sqrt(work.most_branches - 2)) * work.unknown
    yield Part("instances held", int(12 * n * min(at_leaves, max(HELD, HELD_AT_LEAST / n))), (PRUNING,))
    # all cases at their node, once more as they are divided, and those that wait
    instances = 2 + min(work.most_branches * work.unknown, SPREAD - 1)
    arenas = instances * (12 + mark) * (1 + LARGE)  # and what workers keep between tasks
    yield Part("cases under way", int(n * (arenas + 4 * work.threads)), (PRUNING,))  # and a place for each case


def instances_of_case(unknown: float, most_branches: int = 2) -> float:
    """How many instances a case makes at a level, where a share of the values is unknown and divides it."""
    return 1 + (DIVISIONS + BRANCH_DIVISIONS * math.sqrt(most_branches - 2)) * unknown


def instances_at_level(work: Work) -> float:
    """How many instances a case makes at a level of nodes that are too large to be finished."""
    most, every = _most_finished(work), max(work.spread, instances_of_case(work.unknown, work.most_branches))
    if not most:
        return every
    halvings = math.log2(max(1.0, work.n_cases / most))
    return float(min(every, (1 + LEVEL_DIVISIONS * work.unknown) ** halvings))


def require(problem: Problem, threads: int) -> None:
    """See that growing and pruning fit the memory that there is.

    Raises
    ------
    MemoryPlanError
        When they do not; the message says how many rows would fit.
    """
    table = problem.table
    dtypes = [None if column is None else column.dtype for column in table.columns]
    at_most = work_of_schema(table.schema, dtypes, table.n_cases, threads)._replace(whole=problem.whole)
    if plan(at_most).total > LITTLE:
        require_work(work_of(problem, threads))


def require_work(work: Work) -> None:
    """The same for work that is known, however little it is."""
    needed, available = plan(work).total, available_bytes()
    if available is not None and needed > available:
        fitting = rows_that_fit(work, available)
        raise MemoryPlanError(
            f"{work.n_cases} cases with {work.columns} attributes need {size(needed)} beside the table, and "
            f"{size(available)} are free: about {fitting} cases would fit; train on a sample or with fewer attributes"
        )


def require_level(before: int, after: int, n_bytes: int) -> None:
    """See that the instances of a next level fit, of which a test with many branches can make more than was planned.

    Parameters
    ----------
    before, after : int
        Instances of this level, whose memory is given up as they move, and of the next one.
    n_bytes : int
        Of an instance in all lists.

    Raises
    ------
    MemoryPlanError
        When they do not.
    """
    needed = int((IN_MOTION * after - before) * n_bytes)
    available = available_bytes() if needed > LITTLE else None
    if available is not None and needed > available:
        raise MemoryPlanError(
            f"unknown values make {after} instances of cases at the next level, which need {size(needed)} more, and "
            f"{size(available)} are free: train on a sample, or group the values of attributes that have many (-s)"
        )


def rows_that_fit(work: Work, available: int) -> int:
    """The most cases of such a table whose plan stays within some bytes."""
    low, high = 0, work.n_cases
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if plan(work._replace(n_cases=middle)).total <= available else (low, middle)
    return low


def size(n_bytes: int) -> str:
    """Bytes for a person to read: three digits and a unit."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.3g} {name}"
    return f"{n_bytes / 1e3:.3g} kB"
