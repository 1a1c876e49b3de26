"""Tables and options for hypothesis: every draw gives the package's table and the oracle's problem of the same cases.

`samples` draws cell by cell and shrinks well; `larger_samples` fills bigger tables from one seed, for depth.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from tests.oracle import Problem, Settings, Value

Kind = Literal["continuous", "discrete", "ignored"]
Column = tuple[Kind, int, Sequence[Value]]  # kind, number of declared values, one value for each case

ADJACENT = [1.0, math.nextafter(1.0, 2.0), math.nextafter(math.nextafter(1.0, 2.0), 2.0), 3.0]
CLOSE = [0.5, 0.500004, 0.500009, 0.50002, 16777216.0, 16777217.0, 16777218.0, 16777220.0]
POOLS = [
    [7.0],
    [0.0, 1.0],
    [-1.5, -0.0, 0.0, 2.25, 1e6],
    [float(i) for i in range(6)],
    [i / 10 for i in range(40)],
    [-999.0, 1.0, 2.0, 3.0],
    ADJACENT,
    CLOSE,
]
WHOLE_WEIGHTS = [0.0, 1.0, 1.0, 2.0, 3.0, 11.0]
FRACTIONAL_WEIGHTS = [0.0, 0.1, 0.25, 0.5, 1.0, 1 / 3, 2.75]


@dataclass(frozen=True)
class Sample:
    """The same cases for the package and for the oracle."""

    table: Table
    problem: Problem


@dataclass(frozen=True)
class Asked:
    """The same options for the package and for the oracle."""

    options: Options
    settings: Settings


def sample(
    columns: Sequence[Column], n_classes: int, classes: Sequence[int], weights: Sequence[float] | None
) -> Sample:
    """Both forms of some columns; an unknown value is None."""
    names = [f"a{a}" for a in range(len(columns))]
    declared = [tuple(f"v{v}" for v in range(n_values)) for _, n_values, _ in columns]
    attributes = [Attribute(n, kind, v) for n, (kind, _, _), v in zip(names, columns, declared, strict=True)]
    table = Table(
        Schema(tuple(attributes), tuple(f"k{c}" for c in range(n_classes))),
        [as_array(kind, values) for kind, _, values in columns],
        np.array(classes, np.int32),
        None if weights is None else np.array(weights, np.float64),
    )
    problem = Problem(
        [(n, kind, v) for n, (kind, _, _), v in zip(names, columns, declared, strict=True)],
        n_classes,
        list(zip(*(values for _, _, values in columns), strict=True)),
        classes,
        weights,
    )
    return Sample(table, problem)


def as_array(kind: Kind, values: Sequence[Value]) -> Any:
    """A column as the package holds it."""
    if kind == "ignored":
        return None
    if kind == "discrete":
        return np.array([-1 if value is None else value for value in values], np.int32)
    return np.array([math.nan if value is None else value for value in values], np.float64)


@st.composite
def columns(draw: st.DrawFn, n_cases: int) -> Column:
    """One attribute: constant, tied, spread, adjacent, many-valued, unknown here and there or everywhere."""
    kind: Kind = draw(st.sampled_from(["continuous", "continuous", "discrete", "discrete", "ignored"]))
    pool: list[Any] = draw(st.sampled_from(POOLS))
    n_values = 0
    if kind == "discrete":
        n_values = draw(st.integers(1, 9))
        pool = list(range(draw(st.integers(1, n_values))))
    unknown = draw(st.sampled_from(["never", "never", "sometimes", "always"]))
    cell = {"never": st.sampled_from(pool), "sometimes": st.sampled_from([*pool, *[None] * 2]), "always": st.none()}
    return kind, n_values, draw(st.lists(cell[unknown], min_size=n_cases, max_size=n_cases))


@st.composite
def case_weights(draw: st.DrawFn, n_cases: int) -> list[float] | None:
    """No weights, whole ones or fractional ones; some may be 0, not all."""
    pool = draw(st.sampled_from([None, None, WHOLE_WEIGHTS, FRACTIONAL_WEIGHTS]))
    if pool is None:
        return None
    return draw(st.lists(st.sampled_from(pool), min_size=n_cases, max_size=n_cases).filter(any))


@st.composite
def samples(draw: st.DrawFn, max_cases: int = 24) -> Sample:
    """A small table; some of its classes may be empty, and one case is enough."""
    n_cases = draw(st.integers(1, max_cases))
    n_classes = draw(st.integers(2, 5))
    present = draw(st.integers(1, n_classes))
    classes = draw(st.lists(st.integers(n_classes - present, n_classes - 1), min_size=n_cases, max_size=n_cases))
    drawn = draw(st.lists(columns(n_cases), min_size=1, max_size=5))
    return sample(drawn, n_classes, classes, draw(case_weights(n_cases)))


@st.composite
def larger_samples(draw: st.DrawFn, max_cases: int = 120) -> Sample:
    """A table of some depth: the class depends on the attributes, with noise."""
    chance = random.Random(draw(st.integers(0, 2**32 - 1)))
    n_cases, n_classes = chance.randint(30, max_cases), chance.randint(2, 5)
    unknown = chance.choice([0.0, 0.0, 0.05, 0.3])
    drawn = [random_column(chance, n_cases, unknown) for _ in range(chance.randint(2, 6))]
    classes = [random_class(chance, [values[i] for _, _, values in drawn], n_classes) for i in range(n_cases)]
    pool = chance.choice([None, None, WHOLE_WEIGHTS, FRACTIONAL_WEIGHTS])
    return sample(drawn, n_classes, classes, None if pool is None else [1.0, *chance.choices(pool, k=n_cases - 1)])


def random_column(chance: random.Random, n_cases: int, unknown: float) -> Column:
    """Continuous with few or many distinct values, or discrete."""
    pool: list[Any] = [round(chance.gauss(0, 3), 2) for _ in range(chance.choice([4, 20, 200]))]
    n_values = 0
    if chance.random() < 0.5:
        n_values = chance.choice([2, 3, 5, 12, 40])
        pool = list(range(n_values))
    values = [None if chance.random() < unknown else chance.choice(pool) for _ in range(n_cases)]
    return "discrete" if n_values else "continuous", n_values, values


def random_class(chance: random.Random, values: Sequence[Value], n_classes: int) -> int:
    """A class that the values decide four times out of five."""
    if chance.random() < 0.2:
        return chance.randrange(n_classes)
    return sum((value or 0) > (1 if isinstance(value, int) else 0.5) for value in values) % n_classes


OF_THE_HOST = [  # what the host does beside an engine
    Options(min_cases=1, max_depth=2),
    Options(min_cases=1, max_features="sqrt", random_state=3),
    Options(min_cases=1, max_leaf_nodes=5),
    Options(min_cases=1, screen=2),
    Options(significance=0.01),
    Options(prune="interval", confidence=0.1),
    Options(prune="rep", random_state=1),
    Options(subtree_raising=False),
    Options(prune="pep", standard_errors=0.0),
]


@st.composite
def asked(draw: st.DrawFn, original: bool = False) -> Asked:
    """Options of every kind, or only those that the original has."""
    criterion = draw(st.sampled_from(["gain_ratio", "gain"] if original else ["gain_ratio", "gain", "gini", "chi2"]))
    given: dict[str, Any] = {
        "criterion": criterion,
        "min_cases": draw(st.sampled_from([2, 1, 3, 5])),
        "confidence": draw(st.sampled_from([0.25, 0.1, 0.5, 1.0, 0.01, 0.0005])),
        "prune": draw(st.sampled_from(["ebp", "pep", "none"])),
        "compat": draw(st.sampled_from([None, "r8"])),
    }
    grouping = draw(st.sampled_from([None, None, "group_values"] + ["binary_splits"] * (not original)))
    given |= {grouping: True} if grouping is not None else {}
    if original:
        return Asked(Options(**given), Settings(**given))
    given |= {
        "cut_points": "all" if given["compat"] else draw(st.sampled_from(["all", "class_boundaries"])),
        "threshold_cost": draw(st.sampled_from([True, True, False])),
        "min_samples_split": draw(st.sampled_from([2, 2, 6, 11])),
        "min_samples_leaf": draw(st.sampled_from([1, 1, 2, 4])),
        "max_depth": draw(st.sampled_from([None, None, 1, 3])),
        "min_gain_ratio": draw(st.sampled_from([0.0, 0.0, 0.31])) if criterion == "gain_ratio" else 0.0,
    }
    return Asked(Options(**given), Settings(**given))
