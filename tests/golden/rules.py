"""The verdict on the rules of a golden file.

c4.5rules was run with its own default confidence, whatever the tree was pruned with. Where a class has more than ten
candidate rules the original searches from random starts, so there ours must have at most its description length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np

from c45gpu.data.c45files import read_stem
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.kernels.cover import ReferenceCover, weighed_cases
from c45gpu.model.tree import Tree
from c45gpu.rules.cases import rule_cases
from c45gpu.rules.choose import MOST_TO_ENUMERATE, ClassRules
from c45gpu.rules.derive import Derivation, class_rules, derive
from c45gpu.rules.generalise import candidates
from c45gpu.rules.paths import paths_of
from c45gpu.rules.rule import Condition, Rule
from tests.golden import deliberate as trees
from tests.golden.files import GoldenFile
from tests.golden.verdicts import Outcome, cached_compare, differences, kind_of
from tests.golden_trees import read_golden
from tests.nested import nested_trees
from tests.recursion import deep_recursion

SKIPPED_OPTIONS: Final = ("-t", "-p")  # rules of several trees; no rules were made
CONFIDENCE: Final = 0.25
ERROR_TOLERANCE: Final = 1e-3
BITS_TOLERANCE: Final = 1e-3  # the original adds bits up in single precision
RULE_KINDS: Final = ("equal", "searched", "different", "deliberate", "skipped")
DELIBERATE: Final = {"t33_rules_opposite_duplicate"}  # the original compares cuts, not their sides
Key = tuple[int, tuple[Condition, ...]]


class Searched(NamedTuple):
    """A class with many candidates: the bits of our rules and of the original's."""

    label: int
    ours: float
    theirs: float


@deep_recursion()  # compare.py recurses
def judge_rules(path: Path, compare_path: Path, engine: str) -> Outcome:
    """Make rules of the unpruned tree, ours where it is the original's, and hold them against the original's rules."""
    file, compare = GoldenFile(path), cached_compare(compare_path)
    skipped = [option for option in file.options if option in SKIPPED_OPTIONS]
    if skipped or not file.answer.get("rules"):
        return Outcome(file.name, "skipped", note=f"made with {' '.join(skipped)}" if skipped else "has no rules")
    if trees.DELIBERATE.get(file.name, trees.is_forgetful) is not trees.is_forgetful:  # whose tree can be read
        return Outcome(file.name, "skipped", note="the tree is a deliberate difference")
    training, _ = read_stem(file.stem, compat="r8")
    tree, verdict = unpruned_tree(file, training, compare, engine)
    options = Options(confidence=CONFIDENCE, compat="r8")
    ours = derive(tree, training, options)
    kind, note = verdict_on(file, ours, lambda: all_class_rules(tree, training, options))
    if file.name in DELIBERATE and lost_as_mirror_image(ours, original_rules(file)):
        kind = "deliberate"
    return Outcome(file.name, kind, verdict, kind, note=note)


def unpruned_tree(file: GoldenFile, training: Table, compare: ModuleType, engine: str) -> tuple[Tree, str]:
    """Our tree if it is the original's, else that; and which of them it is."""
    model = train(training, Options(**file.learner_options()), engine)
    found = differences(file, nested_trees(model)[0], compare)
    verdict = compare.verdict(found).lower()
    if verdict == "equal":
        return model.unpruned, verdict
    return read_golden(file.path).unpruned, f"{kind_of(verdict)}: the original's tree"


