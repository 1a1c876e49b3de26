"""Both trees side by side, and what is marked in them."""

from __future__ import annotations

from typing import Any

from c45gpu.model.tree import LEAF
from c45gpu.plot import plot_pruning
from tests.exchange.made import MODELS, made, trained
from tests.golden_trees import inner, leaf, tree_of
from tests.plot.extents import require_no_overlap, words_on


def marked(ax: Any, words: str) -> list[int]:
    return [int(text.get_gid().split()[1]) for text in words_on(ax) if text.get_label() == words]


def opacities(ax: Any) -> list[float]:
    return [patch.get_alpha() for patch in ax.patches if hasattr(patch, "get_boxstyle")]


def test_nothing_overlaps() -> None:
    left, right = plot_pruning(MODELS["trained"]())
    assert left.get_figure() is right.get_figure()
    require_no_overlap(left)
    require_no_overlap(right)
    assert left.get_window_extent().x1 < right.get_window_extent().x0


def test_a_cut_and_a_raised_node_are_marked() -> None:
    schema = made(leaf(1.0, 0.0, 0.0)).schema
    bottom = inner("threshold", 3, leaf(1.0, 0.0, 0.0), leaf(0.0, 9.0, 0.0), cut=1.0)
    raised = inner("discrete", 4, leaf(5.0, 0.0, 0.0), bottom)
    grown = inner(
        "threshold", 0, inner("threshold", 0, leaf(1.0, 0.0, 0.0), raised, cut=1.0), leaf(1.0, 0.0, 0.0), cut=4.0
    )
    cut = inner("discrete", 4, leaf(6.0, 0.0, 0.0), leaf(1.0, 9.0, 0.0))
    pruned = inner("threshold", 0, cut, leaf(1.0, 0.0, 0.0), cut=4.0)
    model = made(grown)
    model = type(model)(schema, tree_of(grown, schema), tree_of(pruned, schema), {}, {})
    left, right = plot_pruning(model)
    assert (marked(left, "raised"), marked(left, "cut to a leaf")) == ([3], [5])
    assert (marked(right, "raised"), marked(right, "cut to a leaf")) == ([1], [3])
    assert [opacity < 1 for opacity in opacities(left)] == [False, True, True, False, False, False, True, True, False]
    assert all(opacity == 1 for opacity in opacities(right))
    titles = [text.get_label() for ax in (left, right) for text in words_on(ax)[:1]]
    assert titles == ["as grown: 9 nodes, 5 leaves", "pruned: 5 nodes, 3 leaves"]


def test_a_tree_that_is_cut_at_the_root() -> None:
    model = trained(min_cases=1)
    alone = tree_of(leaf(9.0, 1.0, 0.0), model.schema)
    left, right = plot_pruning(type(model)(model.schema, model.unpruned, alone, {}, {}), max_depth=3)
    assert model.unpruned.kind[0] != LEAF
    assert (marked(left, "cut to a leaf"), marked(right, "cut to a leaf")) == ([0], [0])
    assert words_on(right)[0].get_label() == "pruned: 1 node, 1 leaf"


def test_axes_of_ones_own() -> None:
    from matplotlib import pyplot

    axes = pyplot.subplots(1, 2)[1]
    assert plot_pruning(trained(min_cases=1), axes, max_depth=1) == tuple(axes)
