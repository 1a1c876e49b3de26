"""Engines that hold some of the attributes each, and are given the branches of the others' tests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.train import train
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.kernels.level import Splits
from c45gpu.kernels.reference import ReferenceEngine
from tests.kernels.shares import SharedAttributes
from tests.strategies import Asked, Sample, asked, larger_samples, samples

MAKERS = {"reference": ReferenceEngine, "cpu": lambda: CpuEngine(1)}


@pytest.mark.parametrize("names", [["cpu"], ["reference", "cpu"], ["cpu", "cpu", "cpu"]])
@settings(max_examples=30)
@given(sample=samples() | larger_samples(), question=asked())
def test_engines_that_share_attributes_grow_the_same_tree(names: list[str], sample: Sample, question: Asked) -> None:
    shared = train(sample.table, question.options, SharedAttributes([MAKERS[name] for name in names]))
    alone = train(sample.table, question.options, "reference")
    assert shared.unpruned.equals(alone.unpruned)
    assert shared.pruned.equals(alone.pruned)


@pytest.mark.parametrize("options", [Options(group_values=True), Options(binary_splits=True), Options(max_features=2)])
@settings(max_examples=20)
@given(sample=larger_samples())
def test_values_in_groups_and_attributes_drawn(options: Options, sample: Sample) -> None:
    shared = train(sample.table, options, SharedAttributes([MAKERS["cpu"], MAKERS["reference"]]))
    assert shared.unpruned.equals(train(sample.table, options, "reference").unpruned)


@settings(max_examples=20)
@given(sample=larger_samples(), seed=st.integers(0, 99))
def test_instances_lie_in_the_order_of_cases(sample: Sample, seed: int) -> None:
    problem = pose(sample.table, Options(max_features=0.99, random_state=seed))  # no engine finishes by itself
    root = np.zeros(1, np.int64)
    for make in MAKERS.values():
        engine = make()
        if engine.load(problem).open[0]:
            found = engine.instances(root)
            np.testing.assert_array_equal(found.case, np.arange(problem.table.n_cases))
            np.testing.assert_array_equal(found.units, problem.units)
            candidates = engine.score(0, 1)
            for a in np.flatnonzero(candidates.possible[0]):
                splits = Splits(root, np.array([a]), candidates.cut[:, a])
                unknown = engine.taken(splits).branch < 0
                column = problem.table.column(problem.used[a])
                np.testing.assert_array_equal(unknown, np.isnan(column) if column.dtype.kind == "f" else column < 0)
        engine.close()
