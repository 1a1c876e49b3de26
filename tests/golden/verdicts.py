"""The verdict on one golden file: both trees through compare.py, then classes and class weights of the test cases."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np

from c45gpu.data.c45files import read_stem
from c45gpu.data.table import Table
from c45gpu.errors import C45Error
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.predict import class_frequencies, predicted_classes
from c45gpu.model.store import Model
from tests.golden.chain import count_chains
from tests.golden.deliberate import DELIBERATE
from tests.golden.files import GoldenFile, load_compare
from tests.nested import nested_trees
from tests.recursion import deep_recursion

SKIPPED_OPTIONS: Final = ("-t",)
BOUND_TOLERANCE: Final = 1e-5  # of a soft threshold, relative to it where it is above 1
CLASS_SUM_TOLERANCE: Final = 1e-4  # the original adds class weights up in single precision
KINDS: Final = ("equal", "tie", "limit", "different", "deliberate", "skipped")


class Outcome(NamedTuple):
    """What came of one golden file; `kind` is one of :data:`KINDS`, the others are verdicts in words."""

    name: str
    kind: str
    unpruned: str = "-"
    pruned: str = "-"
    predictions: str = "-"
    note: str = ""

    @property
    def line(self) -> str:
        """As the runner prints it."""
        return " | ".join(filter(None, (self.name, self.unpruned, self.pruned, self.predictions, self.note)))


@deep_recursion()  # compare.py recurses
def judge(path: Path, compare_path: Path, engine: str) -> Outcome:
    """Train on the data of a golden file and hold both trees and what they predict against the original's."""
    file, compare = GoldenFile(path), cached_compare(compare_path)
    skipped = [option for option in file.options if option in SKIPPED_OPTIONS]
    if skipped:
        return Outcome(file.name, "skipped", "skipped", note=f"made with {' '.join(skipped)}")
    if file.name in DELIBERATE:
        fault = DELIBERATE[file.name](file, engine)
        return Outcome(
            file.name, "different" if fault else "deliberate", "different" if fault else "deliberate", note=fault or ""
        )
    try:
        training, test = read_stem(file.stem, compat="r8")
        model = train(training, Options(**file.learner_options()), engine)
    except C45Error as fault:
        return Outcome(file.name, "different", "different", note=str(fault))
    return judge_model(file, model, test, compare)


@cache
def cached_compare(path: Path) -> ModuleType:
    """compare.py, loaded once in a process."""
    return load_compare(path)


def judge_model(file: GoldenFile, model: Model, test: Table | None, compare: ModuleType) -> Outcome:
    """The verdicts on a model; what depends on a tree is not compared where that tree is not equal."""
    unpruned, pruned = nested_trees(model)
    found = differences(file, unpruned, compare)
    verdict = compare.verdict(found).lower()
    if verdict != "equal":
        note = told(found) + chain_note(file, unpruned, found, compare)
        return Outcome(file.name, kind_of(verdict), verdict, note=note)
    found = []
    compare.walk(file.answer["pruned"], pruned, file.answer, None, [], found, False)
    after = compare.verdict(found).lower()
    wrong = prediction_faults(file, model, test, after == "equal")
    wrong += bound_faults(file.answer["pruned"], pruned) if after == "equal" else []
    predictions = "; ".join(wrong) or ("-" if test is None else "equal")
    kind = "different" if wrong or after != "equal" else "equal"
    return Outcome(file.name, kind, verdict, after, predictions, told(found))


def differences(file: GoldenFile, unpruned: dict[str, Any], compare: ModuleType) -> list[Any]:
    """The first difference on each path between the unpruned trees; the cases are read only if there is one."""
    found: list[Any] = []
    compare.walk(file.answer["unpruned"], unpruned, file.answer, None, [], found, False)
    if not found:
        return found
    cases = [(row, c, 1.0) for row, c in compare.read_cases(str(file.stem), file.answer)]
    found = []
    compare.walk(file.answer["unpruned"], unpruned, file.answer, cases, [], found, True)
    return found


def kind_of(verdict: str) -> str:
    """`tie` and `limit` in one tree count as a tie."""
    return next(kind for kind in ("different", "tie", "limit") if kind in verdict)


def told(found: list[Any]) -> str:
    """The differences that weigh most, at most three, in words."""
    ordered = sorted(found, key=lambda difference: difference[0] != "DIFFERENT")
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    return "; ".join(f"{kind.lower()} at {where}: {what}" for kind, where, what in ordered[:3]) + more


def chain_note(file: GoldenFile, unpruned: dict[str, Any], found: list[Any], compare: ModuleType) -> str:
    """Whether the oracle can show that every difference is a chain; nothing where there is none."""
    n_different = sum(kind == "DIFFERENT" for kind, _, _ in found)
    if n_different == 0:
        return ""
    return f" ({count_chains(file, unpruned, compare)} of {n_different} differences are chains)"


def prediction_faults(file: GoldenFile, model: Model, test: Table | None, pruned_is_equal: bool) -> list[str]:
    """What is wrong with the classes and class weights of the test cases."""
    if test is None or "test_pred_unpruned" not in file.answer:
        return []
    faults = class_faults("test_pred_unpruned", file, predicted_classes(class_frequencies(model.unpruned, test)))
    if pruned_is_equal:
        frequencies = class_frequencies(model.pruned, test)
        faults += class_faults("test_pred_pruned", file, predicted_classes(frequencies))
        if "test_classsum_pruned" in file.answer:
            worst = float(np.abs(frequencies - np.array(file.answer["test_classsum_pruned"])).max(initial=0))
            faults += [f"class weights off by {worst:.2g}"] if worst > CLASS_SUM_TOLERANCE else []
    return faults


def bound_faults(gold: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """Which thresholds of equal trees have other bounds; without -p they are the thresholds themselves."""
    faults, pending = [], [(gold, ours)]
    while pending:
        theirs, mine = pending.pop()
        pending += zip(theirs.get("branches", []), mine.get("branches", []), strict=True)
        for bound in ("lower", "upper") if theirs["type"] == "threshold" else ():
            if abs(theirs[bound] - mine[bound]) > BOUND_TOLERANCE * max(1.0, abs(theirs[bound])):
                test = f"{theirs['att_name']} <= {theirs['cut']:g}"
                faults.append(f"{bound} bound of {test}: {theirs[bound]:g}, ours {mine[bound]:g}")
    return faults


def class_faults(key: str, file: GoldenFile, ours: Any) -> list[str]:
    """Whether the classes under a key are ours."""
    theirs = np.array(file.answer[key])
    if len(theirs) != len(ours):
        return [f"{key}: {len(ours)} cases for {len(theirs)}"]
    n_wrong = int((theirs != ours).sum())
    return [f"{key}: {n_wrong} of {len(theirs)} differ"] if n_wrong else []
