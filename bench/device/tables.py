"""Forty seeded tables, each with a trait that an engine may treat in its own way, and the digests of their trees.

    python -m bench.device.tables [FILE]        # makes tests/golden/digests.json anew, with the reference engine

The digest of the table itself is kept too: where a library draws other random numbers, that is no wrong tree.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bench.data import train_and_held_out
from bench.rows import Rows
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.kernels.engine import Engine

COMMAND: Final = "python -m bench.device.tables"
FILE: Final = Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "digests.json"
NOISE: Final = 0.1

Column = npt.NDArray[Any]


class Asked(NamedTuple):
    """A table to be made, and what the learner is asked to do with it."""

    make: Callable[[], Table]
    options: Options = Options()


def as_table(rows: Rows) -> Table:
    """Rows as the engines take them; the columns are not copied."""
    described = zip(rows.names, rows.kinds, rows.values, strict=True)
    schema = Schema(tuple(Attribute(name, kind, values) for name, kind, values in described), rows.class_names)
    return Table(schema, list(rows.columns), rows.classes)


def drawn(name: str, n_rows: int, unknown: float = 0.0) -> Table:
    """A table of one of the sets of :mod:`bench.data`."""
    return as_table(train_and_held_out(name, n_rows, held_out=1, unknown=unknown)[0])


def table_of(columns: Sequence[Column | tuple[Column, int]], classes: Column, n_classes: int) -> Table:
    """A table of continuous columns, and of codes with the number of their values."""
    attributes: list[Attribute] = []
    arrays: list[Column | None] = []
    for a, column in enumerate(columns):
        if isinstance(column, tuple):
            codes, n_values = column
            attributes.append(Attribute(f"a{a}", "discrete", tuple(map(str, range(n_values)))))
            arrays.append(codes.astype(np.int32))
        else:
            attributes.append(Attribute(f"a{a}", "continuous"))
            arrays.append(column)
    return Table(Schema(tuple(attributes), tuple(map(str, range(n_classes)))), arrays, classes.astype(np.int32))


def mixed(
    seed: int,
    n: int,
    classes: int = 2,
    *,
    number: type[np.floating[Any]] = np.float32,
    values: Sequence[int] = (3, 9),
    unknown: float = 0.0,
    weights: Sequence[float] = (),
) -> Table:
    """Two columns with many values, one with few, and discrete ones; no function but plain arithmetic is used."""
    chance = np.random.default_rng(seed)
    long, other = chance.random((2, n)).astype(number)
    short, codes = chance.integers(0, 40, n).astype(number), [chance.integers(0, v, n) for v in values]
    height = np.floor(long * classes) + (other > 0.4) + (short > 25) + (codes[0] % 3 == 1)
    label = np.where(chance.random(n) < NOISE, chance.integers(0, classes, n), height % classes)
    table = table_of([long, other, short, *zip(codes, values, strict=True)], label, classes)
    for column in table.columns if unknown else ():
        assert column is not None
        column[chance.random(n) < unknown] = np.nan if column.dtype.kind == "f" else -1
    return replace(table, weights=chance.choice(np.array(weights, np.float64), n)) if weights else table


def discrete(seed: int, n: int, values: Sequence[int], classes: int = 2) -> Table:
    """Discrete attributes, and a continuous one for each that has as many different values."""
    chance = np.random.default_rng(seed)
    codes = [np.concatenate([np.arange(min(v, n)), chance.integers(0, v, max(0, n - v))]) for v in values]
    label = (codes[0] % 2 + sum(code > v / 2 for code, v in zip(codes, values, strict=True))) % classes
    label = np.where(chance.random(n) < NOISE, chance.integers(0, classes, n), label)
    columns = [code.astype(np.float32) for code in codes]
    return table_of([*columns, *zip(codes, values, strict=True)], label, classes)


def only_discrete(seed: int, n: int, unknown: float) -> Table:
    """No continuous attribute at all."""
    table = mixed(seed, n, 3, values=(2, 5, 17), unknown=unknown)
    return Table(Schema(table.schema.attributes[3:], table.schema.classes), table.columns[3:], table.classes)


def nearby(seed: int, n: int, start: float, step: float, number: type[np.floating[Any]]) -> Table:
    """Columns of neighbouring values, a few and many of them."""
    chance = np.random.default_rng(seed)
    steps = [chance.integers(0, span, n) for span in (30, 5000, 100_000)]
    label = (steps[0] > 11) ^ (steps[1] > 3000) ^ (chance.random(n) < NOISE)
    return table_of([(start + step * many).astype(number) for many in steps], label, 2)


def strange(seed: int, n: int, number: type[np.floating[Any]]) -> Table:
    """Both zeros, denormals, the largest numbers and infinities."""
    chance, about = np.random.default_rng(seed), np.finfo(number)
    pool = [-0.0, 0.0, about.smallest_subnormal, -about.smallest_subnormal, about.tiny, about.max, -about.max]
    few = chance.choice(np.array([*pool, np.inf, -np.inf, 1.0], number), n)
    many = np.where(chance.random(n) < 0.5, few, chance.random(n).astype(number))
    small = about.smallest_subnormal * chance.integers(-999, 999, n).astype(number)
    label = (few > 0) ^ (many > 0.3) ^ (small > 0) ^ (chance.random(n) < NOISE)
    return table_of([few, many, small], label, 2)


def equal_columns(seed: int, n: int) -> Table:
    """The same column three times, and one turned round: every test has its equals."""
    chance = np.random.default_rng(seed)
    long = chance.integers(0, 600, n).astype(np.float64)
    label = np.where(chance.random(n) < NOISE, chance.integers(0, 3, n), long // 100 % 3)
    return table_of([long, long.copy(), -long, long.copy()], label, 3)


def _tables() -> dict[str, Asked]:
    """In the order of size, roughly."""
    tiny: dict[str, Callable[[], Table]] = {
        "tiny whole": partial(mixed, 1, 24),
        "tiny unknown": partial(mixed, 2, 24, unknown=0.2),
        "tiny weights": partial(mixed, 3, 24, weights=(0.5, 1, 3)),
        "tiny many classes": partial(mixed, 4, 40, 20, values=(3, 20)),
    }
    agrawal = {f"agr{f}": partial(drawn, f"agr{f}", 1000) for f in range(1, 11)}
    agrawal |= {f"agr{f} unknown": partial(drawn, f"agr{f}", 1000, 0.1) for f in (2, 7, 10)}
    own: dict[str, Callable[[], Table]] = {
        "float64": partial(mixed, 10, 2000, number=np.float64),
        "3 classes": partial(mixed, 11, 2000, 3),
        "20 classes": partial(mixed, 12, 2000, 20),
        "whole weights": partial(mixed, 13, 2000, 3, weights=(1, 1, 2, 5)),
        "fractional weights": partial(mixed, 14, 2000, weights=(0.1, 0.5, 1, 2.75)),
        "unknown": partial(mixed, 15, 2000, 3, unknown=0.05),
        "unknown and weights": partial(mixed, 16, 2000, unknown=0.1, weights=(0.3, 1, 4)),
        "mostly unknown": partial(mixed, 17, 1500, unknown=0.7),
        "only discrete": partial(only_discrete, 18, 2000, 0.0),
        "only discrete and unknown": partial(only_discrete, 19, 2000, 0.1),
        "300 values": partial(mixed, 20, 2000, values=(300, 4)),
        "around a byte of values": partial(discrete, 21, 2000, (255, 256)),
        "70000 values": partial(mixed, 22, 4000, values=(70_000, 5)),
        "60 classes": partial(mixed, 23, 6000, 60),
        "1000 classes": partial(mixed, 24, 3000, 1000),
        "closer than float32": partial(nearby, 25, 3000, 1.0, 2.0**-50, np.float64),
        "strange float32": partial(strange, 26, 2000, np.float32),
        "strange float64": partial(strange, 27, 2000, np.float64),
        "equal columns": partial(equal_columns, 28, 2000),
        "cov": partial(drawn, "cov", 3000),
        "whole": partial(mixed, 29, 100_000),
    }
    asked = {name: Asked(make) for name, make in (tiny | agrawal | own).items()}
    return asked | {
        "release 8": Asked(partial(nearby, 30, 3000, 0.5, 3e-6, np.float32), Options(compat="r8")),
        "gain and 1 case": Asked(partial(mixed, 31, 2000, 3), Options(criterion="gain", min_cases=1)),
    }


TABLES: Final = _tables()


def digest_of_table(table: Table) -> str:
    """SHA-256 over columns, classes and weights, in hexadecimal."""
    whole = hashlib.sha256()
    for array in (*table.columns, table.classes, table.weights):
        if array is not None:
            whole.update(f"{array.dtype.str} {array.shape}\n".encode())
            whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()


def digests_of(name: str, table: Table, engine: str | Engine) -> dict[str, str]:
    """The digests of both trees that an engine makes of a table."""
    model = train(table, TABLES[name].options, engine)
    return {"unpruned": model.unpruned.digest(), "pruned": model.pruned.digest()}


def kept() -> dict[str, dict[str, Any]]:
    """The digests that are kept, by the name of the table."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text("utf-8"))["tables"]
    return found


def main(words: list[str]) -> None:
    """Write the digests of the reference engine's trees."""
    found = {}
    for name, asked in TABLES.items():
        table = asked.make()
        size = {"cases": table.n_cases, "attributes": len(table.columns), "table": digest_of_table(table)}
        found[name] = size | digests_of(name, table, "reference")
    path = Path(words[0]) if words else FILE
    path.write_text(json.dumps({"made_by": COMMAND, "tables": found}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
