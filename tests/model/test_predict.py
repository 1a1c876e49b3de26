from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.model import predict
from c45gpu.model.predict import class_frequencies, frequencies_of_shares, leaf_shares, predicted_classes
from c45gpu.model.tree import LEAF, SUBSET, THRESHOLD, Tree
from tests.golden_trees import chain, empty_leaf, inner, leaf, read_golden, tree_of

SCHEMA = Schema(
    (
        Attribute("size", "continuous"),
        Attribute("colour", "discrete", ("red", "green", "blue")),
        Attribute("note", "ignored"),
        Attribute("weight", "continuous"),
    ),
    ("no", "yes", "perhaps"),
)
CUTS = [-1.0, 0.0, 0.1, 2.5]


def table(size: Any, colour: Any, weight: Any = None, dtype: type = np.float64) -> Table:
    weight = np.zeros(len(size)) if weight is None else weight
    columns = [np.array(size, dtype), np.array(colour, np.int32), None, np.array(weight, np.float64)]
    return Table(SCHEMA, columns, np.full(len(size), -1, np.int32))


def by_hand(tree: Tree, cases: Table, case: int) -> np.ndarray:
    """Section 9 of the specification, node by node."""
    frequencies = np.zeros(tree.n_classes)
    pending = [(0, 1.0)]
    while pending:
        node, share = pending.pop()
        if tree.kind[node] == LEAF and tree.weight[node] > 0:
            frequencies += share * tree.class_weights[node] / tree.weight[node]
        elif tree.kind[node] == LEAF:
            frequencies[tree.label[node]] += share
        else:
            branch = branch_by_hand(tree, node, cases.column(tree.attribute[node])[case])
            children = tree.branches(node)
            parts = tree.weight[children] / tree.weight[node] if branch < 0 else np.arange(len(children)) == branch
            pending += [(child, share * part) for child, part in zip(children, parts, strict=True) if part]
    return frequencies


def branch_by_hand(tree: Tree, node: int, value: Any) -> int:
    if tree.kind[node] == THRESHOLD:
        return -1 if value != value else int(float(value) > tree.threshold[node])
    values = tree.value_map(node)
    return int(values[value]) if 0 <= value < len(values) else -1


@st.composite
def trees(draw: Callable[..., Any], depth: int = 4) -> dict[str, Any]:
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        return leaf(*draw(st.lists(st.integers(1, 5).map(float), min_size=3, max_size=3)))
    kind = draw(st.sampled_from(["threshold", "discrete", "subset"]))
    n_branches = 2 if kind == "threshold" else 3
    branches = [draw(trees(depth=depth - 1)) for _ in range(n_branches)]
    emptied = draw(st.integers(0, n_branches))
    if emptied < n_branches:
        branches[emptied] = empty_leaf(draw(st.integers(0, 2)), 1.0, 1.0, 1.0)
    if kind == "threshold":
        return inner(kind, draw(st.sampled_from([0, 3])), *branches, cut=draw(st.sampled_from(CUTS)))
    subsets = {"subsets": [[3], [1], []]} if kind == "subset" else {}
    return inner(kind, 1, *branches, **subsets)


@st.composite
def tables(draw: Callable[..., Any]) -> Table:
    n = draw(st.integers(0, 12))
    numbers = st.lists(st.sampled_from([*CUTS, np.nan, -np.inf, np.inf, 7.0]), min_size=n, max_size=n)
    codes = st.lists(st.integers(-1, 4), min_size=n, max_size=n)
    return table(draw(numbers), draw(codes), draw(numbers), draw(st.sampled_from([np.float32, np.float64])))


@given(trees(), tables())
def test_frequencies_are_those_of_the_specification(root: dict[str, Any], cases: Table) -> None:
    tree = tree_of(root, SCHEMA)
    frequencies = class_frequencies(tree, cases)
    assert frequencies.shape == (cases.n_cases, 3)
    for case in range(cases.n_cases):
        np.testing.assert_allclose(frequencies[case], by_hand(tree, cases, case), rtol=1e-13)
    np.testing.assert_allclose(frequencies.sum(axis=1), 1, rtol=1e-13)


