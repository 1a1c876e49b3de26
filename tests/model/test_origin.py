"""Which node of the tree as grown each node of the pruned tree is, held against what pruning did."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from c45gpu.data.table import Table
from c45gpu.induction import prune
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.origin import origin_of
from c45gpu.model.store import Model
from c45gpu.model.tree import LEAF, Tree
from tests.exchange.made import cases, deep_model, trained
from tests.golden_trees import inner, leaf, tree_of
from tests.strategies import Sample, larger_samples


def trained_and_told(table: Table, options: Options) -> tuple[Model, list[int]]:
    """A model, and the nodes that its pruning left, in the numbers of the tree as grown."""
    told: list[list[int]] = []
    subset = prune.subset

    def telling(tree: Tree, left: Any) -> Tree:
        told.append(np.flatnonzero(left).tolist())
        return subset(tree, left)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prune, "subset", telling)
        model = train(table, options, "reference")
    return model, told[-1]


@pytest.mark.parametrize("seed", range(8))
def test_it_finds_what_pruning_left(seed: int) -> None:
    table, confidence = cases(400, seed=seed), (0.25, 0.9)[seed % 2]
    model, left = trained_and_told(table, Options(min_cases=1, confidence=confidence))
    found = origin_of(model.unpruned, model.pruned)
    assert found.node.tolist() == left
    assert model.pruned.n_nodes < model.unpruned.n_nodes


@given(sample=larger_samples())
@settings(max_examples=15)
def test_the_nodes_that_it_finds_lie_as_in_the_pruned_tree(sample: Sample) -> None:
    model = train(sample.table, Options(min_cases=1), "reference")
    grown, pruned = model.unpruned, model.pruned
    node, place = origin_of(grown, pruned)
    tests = pruned.kind != LEAF
    for field in ("kind", "attribute", "threshold"):
        mine, theirs = getattr(pruned, field)[tests], getattr(grown, field)[node[tests]]
        assert np.array_equal(mine, theirs, equal_nan=field == "threshold")
    for p in np.flatnonzero(tests).tolist():
        assert place[pruned.branches(p)].tolist() == grown.branches(int(node[p])).tolist()
    assert ((place <= node) & (node < grown.end[place])).all()


def test_groups_of_values() -> None:
    model, left = trained_and_told(cases(400, seed=3), Options(min_cases=1, group_values=True))
    found = origin_of(model.unpruned, model.pruned).node.tolist()
    assert set(found) <= set(left)  # pruning leaves branches of impossible values, which are struck out
    assert found == sorted(set(found))


@pytest.mark.parametrize("prune", ["pep", "interval", "rep", "none"])
def test_cut_nodes_are_in_their_own_place(prune: Any) -> None:
    model = trained(min_cases=1, prune=prune)
    found = origin_of(model.unpruned, model.pruned)
    assert found.node.tolist() == found.place.tolist()
    kept = model.pruned.kind != LEAF
    assert (model.unpruned.kind[found.node[kept]] == model.pruned.kind[kept]).all()
    assert np.array_equal(model.unpruned.attribute[found.node[kept]], model.pruned.attribute[kept])


def test_a_raised_branch_by_hand() -> None:
    model = deep_model(3)
    low = inner("threshold", 0, leaf(1.0, 0.0), leaf(0.0, 1.0), cut=1.0)
    high = inner("threshold", 0, leaf(1.0, 0.0), leaf(0.0, 1.0), cut=7.0)
    grown = tree_of(inner("threshold", 0, low, high, cut=4.0), model.schema)
    found = origin_of(grown, tree_of(high, model.schema))
    assert found.node.tolist() == [4, 5, 6]
    assert found.place.tolist() == [0, 5, 6]
    with pytest.raises(ValueError, match="node 0 of the pruned tree is not in the tree as grown"):
        origin_of(tree_of(low, model.schema), tree_of(high, model.schema))


def test_a_deep_tree() -> None:
    tree = deep_model(5000).pruned
    assert origin_of(tree, tree).node.tolist() == list(range(10_001))
