"""C5.0's .costs files."""

from __future__ import annotations

from pathlib import Path

import pytest

from c45gpu.data.costsfile import read_costs
from c45gpu.data.schema import Schema
from c45gpu.errors import DataError

SCHEMA = Schema((), ("good", "bad", "so so"))


def costs_of(folder: Path, text: str) -> list[list[float]]:
    (folder / "x.costs").write_text(text)
    return read_costs(folder / "x.costs", SCHEMA).tolist()


def test_the_first_class_is_the_one_predicted(tmp_path: Path) -> None:
    text = "| what it costs\ngood, bad: 5\n\nbad,good:.5   | less\nso so, bad: 2e1.\n"
    assert costs_of(tmp_path, text) == [[0, 0.5, 1], [5, 0, 20], [1, 1, 0]]


def test_what_is_right_may_be_said_to_cost_nothing(tmp_path: Path) -> None:
    assert costs_of(tmp_path, "good, good: 0\n") == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("good, bad: 1\ngood, evil: 1", 2, "'evil' is no class: they are good, bad, so so"),
        ("\ngood bad 5", 2, "'good bad 5' does not begin an entry: write 'PREDICTED, ACTUAL: COST'"),
        ("good, bad", 1, "'good' does not begin an entry"),
        ("good, bad, 5", 1, "'good' does not begin an entry"),
        ("good, bad:\nbad, good: 1", 1, "the entry has no cost"),
        ("good, bad:", 1, "the entry has no cost"),
        ("good, bad: -1", 1, "'-1' is no cost: write a number that is not negative"),
        ("good, bad: inf", 1, "'inf' is no cost"),
        ("good, bad: dear", 1, "'dear' is no cost"),
        ("good, good: 1", 1, "class 'good' is right for itself: leave the entry out"),
        ("good, bad: 1\n\ngood, bad: 2", 3, "the same mistake has a cost in line 1: take one out"),
    ],
)
def test_what_is_no_entry_is_refused_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    with pytest.raises(DataError) as caught:
        costs_of(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'x.costs'}:{line}: {words}")
