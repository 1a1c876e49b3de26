"""Nodes in order of arrival become a collapsed tree in preorder."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.schema import Attribute, Schema
from c45gpu.model.growing import GrowingTree, Growth
from c45gpu.model.tree import DISCRETE, LEAF, THRESHOLD, Tree
from c45gpu.model.validate import validate_tree
from tests.golden_trees import empty_leaf, inner, leaf, tree_of

SCHEMA = Schema(
    (Attribute("note", "ignored"), Attribute("size", "continuous"), Attribute("colour", "discrete", ("r", "g", "b"))),
    ("no", "yes"),
)
SIZE, COLOUR = 1, 2
NOTHING = float("nan")

Row = tuple[int, int, int, float, list[int]]  # parent, branch, attribute, threshold, class units


def growth(*rows: Row) -> Growth:
    parent, branch, attribute, threshold, class_units = zip(*rows, strict=True)
    numbers = (np.array(x, np.int64) for x in (parent, branch, attribute))
    return Growth(*numbers, np.array(threshold), np.array(class_units, np.int64))


def growing(*class_units: int, case_units: int = 1) -> GrowingTree:
    return GrowingTree(SCHEMA, case_units, np.array([class_units], np.int64))


def test_a_root_alone_is_a_leaf() -> None:
    tree = growing(1, 2).finished()
    assert tree.equals(tree_of(leaf(1.0, 2.0, errors=1.0), SCHEMA))


def test_levels_become_preorder() -> None:
    tree = growing(5, 4)
    first = tree.add(
        growth((-1, 0, SIZE, 2.5, [5, 4]), (0, 0, -1, NOTHING, [4, 1]), (0, 1, -1, NOTHING, [1, 3])),
    )
    assert first.tolist() == [0, 1, 2]
    second = tree.add(
        growth(
            (-1 - 1, 0, COLOUR, NOTHING, [4, 1]),
            (-1 - 2, 0, SIZE, 7.0, [1, 3]),
            (0, 0, -1, NOTHING, [4, 0]),
            (0, 2, -1, NOTHING, [0, 1]),
            (1, 0, -1, NOTHING, [1, 0]),
            (1, 1, -1, NOTHING, [0, 3]),
        )
    )
    assert second.tolist() == [1, 2, 3, 5, 6, 7]
    below = inner("discrete", COLOUR, leaf(4.0, 0.0), empty_leaf(0, 4.0, 1.0), leaf(0.0, 1.0))
    above = inner("threshold", SIZE, leaf(1.0, 0.0), leaf(0.0, 3.0), cut=7.0)
    expected = tree_of(inner("threshold", SIZE, below, above, cut=2.5), SCHEMA)
    assert tree.finished().equals(expected)
    assert expected.branch.tolist() == [1, 5, 2, 3, 4, 6, 7]


def test_an_empty_branch_has_the_label_of_its_parent() -> None:
    tree = growing(3, 4)
    tree.add(growth((-1, 0, COLOUR, NOTHING, [3, 4]), (0, 1, -1, NOTHING, [3, 0]), (0, 2, -1, NOTHING, [0, 4])))
    finished = tree.finished()
    assert (finished.kind[0], finished.label.tolist()) == (DISCRETE, [1, 1, 0, 1])
    assert (finished.weight.tolist(), finished.class_weights[1].tolist()) == ([7.0, 0.0, 3.0, 4.0], [3.0, 4.0])
    assert finished.value_map(0).tolist() == [0, 1, 2]


def test_the_first_of_equal_classes_is_the_label() -> None:
    assert growing(0, 2).finished().label.tolist() == [1]
    assert growing(2, 2).finished().label.tolist() == [0]


def test_a_test_that_saves_no_error_collapses_and_keeps_the_errors_of_its_branches() -> None:
    tree = growing(6, 3)
    tree.add(growth((-1, 0, SIZE, 1.0, [6, 3]), (0, 0, -1, NOTHING, [4, 1]), (0, 1, -1, NOTHING, [2, 2])))
    assert tree.finished().equals(tree_of(leaf(6.0, 3.0, errors=3.0), SCHEMA))


def test_collapsing_goes_from_the_bottom_up() -> None:
    """The lower test saves nothing and goes; the upper one saves two errors and stays."""
    tree = growing(5, 4)
    tree.add(growth((-1, 0, SIZE, 1.0, [5, 4]), (0, 0, -1, NOTHING, [4, 1]), (0, 1, -1, NOTHING, [1, 3])))
    tree.add(growth((-3, 0, SIZE, 2.0, [1, 3]), (0, 0, -1, NOTHING, [1, 2]), (0, 1, -1, NOTHING, [0, 1])))
    finished = tree.finished()
    assert finished.kind.tolist() == [THRESHOLD, LEAF, LEAF]
    assert finished.errors.tolist() == [2.0, 1.0, 1.0]
    assert np.isnan(finished.threshold).tolist() == [False, True, True]


def test_all_below_a_collapsed_node_is_gone() -> None:
    tree = growing(8, 3)
    tree.add(growth((-1, 0, SIZE, 1.0, [8, 3]), (0, 0, -1, NOTHING, [4, 2]), (0, 1, -1, NOTHING, [4, 1])))
    tree.add(growth((-2, 0, COLOUR, NOTHING, [4, 2]), (0, 0, -1, NOTHING, [3, 1]), (0, 1, -1, NOTHING, [1, 1])))
    assert tree.finished().n_nodes == 1


@pytest.mark.parametrize(("saved", "n_nodes"), [(0, 1), (1, 1), (2, 3), (1000, 3)])
def test_a_thousandth_of_an_error_saved_is_too_little(saved: int, n_nodes: int) -> None:
    tree = growing(6000, 3000, case_units=1000)
    high = [saved + 1, 2 * saved + 1]
    low = [6000 - high[0], 3000 - high[1]]
    tree.add(growth((-1, 0, SIZE, 1.0, [6000, 3000]), (0, 0, -1, NOTHING, low), (0, 1, -1, NOTHING, high)))
    finished = tree.finished()
    assert finished.n_nodes == n_nodes
    assert finished.errors[0] == (3000 - saved) / 1000


def test_weights_leave_the_units_exactly() -> None:
    tree = growing((1 << 50) + 1, 1 << 49, case_units=1 << 48)
    assert tree.finished().weight.tolist() == [6 + 2.0**-48]
    assert tree.finished().errors.tolist() == [2.0]


def test_a_finished_tree_may_grow_on() -> None:
    tree = growing(2, 2)
    tree.add(growth((-1, 0, SIZE, 1.0, [2, 2]), (0, 0, -1, NOTHING, [2, 1]), (0, 1, -1, NOTHING, [0, 1])))
    before = tree.finished()
    tree.add(growth((-2, 0, SIZE, 0.5, [2, 1]), (0, 0, -1, NOTHING, [2, 0]), (0, 1, -1, NOTHING, [0, 1])))
    assert (before.n_nodes, tree.n_nodes, tree.finished().n_nodes) == (3, 5, 5)
    assert tree.finished().errors.tolist() == [0.0] * 5


# ---------------------------------------------------------------- any tree, added in any portions
@st.composite
def nested(draw: st.DrawFn, depth: int = 4) -> dict[str, Any]:
    """Nested nodes whose weights add up."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return leaf(*draw(st.lists(st.integers(0, 3).map(float), min_size=2, max_size=2).filter(any)))
    if draw(st.booleans()):
        return inner("threshold", SIZE, draw(nested(depth=depth - 1)), draw(nested(depth=depth - 1)), cut=float(depth))
    held = draw(st.lists(st.booleans(), min_size=3, max_size=3).filter(any))
    branches = [draw(nested(depth=depth - 1)) if some else None for some in held]
    dist = inner("discrete", COLOUR, *[branch for branch in branches if branch])["dist"]
    empty = empty_leaf(dist.index(max(dist)), *dist)
    return inner("discrete", COLOUR, *[branch or empty for branch in branches])


