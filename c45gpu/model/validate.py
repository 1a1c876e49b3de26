"""Whether eleven arrays are a tree: what must hold before one that came from outside is walked.

Each check may count on those before it, so none indexes out of an array or goes round in a circle.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema
from c45gpu.errors import ModelError
from c45gpu.model.tree import DISCRETE, LEAF, SUBSET, THRESHOLD, Tree

FIELD_TYPES: Final[dict[str, np.dtype[Any]]] = {
    "kind": np.dtype(np.int8),
    "attribute": np.dtype(np.int32),
    "threshold": np.dtype(np.float64),
    "branch_start": np.dtype(np.int64),
    "branch": np.dtype(np.int64),
    "value_start": np.dtype(np.int64),
    "value_branch": np.dtype(np.int32),
    "label": np.dtype(np.int32),
    "weight": np.dtype(np.float64),
    "errors": np.dtype(np.float64),
    "class_weights": np.dtype(np.float64),
}


def validate_tree(tree: Tree, schema: Schema) -> None:
    """Refuse arrays that are not a tree over the schema's attributes and classes.

    Parameters
    ----------
    tree : Tree
    schema : Schema

    Raises
    ------
    ModelError
        Naming the first field or node at fault: a wrong type or length, branches that do not make a tree in preorder,
        a test that does not fit its attribute, a number out of range, a weight that is negative or not finite.
    """
    _check_arrays(tree, schema)
    _check_numbers(tree)
    _check_branches(tree)
    _check_tests(tree, schema)
    _check_value_maps(tree, schema)


def _check_arrays(tree: Tree, schema: Schema) -> None:
    n = tree.kind.size
    if n == 0:
        raise ModelError("the tree has no nodes")
    shapes: dict[str, tuple[int, ...]] = {"branch_start": (n + 1,), "branch": (n - 1,), "value_start": (n + 1,)}
    shapes |= {"value_branch": (tree.value_branch.size,), "class_weights": (n, schema.n_classes)}
    for name, dtype in FIELD_TYPES.items():
        array: npt.NDArray[Any] = getattr(tree, name)
        shape = shapes.get(name, (n,))
        if array.dtype != dtype or array.shape != shape:
            raise ModelError(f"{name} is {array.dtype} of shape {array.shape}, not {dtype} of shape {shape}")
    for name, last in (("branch_start", n - 1), ("value_start", tree.value_branch.size)):
        starts: npt.NDArray[np.int64] = getattr(tree, name)
        if starts[0] != 0 or starts[-1] != last or (starts[1:] < starts[:-1]).any():
            raise ModelError(f"{name} does not rise from 0 to {last}")


def _check_numbers(tree: Tree) -> None:
    for name, weights in (("weight", tree.weight[:, None]), ("class weight", tree.class_weights)):
        sound = np.isfinite(weights) & (weights >= 0)
        _refuse_first(np.flatnonzero(~sound.all(axis=1)), f"has a {name} that is negative or not finite")
    _refuse(~np.isfinite(tree.errors), "has errors that are not finite")
    _refuse((tree.label < 0) | (tree.label >= tree.n_classes), "is labelled with a class that there is not")
    _refuse((tree.kind < LEAF) | (tree.kind > SUBSET), "is of no known kind")
    _refuse((tree.kind != LEAF) & (tree.weight <= 0), "tests an attribute but has no weight")


def _check_branches(tree: Tree) -> None:
    """Preorder: the first branch follows its node, each further one follows the subtree of the branch before it."""
    counts = np.diff(tree.branch_start)
    _refuse((tree.kind == LEAF) & (counts > 0), "is a leaf with branches")
    _refuse((tree.kind == THRESHOLD) & (counts != 2), "has a threshold but not two branches")
    inner = np.flatnonzero(tree.kind != LEAF)
    _refuse((tree.kind != LEAF) & (counts == 0), "has no branches")
    out_of_order = np.zeros(tree.n_nodes, bool)
    out_of_order[inner] = tree.branch[tree.branch_start[inner]] != inner + 1
    _refuse(out_of_order, "is not followed by its first branch")
    if not np.array_equal(np.sort(tree.branch), np.arange(1, tree.n_nodes)):
        raise ModelError("not every node but the root is the branch of exactly one node")
    owner = np.repeat(np.arange(tree.n_nodes), counts)
    same = np.flatnonzero(owner[1:] == owner[:-1])
    # ascending branches make every parent lower than its branches: no circle, so `tree.end` comes to an end
    falling = same[tree.branch[same + 1] <= tree.branch[same]]
    torn = falling if len(falling) else same[tree.branch[same + 1] != tree.end[tree.branch[same]]]
    if len(torn):
        raise ModelError(f"node {owner[torn[0]]} has branches that are not in preorder")


def _check_tests(tree: Tree, schema: Schema) -> None:
    leaf, attribute = tree.kind == LEAF, tree.attribute
    _refuse(leaf & (attribute != -1), "is a leaf that tests an attribute")
    _refuse(~leaf & ((attribute < 0) | (attribute >= len(schema.attributes))), "tests an attribute that there is not")
    continuous = np.array([a.kind == "continuous" for a in schema.attributes] + [False])  # the last is a leaf's, -1
    discrete = np.array([a.kind == "discrete" for a in schema.attributes] + [False])
    thresholds = tree.kind == THRESHOLD
    _refuse(thresholds & ~continuous[attribute], "has a threshold for an attribute that is not continuous")
    _refuse(~thresholds & ~leaf & ~discrete[attribute], "has values for an attribute that is not discrete")
    _refuse(thresholds & np.isnan(tree.threshold), "has no threshold")
    _refuse(~thresholds & ~np.isnan(tree.threshold), "has a threshold but no use for one")


def _check_value_maps(tree: Tree, schema: Schema) -> None:
    counts, lengths = np.diff(tree.branch_start), np.diff(tree.value_start)
    by_value = (tree.kind == DISCRETE) | (tree.kind == SUBSET)
    declared = np.array([len(a.values) for a in schema.attributes] + [0])[tree.attribute]
    _refuse(~by_value & (lengths > 0), "maps values but is not a test of values")
    _refuse(by_value & (lengths > declared), "maps more values than its attribute has")
    _refuse((tree.kind == DISCRETE) & (lengths != counts), "has not one branch for each value")
    owner = np.repeat(np.arange(tree.n_nodes), lengths)
    branch = tree.value_branch
    code = np.arange(len(branch)) - tree.value_start[owner]
    wrong = (branch < -1) | (branch >= counts[owner]) | ((tree.kind[owner] == DISCRETE) & (branch != code))
    _refuse_first(owner[wrong], "maps a value to a wrong branch")


def _refuse(faulty: npt.NDArray[np.bool_], what: str) -> None:
    _refuse_first(np.flatnonzero(faulty), what)


def _refuse_first(faulty: npt.NDArray[np.int64], what: str) -> None:
    if len(faulty):
        raise ModelError(f"node {faulty[0]} {what}")
