"""A tree that one engine grew in part, and another grows on, is the tree that either grows alone."""

from __future__ import annotations

from itertools import islice
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c45gpu.data.table import Table
from c45gpu.induction import resume
from c45gpu.induction.apart import MOST_APART
from c45gpu.induction.grow import Grower
from c45gpu.induction.limits import Limits
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.resume import ResumedGrower, instances_at
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Problem
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.tree import Tree
from tests.kernels.seeded import table_of, with_unknown
from tests.strategies import Asked, Sample, asked, larger_samples, sample


def limits_of(problem: Problem, options: Options) -> Limits:
    return Limits.of(options, len(problem.used))


def alone(problem: Problem, options: Options, engine: Engine) -> Tree:
    grower = Grower(engine, problem, limits=limits_of(problem, options))
    for _ in grower:
        pass
    return grower.tree


def in_two(problem: Problem, options: Options, levels: int, one: Engine, other: Engine, apart: int = 3) -> Tree:
    """The tree of two engines, of which the first grows so many levels."""
    limits = limits_of(problem, options)
    first = Grower(one, problem, limits=limits)
    for _ in islice(first, levels):
        pass
    with mock.patch.object(resume, "MOST_APART", apart):
        second = ResumedGrower(other, problem, first.growing, first.open, limits=limits)
        for step in second:
            assert step.open_nodes == len(second.open.node)
            assert step.open_weight == pytest.approx(weight_at(problem, second), abs=1e-9)
        return second.tree


def weight_at(problem: Problem, grower: ResumedGrower) -> float:
    units = instances_at(grower.growing, problem, grower.open.node).units
    return int(units.sum()) / problem.settings.case_units


@settings(max_examples=60)
@given(larger_samples(), asked(), st.integers(0, 5), st.integers(1, 4))
def test_the_reference_engine_goes_on(cases: Sample, question: Asked, levels: int, apart: int) -> None:
    problem, options = pose(cases.table, question.options), question.options
    grown = in_two(problem, options, levels, ReferenceEngine(), ReferenceEngine(), apart)
    assert grown.equals(alone(problem, options, ReferenceEngine()))


@pytest.mark.parametrize("engine", ["cpu"])
@settings(max_examples=30)
@given(larger_samples(), asked(), st.integers(0, 4))
def test_engines_go_on_with_what_others_began(engine: str, cases: Sample, question: Asked, levels: int) -> None:
    problem, options = pose(cases.table, question.options), question.options
    whole = alone(problem, options, ReferenceEngine())
    assert in_two(problem, options, levels, ReferenceEngine(), CpuEngine()).equals(whole)
    assert in_two(problem, options, levels, CpuEngine(), ReferenceEngine()).equals(whole)


def wide(n_cases: int, unknown: float) -> Table:
    """Enough cases for the CPU engine to leave nodes open, some of whose values may be unknown."""
    random = np.random.default_rng(3)
    values = random.normal(size=(6, n_cases)).round(3)
    classes = (values[0] > 0) * 1 + (values[1] > 0.3) * (np.abs(values[2]) > 0.5) + (random.random(n_cases) < 0.1)
    values[random.random(values.shape) < unknown] = np.nan
    columns = [("continuous", 0, [None if v != v else v for v in row]) for row in values.tolist()]
    return sample(columns, 4, classes.tolist(), None).table


@pytest.mark.parametrize("engine", ["cpu"])
@pytest.mark.parametrize("unknown", [0.0, 0.1])
def test_nodes_that_an_engine_left_open(engine: str, unknown: float) -> None:
    options = Options(min_cases=20)
    problem = pose(wide(12_000, unknown), options)
    first = Grower(CpuEngine(), problem)
    assert len([*islice(first, 1)]) == 1
    assert len(first.open.node) > 0
    whole = alone(problem, options, CpuEngine())
    assert in_two(problem, options, 1, CpuEngine(), CpuEngine()).equals(whole)


@pytest.mark.parametrize("unknown", [0.0, 0.01])
def test_more_open_nodes_than_are_given_at_a_time(unknown: float) -> None:
    chance, options = np.random.default_rng(2), Options(criterion="gain")
    code, number = chance.integers(0, 300, 6000), chance.normal(size=6000)
    classes = ((code % 2 == 0) ^ (chance.random(6000) < 0.1)) + 2 * (number > code / 300)
    problem = pose(with_unknown(table_of([number, (code, 300)], classes, 4), unknown), options)
    first = Grower(ReferenceEngine(), problem)
    assert len([*islice(first, 1)]) == 1
    assert len(first.open.node) > MOST_APART
    whole = alone(problem, options, ReferenceEngine())
    for engine in (ReferenceEngine(), CpuEngine()):
        assert in_two(problem, options, 1, ReferenceEngine(), engine, MOST_APART).equals(whole)


@pytest.mark.parametrize("options", [Options(max_features="sqrt", random_state=4), Options(max_depth=4)])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_limits_hold_all_the_way_down(options: Options, levels: int) -> None:
    problem = pose(wide(600, 0.1), options)
    whole = alone(problem, options, ReferenceEngine())
    assert whole.depth >= 4
    assert in_two(problem, options, levels, ReferenceEngine(), ReferenceEngine(), 2).equals(whole)


def test_a_tree_without_open_nodes_is_left_as_it_is() -> None:
    problem = pose(wide(200, 0.0), Options())
    grower = Grower(ReferenceEngine(), problem)
    assert len([*grower]) > 0
    second = ResumedGrower(ReferenceEngine(), problem, grower.growing, grower.open)
    assert [*second] == []
    assert second.tree.equals(grower.tree)