@given(trees(), tables(), st.randoms(use_true_random=False), st.integers(1, 5), st.integers(1, 40))
def test_neither_row_order_nor_chunks_change_a_bit(
    root: dict[str, Any], cases: Table, random: Any, cases_at_a_time: int, shares_at_a_time: int
) -> None:
    tree = tree_of(root, SCHEMA)
    whole, shares = class_frequencies(tree, cases), leaf_shares(tree, cases)
    order = np.array(random.sample(range(cases.n_cases), cases.n_cases), np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(predict, "CASES_AT_A_TIME", cases_at_a_time)
        patch.setattr(predict, "SHARES_AT_A_TIME", shares_at_a_time)
        assert class_frequencies(tree, cases.take(order)).tobytes() == whole[order].tobytes()
        for ours, theirs in zip(leaf_shares(tree, cases), shares, strict=True):
            assert ours.tobytes() == theirs.tobytes()
    assert frequencies_of_shares(tree, *shares, cases.n_cases).tobytes() == whole.tobytes()


@given(trees(), tables())
def test_shares_are_sorted_and_make_up_a_case(root: dict[str, Any], cases: Table) -> None:
    tree = tree_of(root, SCHEMA)
    found = leaf_shares(tree, cases)
    assert [array.dtype for array in found] == [np.int64, np.int64, np.float64]
    pairs = list(zip(found.cases.tolist(), found.leaves.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert (tree.kind[found.leaves] == LEAF).all()
    assert (found.shares > 0).all()
    np.testing.assert_allclose(np.bincount(found.cases, found.shares, cases.n_cases), 1, rtol=1e-13)


COLOURS = inner("discrete", 1, leaf(3.0, 1.0, 0.0), empty_leaf(2, 4.0, 3.0, 1.0), leaf(1.0, 2.0, 1.0))


def test_a_known_value_takes_one_branch() -> None:
    found = leaf_shares(tree_of(COLOURS, SCHEMA), table([0, 0], [2, 0]))
    assert (found.cases.tolist(), found.leaves.tolist(), found.shares.tolist()) == ([0, 1], [3, 1], [1.0, 1.0])


def test_an_empty_leaf_gives_its_share_to_its_label() -> None:
    assert class_frequencies(tree_of(COLOURS, SCHEMA), table([0], [1])).tolist() == [[0, 0, 1]]


@pytest.mark.parametrize("code", [-1, 3, 1000])
def test_an_unknown_or_new_value_takes_every_branch_with_weight(code: int) -> None:
    tree = tree_of(COLOURS, SCHEMA)
    found = leaf_shares(tree, table([0], [code]))
    assert (found.leaves.tolist(), found.shares.tolist()) == ([1, 3], [0.5, 0.5])
    assert class_frequencies(tree, table([0], [code])).tolist() == [[0.5, 0.375, 0.125]]


def test_a_value_outside_all_groups_takes_every_branch() -> None:
    root = inner("subset", 1, leaf(1.0, 0.0, 0.0), leaf(0.0, 3.0, 0.0), subsets=[[1], [3]])
    tree = tree_of(root, SCHEMA)
    assert tree.kind[0] == SUBSET
    assert class_frequencies(tree, table([0] * 3, [0, 1, 2])).tolist() == [[1, 0, 0], [0.25, 0.75, 0], [0, 1, 0]]


def test_float32_values_meet_the_float64_threshold() -> None:
    below = float(np.float32(0.1))  # above 0.1: a threshold rounded to float32 would be equal to it
    tree = tree_of(inner("threshold", 0, leaf(1.0, 0.0, 0.0), leaf(0.0, 1.0, 0.0), cut=0.1), SCHEMA)
    assert below > 0.1
    assert class_frequencies(tree, table([0.1], [0], dtype=np.float32)).tolist() == [[0, 1, 0]]
    assert class_frequencies(tree, table([0.1], [0], dtype=np.float64)).tolist() == [[1, 0, 0]]


def test_the_first_of_equal_classes_is_predicted() -> None:
    predicted = predicted_classes(np.array([[0.25, 0.5, 0.25], [0.2, 0.4, 0.4], [0.5, 0.0, 0.5]]))
    assert predicted.dtype == np.int32
    assert predicted.tolist() == [1, 1, 0]


def test_no_cases() -> None:
    tree = tree_of(COLOURS, SCHEMA)
    assert class_frequencies(tree, table([], [])).shape == (0, 3)
    assert [len(array) for array in leaf_shares(tree, table([], []))] == [0, 0, 0]
    assert predicted_classes(np.empty((0, 3))).tolist() == []


def test_a_tree_that_is_one_leaf() -> None:
    assert (
        class_frequencies(tree_of(leaf(1.0, 1.0, 2.0), SCHEMA), table([0, 1], [0, -1])).tolist()
        == [[0.25, 0.25, 0.5]] * 2
    )


def test_a_deep_chain_predicts() -> None:
    schema, root = chain(5000)
    heights = np.array([0.0, 4999.0, 5000.0, np.nan, 2500.5])
    found = leaf_shares(tree_of(root, schema), Table(schema, [heights], np.full(5, -1, np.int32)))
    assert np.bincount(found.cases).tolist() == [1, 1, 1, 5001, 1]
    assert found.leaves[:3].tolist() == [1, 9999, 10000]
    np.testing.assert_allclose(found.shares[found.cases == 3], 1 / 5001, rtol=1e-10)


@pytest.mark.parametrize("name", ["r8_labor-neg", "r8_hypo", "r8_vote", "jb_auto_imports.s", "ml_PimaIndiansDiabetes2"])
def test_the_originals_trees_classify_as_the_original_does(golden: Path, name: str) -> None:
    schema, unpruned, pruned, document = read_golden(golden / "sets" / f"{name}.json")
    cases = read_test_cases(golden / "sets" / f"{name.partition('.')[0]}.test", schema)
    for tree, answer in ((unpruned, "test_pred_unpruned"), (pruned, "test_pred_pruned")):
        assert predicted_classes(class_frequencies(tree, cases)).tolist() == document[answer]


@pytest.mark.parametrize("name", ["r8_labor-neg", "r8_hypo", "r8_vote", "ml_PimaIndiansDiabetes2"])
def test_class_frequencies_are_the_originals(golden: Path, name: str) -> None:
    schema, _, pruned, document = read_golden(golden / "sets" / f"{name}.json")
    cases = read_test_cases(golden / "sets" / f"{name}.test", schema)
    np.testing.assert_allclose(class_frequencies(pruned, cases), document["test_classsum_pruned"], atol=2e-6)


def read_test_cases(path: Path, schema: Schema) -> Table:
    """Cases of a simple file without escapes; values rounded to float32 as the original does."""
    lines = [line.partition("|")[0] for line in path.read_text("latin-1").splitlines()]
    rows = [[field.strip() for field in line.rstrip(". ").split(",")] for line in lines if line.strip()]
    columns: list[np.ndarray | None] = []
    for attribute, fields in zip(schema.attributes, zip(*rows, strict=True), strict=False):
        if attribute.kind == "continuous":
            columns.append(np.array([np.nan if field == "?" else float(field) for field in fields], np.float32))
        elif attribute.kind == "discrete":
            columns.append(np.array([attribute.code_of.get(field, -1) for field in fields], np.int32))
        else:
            columns.append(None)
    return Table(schema, columns, np.array([schema.class_number[row[-1]] for row in rows], np.int32))
