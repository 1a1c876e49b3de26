"""Gains over all thresholds, held against the tree and the engine that grew it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from c45gpu.choose import NO_TEST
from c45gpu.data.c45files import read_stem
from c45gpu.errors import OptionError
from c45gpu.formulas import log2_of
from c45gpu.induction.gain_scan import gain_scan
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.train import train
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.predict import leaf_shares
from c45gpu.model.tree import LEAF, THRESHOLD
from tests.exchange.made import cases, trained
from tests.strategies import Sample, larger_samples


@pytest.mark.parametrize(
    "options", [Options(min_cases=1), Options(criterion="gain", compat="r8"), Options(prune="rep")]
)
@given(sample=larger_samples())
@settings(max_examples=8)
def test_every_threshold_of_the_tree_is_the_best_of_its_scan(options: Options, sample: Sample) -> None:
    model = train(sample.table, options, "reference")
    for node in np.flatnonzero(model.unpruned.kind == THRESHOLD).tolist():
        scan = gain_scan(model, sample.table, int(model.unpruned.attribute[node]), node, unpruned=True)
        assert scan.best == scan.chosen != -1
        assert scan.thresholds[scan.chosen] == model.unpruned.threshold[node]
        assert scan.gain[scan.tried].max() == scan.gain[scan.best]
        assert scan.tried[scan.best]


@pytest.mark.parametrize("criterion", ["gain_ratio", "gini", "chi2"])
def test_the_root_as_the_engine_scores_it(criterion: str) -> None:
    table = cases(500, seed=3, unknown=0.05)
    options = Options(criterion=criterion)  # type: ignore[arg-type]
    model, problem = train(table, options, "reference"), pose(table, options)
    engine = ReferenceEngine()
    engine.load(problem)
    found = engine.score(0, 1)
    for position, attribute in enumerate(problem.used):
        if table.schema.attributes[attribute].kind != "continuous":
            continue
        scan = gain_scan(model, table, attribute)
        assert scan.tried.sum() == found.tries[0, position]
        weight = int(problem.units.sum())
        scaled = found.gain[0, position] / problem.settings.scale
        assert criterion == "chi2" or scan.gain[scan.best] == pytest.approx(scaled / weight, rel=1e-12)
        paid = log2_of(int(found.tries[0, position])) / table.n_cases
        assert scan.cost == pytest.approx(paid if criterion == "gain_ratio" else 0.0, abs=1e-13)
        assert np.isnan(scan.ratio).all() == (criterion != "gain_ratio")
        assert engine.choose(found, np.array([weight]))[0] != NO_TEST
    assert scan.values.tolist() == sorted(scan.values.tolist())


def test_by_hand(tmp_path: Path) -> None:
    """Four cases, the classes of which 2.5 tells apart."""
    (tmp_path / "s.names").write_text("a, b.\nx: continuous.\n")
    (tmp_path / "s.data").write_text("1,a\n2,a\n3,b\n4,b\n")
    table, _ = read_stem(tmp_path / "s")
    scan = gain_scan(train(table, Options(min_cases=1)), table, 0)
    assert scan.thresholds.tolist() == [1.0, 2.0, 3.0]
    outer = 1 - 0.75 * (np.log2(3) - 2 / 3)
    assert scan.gain.tolist() == pytest.approx([outer, 1.0, outer], abs=1e-14)
    assert scan.cost == pytest.approx(np.log2(3) / 4, abs=1e-13)
    assert scan.ratio.tolist()[1] == pytest.approx(1 - np.log2(3) / 4, abs=1e-14)
    assert np.isnan(scan.ratio[[0, 2]]).all()
    assert (scan.best, scan.chosen, scan.tried.tolist()) == (1, 1, [True] * 3)
    assert (scan.values.tolist(), scan.classes.tolist()) == ([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1])
    few = gain_scan(train(table, Options(min_cases=2)), table, 0)
    assert few.tried.tolist() == [False, True, False]
    assert few.cost == 0.0


def test_costs_weigh_the_classes(examples: Path) -> None:
    table, _ = read_stem(examples / "penguins")
    two = replace(table.schema, classes=("Adelie", "other"))
    table = replace(table, schema=two, classes=np.minimum(table.classes, 1))
    model = train(table, Options(), "reference", costs=[[0, 9], [1, 0]])
    scan = gain_scan(model, table, int(model.unpruned.attribute[0]), unpruned=True)
    assert scan.thresholds[scan.best] == model.unpruned.threshold[0]
    plain = gain_scan(train(table, Options(), "reference"), table, int(model.unpruned.attribute[0]))
    assert plain.gain[scan.best] != scan.gain[scan.best]


def test_refusals() -> None:
    model, table = trained(min_cases=1), cases(800, seed=0)
    with pytest.raises(OptionError, match="the tree has nodes 0 to"):
        gain_scan(model, table, 0, model.pruned.n_nodes)
    with pytest.raises(OptionError, match="is discrete and has no thresholds: give a continuous one"):
        gain_scan(model, table, 1)
    few = table.take(np.arange(2))
    leaves = np.flatnonzero(model.unpruned.kind == LEAF)
    empty = int(np.setdiff1d(leaves, leaf_shares(model.unpruned, few).leaves)[0])
    with pytest.raises(OptionError, match=f"no training case is at node {empty}: give another node"):
        gain_scan(model, few, 0, empty, unpruned=True)
