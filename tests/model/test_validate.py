from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from c45gpu.data.schema import Attribute, Schema
from c45gpu.errors import ModelError
from c45gpu.model.tree import Tree
from c45gpu.model.validate import FIELD_TYPES, validate_tree
from tests.golden_trees import empty_leaf, inner, leaf, tree_of

SCHEMA = Schema(
    (
        Attribute("größe", "continuous"),
        Attribute("colour", "discrete", ("red", "green", "blue"), capacity=5),
        Attribute("note", "ignored"),
    ),
    ("no", "yes"),
    "answer",
)
GROUPS = inner("subset", 1, leaf(1.0, 0.0), leaf(0.0, 1.0), subsets=[[1], [3]])
UNPRUNED = inner(
    "threshold", 0, inner("discrete", 1, leaf(3.0, 1.0), empty_leaf(0, 3.0, 1.0), GROUPS), leaf(0.0, 2.0), cut=0.1
)


#       node   0 threshold   1 discrete   2 leaf   3 empty leaf   4 subset   5 leaf   6 leaf   7 leaf
FAULTS = {
    "its own child": ("branch", 0, 0, "node 0 is not followed by its first branch"),
    "a circle": ("branch", 4, 1, "not every node but the root is the branch of exactly one node"),
    "the same node twice": ("branch", 3, 2, "not every node but the root is the branch of exactly one node"),
    "a branch that there is not": ("branch", 5, 8, "node 4 is not followed by its first branch"),
    "a negative branch": ("branch", 5, -1, "node 4 is not followed by its first branch"),
    "a leaf with branches": ("kind", 0, 0, "node 0 is a leaf with branches"),
    "a threshold with three branches": ("kind", 1, 2, "node 1 has a threshold but not two branches"),
    "an unknown kind": ("kind", 2, 4, "node 2 is of no known kind"),
    "a negative kind": ("kind", 2, -1, "node 2 is of no known kind"),
    "an attribute that there is not": ("attribute", 0, 3, "node 0 tests an attribute that there is not"),
    "an attribute below none": ("attribute", 1, -2, "node 1 tests an attribute that there is not"),
    "a threshold without attribute": ("attribute", 0, -1, "node 0 tests an attribute that there is not"),
    "a leaf with an attribute": ("attribute", 2, 0, "node 2 is a leaf that tests an attribute"),
    "a threshold for a discrete attribute": (
        "attribute",
        0,
        1,
        "node 0 has a threshold for an attribute that is not continuous",
    ),
    "values of a continuous attribute": ("attribute", 1, 0, "node 1 has values for an attribute that is not discrete"),
    "an ignored attribute": ("attribute", 4, 2, "node 4 has values for an attribute that is not discrete"),
    "no threshold": ("threshold", 0, np.nan, "node 0 has no threshold"),
    "a threshold at a leaf": ("threshold", 2, 0.0, "node 2 has a threshold but no use for one"),
    "a label that there is not": ("label", 2, 2, "node 2 is labelled with a class that there is not"),
    "a negative label": ("label", 2, -1, "node 2 is labelled with a class that there is not"),
    "a negative weight": ("weight", 2, -1.0, "node 2 has a weight that is negative or not finite"),
    "a weight that is no number": ("weight", 2, np.nan, "node 2 has a weight that is negative or not finite"),
    "an infinite weight": ("weight", 2, np.inf, "node 2 has a weight that is negative or not finite"),
    "a test without weight": ("weight", 4, 0.0, "node 4 tests an attribute but has no weight"),
    "errors that are no number": ("errors", 0, np.nan, "node 0 has errors that are not finite"),
    "a negative class weight": (
        "class_weights",
        (2, 0),
        -1.0,
        "node 2 has a class weight that is negative or not finite",
    ),
    "a class weight that is no number": (
        "class_weights",
        (3, 1),
        np.nan,
        "node 3 has a class weight that is negative or not finite",
    ),
    "a value sent to a branch that there is not": ("value_branch", 5, 2, "node 4 maps a value to a wrong branch"),
    "a value sent below none": ("value_branch", 3, -2, "node 4 maps a value to a wrong branch"),
    "values of a discrete test out of order": ("value_branch", 0, 1, "node 1 maps a value to a wrong branch"),
    "starts that fall": ("branch_start", 1, 9, "branch_start does not rise from 0 to 7"),
    "starts that do not begin at 0": ("branch_start", 0, 1, "branch_start does not rise from 0 to 7"),
    "starts that do not end at the end": ("value_start", -1, 5, "value_start does not rise from 0 to 6"),
    "negative starts": ("value_start", 1, -1, "value_start does not rise from 0 to 6"),
}


def spoiled(name: str, place: Any, value: Any) -> Tree:
    tree = tree_of(UNPRUNED, SCHEMA)
    array = getattr(tree, name).copy()
    array[place] = value
    return replace(tree, **{name: array})


@pytest.mark.parametrize("fault", FAULTS)
def test_a_spoiled_tree_is_refused(fault: str) -> None:
    name, place, value, message = FAULTS[fault]
    with pytest.raises(ModelError, match=f"^{re.escape(message)}"):
        validate_tree(spoiled(name, place, value), SCHEMA)


def test_sound_trees_are_not_refused() -> None:
    for root in (UNPRUNED, GROUPS, leaf(0.0, 0.0)):
        validate_tree(tree_of(root, SCHEMA), SCHEMA)


def test_branches_out_of_preorder_are_refused() -> None:
    tree = tree_of(
        inner("threshold", 0, inner("threshold", 0, leaf(1.0, 0.0), leaf(0.0, 1.0), cut=0.0), leaf(1.0, 1.0), cut=1.0),
        SCHEMA,
    )
    assert tree.branch.tolist() == [1, 4, 2, 3]
    validate_tree(tree, SCHEMA)
    for branch in ([1, 3, 2, 4], [4, 1, 2, 3], [1, 2, 3, 4], [1, 4, 3, 2]):
        with pytest.raises(ModelError, match="branch"):
            validate_tree(replace(tree, branch=np.array(branch)), SCHEMA)


def test_too_many_values_and_values_at_a_threshold_are_refused() -> None:
    tree = tree_of(GROUPS, SCHEMA)
    longer = replace(
        tree,
        value_start=tree.value_start + np.array([0, 1, 1, 1]),
        value_branch=np.append(tree.value_branch, np.int32(0)),
    )
    with pytest.raises(ModelError, match="more values than its attribute has"):
        validate_tree(longer, SCHEMA)
    at_a_leaf = replace(tree, value_start=np.array([0, 2, 3, 3]))
    with pytest.raises(ModelError, match="not a test of values"):
        validate_tree(at_a_leaf, SCHEMA)


@pytest.mark.parametrize("name", FIELD_TYPES)
def test_fields_of_a_wrong_type_or_length_are_refused(name: str) -> None:
    tree = tree_of(UNPRUNED, SCHEMA)
    array = getattr(tree, name)
    for wrong in (array.astype(np.float32), array[None], np.concatenate([array, array])):
        with pytest.raises(ModelError):
            validate_tree(replace(tree, **{name: wrong}), SCHEMA)


def test_no_nodes_and_other_classes_are_refused() -> None:
    tree = tree_of(UNPRUNED, SCHEMA)
    empty = replace(tree, **{name: getattr(tree, name)[:0] for name in FIELD_TYPES})
    with pytest.raises(ModelError, match="no nodes"):
        validate_tree(empty, SCHEMA)
    with pytest.raises(ModelError, match="class_weights"):
        validate_tree(tree, replace(SCHEMA, classes=("no", "yes", "perhaps")))
