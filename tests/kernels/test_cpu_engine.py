"""The CPU engine grows and prunes the reference engine's trees, byte for byte, however it is set up."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.c45files import read_stem
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.kernels import cpu_counting, cpu_lists
from c45gpu.kernels.cpu_sort import Layout
from tests.kernels.seeded import TABLES, on_cpu, reference_model, same
from tests.strategies import Asked, Sample, asked, larger_samples, samples

EVERYTHING, NOTHING = 1 << 40, 0
WHOLE = [name for name in TABLES if name not in ("100,000 values", "1,000 classes")]
A_FEW = ["whole cases", "3 classes", "60 classes", "around a byte of values", "unknown values", "whole weights"]
QUICK_SET = 200_000  # bytes of a .data file


@given(sample=samples() | larger_samples(), question=asked(), threads=st.sampled_from([1, 2, 4]))
def test_any_table_and_options(sample: Sample, question: Asked, threads: int) -> None:
    expected = train(sample.table, question.options, "reference")
    assert same(on_cpu(sample.table, question.options, threads), expected)


@pytest.mark.parametrize("name", TABLES)
def test_seeded_tables(name: str) -> None:
    expected = reference_model(name)
    assert expected.unpruned.n_nodes > 20
    assert same(on_cpu(TABLES[name]()), expected)
