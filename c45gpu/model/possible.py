"""Values that cannot occur where a tree asks for them (specification section 7, item 8).

A test on groups of values has a last branch for values that no case of the node has. Below another such test of the
attribute many of them cannot come there at all, so they are struck out, and the branch if none is left.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from c45gpu.model.tree import SUBSET, Tree, ranges

NO_BRANCH = -1


def without_impossible_values(tree: Tree) -> Tree:
    """The tree whose tests on groups map only possible values to their last branches; the tree itself if all do."""
    value_branch = tree.value_branch.copy()
    alive = np.ones(tree.n_nodes, np.bool_)
    above: dict[int, list[int]] = {}  # for each attribute the tests on groups that a node is below, the nearest last
    for node in np.flatnonzero(tree.kind == SUBSET).tolist():
        path = above.setdefault(int(tree.attribute[node]), [])
        while path and tree.end[path[-1]] <= node:
            path.pop()
        here, branches = _map_of(tree, value_branch, node), tree.branches(node)
        last = here == len(branches) - 1
        if path:
            taken = np.searchsorted(tree.branches(path[-1]), node, side="right") - 1
            last &= _map_of(tree, value_branch, path[-1]) != taken
            here[last] = NO_BRANCH
            if not (here == len(branches) - 1).any():
                alive[branches[-1] : tree.end[branches[-1]]] = False
        path.append(node)
    changed = replace(tree, value_branch=value_branch)
    return tree if alive.all() and np.array_equal(value_branch, tree.value_branch) else _living(changed, alive)


def _map_of(tree: Tree, value_branch: npt.NDArray[np.int32], node: int) -> npt.NDArray[np.int32]:
    """A part of the array, to be changed."""
    return value_branch[tree.value_start[node] : tree.value_start[node + 1]]


def _living(tree: Tree, alive: npt.NDArray[np.bool_]) -> Tree:
    """Only the living nodes of a tree; branches that are dead are last ones."""
    number, kept = np.cumsum(alive) - 1, np.flatnonzero(alive)
    living = alive[tree.branch]
    before = np.concatenate([[0], np.cumsum(living)])[tree.branch_start]
    n_branches = before[1:] - before[:-1]
    first = tree.branch_start[kept]
    value_first, value_stop = tree.value_start[kept], tree.value_start[kept + 1]
    return replace(
        tree,
        kind=tree.kind[kept],
        attribute=tree.attribute[kept],
        threshold=tree.threshold[kept],
        branch_start=np.concatenate([[0], np.cumsum(n_branches[kept])]),
        branch=number[tree.branch[ranges(first, first + n_branches[kept])]],
        value_start=np.concatenate([[0], np.cumsum(value_stop - value_first)]),
        value_branch=tree.value_branch[ranges(value_first, value_stop)],
        label=tree.label[kept],
        weight=tree.weight[kept],
        errors=tree.errors[kept],
        class_weights=tree.class_weights[kept],
    )
