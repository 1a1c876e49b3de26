from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c45gpu.data.schema import Attribute, Schema
from c45gpu.model.evaluate import Evaluation
from c45gpu.show.text import evaluation_text, tree_text, trees_text
from tests.golden_trees import Golden, chain, empty_leaf, inner, leaf, read_golden, tree_of

PRINTED = ["jb_auto_imports.s", "r8_golf", "r8_labor-neg", "r8_vote", "sk_iris", "wk_weather_numeric"]
GAP = "\nTree saved\n\n\n"  # stands between trees and evaluation in what the original prints

SCHEMA = Schema(
    (Attribute("size", "continuous"), Attribute("colour", "discrete", ("red", "green", "blue"))), ("no", "yes")
)


def text_of(root: dict[str, Any], schema: Schema = SCHEMA, **options: Any) -> str:
    return tree_text(tree_of(root, schema), schema, **options)


def original(golden: Path, name: str) -> tuple[Golden, str, str]:
    """A golden document, and what the original prints of its trees and of their evaluation."""
    printed = (golden / "text" / f"{name}.txt").read_text("utf-8")
    trees, _, evaluation = printed.partition(GAP)
    return read_golden(golden / "sets" / f"{name}.json"), trees[trees.index("Decision Tree:") :], evaluation


@pytest.mark.parametrize("name", PRINTED)
def test_trees_are_printed_as_the_original_prints_them(golden: Path, name: str) -> None:
    (schema, unpruned, pruned, _), trees, _ = original(golden, name)
    assert trees_text(unpruned, pruned, schema) == trees


@pytest.mark.parametrize("name", PRINTED)
def test_evaluation_is_printed_as_the_original_prints_it(golden: Path, name: str) -> None:
    (schema, _, _, document), _, evaluation = original(golden, name)
    named = {"train": "training data", "test": "test data"}
    text = "".join(
        evaluation_text(*evaluations(document, part), schema, data=data, confusion=part == "test")
        for part, data in named.items()
        if document.get(part)
    )
    assert text == evaluation


def test_every_printed_tree_of_the_golden_folder_is_tested(golden: Path) -> None:
    assert sorted(path.name.removesuffix(".txt") for path in (golden / "text").iterdir()) == sorted(PRINTED)


def evaluations(document: dict[str, Any], part: str) -> tuple[Evaluation, Evaluation]:
    """Evaluations before and after pruning, from the original's figures."""
    (row,) = document[part]
    confusion = np.array(document[f"{part}_confusion"], float)
    n_cases = int(confusion.sum())
    before = np.diag([n_cases - row["errors_before"], 0.0])
    before[0, 1] = row["errors_before"]
    return (
        Evaluation(row["size_before"], n_cases, before, 0.0),
        Evaluation(row["size_after"], n_cases, confusion, 100 * document["estimated_error_rate"]),
    )


def test_leaves_come_before_subtrees() -> None:
    root = inner(
        "discrete", 1, inner("threshold", 0, leaf(1.0, 0.0), leaf(0.0, 2.0), cut=2.5), leaf(3.0, 1.0), leaf(0.0, 1.0)
    )
    assert text_of(root).splitlines() == [
        "colour = green: no (4.0)",
        "colour = blue: yes (1.0)",
        "colour = red:",
        "|   size <= 2.5 : no (1.0)",
        "|   size > 2.5 : yes (2.0)",
    ]


@pytest.mark.parametrize(
    ("cut", "printed"),
    [(2.0, "2"), (0.1, "0.1"), (1234567.0, "1.23457e+06"), (1e-7, "1e-07"), (100000.5, "100000"), (-3.25, "-3.25")],
)
def test_thresholds_have_six_digits(cut: float, printed: str) -> None:
    lines = text_of(inner("threshold", 0, leaf(1.0, 0.0), leaf(0.0, 2.0), cut=cut)).splitlines()
    assert lines == [f"size <= {printed} : no (1.0)", f"size > {printed} : yes (2.0)"]


def test_weights_and_errors_have_one_decimal() -> None:
    root = inner("threshold", 0, leaf(2.25, 0.35, errors=0.35), empty_leaf(1, 2.0, 0.5), cut=0.0)
    assert text_of(root).splitlines() == ["size <= 0 : no (2.6/0.3)", "size > 0 : yes (0.0)"]


def test_a_lone_leaf() -> None:
    tree = tree_of(leaf(9.0, 5.0, errors=5.0), SCHEMA)
    assert tree_text(tree, SCHEMA) == " no (14.0/5.0)\n"
    assert trees_text(tree, tree, SCHEMA) == "Decision Tree:\n no (14.0/5.0)\n\n"


def test_the_pruned_tree_is_printed_where_it_differs() -> None:
    grown = inner("threshold", 0, leaf(9.0, 0.0), leaf(5.0, 0.0), cut=1.0)
    text = trees_text(tree_of(grown, SCHEMA), tree_of(leaf(14.0, 0.0, errors=1.3), SCHEMA), SCHEMA)
    assert text == (
        "Decision Tree:\n\nsize <= 1 : no (9.0)\nsize > 1 : no (5.0)\n\n"
        "\nSimplified Decision Tree:\n no (14.0/1.3)\n\n"
    )  # fmt: skip


def test_groups_of_values() -> None:
    root = inner("subset", 1, leaf(1.0, 0.0), leaf(0.0, 2.0), empty_leaf(1, 1.0, 2.0), subsets=[[1, 3], [2], []])
    assert text_of(root).splitlines() == ["colour in {red,blue}: no (1.0)", "colour = green: yes (2.0)"]


