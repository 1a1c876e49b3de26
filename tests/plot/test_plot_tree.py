"""Trees as pictures: what stands where, and that nothing covers anything else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c45gpu.data.c45files import read_stem
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import OptionError
from c45gpu.induction.train import train
from c45gpu.model.parts import shares_in_parts
from c45gpu.model.predict import leaf_shares
from c45gpu.model.store import Model
from c45gpu.plot import plot_tree
from c45gpu.plot.layout import GAP_ACROSS, GAP_OF_LINES, part_of, place
from tests.exchange.made import MODELS, cases, deep_model, made, random_model, trained
from tests.golden_trees import empty_leaf, inner, leaf, read_golden
from tests.plot.extents import boxes, require_no_overlap, words_on

NAMES = ("an attribute whose name goes on and on and on without an end", "$x_1^2$ \\frac", "I")


def many_ways(seed: int) -> Model:
    """Nodes of up to 40 branches with names of all lengths, some of them empty."""
    chance = np.random.default_rng(seed)
    values = tuple(f"{v} " + "wide value " * int(chance.integers(0, 5)) for v in range(int(chance.integers(3, 40))))
    attributes = (Attribute(NAMES[seed % 3], "discrete", values), Attribute("height", "continuous"))
    schema = Schema((*attributes, Attribute("flag", "discrete", ("y", "n" * 60))), ("one", "a class of " + "some " * 9))
    leaves = [leaf(float(chance.integers(1, 9)), float(chance.integers(0, 3))) for _ in values]
    leaves[0] = empty_leaf(1, 3.0, 4.0)
    leaves[1] = inner("threshold", 1, leaf(1e6, 1e5), inner("discrete", 2, leaf(1.0, 0.0), leaf(0.25, 1.0)), cut=1e-17)
    groups = [[v + 1 for v in range(len(values)) if v % 3 == g] for g in range(3)]
    grouped = inner("subset", 0, leaf(1.0, 0.0), leaves[1], leaf(0.0, 9.0), subsets=groups)
    return made(inner("threshold", 1, inner("discrete", 0, *leaves), grouped, cut=3.5), schema)


def lines_of(ax: Any, node: int) -> list[str]:
    return [text.get_label() for text in words_on(ax) if text.get_gid() == f"node {node}"]


def labels_of(ax: Any) -> list[str]:
    return [text.get_label() for text in words_on(ax) if (text.get_gid() or "").startswith("branch")]


@pytest.mark.parametrize("orientation", ["down", "right"])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_overlaps_in_many_way_trees(seed: int, orientation: str) -> None:
    require_no_overlap(plot_tree(many_ways(seed), orientation=orientation))


@pytest.mark.parametrize("name", sorted(MODELS))
def test_nothing_overlaps_in_any_tree(name: str) -> None:
    model = MODELS[name]()
    require_no_overlap(plot_tree(model, cases=cases(200)))
    require_no_overlap(plot_tree(model, unpruned=True, max_depth=2, orientation="down", font_size=5))


def test_nothing_overlaps_in_axes_that_are_too_small() -> None:
    from matplotlib import pyplot

    figure, (ax, beside) = pyplot.subplots(1, 2, figsize=(4, 3))
    assert plot_tree(random_model(6), ax, max_depth=2) is ax
    require_no_overlap(ax)
    assert words_on(beside) == []
    assert figure.get_size_inches().tolist() == [4, 3]


def test_nothing_overlaps_in_trees_of_the_original(golden: Path) -> None:
    for name in ("r8_golf", "r8_vote"):
        found = read_golden(golden / "sets" / f"{name}.json")
        model = Model(found.schema, found.unpruned, found.pruned, {"compat": None}, {})
        require_no_overlap(plot_tree(model, unpruned=True))
        require_no_overlap(plot_tree(model))


def test_what_a_node_says(examples: Path) -> None:
    table, _ = read_stem(examples / "penguins")
    ax = plot_tree(train(table), cases=table)
    assert lines_of(ax, 0) == ["flipper_length_mm", "344 cases"]
    assert lines_of(ax, 2) == ["bill_length_mm", "150.9 cases"]
    assert lines_of(ax, 14) == ["Adelie", "1.4 cases", "27 % in parts"]
    assert labels_of(ax)[:4] == ["≤ 206", "≤ 43.3", "≤ 42.3", "> 42.3"]
    assert [text.get_label() for text in words_on(ax) if text.get_gid() is None][:3] == [
        "Adelie",
        "Chinstrap",
        "Gentoo",
    ]


def test_branches_without_cases_are_dashed() -> None:
    ax = plot_tree(many_ways(0), orientation="right")
    dashed = [patch.get_linestyle() for patch in ax.patches if hasattr(patch, "get_boxstyle")]
    assert [i for i, style in enumerate(dashed) if style == "--"] == [2]
    assert lines_of(ax, 2)[1:] == ["no case"]


def test_purer_nodes_have_stronger_colours() -> None:
    schema = Schema((Attribute("height", "continuous"),), ("one", "other"))
    below = inner("threshold", 0, leaf(9.0, 0.0), leaf(7.0, 2.0), cut=1.0)
    ax = plot_tree(made(inner("threshold", 0, below, leaf(0.0, 4.0), cut=2.0), schema))
    faces = [patch.get_facecolor() for patch in ax.patches if hasattr(patch, "get_boxstyle")]
    mixed, purer, pure, less, other = (sum(face[:3]) for face in faces)
    assert mixed > less > purer > pure
    assert faces[4] != faces[2]
    assert other < mixed


def test_soft_thresholds_show_their_bounds() -> None:
    ax = plot_tree(trained(soft_thresholds=True))
    assert any("[" in label and label.startswith("≤") for label in labels_of(ax))


def test_deeper_nodes_are_left_out() -> None:
    model = trained(min_cases=1)
    tree = model.pruned
    ax = plot_tree(model, max_depth=1)
    (last,) = [branch for branch in tree.branches(0).tolist() if branch != 1]
    assert len(boxes(ax)) == 3
    assert lines_of(ax, 1) == ["(…)", f"{tree.weight[1]:.1f} cases, {tree.end[1] - 2} nodes"]
    left_out = int(tree.end[1] - 2 + tree.end[last] - last - 1)
    assert f"(…): more below, {left_out} nodes in all" in [text.get_label() for text in words_on(ax)]
    assert len(boxes(plot_tree(model, max_depth=0))) == 1
    assert lines_of(plot_tree(model, max_depth=0), 0)[0] == "(…)"


def test_a_deep_tree_is_cut_and_can_be_placed_whole() -> None:
    tree = deep_model(5000).pruned
    assert len(boxes(plot_tree(deep_model(5000)))) == 299
    part = part_of(tree, None, 20_000)
    assert part.nodes.tolist() == list(range(10_001))
    room = np.full((10_001, 2), 10.0)
    places = place(part, room, room)
    assert places.size == (5001 * 10.0 + 5000 * GAP_ACROSS, 5001 * 20.0 + 5000 * GAP_OF_LINES)
    assert len(set(zip(places.centre.tolist(), places.box.tolist(), strict=True))) == 10_001


def test_shares_in_parts_by_hand() -> None:
    schema = Schema((Attribute("height", "continuous"), Attribute("flag", "discrete", ("y", "n"))), ("a", "b"))
    below = inner("discrete", 1, leaf(3.0, 0.0), leaf(0.0, 1.0))
    model = made(inner("threshold", 0, below, leaf(0.0, 4.0), cut=2.0), schema)
    nan = float("nan")
    columns = [np.array([1.0, 1.0, nan, 5.0]), np.array([0, -1, 0, 1], np.int32)]
    table = Table(schema, columns, np.zeros(4, np.int32), np.array([2.0, 1.0, 2.0, 1.0]))
    # case 1 is whole at node 1 and in parts (3/4, 1/4) below; half of case 2 is at node 1
    wanted = [0, 1 / 4, 1.75 / 3.75, 1, 1 / 2]
    assert shares_in_parts(model.pruned, table).tolist() == pytest.approx(wanted, abs=1e-15)


@pytest.mark.parametrize("seed", [1, 2])
def test_shares_in_parts_case_by_case(seed: int) -> None:
    tree, table = random_model(6).pruned, cases(60, seed=seed, unknown=0.4)
    found = leaf_shares(tree, table)
    total, parts = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    for case in range(table.n_cases):
        share = np.zeros(tree.n_nodes)
        for leaf_of, s in zip(found.leaves[found.cases == case], found.shares[found.cases == case], strict=True):
            node = int(leaf_of)
            while node >= 0:
                share[node] += s
                node = int(tree.parent[node])
        total += share
        parts += np.where(share < 1 - 1e-9, share, 0)
    wanted = np.divide(parts, total, out=np.zeros(len(total)), where=total > 0)
    assert np.abs(shares_in_parts(tree, table) - wanted).max() < 1e-9


def test_refusals() -> None:
    with pytest.raises(OptionError, match="max_depth=-1 will not do: give 0 or more"):
        plot_tree(trained(), max_depth=-1)
    with pytest.raises(OptionError, match="give 'auto', 'down' or 'right'"):
        plot_tree(trained(), orientation="up")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="font_size=0 will not do"):
        plot_tree(trained(), font_size=0)
    with pytest.raises(OptionError, match="str holds no tree"):
        plot_tree("penguins.c45")


def test_without_matplotlib() -> None:
    code = """
import sys
sys.modules["matplotlib"] = None
from c45gpu.plot import plot_tree
from tests.exchange.made import made, leaf
plot_tree(made(leaf(1.0, 3.0, 0.5)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith("c45gpu.errors.MissingPackageError: this needs matplotlib (")
    assert done.stderr.endswith("): pip install 'c45gpu[plot]'\n")


def test_importing_it_does_not_load_matplotlib() -> None:
    code = "import c45gpu.plot, sys; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
