from __future__ import annotations

import numpy as np
import pytest

from c45gpu.model.tree import LEAF, Tree, ranges
from c45gpu.model.validate import FIELD_TYPES
from tests.golden_trees import chain, inner, leaf, preorder, tree_of

SCHEMA, _ = chain(1)
NESTED = inner(
    "threshold",
    0,
    leaf(3.0, 0.0),
    inner("threshold", 0, inner("threshold", 0, leaf(1.0, 0.0), leaf(0.0, 2.0), cut=1.5), leaf(4.0, 1.0), cut=2.0),
    cut=1.0,
)


def nested() -> Tree:
    return tree_of(NESTED, SCHEMA)


def test_counts() -> None:
    tree = nested()
    assert (tree.n_nodes, tree.n_leaves, tree.n_classes, tree.depth) == (7, 4, 2, 3)


def test_walk_is_preorder_with_depths() -> None:
    assert list(nested().walk()) == [(0, 0), (1, 1), (2, 1), (3, 2), (4, 3), (5, 3), (6, 2)]


def test_structure_arrays() -> None:
    tree = nested()
    assert tree.parent.tolist() == [-1, 0, 0, 2, 3, 3, 2]
    assert tree.end.tolist() == [7, 2, 7, 6, 5, 6, 7]
    assert [level.tolist() for level in tree.levels] == [[0], [1, 2], [3, 6], [4, 5]]
    assert tree.branches(2).tolist() == [3, 6]
    assert tree.branches(4).tolist() == []


def test_value_map_of_a_node_without_values_is_empty() -> None:
    assert nested().value_map(0).tolist() == []


@pytest.mark.parametrize("name", FIELD_TYPES)
def test_one_changed_number_makes_trees_differ(name: str) -> None:
    tree, other = nested(), nested()
    array = getattr(other, name)
    if array.size:
        array.flat[-1] = 1 - np.nan_to_num(array.flat[-1])
    else:
        object.__setattr__(other, name, np.zeros(1, array.dtype))
    assert tree.equals(nested())
    assert tree.digest() == nested().digest()
    assert not tree.equals(other)
    assert tree.digest() != other.digest()


def test_a_field_of_another_type_makes_trees_differ() -> None:
    tree, other = nested(), nested()
    object.__setattr__(other, "label", other.label.astype(np.uint32))
    assert not tree.equals(other)
    assert tree.digest() != other.digest()


def test_ranges() -> None:
    def joined(first: list[int], stop: list[int]) -> list[int]:
        return ranges(np.array(first, np.int64), np.array(stop, np.int64)).tolist()

    assert joined([2, 7], [4, 8]) == [2, 3, 7]
    assert joined([5, 3, 9], [5, 6, 9]) == [3, 4, 5]
    assert joined([], []) == []


def test_a_deep_chain_walks() -> None:
    schema, root = chain(5000)
    tree = tree_of(root, schema)
    assert tree.depth == 5000
    assert tree.n_leaves == 5001
    assert tree.end[tree.kind != LEAF].tolist() == [tree.n_nodes] * 5000
    assert [depth for _, depth in tree.walk()] == [depth for d in range(5000) for depth in (d, d + 1)][:-1] + [
        4999 + 1
    ] * 2
    assert len(preorder(root)) == tree.n_nodes
