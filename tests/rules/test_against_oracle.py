"""The package makes the rules that the oracle makes, on tables that hypothesis thinks of.

Conditions, order, class, default and weights must be the same; errors, which are float64, to 1e-9. Where two subsets of
a class's rules have the same description length but for rounding, the oracle may take another: then it goes on with
the package's, if that is no longer than its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from c45gpu.induction.train import train
from c45gpu.kernels.cover import ReferenceCover, weighed_cases
from c45gpu.rules.cases import rule_cases
from c45gpu.rules.choose import MOST_TO_ENUMERATE
from c45gpu.rules.coding import RuleBits
from c45gpu.rules.derive import Derivation, class_rules, derive
from c45gpu.rules.generalise import candidates
from c45gpu.rules.paths import paths_of
from c45gpu.rules.rule import Rule
from tests import oracle_rules
from tests.nested import nested_trees
from tests.strategies import Asked, Sample, asked, larger_samples, samples

NEAR = 1e-9


def plain(rule: Rule) -> oracle_rules.Rule:
    """A rule as the oracle has it."""
    conditions: list[Any] = []
    for c in rule.conditions:
        given_value = c.threshold if c.threshold is not None else c.values[0] if c.sign == "=" else c.values
        conditions.append((c.attribute, c.sign, given_value))
    return oracle_rules.Rule(tuple(conditions), rule.label, rule.error)


def assert_same(ours: tuple[Rule, ...], theirs: list[oracle_rules.Rule]) -> None:
    assert [(plain(r).conditions, r.label) for r in ours] == [(r.conditions, r.label) for r in theirs]
    assert [r.error for r in ours] == pytest.approx([r.error for r in theirs], rel=NEAR)


def check_rules(sample: Sample, question: Asked) -> Derivation:
    """Make rules both ways from the package's tree."""
    model = train(sample.table, question.options, "reference")
    ours = derive(model.unpruned, sample.table, question.options)
    tree, _ = nested_trees(model)
    cases = oracle_rules.Cases(sample.problem, question.settings)
    found = oracle_rules.candidates(cases, tree)
    assert_same(ours.candidates, found)
    for rule, other in zip(ours.candidates, found, strict=True):
        assert (rule.covered, rule.wrong) == cases.counts(rule.label, other.conditions)
    chosen = {}
    for label in range(sample.problem.n_classes):
        mine = [plain(rule) for rule in ours.candidates if rule.label == label and rule in ours.final]
        check_choice(cases, label, [rule for rule in found if rule.label == label], mine)
        chosen[label] = mine
    _, kept, default = oracle_rules.rules_of(sample.problem, question.settings, tree, chosen)
    assert_same(ours.rule_set.rules, kept)
    assert ours.rule_set.default == default
    check_use(cases, ours, kept, default)
    return ours


def check_choice(
    cases: oracle_rules.Cases, label: int, all_rules: list[oracle_rules.Rule], mine: list[oracle_rules.Rule]
) -> None:
    """Up to the limit, ours is the oracle's choice, or as short."""
    if len(all_rules) > MOST_TO_ENUMERATE:
        return
    best = oracle_rules.chosen_rules(cases, label, all_rules)
    if [rule.conditions for rule in best] != [rule.conditions for rule in mine]:
        lengths = [oracle_rules.description_length(cases, label, some) for some in (mine, best)]
        assert lengths[0] == pytest.approx(lengths[1], rel=NEAR)


def check_use(cases: oracle_rules.Cases, ours: Derivation, kept: list[oracle_rules.Rule], default: int) -> None:
    """The same rule fires for each training case."""
    fired = ours.rule_set.fired(ours.cases.table).tolist()
    wanted = [oracle_rules.first_two(row, kept, default)[0] for row in cases.rows]
    assert fired == [-1 if r is None else r for r in wanted]
    assert ours.rounds[-1].use.first.tolist() == fired


@given(sample=samples(), question=asked())
def test_small_tables(sample: Sample, question: Asked) -> None:
    check_rules(sample, question)


@settings(max_examples=30)  # the oracle tries all subsets one by one
@given(sample=larger_samples(60), question=asked())
def test_larger_tables(sample: Sample, question: Asked) -> None:
    check_rules(sample, question)


@settings(max_examples=30)  # the oracle tries all subsets one by one
@given(sample=larger_samples(60), question=asked())
def test_description_lengths(sample: Sample, question: Asked) -> None:
    model = train(sample.table, question.options, "reference")
    ours = rule_cases(sample.table, question.options)
    cover, paths = ReferenceCover(weighed_cases(ours.table, ours.units)), paths_of(model.unpruned)
    found = candidates(paths, ours, cover, question.options.confidence)
    cases = oracle_rules.Cases(sample.problem, question.settings)
    bits = RuleBits(ours)
    for one in found:
        assert bits.of_rule(one.rule.conditions) == pytest.approx(
            oracle_rules.rule_bits(cases, plain(one.rule)), rel=NEAR
        )
    for label, (mine, of_class) in enumerate(class_rules(found, paths, ours, cover, 1.0)):
        for chosen in (np.zeros(len(mine), np.bool_), np.ones(len(mine), np.bool_), np.arange(len(mine)) % 2 == 0):
            some = [plain(rule) for rule, c in zip(mine, chosen, strict=True) if c]
            wanted = oracle_rules.description_length(cases, label, some)
            assert of_class.description_length(chosen) == pytest.approx(wanted, rel=NEAR, abs=NEAR)