def verdict_on(file: GoldenFile, ours: Derivation, with_bits: Any) -> tuple[str, str]:
    """`equal`, `searched` where a class has too many candidates to try all subsets, or `different`, and why."""
    theirs = original_rules(file)
    if ours.rule_set.default == file.answer["rules"]["default"] and same(ours.rule_set.rules, theirs):
        return "equal", ""
    many = [label for label, n in Counter(r.label for r in ours.candidates).items() if n > MOST_TO_ENUMERATE]
    if not many:
        return "different", f"{len(theirs)} rules, ours are {len(ours.rule_set.rules)}"
    known = {key_of(rule): rule for rule in ours.candidates}
    strange = [r for r in theirs if key_of(r) not in known or abs(known[key_of(r)].error - r.error) > ERROR_TOLERANCE]
    if strange:
        return "different", f"{len(strange)} rules are not among our candidates"
    chosen = original_choice(file, [known[key_of(rule)] for rule in theirs], ours)
    lacking = [r for r in chosen if r.label not in many and r not in ours.final]
    if lacking:
        return "different", f"{len(lacking)} rules of classes with few candidates were not chosen"
    lengths = [length for length in searched(with_bits(), chosen, ours) if length.label in many]
    longer = [length for length in lengths if length.ours > length.theirs + BITS_TOLERANCE]
    told = ", ".join(f"{s.ours:.3f} bits for {s.theirs:.3f}" for s in longer or lengths)
    return ("different" if longer else "searched"), told


def lost_as_mirror_image(ours: Derivation, theirs: list[Rule]) -> bool:
    """Whether the original lacks one of our rules, which differs from one before it in the sides of cuts only."""
    lacking = [rule for rule in ours.rule_set.rules if key_of(rule) not in set(map(key_of, theirs))]
    rest = tuple(rule for rule in ours.rule_set.rules if rule not in lacking)
    return (
        len(lacking) == 1
        and same(rest, theirs)
        and any(without_sides(rule) == without_sides(lacking[0]) for rule in ours.candidates[: lacking[0].number - 1])
    )


def without_sides(rule: Rule) -> tuple[Any, ...]:
    return rule.label, [(c.attribute, c.threshold, c.values) for c in rule.conditions]


def original_rules(file: GoldenFile) -> list[Rule]:
    """The rules of the golden file, in the package's form; numbers and weights are not known."""
    return [
        Rule(0, tuple(map(condition_of, rule["conditions"])), rule["cls"], rule["error"], 0, 0)
        for rule in file.answer["rules"]["rules"]
    ]


def condition_of(gold: dict[str, Any]) -> Condition:
    if gold["op"] in ("<=", ">"):
        return Condition(gold["att"], gold["op"], float(np.float32(gold["cut"])))
    values = [gold["value"]] if gold["op"] == "=" else gold["values"]
    return Condition(gold["att"], gold["op"], None, tuple(v - 1 for v in values))


def key_of(rule: Rule) -> Key:
    return rule.label, rule.conditions


def same(ours: tuple[Rule, ...], theirs: list[Rule]) -> bool:
    """Whether rules are the same and in the same order."""
    pairs = zip(ours, theirs, strict=False)
    return len(ours) == len(theirs) and all(
        key_of(a) == key_of(b) and abs(a.error - b.error) <= ERROR_TOLERANCE for a, b in pairs
    )


def original_choice(file: GoldenFile, kept: list[Rule], ours: Derivation) -> list[Rule]:
    """What the original chose before it dropped rules, where its output is there to tell; else what it kept."""
    text = file.answer.get("rules_text", "")
    numbers = re.findall(r"^Rule (\d+):", text, re.MULTILINE)
    by_number = {rule.number: rule for rule in ours.candidates}
    named = [by_number[int(number)] for number in numbers if int(number) in by_number]
    return named if set(kept) <= set(named) else kept


def all_class_rules(tree: Tree, training: Table, options: Options) -> list[tuple[list[Rule], ClassRules]]:
    """For each class the candidates, and what tells their bits."""
    cases = rule_cases(training, options)
    cover, paths = ReferenceCover(weighed_cases(cases.table, cases.units)), paths_of(tree)
    return list(class_rules(candidates(paths, cases, cover, options.confidence), paths, cases, cover, 1.0))


def searched(of_class: list[tuple[list[Rule], ClassRules]], theirs: list[Rule], ours: Derivation) -> Iterator[Searched]:
    """The description lengths of both choices for each class."""
    for label, (mine, bits) in enumerate(of_class):
        choices = [np.array([rule in some for rule in mine], np.bool_) for some in (ours.final, theirs)]
        yield Searched(label, *map(bits.description_length, choices))
