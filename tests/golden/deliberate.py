"""Where the original misbehaves and we do not: for each such case, that ours is the sensible tree."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from c45gpu.data.c45files import read_stem
from c45gpu.errors import DataError
from c45gpu.induction.options import Compat, Options
from c45gpu.induction.train import train
from c45gpu.model.store import Model
from tests import oracle
from tests.golden.chain import problem_of
from tests.golden.files import GoldenFile, load_compare
from tests.nested import nested_trees
from tests.oracle import Settings


def trained(stem: Path, engine: str, compat: Compat | None = "r8") -> Model:
    """A model of STEM.names and STEM.data with default options."""
    return train(read_stem(stem, compat=compat)[0], Options(compat=compat), engine)


def separates_the_classes(file: GoldenFile, engine: str) -> str | None:
    """The midpoint of neighbouring float32 numbers is not the upper one, so the cut that was scored is made."""
    errors = trained(file.stem, engine).unpruned.errors[0]
    return None if errors == 0 else f"the tree gets {errors:g} cases wrong and should separate the classes"


def separates_in_full_precision(file: GoldenFile, engine: str) -> str | None:
    """Numbers that differ as float64 but not as float32 are different numbers."""
    errors = trained(file.stem, engine, compat=None).unpruned.errors[0]
    return None if errors == 0 else f"without compat='r8' the tree gets {errors:g} cases wrong and should get none"


def equals_tree_of_clean_lines(file: GoldenFile, engine: str) -> str | None:
    """Line ends of another system, or none after the last line, mean nothing."""
    with tempfile.TemporaryDirectory() as folder:
        clean = Path(folder) / file.stem.name
        for suffix in (".names", ".data"):
            content = file.stem.with_name(file.stem.name + suffix).read_bytes()
            clean.with_name(clean.name + suffix).write_bytes(content.replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n")
        ours, wanted = trained(file.stem, engine), trained(clean, engine)
    same = ours.unpruned.equals(wanted.unpruned) and ours.pruned.equals(wanted.pruned)
    return None if same and ours.unpruned.n_nodes > 1 else "the tree is not that of the same lines in clean form"


def is_refused(file: GoldenFile, engine: str) -> str | None:
    """A value that is not declared is an error that names its line, not a message and a guess."""
    try:
        trained(file.stem, engine)
    except DataError as refusal:
        return None if re.search(r"\.data:2: .*'zz'", str(refusal)) else f"refused, but not for line 2: {refusal}"
    return "the file should be refused"


def is_forgetful(file: GoldenFile, engine: str) -> str | None:
    """The original sets the least weight of a branch to 1 while it groups values, and forgets to set it back.

    That happens where an attribute of more than two values is unknown in all cases of a node. The oracle grows the
    original's tree if it does the same, but for ties, and ours if it does not.
    """
    compare = load_compare(file.path.parent.parent / "compare.py")
    cases = compare.read_cases(str(file.stem), file.answer)
    problem, options = problem_of(file, cases), file.learner_options()
    whole = [(row, c, 1.0) for row, c in cases]
    model = train(read_stem(file.stem, compat="r8")[0], Options(**options), engine)
    (ours, _), settings = nested_trees(model), Settings(**options)
    remembering, _ = oracle.train(problem, settings, guide=ours)
    if _verdict(compare, file, remembering, ours, None) != "equal":
        return "the oracle does not grow our tree"
    for ties in (False, True):
        forgetful, _ = oracle.train(problem, replace(settings, forgets_least=True, last_of_ties=ties))
        if _verdict(compare, file, file.answer["unpruned"], forgetful, whole) in ("equal", "tie"):
            return None
    return "the oracle does not grow the original's tree, even if it forgets the least weight of a branch"


def _verdict(compare: ModuleType, file: GoldenFile, gold: Any, ours: Any, cases: Any) -> str:
    found: list[Any] = []
    compare.walk(gold, ours, file.answer, cases, [], found, cases is not None)
    return str(compare.verdict(found))


DELIBERATE: Final[dict[str, Callable[[GoldenFile, str], str | None]]] = {
    "t17_float_midpoint": separates_the_classes,
    "t17b_float_collapse": separates_in_full_precision,
    "t17c_endless_recursion": separates_the_classes,
    "t20_subset_minobjs_bug": is_forgetful,
    "r8_soybean.s": is_forgetful,
    "r8_soybean.gs": is_forgetful,
    "t21_no_final_newline": equals_tree_of_clean_lines,
    "t30_crlf": equals_tree_of_clean_lines,
    "t32_illegal_value": is_refused,
}
