"""Soft thresholds: against a plain reading of the specification, and as options of training."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from c45gpu import C45Classifier
from c45gpu.errors import ModelError
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.soften import changed_over
from c45gpu.induction.train import train
from c45gpu.model.soft import SoftThresholds
from c45gpu.model.store import Model, load, model_bytes, save
from c45gpu.model.tree import THRESHOLD, Tree
from c45gpu.model.validate import validate_tree
from tests.strategies import Sample, larger_samples, sample

Case = tuple[list[float], int, float]  # values (NaN or -1: unknown), class, weight


def said(tree: Tree, node: int, values: list[float]) -> int:
    """The class that a subtree gives a case."""
    sums, pending = [0.0] * tree.n_classes, [(node, 1.0)]
    while pending:
        node, share = pending.pop()
        branches = tree.branches(node).tolist()
        if not branches:
            parts = tree.class_weights[node] / tree.weight[node] if tree.weight[node] > 0 else None
            for c in range(tree.n_classes):
                sums[c] += share * (float(c == tree.label[node]) if parts is None else float(parts[c]))
            continue
        b = branch_of(tree, node, values)
        if b is None:
            whole = [(b, share * tree.weight[b] / tree.weight[node]) for b in reversed(branches)]
            pending += [(branch, part) for branch, part in whole if part > 0]
        else:
            pending.append((branches[b], share))
    return sums.index(max(sums))


def bounds(tree: Tree, node: int, cases: list[Case]) -> tuple[float, float]:
    """Specification section 10, for one node, in plain steps."""
    cut, (low, high) = float(tree.threshold[node]), tree.branches(node).tolist()
    known = sorted(
        (values[tree.attribute[node]], w * (said(tree, low, values) != c), w * (said(tree, high, values) != c), w)
        for values, c, w in cases
    )
    distinct = sorted({value for value, *_ in known})
    errors = [sum(a if value <= t else b for value, a, b, _ in known) for t in distinct]
    base, n = sum(a if value <= cut else b for value, a, b, _ in known), sum(w for *_, w in known)
    limit = base + math.sqrt((base + 0.5) * (n - base + 0.5) / (n + 1))
    lower, upper, found = min(cut, distinct[0]), max(cut, distinct[-1]), False
    for x, y, e, f in zip(distinct, distinct[1:], errors, errors[1:], strict=False):
        if y <= cut and e > limit >= f and not found:
            lower, found = y - (y - x) * (limit - f) / (e - f), True
        if y > cut and e <= limit < f:
            upper = max(cut, x + (y - x) * (limit - e) / (f - e))
    return lower, upper


def branch_of(tree: Tree, node: int, values: list[float]) -> int | None:
    """The branch of a known value."""
    value = values[tree.attribute[node]]
    if tree.kind[node] == THRESHOLD:
        return None if value != value else int(value > tree.threshold[node])
    return None if value < 0 else int(value)


def all_bounds(tree: Tree, cases: list[Case]) -> dict[int, tuple[float, float]]:
    """Of all nodes that cases reach by known values."""
    found: dict[int, tuple[float, float]] = {}
    pending = [(0, cases)]
    while pending:
        node, here = pending.pop()
        branches = tree.branches(node).tolist()
        taken = [branch_of(tree, node, case[0]) if branches else None for case in here]
        known = [case for case, b in zip(here, taken, strict=True) if b is not None]
        if known and tree.kind[node] == THRESHOLD:
            found[node] = bounds(tree, node, known)
        for b, branch in enumerate(branches):
            pending.append((branch, [case for case, t in zip(here, taken, strict=True) if t == b]))
    return found


def soft_of(cases: Sample, **options: Any) -> tuple[Tree, SoftThresholds]:
    model = train(cases.table, Options(soft_thresholds=True, **options), "reference")
    assert model.soft is not None
    model.soft.check(model.pruned)
    return model.pruned, model.soft


@given(cases=larger_samples())
def test_bounds_are_those_of_the_specification(cases: Sample) -> None:
    tree, soft = soft_of(cases, prune="none", min_cases=1)
    table = pose(cases.table, Options()).table
    columns = [np.zeros(table.n_cases) if column is None else column for column in table.columns]
    weights = np.ones(table.n_cases) if table.weights is None else table.weights
    rows = [[float(column[i]) for column in columns] for i in range(table.n_cases)]
    plain = all_bounds(tree, list(zip(rows, table.classes.tolist(), weights.tolist(), strict=True)))
    for node in np.flatnonzero(tree.kind == THRESHOLD).tolist():
        cut = float(tree.threshold[node])
        lower, upper = plain.get(node, (cut, cut))  # a node that only unknown values lead to has nothing to go by
        assert soft.lower[node] == pytest.approx(lower, rel=1e-9, abs=1e-9)
        assert soft.upper[node] == pytest.approx(upper, rel=1e-9, abs=1e-9)


@given(cases=larger_samples())
def test_changing_branches_over_is_a_tree_and_twice_is_none(cases: Sample) -> None:
    tree = train(cases.table, Options(prune="none"), "reference").unpruned
    for depth, level in enumerate(tree.levels):
        nodes = level[tree.kind[level] == THRESHOLD]
        other = changed_over(tree, nodes)
        validate_tree(other, cases.table.schema)
        there = other.levels[depth][other.kind[other.levels[depth]] == THRESHOLD]
        assert other.threshold[there].tolist() == tree.threshold[nodes].tolist()
        assert changed_over(other, there).equals(tree)


def test_engines_agree() -> None:
    chance = np.random.default_rng(2)
    x, y = chance.random((2, 900)).round(2)
    classes = ((x > 0.5) ^ (y > 0.3) ^ (chance.random(900) < 0.1)).astype(int).tolist()
    values = [[None if chance.random() < 0.1 else v for v in column] for column in (x.tolist(), y.tolist())]
    table = sample([("continuous", 0, v) for v in values], 2, classes, None).table
    one, two = (train(table, Options(soft_thresholds=True), engine) for engine in ("reference", "cpu"))
    assert one.soft is not None
    assert model_bytes(one) == model_bytes(two)
    assert (one.soft.lower < one.soft.upper).any()


def test_a_tree_without_thresholds_has_no_bounds() -> None:
    tree, soft = soft_of(sample([("discrete", 2, [0] * 9 + [1] * 9)], 2, [0] * 9 + [1] * 9, None))
    assert tree.n_nodes == 3
    assert np.isnan(soft.lower).all()


def test_classifier_predicts_softly() -> None:
    chance = np.random.default_rng(4)
    X = chance.random((400, 1))
    y = (X[:, 0] > 0.5) ^ (chance.random(400) < 0.1)
    hard, soft = (C45Classifier(soft_thresholds=on).fit(X, y) for on in (False, True))
    assert hard.tree_.equals(soft.tree_)
    bounds = soft.model_.soft
    assert bounds is not None
    lower, cut, upper = bounds.lower[0], soft.tree_.threshold[0], bounds.upper[0]
    assert lower < cut < upper
    near = np.array([[lower], [(lower + cut) / 2], [cut], [(cut + upper) / 2], [upper]])
    ends = soft.predict_proba(near[[0, 4]])[:, 0]
    wanted = np.interp([0, 0.25, 0.5, 0.75, 1], [0, 1], ends)
    np.testing.assert_allclose(soft.predict_proba(near)[:, 0], wanted, rtol=1e-12)
    assert len(set(hard.predict_proba(near)[:, 0])) == 2


# ---------------------------------------------------------------- the model file
def soft_model() -> Model:
    chance = np.random.default_rng(4)
    x = chance.random(100).round(2)
    cases = sample([("continuous", 0, x.tolist())], 2, (x > 0.5).astype(int).tolist(), None)
    return train(cases.table, Options(soft_thresholds=True))


def test_bounds_are_saved(tmp_path: Path) -> None:
    model = soft_model()
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.soft is not None
    assert model.soft is not None
    assert loaded.soft.lower.tobytes() == model.soft.lower.tobytes()
    assert loaded.soft.upper.tobytes() == model.soft.upper.tobytes()
    assert model_bytes(loaded) == model_bytes(model)


def test_bounds_of_another_tree_are_refused(tmp_path: Path) -> None:
    model = soft_model()
    assert model.soft is not None
    model.soft.lower[0] = 7
    with pytest.raises(ModelError, match="node 0 has bounds that do not enclose its threshold"):
        save(model, tmp_path / "m")
