"""Tables from a seed, each with a trait that one engine may treat differently from another; and what "same" means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.model.store import Model

Column = npt.NDArray[Any]


def same(one: Model, other: Model) -> bool:
    """Both trees are equal in every byte."""
    return one.unpruned.equals(other.unpruned) and one.pruned.equals(other.pruned)


def on_cpu(table: Table, options: Options | None = None, threads: int = 2) -> Model:
    """The model that the CPU engine makes."""
    return train(table, options, CpuEngine(threads))


@cache
def reference_model(name: str, options: Options | None = None) -> Model:
    """The model that the reference engine makes of a table by name."""
    return train(TABLES[name](), options, "reference")


def table_of(columns: Sequence[Column | tuple[Column, int]], classes: npt.NDArray[Any], n_classes: int) -> Table:
    """A table of continuous columns, and of codes with a number of declared values."""
    attributes, arrays = [], []
    for a, column in enumerate(columns):
        if isinstance(column, tuple):
            codes, n_values = column
            attributes.append(Attribute(f"a{a}", "discrete", tuple(map(str, range(n_values)))))
            arrays.append(np.asarray(codes, np.int32))
        else:
            attributes.append(Attribute(f"a{a}", "continuous"))
            arrays.append(column)
    schema = Schema(tuple(attributes), tuple(f"k{c}" for c in range(n_classes)))
    return Table(schema, list(arrays), np.asarray(classes, np.int32))


def decided(chance: np.random.Generator, columns: Sequence[Column], n_classes: int, noise: float = 0.2) -> Column:
    """Classes that grow with the columns, in waves, but for some noise."""
    n = len(columns[0])
    ranks = [np.argsort(np.argsort(column, kind="stable")) / n for column in columns]
    height = sum(rank / (1 + a) for a, rank in enumerate(ranks)) + 0.2 * np.sin(20 * ranks[0])
    order = np.argsort(np.argsort(height, kind="stable"))
    return np.where(chance.random(n) < noise, chance.integers(0, n_classes, n), order * n_classes // n)


def mixed(seed: int, n: int, n_classes: int = 2, number: type[np.floating[Any]] = np.float32) -> Table:
    """Two columns with many values, one with few, and two discrete attributes."""
    chance = np.random.default_rng(seed)
    long, other = chance.standard_normal(n).astype(number), chance.exponential(size=n).astype(number)
    short, code = chance.integers(0, 40, n).astype(number), chance.integers(0, 3, n)
    classes = decided(chance, [long, other, short, code], n_classes)
    return table_of([long, other, short, (code, 3), (chance.integers(0, 9, n), 12)], classes, n_classes)


def with_weights(table: Table, pool: Sequence[float]) -> Table:
    """The table with a weight for each case, drawn from a pool."""
    return replace(table, weights=np.random.default_rng(1).choice(np.array(pool, np.float64), table.n_cases), _ranks={})


def with_unknown(table: Table, share: float) -> Table:
    """The table with a share of all values made unknown."""
    chance, columns = np.random.default_rng(2), []
    for column in table.columns:
        changed = np.array(column)
        changed[chance.random(table.n_cases) < share] = np.nan if changed.dtype.kind == "f" else -1
        columns.append(changed)
    return replace(table, columns=columns, _ranks={})


def many_valued(seed: int, n: int, n_values: int) -> Table:
    """A discrete attribute with very many values beside two columns of numbers."""
    chance = np.random.default_rng(seed)
    code = (n_values * chance.random(n) ** 2).astype(np.int64)
    number, short = chance.standard_normal(n), chance.integers(0, 9, n).astype(np.float64)
    return table_of([number, (code, n_values), short], decided(chance, [number, code], 3, 0.05), 3)


def three_codes(n_values: int, n: int) -> Table:
    """Three discrete attributes of many values, unknown in part, that are tested one below the other; and numbers."""
    chance = np.random.default_rng(3)
    codes, number = [chance.integers(0, n_values, n) for _ in range(3)], chance.standard_normal(n)
    classes = decided(chance, [*(code * 7 % n_values for code in codes), number], 2, 0.05)
    return with_unknown(table_of([*((code, n_values) for code in codes), number], classes, 2), 0.3)


def nearby(n: int, start: float, step: float, number: type[np.floating[Any]] = np.float64) -> Table:
    """Columns of neighbouring values."""
    chance = np.random.default_rng(3)
    columns = [(start + step * chance.integers(0, span, n)).astype(number) for span in (30, 5000, 100_000)]
    return table_of(columns, decided(chance, columns, 2), 2)


def strange_numbers(number: type[np.floating[Any]]) -> Table:
    """Both zeros, denormals, the largest numbers and infinities, among few values and among many."""
    chance, n, about = np.random.default_rng(4), 4000, np.finfo(number)
    pool = [-0.0, 0.0, about.smallest_subnormal, -about.smallest_subnormal, about.tiny, about.max, -about.max]
    pool += [np.inf, -np.inf, 1.0, np.nextafter(number(1), number(2))]
    few = chance.choice(np.array(pool, number), n)
    with np.errstate(over="ignore"):
        many = np.where(chance.random(n) < 0.5, few, few * chance.random(n).astype(number))
    small = about.smallest_subnormal * chance.integers(-999, 999, n).astype(number)
    return table_of([few, many, small], decided(chance, [many, few, small], 2), 2)


def dull_columns() -> Table:
    """Columns that cannot be tested on: of one value, of one value that is declared among others, wholly unknown."""
    table = mixed(5, 3000)
    one, none = np.full(3000, 7.5, np.float32), np.full(3000, np.nan, np.float32)
    dull = table_of([one, (np.full(3000, 2), 4), none, (np.full(3000, -1), 300)], table.classes, 2)
    attributes = [replace(a, name=f"dull{i}") for i, a in enumerate(dull.schema.attributes)]
    schema = replace(table.schema, attributes=(*attributes, *table.schema.attributes))
    return Table(schema, [*dull.columns, *table.columns], table.classes)


def borders(n_values: Sequence[int]) -> Table:
    """A continuous and a discrete attribute for each number of values."""
    chance, n = np.random.default_rng(6), 3000
    codes = [np.concatenate([np.arange(v), chance.integers(0, v, n - v)]) for v in n_values]
    classes = decided(chance, codes[::-1], 2, 0.1)
    columns = [code.astype(np.float32) for code in codes]
    return table_of([*columns, *zip(codes, n_values, strict=True)], classes, 2)


def thousand_classes() -> Table:
    """More classes than fit a byte, some of them without a case."""
    chance, n = np.random.default_rng(7), 3000
    number, other = chance.random(n), chance.integers(0, 30, n).astype(np.float64)
    return table_of([number, other, (chance.integers(0, 400, n), 400)], (number * 990).astype(int), 1000)


TABLES: Final[dict[str, Callable[[], Table]]] = {
    "whole cases": lambda: mixed(10, 20_000),
    "float64": lambda: mixed(11, 6000, number=np.float64),
    "3 classes": lambda: mixed(12, 12_000, 3),
    "60 classes": lambda: mixed(13, 5000, 60),
    "1,000 classes": thousand_classes,
    "only codes": lambda: borders([2, 3, 200]),
    "around a byte of values": lambda: borders([254, 255, 256, 257]),
    "100,000 values": lambda: many_valued(14, 12_000, 100_000),
    "whole weights": lambda: with_weights(mixed(15, 6000, 3), [1, 1, 2, 5]),
    "equal weights": lambda: with_weights(mixed(16, 3000), [3]),
    "fractional weights": lambda: with_weights(mixed(17, 5000), [0.1, 0.5, 1, 2.75]),
    "weights below a unit": lambda: with_weights(borders([12, 40]), [1e6, 3e6, 1e-30]),
    "unknown values": lambda: with_unknown(mixed(18, 5000, 3), 0.05),
    "unknown values and weights": lambda: with_unknown(with_weights(mixed(19, 2500), [0.3, 1, 4]), 0.1),
    "unknown among many values": lambda: with_unknown(many_valued(20, 2500, 700), 0.1),
    "mostly unknown": lambda: with_unknown(mixed(21, 2000), 0.7),
    "closer than float32": lambda: nearby(4000, 1.0, 2.0**-50),
    "closer than release 8 cuts": lambda: nearby(4000, 0.5, 3e-6, np.float32),
    "strange float32": lambda: strange_numbers(np.float32),
    "strange float64": lambda: strange_numbers(np.float64),
    "dull columns": dull_columns,
}
