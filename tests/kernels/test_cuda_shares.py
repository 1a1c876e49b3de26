"""The CUDA engine as one of several that share the attributes of a problem."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from c45gpu.induction.train import train
from c45gpu.kernels.reference import ReferenceEngine
from tests.kernels.cuda_here import emulated_engine
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
