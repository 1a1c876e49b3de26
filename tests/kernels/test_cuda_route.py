"""Cases sent down a tree on the emulated device arrive with the frequencies of model.predict, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.data.table import Table
from c45gpu.induction.train import train
from c45gpu.kernels import cuda_route
from c45gpu.model.predict import class_frequencies
from tests.kernels.cuda_gate import table
from tests.kernels.cuda_here import emulated_engine
from tests.strategies import Asked, Sample, asked, larger_samples, samples


def forgetful(cases: Table, seed: int) -> Table:
    """The cases with a third of their values unknown, and some codes that no branch is for."""
    random = np.random.default_rng(seed)
    columns = []
    for column in cases.columns:
        if column is None:
            columns.append(None)
            continue
        column = column.copy()
        column[random.random(len(column)) < 1 / 3] = np.nan if column.dtype.kind == "f" else -1
        if column.dtype.kind == "i":
            column[random.random(len(column)) < 0.1] = 1000
        columns.append(column)
    return replace(cases, columns=columns, _ranks={})


@settings(max_examples=25)
@given(samples() | larger_samples(), asked(), st.integers(0, 99), st.sampled_from([1, 7, 1 << 22]))
def test_frequencies(sample: Sample, question: Asked, seed: int, rows: int) -> None:
    model = train(sample.table, question.options, "reference")
    cases = forgetful(sample.table, seed)
    with mock.patch.object(cuda_route, "ROWS_AT_A_TIME", rows):
        found = emulated_engine(seed=seed).route(model.unpruned, cases)
    assert found.tobytes() == class_frequencies(model.unpruned, cases).tobytes()


@pytest.mark.parametrize("walkers", [4, 1 << 16])
def test_one_launch_for_all_rows(walkers: int) -> None:
    cases = table(60, 3, 4, 0.1)
    model, engine = train(cases, engine="reference"), emulated_engine()
    with mock.patch.object(cuda_route, "WALKERS", walkers):
        found = engine.route(model.unpruned, cases)
    assert found.tobytes() == class_frequencies(model.unpruned, cases).tobytes()
    assert engine.work.launches == 1
