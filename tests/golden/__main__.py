"""Hold the package against every golden file: one line for each, and last how many of each kind."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from c45gpu.kernels.engine import Engine, open_engine
from tests.golden.files import GoldenFile, golden_files
from tests.golden.rules import RULE_KINDS, judge_rules
from tests.golden.verdicts import KINDS, Outcome, judge

EXCEPTIONS = Path(__file__).parent.parent / "golden_exceptions.md"


def arguments(given: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder with sets, tiny and random")
    parser.add_argument("--engine", default="reference", metavar="NAME", help="the engine to train with")
    parser.add_argument("--emulate", action="store_true", help="run the cuda engine under an emulator of CUDA")
    parser.add_argument(
        "--only",
        default="",
        metavar="A,B",
        help="only these, by name (r8_golf.m1), data set (r8_golf or golf) or pattern (r8_*)",
    )
    parser.add_argument("--compare", type=Path, metavar="PATH", help="compare.py, where it is not in FOLDER/../golden")
    parser.add_argument(
        "--options", metavar="TEXT", help="only what the original was asked with these options: --options='-g -m 1'"
    )
    parser.add_argument("--rules", action="store_true", help="hold the production rules against the original's instead")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; 1 works in this one")
    return parser.parse_args(given)


def is_wanted(file: GoldenFile, only: str, options: str | None) -> bool:
    """Whether the command line asks for a file."""
    patterns = [pattern for pattern in only.split(",") if pattern]
    names = (file.name, file.stem.name, file.stem.name.partition("_")[2])
    named = not patterns or any(fnmatch(name, pattern) for name in names for pattern in patterns)
    return named and (options is None or options.split() == file.options)


def outcomes(
    files: Iterable[GoldenFile], compare: Path, engine: str, jobs: int, judge: Callable[..., Outcome] = judge
) -> Iterator[Outcome]:
    """The verdicts, in the order of the files."""
    work = partial(judge, compare_path=compare, engine=engine)
    paths = [file.path for file in files]
    if jobs == 1:
        yield from map(work, paths)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(work, paths)


def emulated() -> Any:
    """While this lasts, training opens the cuda engine under an emulator."""
    from tests.kernels.cuda_here import SMALL, emulated_engine

    def opened(name: str, n_values: int) -> Engine:
        sizes = SMALL._replace(tile=32, finish_cases=50, histogram_bytes=1 << 20)
        return emulated_engine(sizes, checks=False) if name == "cuda" else open_engine(name, n_values)

    return mock.patch("c45gpu.induction.train.open_engine", opened)


def excepted() -> set[str]:
    """The golden files whose difference is explained: the headings of golden_exceptions.md."""
    return set(re.findall(r"^## (\S+)", EXCEPTIONS.read_text("utf-8"), re.MULTILINE))


def main(given: list[str] | None = None) -> int:
    """Print the verdicts; 1 if anything differs without an explanation."""
    asked = arguments(given)
    compare = asked.compare or asked.folder.parent / "golden" / "compare.py"
    files = [file for file in golden_files(asked.folder) if is_wanted(file, asked.only, asked.options)]
    if not files:
        print(f"{asked.folder}: no golden file there that is asked for", file=sys.stderr)
        return 2
    count: Counter[str] = Counter()
    unexplained = []
    with emulated() if asked.emulate else nullcontext():
        judged = outcomes(files, compare, asked.engine, asked.jobs, judge_rules if asked.rules else judge)
        for outcome in judged:
            print(outcome.line, flush=True)
            count[outcome.kind] += 1
            if outcome.kind == "different" and outcome.name not in excepted():
                unexplained.append(outcome.name)
    if unexplained:
        print(f"not explained in {EXCEPTIONS.name}: {', '.join(unexplained)}", file=sys.stderr)
    print(", ".join(f"{kind} {count[kind]}" for kind in (RULE_KINDS if asked.rules else KINDS)))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
