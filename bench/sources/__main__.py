"""Reproduce the articles' tables: ``python -m bench.sources [--only iris,cancer,...] [--out FILE]``.

Prints each table beside the articles' figures and keeps all figures as JSON. Splits and seeds of the articles are not
known; ours are five stratified folds and 70/30 splits, five seeds of each.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bench.measure import ROOT
from bench.report import conditions, write
from bench.sources import large, small

Found = dict[str, Any]
OUT: Final = ROOT / "bench" / "results" / "sources.json"


def grid(head: tuple[str, ...], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [list(head), ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def splits_table(found: Found, article: dict[str, str], what: str) -> str:
    """Classifiers on both kinds of splits."""
    head = ("", "split", "train %", "test %", "F1", "depth", "nodes", "fit ms", "predict ms", f"article: {what}")
    rows = []
    for name, of_splits in found.items():
        for split, f in of_splits.items():
            share = [f["train"].text(1, 100), f["test"].text(1, 100), f["f1"].text()]
            shape = [f["depth"].text(1), f["nodes"].text(1), f["fit_s"].text(0, 1e3), f["predict_s"].text(1, 1e3)]
            rows.append([name, split, *share, *shape, article[name]])
    return grid(head, rows)


def iris_table(found: Found) -> str:
    """ID3 and C4.5."""
    return splits_table(found, small.IRIS_ARTICLE, "train / test, depth, nodes")


def cancer_table(found: Found) -> str:
    """Three ways to prune."""
    return splits_table(found, small.CANCER_ARTICLE, "train / test, depth; F1; fit / predict")


def depths_table(found: Found) -> str:
    """Before and after pruning."""
    rows = [
        [name, *(f"{b:.{d}f} / {a:.{d}f}" for b, a, d in zip(x["before"], x["after"], (1, 0, 3), strict=True))]
        for name, x in found.items()
    ]
    both = f"depth {small.shorter(found).text(1, 100)} % less, nodes {small.shorter(found, 1).text(1, 100)} % less"
    return grid(("table", "depth", "nodes", "accuracy"), rows) + f"\nmean: {both}; article: depth 30 % less\n"


def wide_table(found: Found) -> str:
    """With and without screen="sqrt"."""
    head = ("features, engine", "whole s", "screened s", "times faster", "whole %", "screened %", "lost points")
    rows = []
    for name, f in found.items():
        seconds = [f["whole_s"].text(2), f["screened_s"].text(2), f["times"].text(1)]
        accuracies = [f[key].text(1, 100) for key in ("whole_accuracy", "screened_accuracy", "lost")]
        rows.append([name, *seconds, *accuracies])
    return grid(head, rows) + "\narticle: 17 times faster at 500 features, less than 2 % lost\n"


def fraud_table(found: Found) -> str:
    """What weights of classes do."""
    rows = [[name, *(f[key].text() for key in ("recall", "precision", "f1", "auc"))] for name, f in found.items()]
    return grid(("class_weight", "recall", "precision", "F1", "AUC"), rows)


EXPERIMENTS: Final[dict[str, tuple[Callable[[], Found], Callable[[Found], str]]]] = {
    "iris": (small.iris, iris_table),
    "cancer": (small.cancer, cancer_table),
    "depths": (small.depths, depths_table),
    "wide": (large.wide, wide_table),
    "fraud": (large.fraud, fraud_table),
}


def main(words: list[str]) -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.sources", description=__doc__)
    parser.add_argument(
        "--only", default=",".join(EXPERIMENTS), help="some of the experiments: " + ", ".join(EXPERIMENTS)
    )
    parser.add_argument("--out", type=Path, default=OUT, help="JSON file")
    arguments = parser.parse_args(words)
    names = arguments.only.split(",")
    if unknown := [name for name in names if name not in EXPERIMENTS]:
        parser.error(f"there is no experiment {unknown[0]!r}: choose of {', '.join(EXPERIMENTS)}")
    whole = conditions(" ".join(["python -m bench.sources", *words]), os.getloadavg()[0])
    for name in names:
        run, table = EXPERIMENTS[name]
        whole[name] = run()
        print(f"### {name}\n\n{table(whole[name])}", flush=True)
    write(whole, arguments.out)


if __name__ == "__main__":
    main(sys.argv[1:])