def test_a_line_of_values_is_broken_before_it_is_too_long() -> None:
    def first_lines(lengths: list[int]) -> list[str]:
        values = tuple(chr(ord("a") + i) * length for i, length in enumerate(lengths))
        schema = Schema((Attribute("at", "discrete", (*values, "z")),), ("no", "yes"))
        subsets = [list(range(1, len(values) + 1)), [len(values) + 1]]
        return text_of(inner("subset", 0, leaf(1.0, 0.0), leaf(0.0, 2.0), subsets=subsets), schema).splitlines()

    assert first_lines([40, 21])[0] == "at in {" + "a" * 40 + "," + "b" * 21 + "}: no (1.0)"
    assert first_lines([40, 22])[:2] == ["at in {" + "a" * 40 + ",", "       " + "b" * 22 + "}: no (1.0)"]
    assert first_lines([90, 90])[:2] == ["at in {" + "a" * 90 + ",", "       " + "b" * 90 + "}: no (1.0)"]


def test_a_subtree_that_does_not_fit_the_page_breaks_off() -> None:
    schema, root = chain(20)
    lines = text_of(root, schema).splitlines()
    # 4 columns for each level, and 6 + 5 + 4 for "height", the test and its number, 4 + 6 for "high" and its weight
    last_that_fits = (80 - 15 - 9) // 4
    assert lines[2 * last_that_fits + 1] == "|   " * last_that_fits + f"height > {last_that_fits} :[S1]"
    assert lines[2 * last_that_fits + 2 : 2 * last_that_fits + 8] == [
        "",
        "",
        "Subtree [S1]",
        "",
        f"height <= {last_that_fits + 1} : low (1.0)",
        f"height > {last_that_fits + 1} :",
    ]
    assert lines[-1] == "|   " * (19 - last_that_fits - 1) + "height > 19 : high (1.0)"


def test_subtrees_are_numbered_as_they_are_met() -> None:
    wide = Schema((Attribute("x" * 70, "continuous"),), ("no", "yes"))
    fork = inner("threshold", 0, leaf(1.0, 0.0), leaf(0.0, 1.0), cut=1.0)
    deep = inner("threshold", 0, fork, leaf(0.0, 1.0), cut=2.0)
    lines = text_of(inner("threshold", 0, deep, fork, cut=3.0), wide).splitlines()
    x = "x" * 70
    assert lines == [
        *(f"{x} <= 3 :[S1]", f"{x} > 3 :[S2]"),
        *("", "", "Subtree [S1]", "", f"{x} > 2 : yes (1.0)", f"{x} <= 2 :[S3]"),
        *("", "", "Subtree [S2]", "", f"{x} <= 1 : no (1.0)", f"{x} > 1 : yes (1.0)"),
        *("", "", "Subtree [S3]", "", f"{x} <= 1 : no (1.0)", f"{x} > 1 : yes (1.0)"),
    ]


def test_max_depth_cuts_and_says_so() -> None:
    _, root = chain(3)
    schema = Schema((Attribute("height", "continuous"),), ("low", "high"))
    assert text_of(root, schema, max_depth=0) == " low (4.0) ...\n"
    assert text_of(root, schema, max_depth=1).splitlines() == ["height <= 0 : low (1.0)", "height > 0 : low (3.0) ..."]
    assert text_of(root, schema, max_depth=3) == text_of(root, schema)


def test_max_depth_counts_from_the_root_also_where_subtrees_break_off() -> None:
    schema, root = chain(60)
    lines = text_of(root, schema, max_depth=50).splitlines()
    assert [line for line in lines if line.endswith("...")] == ["|   " * 4 + "height > 49 : low (11.0) ..."]


def test_a_deep_chain_prints() -> None:
    schema, root = chain(5000)
    text = text_of(root, schema)
    assert text.count(" low (1.0)\n") == 5000
    assert text.count(" high (1.0)\n") == 1
    assert max(map(len, text.splitlines())) < 90  # a number counts as four columns, whatever its digits


def test_evaluation_with_weights_has_decimals() -> None:
    seen = Evaluation(3, 4, np.array([[1.5, 0.25], [0.0, 2.0]]), 12.34)
    assert evaluation_text(seen, seen, SCHEMA, confusion=True) == (
        "Evaluation on training data (4 items):\n\n"
        "\t Before Pruning           After Pruning\n"
        "\t----------------   ---------------------------\n"
        "\tSize      Errors   Size      Errors   Estimate\n\n"
        "\t   3  0.2( 6.7%)      3  0.2( 6.7%)    (12.3%)   <<\n\n\n"
        "\t  (a)  (b)\t<-classified as\n"
        "\t ---- ----\n"
        "\t  1.5  0.2\t(a): class no\n"
        "\t         2\t(b): class yes\n\n\n"
    )


@pytest.mark.parametrize(("n_classes", "printed"), [(21, True), (22, False)])
def test_the_confusion_matrix_has_at_most_21_classes(n_classes: int, printed: bool) -> None:
    schema = Schema((), tuple(map(str, range(n_classes))))
    seen = Evaluation(1, n_classes, np.eye(n_classes), 0.0)
    text = evaluation_text(seen, seen, schema, confusion=True)
    assert ("<-classified as" in text, "(u): class 20" in text) == (printed, printed)
