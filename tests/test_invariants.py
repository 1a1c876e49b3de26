"""What must not change a tree: the order of rows, how weights are written, the order of classes, the surroundings."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.predict import class_frequencies, predicted_classes
from c45gpu.model.store import Model, load, model_bytes, save
from c45gpu.model.tree import Tree
from c45gpu.show.document import document, write_json
from c45gpu.show.text import tree_text
from tests.strategies import Asked, Sample, asked, larger_samples, random_class, random_column, sample, samples

ROOT = Path(__file__).resolve().parent.parent
any_samples = samples() | larger_samples()


def weighted(table: Table, weights: Sequence[float] | None) -> Table:
    return Table(table.schema, table.columns, table.classes, None if weights is None else np.array(weights, np.float64))


def repeated(table: Table, times: Sequence[int]) -> Table:
    return weighted(table, None).take(np.repeat(np.arange(table.n_cases), times))


def complete(table: Table) -> Table:
    """Unknown values become 0."""
    columns = [None if column is None else np.nan_to_num(np.maximum(column, 0)) for column in table.columns]
    return Table(table.schema, columns, table.classes, table.weights)


def assert_same(one: Model, other: Model) -> None:
    assert one.unpruned.equals(other.unpruned)
    assert one.pruned.equals(other.pruned)


# ---------------------------------------------------------------- rows and weights
@given(any_samples, asked(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(drawn: Sample, question: Asked, chance: random.Random) -> None:
    order = np.array(chance.sample(range(drawn.table.n_cases), drawn.table.n_cases))
    straight, shuffled = (train(t, question.options) for t in (drawn.table, drawn.table.take(order)))
    assert model_bytes(straight) == model_bytes(shuffled)


@given(any_samples, asked(), st.data())
def test_a_whole_weight_is_so_many_rows(drawn: Sample, question: Asked, data: st.DataObject) -> None:
    n = drawn.table.n_cases
    times = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any))
    table = complete(drawn.table)
    assert_same(train(weighted(table, times), question.options), train(repeated(table, times), question.options))


@pytest.mark.parametrize("seed", range(20))
def test_a_whole_weight_is_so_many_rows_but_for_rounding_where_values_are_unknown(seed: int) -> None:
    chance = random.Random(seed)
    columns = [random_column(chance, 90, 0.1) for _ in range(4)]
    classes = [random_class(chance, [values[i] for _, _, values in columns], 3) for i in range(90)]
    table = sample(columns, 3, classes, None).table
    times = chance.choices([0, 1, 2, 3], k=90)
    options = Options(min_cases=chance.choice([1, 2, 5]))
    one, other = train(weighted(table, times), options), train(repeated(table, times), options)
    for a, b in ((one.unpruned, other.unpruned), (one.pruned, other.pruned)):
        assert structure(a) == structure(b)
        np.testing.assert_allclose(a.class_weights, b.class_weights, rtol=0, atol=1e-9)
        np.testing.assert_allclose(a.errors, b.errors, rtol=0, atol=1e-9)


def structure(tree: Tree) -> list[object]:
    tests = zip(tree.kind.tolist(), tree.attribute.tolist(), tree.threshold.tolist(), strict=True)
    return [repr(test) for test in tests] + tree.branch.tolist()


@given(any_samples, asked(), st.data())
def test_a_case_of_no_weight_is_absent(drawn: Sample, question: Asked, data: st.DataObject) -> None:
    n = drawn.table.n_cases
    present = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)
    weights = np.ones(n) if drawn.table.weights is None else drawn.table.weights
    present |= np.arange(n) == int(np.argmax(weights))
    without = train(weighted(drawn.table, np.where(present, weights, 0.0).tolist()), question.options)
    assert model_bytes(without) == model_bytes(train(drawn.table.take(present), question.options))


@given(any_samples, asked())
def test_every_weight_being_one_is_no_weights(drawn: Sample, question: Asked) -> None:
    plain = weighted(drawn.table, None)
    ones = weighted(drawn.table, [1.0] * plain.n_cases)
    assert model_bytes(train(plain, question.options)) == model_bytes(train(ones, question.options))


# ---------------------------------------------------------------- classes
@given(any_samples, asked(), st.randoms(use_true_random=False))
def test_the_order_of_classes_only_renames_labels(drawn: Sample, question: Asked, chance: random.Random) -> None:
    assume(not question.options.group_values)  # the class of a group that is hardly of any other is the first of its
    n = drawn.table.schema.n_classes
    number = np.array(chance.sample(range(n), n))  # the new number of each class
    renamed = Table(
        drawn.table.schema, drawn.table.columns, number[drawn.table.classes].astype(np.int32), drawn.table.weights
    )
    one, other = train(drawn.table, question.options), train(renamed, question.options)
    for a, b in ((one.unpruned, other.unpruned), (one.pruned, other.pruned)):
        assert structure(a) == structure(b)
        assert a.errors.tolist() == b.errors.tolist()
        assert a.weight.tolist() == b.weight.tolist()
        assert a.class_weights.tolist() == b.class_weights[:, number].tolist()
        untied = (a.class_weights == a.class_weights.max(axis=1, keepdims=True)).sum(axis=1) == 1
        assert number[a.label[untied]].tolist() == b.label[untied].tolist()


# ---------------------------------------------------------------- depth
DEEP = 5000


def deep_table() -> Table:
    """Classes alternate along one attribute, so each test splits one value off; no side may be below 25 cases."""
    values = np.arange(DEEP + 1, dtype=np.float64)
    schema = Schema((Attribute("height", "continuous"),), ("low", "high"))
    return Table(schema, [values], (np.arange(DEEP + 1) % 2).astype(np.int32), np.full(DEEP + 1, 30.0))


def test_a_tree_may_be_5000_deep(tmp_path: Path) -> None:
    table = deep_table()
    model = train(table, engine="reference")
    for tree in (model.unpruned, model.pruned):
        assert (tree.depth, tree.n_leaves) == (DEEP, DEEP + 1)
    save(model, tmp_path / "deep.model")
    loaded = load(tmp_path / "deep.model")
    assert_same(loaded, model)
    lines = tree_text(loaded.pruned, loaded.schema).splitlines()
    assert sum(line.count("high (30.0") + line.count("low (30.0") for line in lines) == DEEP + 1
    assert predicted_classes(class_frequencies(loaded.pruned, table)).tolist() == table.classes.tolist()
    stream = io.StringIO()
    write_json(document(loaded, []), stream)
    assert stream.getvalue().count('"leaf"') >= 2 * (DEEP + 1)


# ---------------------------------------------------------------- surroundings
TRAIN_AND_SAVE = """
import random, sys
from c45gpu import Options, save, train
from tests.strategies import WHOLE_WEIGHTS, random_class, random_column, sample
chance = random.Random(7)
columns = [random_column(chance, 400, 0.1) for _ in range(8)]
classes = [random_class(chance, [values[i] for _, _, values in columns], 4) for i in range(400)]
save(train(sample(columns, 4, classes, chance.choices(WHOLE_WEIGHTS, k=400)).table, Options(min_cases=1)), sys.argv[1])
"""


def test_the_same_bytes_whatever_the_hash_seed_the_locale_and_the_threads(tmp_path: Path) -> None:
    surroundings = [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "3", "NUMBA_NUM_THREADS": "3"},
    ]
    for number, changes in enumerate(surroundings):
        command = [sys.executable, "-c", TRAIN_AND_SAVE, str(tmp_path / f"{number}.model")]
        subprocess.run(command, env={**os.environ, **changes}, cwd=ROOT, check=True)
    assert (tmp_path / "0.model").read_bytes() == (tmp_path / "1.model").read_bytes()
    assert load(tmp_path / "0.model").pruned.n_nodes > 10
