"""Values that cannot occur are struck out of last branches, and nothing else."""

from __future__ import annotations

import numpy as np

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.model.possible import without_impossible_values
from c45gpu.model.predict import class_frequencies
from c45gpu.model.tree import Tree
from c45gpu.model.validate import validate_tree
from c45gpu.show.text import tree_text, trees_text
from tests.golden_trees import Node, empty_leaf, inner, leaf, tree_of

VALUES = ("a", "b", "c", "d", "e", "f")
SCHEMA = Schema((Attribute("x", "discrete", VALUES), Attribute("y", "discrete", VALUES[:4])), ("no", "yes"))


def subset(attribute: int, groups: str, *branches: Node) -> Node:
    """A test on groups of values, told as letters: "ab c f"."""
    subsets = [[VALUES.index(letter) + 1 for letter in group] for group in groups.split()]
    return inner("subset", attribute, *branches, subsets=subsets)


def groups_of(tree: Tree) -> list[str]:
    """The groups of each test, in preorder."""
    tests = np.flatnonzero(np.diff(tree.branch_start))
    maps = [(tree.value_map(node), len(tree.branches(node))) for node in tests]
    return [" ".join("".join(np.array(VALUES)[: len(m)][m == b]) for b in range(n)) for m, n in maps]


def struck_out(node: Node) -> Tree:
    """The tree without impossible values, which must be valid and predict as before."""
    before = tree_of(node, SCHEMA)
    after = without_impossible_values(before)
    validate_tree(after, SCHEMA)
    codes = [axis.ravel().astype(np.int32) for axis in np.mgrid[-1:6, -1:4]]
    cases = Table(SCHEMA, codes, np.zeros(len(codes[0]), np.int32))
    assert class_frequencies(after, cases).tolist() == class_frequencies(before, cases).tolist()
    return after


def low(**fields: int) -> Node:
    return leaf(2.0, 1.0, **fields)


def test_a_branch_without_possible_values_is_gone() -> None:
    below = subset(0, "a b cdef", low(), low(), empty_leaf(0, 4.0, 2.0))
    tree = struck_out(subset(0, "ab cd ef", below, low(), empty_leaf(0, 6.0, 3.0)))
    assert groups_of(tree) == ["ab cd ef", "a b"]
    assert tree.n_nodes == 6


def test_a_branch_keeps_the_values_that_are_possible() -> None:
    below = subset(0, "a b cdef", low(), low(), empty_leaf(0, 4.0, 2.0))
    tree = struck_out(subset(0, "abc d ef", below, low(), empty_leaf(0, 6.0, 3.0)))
    assert groups_of(tree) == ["abc d ef", "a b c"]
    assert tree.n_nodes == 7


def test_what_is_possible_depends_on_the_nearest_test_of_the_attribute_alone() -> None:
    lowest = subset(0, "a b cdef", low(), low(), empty_leaf(0, 4.0, 2.0))
    other = subset(1, "ab c d", lowest, low(), empty_leaf(0, 6.0, 3.0))
    beside = subset(0, "d e abcf", low(), low(), empty_leaf(0, 4.0, 2.0))
    tree = struck_out(subset(0, "abc def", other, beside))
    assert groups_of(tree) == ["abc def", "ab c d", "a b c", "d e f"]


def test_a_tree_without_such_values_is_left_as_it_is() -> None:
    tree = tree_of(subset(0, "ab cd ef", low(), low(), empty_leaf(0, 4.0, 2.0)), SCHEMA)
    assert without_impossible_values(tree) is tree


def test_5000_tests_below_each_other() -> None:
    node = low()
    for _ in range(2500):
        node = subset(0, "a b cdef", node, low(), empty_leaf(0, 1.0, 0.0))
        node = subset(1, "a b cd", node, low(), empty_leaf(0, 1.0, 0.0))
    tree = without_impossible_values(tree_of(node, SCHEMA))
    assert groups_of(tree) == ["a b cd", "a b cdef", *["a b", "a b"] * 2499]


def test_striking_values_out_is_not_simplifying() -> None:
    below = subset(0, "a b cdef", leaf(3.0, 0.0), leaf(0.0, 3.0), empty_leaf(0, 3.0, 3.0))
    before = tree_of(subset(0, "ab cd ef", below, leaf(2.0, 0.0), empty_leaf(0, 5.0, 3.0)), SCHEMA)
    after = without_impossible_values(before)
    assert "x in {c,d,e,f}: no (0.0)" in tree_text(before, SCHEMA)
    assert "x in {c,d,e,f}" not in tree_text(after, SCHEMA)
    assert "Simplified" not in trees_text(before, after, SCHEMA)
    assert "Simplified" in trees_text(before, tree_of(leaf(5.0, 3.0), SCHEMA), SCHEMA)
