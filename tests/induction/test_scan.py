from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from c45gpu import Options, train
from c45gpu.data.c45files import read_cases, read_names
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.scan import Scanner
from c45gpu.model.tree import LEAF, THRESHOLD
from tests.strategies import Sample, larger_samples

CHOICES = [
    Options(),
    Options(criterion="gain"),
    Options(criterion="gini"),
    Options(criterion="chi2"),
    Options(compat="r8"),
]


def penguins(examples: Path) -> Table:
    return read_cases(examples / "penguins.data", read_names(examples / "penguins.names"))


def check_tests_come_back(table: Table, options: Options) -> int:
    """Scan every node of the tree as grown; returns how many had tests."""
    tree, scanner = train(table, options).unpruned, Scanner(table, options)
    scanned = {}
    for node, at_node in scanner.cases(tree, np.arange(tree.n_nodes)):
        weight = at_node.units.sum() / scanner.problem.settings.case_units
        assert weight == tree.weight[node]
        scanned[node] = scanner.scan(at_node)
    for node in np.flatnonzero(tree.kind != LEAF).tolist():
        found, attribute = scanned[node], int(tree.attribute[node])
        assert found.chosen == attribute
        a = scanner.used.index(attribute)
        assert found.worth[a] == found.worth.max()
        if tree.kind[node] == THRESHOLD:
            assert found.threshold[a] == tree.threshold[node]
    return int((tree.kind != LEAF).sum())


@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_the_tests_of_penguins_come_back(options: Options, examples: Path) -> None:
    assert check_tests_come_back(penguins(examples), options) >= 3


@given(larger_samples())
def test_the_tests_of_any_tree_as_grown_come_back(sample: Sample) -> None:
    check_tests_come_back(sample.table, Options())


def test_numbers_of_a_small_table() -> None:
    schema = Schema((Attribute("x", "continuous"), Attribute("d", "discrete", ("a", "b"))), ("no", "yes"))
    columns = [np.array([1.0, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0, 9.0]), np.array([0, 1, 0, 1, 0, 1, 0, 1], np.int32)]
    table = Table(schema, columns, np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32))
    scanner, tree = Scanner(table, Options()), train(table).unpruned
    (at_node,) = (at_node for node, at_node in scanner.cases(tree, np.zeros(1, np.int64)))
    found = scanner.scan(at_node)
    assert found.gain.tolist() == [1.0 - np.log2(5) / 8, 0.0]  # five cuts leave two cases or more on both sides
    assert found.split.tolist() == [1.0, 1.0]
    assert np.array_equal(found.threshold, [4.0, np.nan], equal_nan=True)
    assert found.chosen == 0
    curve = scanner.curve(at_node, 0)
    assert curve.thresholds.tolist() == [2.0, 3.0, 4.0, 6.0, 7.0]
    assert curve.gains.argmax() == 2
    assert curve.gains.max() == 1.0
    assert np.allclose(curve.gains[0], 1 - 6 / 8 * (np.log2(6) - 4 / 6 * np.log2(4) - 2 / 6 * np.log2(2)))


@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_the_greatest_gain_of_the_curve_is_that_of_the_scan(options: Options, examples: Path) -> None:
    scanner = Scanner(penguins(examples), options)
    tree = train(penguins(examples), options).unpruned
    at_node = next(at_node for _, at_node in scanner.cases(tree, np.zeros(1, np.int64)))
    found = scanner.scan(at_node)
    for a, attribute in enumerate(scanner.used):
        if not np.isnan(found.threshold[a]):
            curve = scanner.curve(at_node, attribute)
            best = int(curve.gains.argmax())
            assert curve.thresholds[best] == found.threshold[a]
            assert curve.gains[best] >= found.gain[a] or np.isnan(found.gain[a])
            assert (np.diff(curve.thresholds) > 0).all()


def test_groups_are_not_scanned(examples: Path) -> None:
    table, options = penguins(examples), Options(group_values=True)
    scanner = Scanner(table, options)
    at_node = next(at_node for _, at_node in scanner.cases(train(table, options).unpruned, np.zeros(1, np.int64)))
    discrete = [table.schema.attributes[a].kind == "discrete" for a in scanner.used]
    found = scanner.scan(at_node)
    assert np.isnan(found.gain[discrete]).all()
    assert not np.isnan(found.gain).all()
    assert (found.average, found.chosen) == (None, None)
