"""Rules as a whole: what they do not depend on, what options do, and trees that are hard."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import DataError, MemoryPlanError, OptionError
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.kernels import cover
from c45gpu.kernels.cover import ReferenceCover, weighed_cases
from c45gpu.rules import choose, generalise
from c45gpu.rules import derive as deriving
from c45gpu.rules.cases import rule_cases
from c45gpu.rules.choose import ClassRules
from c45gpu.rules.derive import class_rules, derive, derive_from_model
from c45gpu.rules.generalise import candidates
from c45gpu.rules.judge import judged
from c45gpu.rules.paths import as_arrays, paths_of
from c45gpu.rules.rule import Condition
from c45gpu.rules.store import rules_bytes
from tests.golden_trees import chain, tree_of
from tests.rules.made import a_table, made_on

ONE_ATTRIBUTE = Schema((Attribute("x", "continuous"),), ("a", "b"))


def largest_class(table: Table, options: Options) -> ClassRules:
    """The class with the most candidates."""
    cases, paths = rule_cases(table, options), paths_of(train(table, options, "reference").unpruned)
    counter = ReferenceCover(weighed_cases(cases.table, cases.units))
    found = candidates(paths, cases, counter, options.confidence)
    return max((of_class for _, of_class in class_rules(found, paths, cases, counter, 1.0)), key=lambda c: len(c.bits))


def test_compiled_and_numpy_make_the_same_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    table, options = a_table(1500, noise=0.4), Options(min_cases=1)
    one = made_on(table, options)
    monkeypatch.setattr(cover, "CROSSOVER_CASES", 0)
    other = made_on(table, options)
    assert rules_bytes(one.rule_set) == rules_bytes(other.rule_set)
    assert max(sum(r.label == c for r in one.candidates) for c in range(3)) > choose.MOST_TO_ENUMERATE


def test_batches_make_the_same_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    table = a_table(300)
    one = made_on(table)
    monkeypatch.setattr(generalise, "BITMAP_BYTES", 1)
    assert rules_bytes(made_on(table).rule_set) == rules_bytes(one.rule_set)


def test_the_order_of_cases_changes_nothing() -> None:
    table = a_table(300)
    shuffled = table.take(np.random.default_rng(1).permutation(300))
    assert rules_bytes(made_on(table).rule_set) == rules_bytes(made_on(shuffled).rule_set)


def test_a_weight_of_two_is_two_cases_and_none_is_no_case() -> None:
    table = a_table(200)
    weights = np.random.default_rng(2).integers(0, 3, 200).astype(np.float64)
    weighted = made_on(replace(table, weights=weights)).rule_set
    repeated = made_on(table.take(np.repeat(np.arange(200), weights.astype(np.int64)))).rule_set
    assert (weighted.rules, weighted.default) == (repeated.rules, repeated.default)
    assert (weighted.class_weights, weighted.uncovered) == (repeated.class_weights, repeated.uncovered)


def test_a_smaller_confidence_and_more_redundancy_show() -> None:
    table = a_table(600, noise=0.4)
    tree = train(table, Options(), "reference").unpruned
    errors = [[r.error for r in derive(tree, table, Options(confidence=c)).candidates] for c in (0.25, 0.01)]
    assert min(errors[1]) > min(errors[0])
    chosen = [sum(len(r.conditions) for r in derive(tree, table, redundancy=r).final) for r in (0.2, 1.0)]
    assert chosen[1] > chosen[0]
    for wrong in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(OptionError, match=r"redundancy=.* give a number above 0"):
            derive(tree, table, redundancy=wrong)


def test_a_model_says_how_its_data_were_read() -> None:
    table = a_table(300)
    model = train(table, Options(compat="r8", confidence=0.1), "reference")
    made = derive_from_model(model, table)
    assert made.rule_set.options == {**Options(compat="r8", confidence=0.1).to_dict(), "redundancy": 1.0}
    assert np.isnan(made.cases.table.column(3)[table.column(3) == -999]).all()
    assert made.rule_set.fired(table).tolist() == made.rounds[-1].use.first.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_climbs_find_the_best_subset_where_all_can_be_tried(seed: int) -> None:
    some = largest_class(a_table(120, seed=seed), Options(min_cases=2))
    assert 4 <= len(some.bits) <= 14
    best = some.description_length(some._best_of_all())
    assert some.description_length(some._climbed()) == pytest.approx(best, rel=1e-12)


def test_gains_are_differences_of_description_lengths() -> None:
    some, chance = largest_class(a_table(300), Options(min_cases=1)), random.Random(3)
    rules_of = cover.rules_by_case(some.bitmaps, 300)
    other = some.cases.table.classes != some.label
    here = choose.Subset(some.cover, some.bitmaps, rules_of, some.cases.units, other)
    for _ in range(20):
        here.toggle(chance.randrange(len(some.bits)))
        gains, now = some._gains(here), some.description_length(here.chosen)
        for rule in range(len(some.bits)):
            one_other = here.chosen ^ (np.arange(len(some.bits)) == rule)
            assert now - some.description_length(one_other) == pytest.approx(gains[rule], abs=1e-9)


def test_a_lone_leaf_makes_no_rules() -> None:
    table = Table(
        Schema((Attribute("x", "continuous"),), ("a", "b")), [np.ones(5)], np.array([1, 1, 0, 1, 0], np.int32)
    )
    made = made_on(table)
    assert (made.candidates, made.rule_set.rules, made.rule_set.default) == ((), (), 1)
    assert made.rule_set.predict(table).tolist() == [1] * 5
    assert made.rule_set.predict_proba(table)[0].tolist() == [0.4, 0.6]
    assert str(made.rule_set) == "Default class: b\n"


def test_paths_of_a_very_deep_tree() -> None:
    schema, root = chain(5000)
    paths = paths_of(tree_of(root, schema))
    assert paths.lists.lengths.max() == 5000
    assert paths.lists.size > 1


def test_a_path_longer_than_python_recurses() -> None:
    # 1,200 thresholds that keep nobody out but for the last: all others go, one by one
    depth, n = 1200, 40
    values = np.arange(n, dtype=np.float64)
    table = Table(ONE_ATTRIBUTE, [values], (values > 19).astype(np.int32))
    _, root = chain(depth)
    longest = paths_of(tree_of(root, ONE_ATTRIBUTE))
    cases = rule_cases(table, Options())
    conditions = tuple(Condition(0, ">", float(19 - depth + 1 + d)) for d in range(depth))
    paths = replace(
        longest,
        conditions=conditions,
        arrays=as_arrays(conditions),
        lists=cover.Lists(np.array([0, depth]), np.arange(depth)),
        labels=np.array([1]),
    )
    found = candidates(paths, cases, ReferenceCover(weighed_cases(cases.table, cases.units)), 0.25)
    assert [c.rule.conditions for c in found] == [(Condition(0, ">", 19.0),)]


def test_too_many_candidates_are_refused_before_memory_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deriving, "available_bytes", lambda: 10)
    with pytest.raises(MemoryPlanError, match=r"candidate rules of one class need .* grow a smaller tree"):
        made_on(a_table(300))


def test_cases_without_a_class_are_not_judged() -> None:
    table = a_table(300)
    rules = made_on(table).rule_set
    half = Table(table.schema, table.columns, np.where(np.arange(300) < 100, table.classes, -1).astype(np.int32))
    one, cases = judged(rules, half)
    assert (cases.table.n_cases, one.dropped) == (100, None)
    assert cases.cases(one.use.confusion).trace() == (rules.predict(table)[:100] == table.classes[:100]).sum()
    with pytest.raises(DataError, match="no case has a class"):
        judged(rules, Table(table.schema, table.columns, np.full(300, -1, np.int32)))
