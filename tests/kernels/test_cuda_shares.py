"""The CUDA engine as one of several that share the attributes of a problem."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from c45gpu.dask.below import Below, grown_below
from c45gpu.induction.problem import pose
from c45gpu.induction.train import train
from c45gpu.kernels.reference import ReferenceEngine
from tests.kernels.cuda_here import SMALL, emulated_engine
from tests.kernels.shares import SharedAttributes
from tests.strategies import Asked, Sample, asked, samples


@pytest.mark.parametrize("makers", [[emulated_engine], [ReferenceEngine, emulated_engine]])
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(sample=samples(), question=asked())
def test_the_cuda_engine_shares_attributes(makers: list, sample: Sample, question: Asked) -> None:
    shared = train(sample.table, question.options, SharedAttributes(makers))
    alone = train(sample.table, question.options, "reference")
    assert shared.unpruned.equals(alone.unpruned)
    assert shared.pruned.equals(alone.pruned)


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(sample=samples(), question=asked(), finish_cases=st.sampled_from([0, 8]))
def test_nodes_are_grown_below_one_root(sample: Sample, question: Asked, finish_cases: int) -> None:
    problem = pose(sample.table, replace(question.options, max_features=None))
    assume(ReferenceEngine().load(problem).open[0])
    parts = np.array([problem.table.n_cases, problem.table.n_cases])
    twice = replace(
        problem,
        table=problem.table.take(np.tile(np.arange(parts[0]), 2)),
        units=np.tile(problem.units, 2),
        forest=True,
    )
    cuda = emulated_engine(SMALL._replace(finish_cases=finish_cases))
    found = [paths(grown_below(engine, twice, parts)) for engine in (ReferenceEngine(), cuda)]
    assert found[0] == found[1]


def paths(below: Below) -> dict[tuple[int, ...], tuple]:
    """The rows by where they are: the node that they are below, and the branches from there."""
    names: list[tuple[int, ...]] = []
    for parent, branch in zip(below.parent.tolist(), below.branch.tolist(), strict=True):
        names.append((parent,) if parent < 0 else (*names[parent], branch))
    rows = zip(*(x.tolist() for x in below[2:]), strict=True)
    return {name: tuple(map(str, row)) for name, row in zip(names, rows, strict=True)}
