"""Importances, confusion and gains as figures: what is drawn is what the package says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c45gpu import C45Classifier, C45Rules
from c45gpu.data.c45files import read_stem
from c45gpu.data.table import Table
from c45gpu.errors import DataError, OptionError
from c45gpu.induction.gain_scan import gain_scan
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.evaluate import evaluate
from c45gpu.model.importance import importances
from c45gpu.model.predict import class_frequencies
from c45gpu.model.store import Model
from c45gpu.plot import plot_confusion, plot_gain_scan, plot_importances, plot_tree


@pytest.fixture(scope="module")
def table(examples: Path) -> Table:
    return read_stem(examples / "penguins")[0]


@pytest.fixture(scope="module")
def model(table: Table) -> Model:
    return train(table, Options(min_cases=1), "reference")


def numbers(size: int = 60) -> tuple[Any, Any]:
    chance = np.random.default_rng(1)
    X = chance.normal(size=(size, 3))
    return X, np.where(X[:, 1] > 0.2, "high $1", "low")


@pytest.mark.parametrize("kind", ["gain", "count"])
def test_importances(model: Model, kind: Any) -> None:
    ax = plot_importances(model, kind, most=4)
    told = importances(model.pruned, 7, kind)
    names = [label.get_text() for label in ax.get_yticklabels()]
    of_name = {a.name: value for a, value in zip(model.schema.attributes, told.tolist(), strict=True)}
    assert [bar.get_width() for bar in ax.patches] == sorted(told.tolist(), reverse=True)[:4]
    assert [of_name[name] for name in names] == [bar.get_width() for bar in ax.patches]
    assert ax.get_title(loc="left") == "3 less important attributes left out"


def test_importances_of_the_tree_as_grown(model: Model) -> None:
    grown = plot_importances(model, "count", unpruned=True)
    told = importances(model.unpruned, 7, "count")
    assert [bar.get_width() for bar in grown.patches] == sorted(told.tolist(), reverse=True)


def test_confusion_of_cases_and_of_an_evaluation(model: Model, table: Table) -> None:
    found = evaluate(model.pruned, table.classes, class_frequencies(model.pruned, table))
    of_cases, of_evaluation = plot_confusion(model, table), plot_confusion(model, found)
    told = [[(text.get_position(), text.get_text()) for text in ax.texts] for ax in (of_cases, of_evaluation)]
    assert told[0] == told[1]
    wanted = {(j, i): f"{w:g}" for i, row in enumerate(found.confusion.tolist()) for j, w in enumerate(row) if w}
    assert dict(told[0]) == wanted
    assert of_cases.get_title() == f"{found.errors:g} of 344 wrong ({found.error_percent:.1f} %)"


def test_classifiers_and_labels() -> None:
    X, y = numbers()
    classifier = C45Classifier().fit(X, y)
    right = {(0, 0): str(int((y == "high $1").sum())), (1, 1): str(int((y == "low").sum()))}
    ax = plot_confusion(classifier, X, y)
    assert {text.get_position(): text.get_text() for text in ax.texts} == right
    heavy = plot_confusion(classifier, X, y, weights=np.full(len(y), 2.5))
    assert heavy.get_title() == "0 of 150 wrong (0.0 %)"
    with pytest.raises(DataError, match="'middle' is not one of the classes"):
        plot_confusion(classifier, X, np.where(y == "low", "middle", y))
    with pytest.raises(DataError, match="59 classes for 60 cases: give as many"):
        plot_confusion(classifier, X, y[1:])
    with pytest.raises(OptionError, match="the cases have no classes: give y"):
        plot_confusion(classifier, X)


def test_rules_have_a_tree_and_no_confusion_of_it() -> None:
    X, y = numbers()
    rules = C45Rules().fit(X, y)
    assert plot_tree(rules) is not plot_importances(rules)
    with pytest.raises(OptionError, match="this answers by rules, not by a tree"):
        plot_confusion(rules, X, y)


def test_gain_scan_draws_the_scan(model: Model, table: Table) -> None:
    cases, gain, ratio = plot_gain_scan(model, table, attribute="bill_length_mm", node=1, unpruned=True)
    attribute = [a.name for a in model.schema.attributes].index("bill_length_mm")
    scan = gain_scan(model, table, attribute, 1, unpruned=True)
    for ax, values in ((gain, scan.gain), (ratio, scan.ratio)):
        assert np.array_equal(ax.lines[0].get_xdata(), scan.thresholds)
        assert np.array_equal(ax.lines[0].get_ydata(), values, equal_nan=True)
    assert gain.lines[1].get_ydata() == [scan.cost, scan.cost]
    threshold = model.unpruned.threshold[1]
    assert [ax.lines[-1].get_xdata()[0] for ax in (cases, gain, ratio)] == [threshold] * 3
    ticks = sorted(x for row in cases.collections for x in row.get_positions())
    assert ticks == scan.values.tolist()
    assert cases.get_title(loc="left").startswith(f"chosen: ≤ {threshold:g}, gain {scan.gain[scan.chosen]:.3f} - cost")
    assert any(f"log2({scan.tried.sum()} thresholds) / cases = {scan.cost:.3f}" in t.get_text() for t in gain.texts)


def test_gain_scan_of_an_attribute_that_is_not_tested(model: Model, table: Table) -> None:
    title = plot_gain_scan(model, table, attribute="body_mass_g")[0].get_title(loc="left")
    assert title.startswith("best, not chosen: ≤ ")
    pure = int(np.flatnonzero((model.pruned.weight > 0) & (model.pruned.weight < 2))[0])
    with pytest.raises(OptionError, match="has no two known values at node"):
        plot_gain_scan(model, table, attribute="year", node=pure)
    small = train(table, Options(min_cases=200), "reference")
    found = plot_gain_scan(small, table, attribute="year")[0].get_title(loc="left")
    assert found == "no threshold can be taken here"


def test_gain_scan_by_another_measure(table: Table) -> None:
    model = train(table, Options(criterion="gini"), "reference")
    gain = plot_gain_scan(model, table, attribute="flipper_length_mm")[1]
    assert gain.get_ylabel() == "gain (Gini impurity)"
    assert not any("cost" in text.get_text() for text in gain.texts)


def test_gain_scan_refusals() -> None:
    X, y = numbers()
    classifier = C45Classifier().fit(X, y)
    assert len(plot_gain_scan(classifier, X, y, 1)) == 3
    with pytest.raises(OptionError, match="there is no attribute 'z': give one of "):
        plot_gain_scan(classifier, X, y, "z")
    with pytest.raises(OptionError, match="attribute=3 will not do: there are 3, from 0 on"):
        plot_gain_scan(classifier, X, y, 3)