def collapsed(node: dict[str, Any]) -> dict[str, Any]:
    """The same after collapsing, errors filled in."""
    as_leaf = sum(node["dist"]) - max(node["dist"]) if node["items"] else 0.0
    if node["type"] == "leaf":
        return node | {"errors": as_leaf}
    branches = [collapsed(branch) for branch in node["branches"]]
    errors = sum(branch["errors"] for branch in branches)
    if errors >= as_leaf:
        return leaf(*node["dist"], errors=errors)
    return node | {"branches": branches, "errors": errors}


def grown(root: dict[str, Any], chance: random.Random) -> Tree:
    """The tree, its nodes added in portions: some a level deep, some whole subtrees."""
    tree = growing(*map(int, root["dist"]))
    pending = [(root, 0)]
    while pending:
        node, number = pending.pop(chance.randrange(len(pending)))
        if node["type"] == "leaf":
            continue
        levels = chance.choice([1, 1, 2, 10])
        rows, nodes = portion(node, -1 - number, levels)
        numbers = tree.add(growth(*rows)).tolist()
        pending += [(n, i) for n, i, row in zip(nodes, numbers, rows, strict=True) if row[2] < 0]
    return tree.finished()


def portion(root: dict[str, Any], parent: int, levels: int) -> tuple[list[Row], list[dict[str, Any]]]:
    """Rows for a node that the tree has, and for some levels below it."""
    rows: list[Row] = []
    nodes = []
    pending = [(root, parent, 0, 0)]
    while pending:
        node, above, branch, level = pending.pop(0)
        tested = node["type"] != "leaf" and level < levels
        attribute, cut = (node["att"], node.get("cut", NOTHING)) if tested else (-1, NOTHING)
        here = len(rows)
        rows.append((above, branch, attribute, cut, [int(w) for w in node["dist"]]))
        nodes.append(node)
        if tested:
            pending += [(n, here, b, level + 1) for b, n in enumerate(node["branches"]) if n["items"]]
    return rows, nodes


@given(nested(), st.randoms(use_true_random=False))
def test_any_portions_give_the_same_tree(root: dict[str, Any], chance: random.Random) -> None:
    tree = grown(root, chance)
    validate_tree(tree, SCHEMA)
    assert tree.equals(tree_of(collapsed(root), SCHEMA))


def test_a_deep_chain_grows_node_by_node() -> None:
    depth = 5000
    tree = growing(depth, 1)
    for d in range(depth):
        rest = [depth - d - 1, 1]
        tree.add(
            growth(
                (-1 - 2 * d, 0, SIZE, float(d), [depth - d, 1]), (0, 0, -1, NOTHING, [1, 0]), (0, 1, -1, NOTHING, rest)
            )
        )
    finished = tree.finished()
    assert (finished.depth, finished.n_nodes) == (depth, 2 * depth + 1)
    assert finished.label.tolist() == [0] * (2 * depth) + [1]
