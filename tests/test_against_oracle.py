"""The package grows, prunes and predicts as the oracle does, on tables that hypothesis thinks of.

Structure and weights must be the same in every bit; estimated errors, which are sums of float64, to 1e-9. Where two
tests are equally good but for the rounding of 53 bits, the oracle takes the package's, and goes on from there.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given

from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.predict import class_frequencies, predicted_classes
from c45gpu.model.store import Model
from tests import oracle
from tests.nested import nested_trees
from tests.oracle import Settings
from tests.strategies import Asked, Column, Sample, asked, larger_samples, sample, samples

ENGINES = ["reference"]
EXACT = ("type", "leaf", "items", "dist", "att", "cut", "subsets")
NEAR = 1e-9


def difference(ours: oracle.Json, theirs: oracle.Json, path: str = "root") -> str | None:
    """Where two trees differ first, and in what."""
    for key in EXACT:
        if ours.get(key) != theirs.get(key):
            return f"{path}: {key} is {ours.get(key)!r}, the oracle has {theirs.get(key)!r}"
    if not math.isclose(ours["errors"], theirs["errors"], rel_tol=NEAR, abs_tol=NEAR):
        return f"{path}: errors are {ours['errors']!r}, the oracle has {theirs['errors']!r}"
    pairs = zip(ours.get("branches", []), theirs.get("branches", []), strict=True)
    found = (difference(a, b, f"{path}.{i}") for i, (a, b) in enumerate(pairs))
    return next((text for text in found if text is not None), None)


def check_trees(sample: Sample, question: Asked, engine: str) -> tuple[Model, oracle.Json, oracle.Json]:
    """Train both ways and compare both trees; returns the model and the oracle's trees."""
    model = train(sample.table, question.options, engine)
    ours = nested_trees(model)
    theirs = oracle.train(sample.problem, question.settings)
    if difference(ours[0], theirs[0]) is not None:
        theirs = oracle.train(sample.problem, question.settings, guide=ours[0])
    assert difference(ours[0], theirs[0]) is None
    assert difference(ours[1], theirs[1]) is None
    return model, *theirs


def check_predictions(sample: Sample, question: Asked, model: Model, theirs: tuple[oracle.Json, oracle.Json]) -> None:
    """Compare class frequencies and classes of the training cases themselves."""
    for tree, nested in zip((model.unpruned, model.pruned), theirs, strict=True):
        table = sample.table.as_release8() if question.options.compat == "r8" else sample.table
        frequencies = class_frequencies(tree, table)
        classes = predicted_classes(frequencies)
        for case, row in enumerate(sample.problem.rows):
            sums = oracle.class_sums(sample.problem, question.settings, nested, row)
            assert frequencies[case].tolist() == pytest.approx([float(s) for s in sums], rel=NEAR, abs=NEAR)
            assert sums[classes[case]] >= max(sums) - Fraction(NEAR)  # of equals, float64 may take either


@pytest.mark.parametrize("engine", ENGINES)
@given(sample=samples(), question=asked())
def test_small_tables(engine: str, sample: Sample, question: Asked) -> None:
    model, *theirs = check_trees(sample, question, engine)
    check_predictions(sample, question, model, (theirs[0], theirs[1]))


@pytest.mark.parametrize("engine", ENGINES)
@given(sample=larger_samples(), question=asked())
def test_deeper_tables(engine: str, sample: Sample, question: Asked) -> None:
    model, *theirs = check_trees(sample, question, engine)
    check_predictions(sample, question, model, (theirs[0], theirs[1]))


@pytest.mark.parametrize("engine", ENGINES)
def test_many_values_are_counted_against_the_whole_weight(engine: str) -> None:
    # 3 values are fewer than 0.3 * 10.75, so a0 counts towards the average gain; they are not fewer than 0.3 * 10
    first: Column = ("discrete", 3, [2, 0, 2, 0, 0, 1, 2, 0, 1, 1, 0, 0, 0, 2, 0])
    second: Column = ("discrete", 2, [0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1])
    weights = [0.5, 1, 1, 1, 1, 0.25, 1, 0.5, 0.5, 0.5, 0.25, 1, 1, 0.25, 1]
    cases = sample([first, second], 2, [1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 1, 0], weights)
    check_trees(cases, Asked(Options(min_cases=1), Settings(min_cases=1)), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_units_do_not_depend_on_the_order_of_weights(engine: str) -> None:
    # added in this order, or pair by pair, the weights come to 2 or a little less: another unit of weight
    third = 1 / 3
    for weights in ([third, third, third, 0.1, 0.2, 0.7], [0.2, third, 0.1, 0.7, third, third]):
        cases = sample([("continuous", 0, [1.0] * 6)], 2, [0] * 6, weights)
        check_trees(cases, Asked(Options(), Settings()), engine)
