"""Where the original misbehaves and we do not: for each such case, that ours is the sensible tree."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from c45gpu.data.c45files import read_stem
from c45gpu.errors import DataError
from c45gpu.induction.options import Compat, Options
from c45gpu.induction.train import train
from c45gpu.model.store import Model
from tests.golden.files import GoldenFile


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


DELIBERATE: Final[dict[str, Callable[[GoldenFile, str], str | None]]] = {
    "t17_float_midpoint": separates_the_classes,
    "t17b_float_collapse": separates_in_full_precision,
    "t17c_endless_recursion": separates_the_classes,
    "t21_no_final_newline": equals_tree_of_clean_lines,
    "t30_crlf": equals_tree_of_clean_lines,
    "t32_illegal_value": is_refused,
}
