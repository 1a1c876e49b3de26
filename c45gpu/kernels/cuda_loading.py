"""Put a problem on the device: what stays the same on all levels, and the level of the root."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from c45gpu.choose import Facts
from c45gpu.formulas import q_log_q
from c45gpu.kernels.cuda_codes import packs_of
from c45gpu.kernels.cuda_device import TABLE_UNITS, Device, Sizes
from c45gpu.kernels.cuda_level import Level, Training
from c45gpu.kernels.cuda_sort import build_columns, unknown_codes
from c45gpu.kernels.level import Int64s, Problem

H_AT_A_TIME = 1 << 16


def training_of(device: Device, problem: Problem, sizes: Sizes, free: Callable[[], int] | None) -> Training:
    """What stays the same on all levels; `free` tells what memory a level may take, once the lists are there."""
    schema, settings, facts = problem.table.schema, problem.settings, problem.facts
    used = [schema.attributes[a] for a in problem.used]
    continuous = np.array([a.kind == "continuous" for a in used], np.bool_)
    classes = device.xp.asarray(problem.table.classes_in_place()).astype(np.uint16)
    columns = build_columns(device, problem, classes, free)
    first = device.down(columns.codes.first)
    n_branches = np.where(continuous, 2, [len(a.values) for a in used]).astype(np.int64)
    places = np.stack([columns.list_of, columns.code_of, n_branches])
    return Training(
        settings=settings,
        facts=Facts(device.up(facts.zero_bound), device.up(facts.averaged)),
        counted=problem.whole and bool((problem.units == 1).all()),
        even=bool((problem.units == settings.case_units).all()),
        columns=columns,
        classes=classes,
        h=device.up(table_of_h(int(problem.units.sum()), settings.scale_bits)),
        n_branches=n_branches,
        listed=np.flatnonzero(columns.list_of >= 0),
        continuous=continuous,
        places=device.up(np.concatenate([np.array([[-1], [-1], [0]]), places], axis=1)),
        n_codes=int(first[-1]),
        packs=device.up(packs_of(first, settings.n_classes, sizes.shared_cells)),
        unknown_codes=unknown_codes(device.xp, columns.codes),
    )


def root_of(device: Device, training: Training, problem: Problem) -> Level:
    """The level of the root."""
    columns, table, n_classes = training.columns, problem.table, problem.settings.n_classes
    stops = [np.cumsum(columns.counts[chunk.first : chunk.stop]) for chunk in columns.chunks]
    stop = np.concatenate([np.zeros(0, np.int64), *stops])
    totals = np.bincount(table.classes, weights=problem.units, minlength=n_classes).astype(np.int64)
    return Level(
        start=np.zeros(1, np.int64),
        stop=np.array([table.n_cases]),
        class_weights=totals[None],
        cases=device.xp.arange(table.n_cases, dtype=np.int32),
        units=device.up(np.zeros(0, np.int64) if training.counted else problem.units),
        list_start=(stop - columns.counts)[:, None],
        list_stop=stop[:, None],
        list_tile=np.zeros((len(stop), 1), np.int64),
        chunks=columns.chunks,
        layout=columns.layout,
        parent=np.full(1, -1, np.int64),
        siblings=np.ones(1, np.int64),
        is_flawed=np.full(1, len(training.unknown_codes) > 0),
    )


def table_of_h(total: int, scale_bits: int) -> Int64s:
    """H of every weight up to the total, or of none where that would be a large table."""
    table = np.empty(total + 1 if total < TABLE_UNITS else 0, np.int64)
    for first in range(0, len(table), H_AT_A_TIME):
        weights = np.arange(first, min(len(table), first + H_AT_A_TIME))
        table[first : first + len(weights)] = q_log_q(weights, scale_bits)
    return table
