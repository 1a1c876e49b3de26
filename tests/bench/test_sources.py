"""The articles' tables: what is measured is what the tables say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.sources import large, small
from bench.sources.__main__ import EXPERIMENTS, main
from bench.sources.fold import Figure, five_folds, judged, seventy_thirty
from c45gpu import C45Classifier


def test_mean_and_spread() -> None:
    assert Figure.of([1.0, 2.0, 3.0]) == Figure(2.0, 1.0)
    assert Figure.of([4.0]) == Figure(4.0, 0.0)
    assert Figure(0.9512, 0.0123).text(1, 100) == "95.1 ± 1.2"


def test_splits_are_stratified_and_repeat() -> None:
    y = np.repeat([0, 1], [80, 20])
    for splits, n_test in ((five_folds, 20), (seventy_thirty, 30)):
        for (train, test), (_, again) in zip(splits(y), splits(y), strict=True):
            assert sorted([*train, *test]) == list(range(100))
            assert y[test].mean() == 0.2
            assert (len(test), test.tolist()) == (n_test, again.tolist())


def test_a_classifier_is_judged_on_rows_it_has_not_seen() -> None:
    X, y = np.arange(100.0)[:, None], np.arange(100) % 2
    found = judged(lambda: C45Classifier(min_cases=1, prune=False, threshold_cost=False), X, y, five_folds(y), "macro")
    assert found["train"].mean == 1.0
    assert found["test"].mean < 0.6
    assert found["nodes"].mean > 50


def test_there_are_twenty_tables() -> None:
    tables = list(small.tables())
    assert len({name for name, *_ in tables}) == 20
    assert all(len(X) == len(y) > 100 for _, X, y, _ in tables)


def test_how_much_shorter() -> None:
    found = {"a": {"before": [4.0, 9], "after": [3.0, 9]}, "b": {"before": [2.0, 4], "after": [1.0, 1]}}
    assert small.shorter(found).mean == 0.375
    assert small.shorter(found, 1).mean == 0.375


def test_a_narrow_table_is_screened_with_both_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "WIDE_HELD_OUT", 200)
    monkeypatch.setattr(large, "ENGINES", {50: (("reference", 2),)})
    found = large.wide(n_rows=300)["50 reference"]
    assert found["lost"].mean == pytest.approx(found["whole_accuracy"].mean - found["screened_accuracy"].mean)
    assert found["whole_s"].mean > 0


def test_the_command_prints_and_keeps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--only", "iris", "--out", str(tmp_path / "x.json")])
    printed = capsys.readouterr().out
    assert "| ID3, 3 bins | 5-fold |" in printed
    kept = json.loads((tmp_path / "x.json").read_text())
    assert set(kept) & set(EXPERIMENTS) == {"iris"}
    assert f"{100 * kept['iris']['C4.5']['5-fold']['test'][0]:.1f} ± " in printed
    with pytest.raises(SystemExit):
        main(["--only", "iris,tulip"])
    assert "there is no experiment 'tulip'" in capsys.readouterr().err
