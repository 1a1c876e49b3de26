"""The golden files: where they are, what they hold, and the script that judges a tree."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDERS = ("sets", "tiny", "random")


@dataclass(frozen=True)
class GoldenFile:
    """The original's answer for one data set and some options.

    Parameters
    ----------
    path : Path
        NAME.json or NAME.VARIANT.json.
    """

    path: Path

    @property
    def name(self) -> str:
        """Name and variant, such as ``r8_golf.m1``."""
        return self.path.name.removesuffix(".json")

    @cached_property
    def answer(self) -> dict[str, Any]:
        """The document; its format is in the README beside the folders."""
        document: dict[str, Any] = json.loads(self.path.read_text("utf-8"))
        return document

    @property
    def stem(self) -> Path:
        """The data set: the path without .names and .data."""
        return self.path.parent / self.answer["stem"]

    @property
    def options(self) -> list[str]:
        """What the original was asked, as on its command line."""
        return self.answer["options"]

    def learner_options(self) -> dict[str, Any]:
        """The same as names and values of the package's options; the oracle has all but soft thresholds."""
        options, given = iter(self.options), {}
        for letter in options:
            if letter == "-g":
                given["criterion"] = "gain"
            elif letter == "-s":
                given["group_values"] = True
            elif letter == "-p":
                given["soft_thresholds"] = True
            elif letter == "-m":
                given["min_cases"] = int(next(options))
            elif letter == "-c":
                given["confidence"] = float(next(options)) / 100
            else:
                raise ValueError(f"{self.path}: no meaning is known for {letter}")
        return {**given, "compat": "r8"}


def golden_files(folder: Path) -> Iterator[GoldenFile]:
    """Every answer in the folder, by kind and name."""
    for kind in FOLDERS:
        for path in sorted((folder / kind).glob("*.json")):
            if path.name != "cases.json":
                yield GoldenFile(path)


def load_compare(path: Path) -> ModuleType:
    """The judge, compare.py, as a module."""
    specification = importlib.util.spec_from_file_location("golden_compare", path)
    if specification is None or specification.loader is None or not path.is_file():
        raise FileNotFoundError(f"{path}: no such script; name it with --compare PATH")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
