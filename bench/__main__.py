"""Measure c45gpu and its peers side by side: print the tables, keep the figures, draw time against rows."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench import report
from bench.data import set_names
from bench.measure import ROOT, Plan, measure
from bench.peers import PEERS

RESULTS = ROOT / "bench" / "results"


def plan_of(arguments: argparse.Namespace) -> Plan:
    """The plan that the command line asks for."""
    return Plan(
        sets=tuple(arguments.sets),
        rows=tuple(arguments.rows),
        peers=tuple(arguments.peers),
        threads=arguments.threads,
        seed=arguments.seed,
        unknown=arguments.unknown,
        runs=arguments.runs,
        limit=arguments.limit,
        cold=arguments.cold,
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    whole = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    whole.add_argument("--rows", type=_rows, default=[10_000, 100_000], help="sizes, such as 1e4,1e5")
    whole.add_argument("--sets", type=_names(set_names()), default=["mc", "agr2"], help=", ".join(set_names()))
    whole.add_argument("--peers", type=_names(tuple(PEERS)), default=list(PEERS), help=", ".join(PEERS))
    whole.add_argument("--out", type=Path, help="JSON file; the table and the picture lie beside it")
    whole.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="for every peer that can use them")
    whole.add_argument("--seed", type=int, default=0)
    whole.add_argument("--unknown", type=float, default=0.0, help="share of values made unknown")
    whole.add_argument("--runs", type=int, help="of each; by default 5 under 10 s, 3 under 60 s, else 1")
    whole.add_argument("--limit", type=float, default=900.0, help="seconds after which a run is ended")
    whole.add_argument("--cold", action="store_true", help="measure the first fit of a fresh process, no warm-up")
    return whole


def main(words: list[str]) -> None:
    """Measure, print, keep, draw."""
    arguments = parser().parse_args(words)
    load, plan = os.getloadavg()[0], plan_of(arguments)
    if load > 0.5:
        _say(f"the machine is busy (load {load:.1f}): times will be too long, and not for all alike")
    results = measure(plan, _say)
    out = arguments.out or RESULTS / time.strftime("%Y-%m-%d-%H%M%S.json", time.gmtime())
    report.write(report.document(plan, results, " ".join(["python -m bench", *words]), load), out)
    tables = report.markdown(results)
    out.with_suffix(".md").write_text(tables)
    print(tables)
    try:
        report.draw(results, out.with_suffix(".png"))
    except ImportError as missing:
        _say(f"no picture: {missing}")


def _rows(text: str) -> list[int]:
    sizes = [float(one) for one in text.split(",")]
    if not all(size >= 1 and size == int(size) for size in sizes):
        raise argparse.ArgumentTypeError(f"{text!r} are not whole numbers of rows")
    return [int(size) for size in sizes]


def _names(known: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Turns ``a,b`` into a list of names, each of which must be known."""

    def checked(text: str) -> list[str]:
        chosen = text.split(",")
        foreign = [name for name in chosen if name not in known]
        if foreign:
            raise argparse.ArgumentTypeError(f"{foreign[0]!r} is none of {', '.join(known)}")
        return chosen

    return checked


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
