"""The oracle itself: by hand, by the numbers in Quinlan's book, and against the original program's trees."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests import oracle
from tests.golden.chain import count_chains, problem_of
from tests.golden.files import GoldenFile, golden_files, load_compare
from tests.oracle import Problem, Settings
from tests.recursion import deep_recursion

CONTINUOUS: Any = ("x", "continuous", ())
UNLIKE_THE_ORIGINAL = {"-s", "-t", "-p"}  # options that the oracle does not know
# The original misreads the first four files, and puts the threshold of the others on the wrong side.
MISBEHAVIOUR = {"t21", "t30", "t32", "t17", "t17c"}
SMALL_SETS = ("r8_golf", "r8_labor-neg", "r8_vote", "r8_monk2", "sk_iris", "wk_breast-cancer", "penguins", "sk_wine")
CHAINS = {"rd126"}  # see golden_exceptions.md


def yes_no(rows: Any, classes: list[int], attributes: list[Any], **settings: Any) -> oracle.Json:
    """The oracle's tree as grown for two classes."""
    return oracle.train(Problem(attributes, 2, rows, classes), Settings(**settings))[0]


def test_lowest_of_equal_cuts_and_threshold_below_it() -> None:
    tree = yes_no([[1], [2], [3], [4], [5], [6]], [0, 0, 1, 1, 0, 0], [CONTINUOUS], criterion="gain")
    assert (tree["type"], tree["dist"]) == ("leaf", [4.0, 2.0])  # 0.252 bits do not pay for log2(3) / 6
    tree = yes_no([[1], [2], [7], [8]], [0, 0, 1, 1], [CONTINUOUS])
    assert (tree["cut"], [b["dist"] for b in tree["branches"]]) == (2.0, [[2.0, 0.0], [0.0, 2.0]])


def test_first_of_equal_attributes() -> None:
    two = [("a", "discrete", "ln"), ("b", "discrete", "ln")]
    assert yes_no([[0, 1], [0, 1], [1, 0], [1, 0]], [0, 0, 1, 1], two)["att"] == 0


def test_no_unit_of_an_unknown_case_is_lost() -> None:
    rows = [[0], [0], [0], [1], [1], [2], [2], [None]]
    tree = yes_no(rows, [0, 0, 0, 1, 1, 1, 1, 0], [("a", "discrete", "lmn")])
    assert sum(branch["items"] for branch in tree["branches"]) == 8.0
    assert tree["branches"][0]["items"] == pytest.approx(3 + 3 / 7, rel=1e-14)


def test_a_case_without_weight_is_absent() -> None:
    rows, classes = [[1.0], [2.0], [7.0], [8.0]], [0, 0, 1, 1]
    weighted = Problem([CONTINUOUS], 2, [*rows, [None], [2.5]], [*classes, 1, 0], [1.0] * 4 + [0.0] * 2)
    assert oracle.train(weighted, Settings()) == oracle.train(Problem([CONTINUOUS], 2, rows, classes), Settings())


@pytest.mark.parametrize(("cases", "errors", "rate"), [(6, 0, 0.206), (9, 0, 0.143), (1, 0, 0.750), (16, 1, 0.157)])
def test_upper_limits_are_those_of_the_book(cases: int, errors: int, rate: float) -> None:
    # J. R. Quinlan, C4.5: Programs for Machine Learning, 1993, chapter 4: U25%(0, 6) = 0.206 and so on
    estimate = errors + oracle.extra_errors(cases, errors, 0.25)
    assert estimate / cases == pytest.approx(rate, abs=0.0006)


def test_pessimistic_pruning_cuts_a_leaf_that_saves_one_error_of_many() -> None:
    rows = [[0]] * 30 + [[1]] * 3
    tree, pruned = oracle.train(
        Problem([("a", "discrete", "lr")], 2, rows, [0] * 30 + [1, 1, 0]), Settings(prune="pep")
    )
    # as a leaf 2 + 1/2; as a tree 1 + 2/2, and one standard error sqrt(2 * 31 / 33) = 1.37
    assert (tree["type"], pruned["type"], pruned["errors"]) == ("discrete", "leaf", 2.5)


@deep_recursion()
def judged(file: GoldenFile, compare: ModuleType) -> tuple[str, str]:
    """What compare.py says of the oracle's trees; an empty text where it cannot say."""
    cases = compare.read_cases(str(file.stem), file.answer)
    unpruned, pruned = oracle.train(problem_of(file, cases), Settings(**file.learner_options()))
    found: list[Any] = []
    compare.walk(file.answer["unpruned"], unpruned, file.answer, [(row, c, 1.0) for row, c in cases], [], found, True)
    verdict = compare.verdict(found)
    if verdict == "DIFFERENT":
        differences = sum(kind == "DIFFERENT" for kind, _, _ in found)
        verdict = "chain" if count_chains(file, unpruned, compare) == differences else verdict
    if verdict != "equal":
        return verdict, ""
    found = []
    compare.walk(file.answer["pruned"], pruned, file.answer, None, [], found, False)
    return verdict, compare.verdict(found)


def files_of(golden: Path, folder: str) -> list[GoldenFile]:
    files = [file for file in golden_files(golden) if file.path.parent.name == folder]
    return [
        file
        for file in files
        if not UNLIKE_THE_ORIGINAL & set(file.options) and file.name.partition("_")[0] not in MISBEHAVIOUR
    ]


@pytest.mark.parametrize("folder", ["tiny", "random"])
def test_original_grows_the_same_small_trees(golden: Path, folder: str) -> None:
    compare = load_compare(golden / "compare.py")
    verdicts = {file.name: judged(file, compare) for file in files_of(golden, folder)}
    assert len(verdicts) > 20
    unequal = {name: verdict for name, verdict in verdicts.items() if verdict != ("equal", "equal")}
    assert unequal == dict.fromkeys(CHAINS & verdicts.keys(), ("chain", ""))


@pytest.mark.parametrize("stem", SMALL_SETS)
def test_original_grows_the_same_trees_on_known_sets(golden: Path, stem: str) -> None:
    compare = load_compare(golden / "compare.py")
    files = [file for file in files_of(golden, "sets") if file.answer["stem"] == stem]
    assert files
    for file in files:
        assert judged(file, compare) in {("equal", "equal"), ("tie", "")}, file.name


def test_original_predicts_the_same_classes(golden: Path, tmp_path: Path) -> None:
    compare = load_compare(golden / "compare.py")
    checked = 0
    for file in files_of(golden, "random"):
        (tmp_path / "cases.data").write_bytes(file.stem.with_suffix(".test").read_bytes())
        problem = problem_of(file, compare.read_cases(str(tmp_path / "cases"), file.answer))
        for tree, predicted in (("unpruned", "test_pred_unpruned"), ("pruned", "test_pred_pruned")):
            for row, answer in zip(problem.rows, file.answer[predicted], strict=True):
                sums = oracle.class_sums(problem, Settings(compat="r8"), file.answer[tree], row)
                assert sums[answer] == pytest.approx(max(sums), abs=1e-5), file.name
                checked += 1
    assert checked > 1000
