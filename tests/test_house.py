"""House rules: what an import may load, what the package may not contain, and that the README's commands are there."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import c45gpu

PACKAGE = Path(c45gpu.__file__).parent
HEAVY = {"cupy", "dask", "matplotlib", "narwhals", "numba", "pandas", "polars", "pyarrow", "scipy", "sklearn"}
SOURCES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def modules_loaded_by(code: str) -> set[str]:
    """Top-level modules in `sys.modules` of a fresh interpreter after it ran the code."""
    code += "\nimport json, sys; json.dump(sorted({name.partition('.')[0] for name in sys.modules}), sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr))


def imports(source: str) -> Iterator[str]:
    """Every module that a file of the package names in an import, wherever in the file."""
    for node in ast.walk(ast.parse((PACKAGE / source).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_import_loads_nothing_heavy() -> None:
    loaded = modules_loaded_by("import c45gpu")
    assert "c45gpu" in loaded
    assert loaded & (HEAVY | {"numpy", "cyclopts", "rich"}) == set()


def test_help_loads_nothing_heavy() -> None:
    loaded = modules_loaded_by("from c45gpu.cli import main\nassert main(['--help']) == 0")
    assert "cyclopts" in loaded
    assert loaded & HEAVY == set()


def test_every_public_name_is_there() -> None:
    for name in c45gpu.__all__:
        assert getattr(c45gpu, name) is not None
        assert name in dir(c45gpu)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = c45gpu.no_such_name


@pytest.mark.parametrize("source", SOURCES)
def test_only_the_cuda_files_know_cuda(source: str) -> None:
    allowed = re.fullmatch(r"kernels/cuda\w*\.py|data/devicearrays\.py", source) is not None
    cuda = {name for name in imports(source) if re.match(r"(cupy|numba\.cuda|numba_cuda)\b", name)}
    assert allowed or not cuda


@pytest.mark.parametrize("source", SOURCES)
def test_fastmath_is_nowhere(source: str) -> None:
    assert "fastmath" not in (PACKAGE / source).read_text("utf-8")


@pytest.mark.parametrize("heading", ["Try it", "Test it"])
def test_readme_has_one_line_under(heading: str) -> None:
    readme = (PACKAGE.parent / "README.md").read_text("utf-8")
    section = re.search(rf"^## {heading}$(.*?)(^## |\Z)", readme, re.MULTILINE | re.DOTALL)
    assert section is not None
    (block,) = re.findall(r"^```\w*\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL)
    assert block.count("\n") == 1
