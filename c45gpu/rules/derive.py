"""From a tree to a list of rules: the steps of the specification's section 14, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from c45gpu.data.table import Table
from c45gpu.errors import MemoryPlanError, OptionError
from c45gpu.induction.options import Options
from c45gpu.kernels.cover import Cover, Lists, Words, open_cover, weighed_cases
from c45gpu.kernels.memory import available_bytes
from c45gpu.model.store import Model
from c45gpu.model.tree import Tree
from c45gpu.rules.cases import RuleCases, rule_cases
from c45gpu.rules.choose import ClassRules
from c45gpu.rules.coding import RuleBits
from c45gpu.rules.generalise import Candidate, candidates
from c45gpu.rules.order import RulesInUse, Use, default_class, in_class_order
from c45gpu.rules.paths import Paths, paths_of
from c45gpu.rules.rule import Rule, RuleSet

LARGEST_ERROR: Final = 0.7  # a rule that is expected to be wrong more often never fires


@dataclass(frozen=True)
class Round:
    """How the rules do on the training cases, and which of them goes then.

    Parameters
    ----------
    rules : tuple of Rule
    use : Use
        On the training cases; one entry for each of `rules`.
    dropped : Rule or None
        The first that does more harm than good.
    """

    rules: tuple[Rule, ...]
    use: Use
    dropped: Rule | None


@dataclass(frozen=True)
class Derivation:
    """A list of rules, and how it came about.

    Parameters
    ----------
    rule_set : RuleSet
        The rules that are left.
    candidates : tuple of Rule
        One for each leaf that made one, no two the same.
    final : tuple of Rule
        Those chosen by code length, in order.
    rounds : tuple of Round
        What use on the training cases showed; the last one drops none.
    cases : RuleCases
        What the rules were made on.
    """

    rule_set: RuleSet
    candidates: tuple[Rule, ...]
    final: tuple[Rule, ...]
    rounds: tuple[Round, ...]
    cases: RuleCases


def derive(tree: Tree, table: Table, options: Options | None = None, *, redundancy: float = 1.0) -> Derivation:
    """Make rules of a tree.

    Parameters
    ----------
    tree : Tree
        C4.5 takes the tree as grown; any tree will do.
    table : Table
        The training cases.
    options : Options, optional
        The learner's: the confidence of the errors, and how values are read.
    redundancy : float
        By how much the attributes tell the same (the original's -r); more makes long rules cheaper. Above 0.

    Returns
    -------
    Derivation
        The rules, and how they were chosen.

    Raises
    ------
    DataError
        When there is nothing to learn from.
    MemoryPlanError
        When the bitmaps of the candidates of a class would not fit into memory.
    OptionError
        When `redundancy` is out of range.
    """
    options = options or Options()
    if not 0 < redundancy < float("inf"):
        raise OptionError(f"redundancy={redundancy!r} will not do: give a number above 0")
    cases = rule_cases(table, options)
    cover = open_cover(weighed_cases(cases.table, cases.units))
    try:
        paths = paths_of(tree)
        found = candidates(paths, cases, cover, options.confidence)
        chosen, bitmaps = _chosen(found, paths, cases, cover, redundancy)
        final, ordered = in_class_order(chosen, bitmaps, cases, cover)
    finally:
        cover.close()
    plain = {**options.to_dict(), "redundancy": float(redundancy)}
    return _derivation(tuple(c.rule for c in found), tuple(final), ordered, cases, plain)


def derive_from_model(model: Model, table: Table, *, redundancy: float = 1.0) -> Derivation:
    """Make rules of the unpruned tree of a model; see :func:`derive`."""
    known = {name: value for name, value in model.options.items() if name in Options.__dataclass_fields__}
    return derive(model.unpruned, table, Options(**known), redundancy=redundancy)


def class_rules(
    found: list[Candidate], paths: Paths, cases: RuleCases, cover: Cover, redundancy: float
) -> Iterator[tuple[list[Rule], ClassRules]]:
    """For each class its candidates that can fire, and what subsets of them are worth."""
    bits = RuleBits(cases, redundancy)
    for label in range(cases.table.schema.n_classes):
        mine = [c for c in found if c.rule.label == label and c.rule.error <= LARGEST_ERROR]
        bitmaps = _bitmaps(mine, paths, cover)
        own = np.array([bits.of_rule(c.rule.conditions) for c in mine], np.float64)
        yield [c.rule for c in mine], ClassRules(cases, cover, label, own, bitmaps)


def _chosen(
    found: list[Candidate], paths: Paths, cases: RuleCases, cover: Cover, redundancy: float
) -> tuple[list[list[Rule]], list[Words]]:
    """For each class the rules of least description length, and the bitmap of each."""
    rules, bitmaps = [], []
    for mine, of_class in class_rules(found, paths, cases, cover, redundancy):
        chosen = of_class.chosen()
        rules.append([rule for rule, is_chosen in zip(mine, chosen.tolist(), strict=True) if is_chosen])
        bitmaps.append(of_class.bitmaps[chosen])
    return rules, bitmaps


def _bitmaps(some: list[Candidate], paths: Paths, cover: Cover) -> Words:
    """The bitmap of each candidate."""
    lists = [c.identities for c in some]
    used, row = np.unique(np.array([i for one in lists for i in one], np.int64), return_inverse=True)
    need, room = 8 * cover.cases.n_words * (len(used) + 2 * len(lists)), available_bytes()
    if room is not None and need > room:
        raise MemoryPlanError(
            f"{len(lists)} candidate rules of one class need {need / 2**30:.1f} GiB, {room / 2**30:.1f} GiB are free:"
            " grow a smaller tree (min_cases), or make rules of the pruned one"
        )
    start = np.cumsum([0, *map(len, lists)])
    return cover.intersections(cover.bitmaps(paths.arrays.take(used)), Lists(start, row.reshape(-1)))


def _derivation(
    found: tuple[Rule, ...], final: tuple[Rule, ...], bitmaps: Words, cases: RuleCases, options: dict[str, Any]
) -> Derivation:
    """What is left after the training cases have shown which rules do harm."""
    schema, classes = cases.table.schema, cases.table.classes
    labels = np.array([rule.label for rule in final], np.int64)
    in_use = RulesInUse(labels, 0, bitmaps, classes, cases.units, schema.n_classes)
    in_use.said[-1] = default = default_class(_uncovered(in_use, cases), cases.class_units)
    rounds: list[Round] = []
    while not rounds or rounds[-1].dropped is not None:
        rounds.append(_round(final, in_use))
    record = {
        "cases": cases.table.n_cases,
        "candidates": len(found),
        "chosen": len(final),
        "dropped": [one.dropped.number for one in rounds[:-1] if one.dropped is not None],
    }
    weights, uncovered = (tuple(cases.cases(u).tolist()) for u in (cases.class_units, _uncovered(in_use, cases)))
    rule_set = RuleSet(schema, rounds[-1].rules, default, weights, uncovered, options, record)
    return Derivation(rule_set, found, final, tuple(rounds), cases)


def _round(final: tuple[Rule, ...], in_use: RulesInUse) -> Round:
    """How the rules that are kept do; takes out the first that is worse than what would come in its place."""
    use, kept = in_use.use(), np.flatnonzero(in_use.kept)
    harmful = kept[use.worse[kept] > use.better[kept]]
    if len(harmful):
        in_use.drop(int(harmful[0]))
    position = np.full(len(final) + 1, -1, np.int32)  # the last is for -1, no rule
    position[kept] = np.arange(len(kept))
    figures = (use.used[kept], use.wrong[kept], use.better[kept], use.worse[kept])
    dropped = final[harmful[0]] if len(harmful) else None
    return Round(tuple(final[r] for r in kept), Use(position[use.first], *figures, use.confusion), dropped)


def _uncovered(in_use: RulesInUse, cases: RuleCases) -> Any:
    """Weight of the cases of each class for which no rule fires, in units."""
    out = in_use.first < 0
    units = np.zeros(cases.table.schema.n_classes, np.int64)
    np.add.at(units, cases.table.classes[out], cases.units[out])
    return units
