"""The tree depends on the cases, not on how they are told: the order of rows, or copies in place of weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from c45gpu.data.frames import read_file
from c45gpu.data.table import Table
from c45gpu.induction.train import train
from c45gpu.kernels.engine import available
from c45gpu.model.store import Model
from c45gpu.model.tree import Tree
from tests.strategies import Asked, Sample, asked, larger_samples, samples

ENGINES = [name for name, reason in available().items() if reason is None]


@pytest.fixture(scope="module")
def penguins(examples: Path) -> Table:
    return read_file(examples / "penguins.csv", target="species")


def same(one: Model, other: Model) -> bool:
    return one.unpruned.equals(other.unpruned) and one.pruned.equals(other.pruned)


def doubled(table: Table) -> Table:
    """Each case weighs twice as much."""
    return replace(table, weights=2 * (np.ones(table.n_cases) if table.weights is None else table.weights))


@pytest.mark.parametrize("engine", ENGINES)
@given(sample=samples() | larger_samples(), question=asked(), seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(engine: str, sample: Sample, question: Asked, seed: int) -> None:
    shuffled = sample.table.take(np.random.default_rng(seed).permutation(sample.table.n_cases))
    assert same(train(shuffled, question.options, engine), train(sample.table, question.options, engine))


@pytest.mark.parametrize("engine", ENGINES)
@given(sample=samples() | larger_samples(), question=asked())
def test_copies_are_as_good_as_weights(engine: str, sample: Sample, question: Asked) -> None:
    table = sample.table.as_release8() if question.options.compat == "r8" else sample.table
    whole = table.weights is None or bool((table.weights % 1 == 0).all())
    assume(whole and not table.has_unknown())  # fractions are rounded to units, one case at a time
    twice = table.take(np.repeat(np.arange(table.n_cases), 2))
    assert same(train(twice, question.options, engine), train(doubled(table), question.options, engine))


@pytest.mark.parametrize("engine", ENGINES)
def test_penguins_in_any_order(penguins: Table, engine: str) -> None:
    model = train(penguins, engine=engine)
    for seed in range(5):
        assert same(
            train(penguins.take(np.random.default_rng(seed).permutation(penguins.n_cases)), engine=engine), model
        )


@pytest.mark.parametrize("engine", ENGINES)
def test_copies_of_penguins_with_unknown_values(penguins: Table, engine: str) -> None:
    copied = train(penguins.take(np.repeat(np.arange(penguins.n_cases), 2)), engine=engine)
    weighted = train(doubled(penguins), engine=engine)
    for one, other in ((copied.unpruned, weighted.unpruned), (copied.pruned, weighted.pruned)):
        assert asked_by(one) == asked_by(other)
        np.testing.assert_allclose(one.class_weights, other.class_weights, rtol=0, atol=1e-9)


def asked_by(tree: Tree) -> list[bytes]:
    return [array.tobytes() for array in (tree.kind, tree.attribute, tree.threshold, tree.branch, tree.label)]
