"""The pages of the documentation: none is left out, and every public name is in the API reference."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import runpy
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

import c45gpu
from c45gpu import errors

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "generated" not in path.parts)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)\s]*)?\)")


def blocks(page: str, directive: str) -> Iterator[str]:
    """What stands in each directive of a kind, without its options."""
    text = (DOCS / page).read_text("utf-8")
    for body in re.findall(rf"^```\{{{directive}\}}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield re.sub(r"^:.*\n", "", body, flags=re.MULTILINE)


def in_a_toctree() -> list[str]:
    """Entries of all tables of contents, names of pages or patterns of names."""
    lines = [line for page in PAGES for body in blocks(page, "toctree") for line in body.split("\n") if line]
    return [re.sub(r"^.*<(.*)>$", r"\1", line) for line in lines]


def in_the_reference() -> list[str]:
    """The full name of everything that the API reference lists."""
    names = []
    for body in blocks("api.md", "eval-rst"):
        (module,) = re.findall(r"^\.\. currentmodule:: (\S+)$", body, re.MULTILINE)
        names += [f"{module}.{name}" for name in re.findall(r"^   (\w[\w.]*)$", body, re.MULTILINE)]
    return names


def named(path: str) -> object:
    """What a dotted name stands for."""
    parts = path.split(".")
    for k in range(len(parts) - 1, 0, -1):  # the last part never is a module: exchange.compare is a function, too
        try:
            found: object = importlib.import_module(".".join(parts[:k]))
        except ModuleNotFoundError:
            continue
        for part in parts[k:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"{path} is not there")


def public() -> Iterator[tuple[str, object]]:
    """What the package and the packages in it say is public, and every exception."""
    inner = [package.name for package in pkgutil.iter_modules(c45gpu.__path__, "c45gpu.") if package.ispkg]
    for module in map(importlib.import_module, ["c45gpu", *inner]):
        for name in getattr(module, "__all__", ()):
            if not name.startswith("__"):
                yield f"{module.__name__}.{name}", getattr(module, name)
    yield from ((f"c45gpu.errors.{name}", value) for name, value in vars(errors).items() if name.endswith("Error"))


def test_every_page_is_in_a_table_of_contents() -> None:
    entries = in_a_toctree()
    pages = {page.removesuffix(".md") for page in PAGES} - {"index"}
    assert {page for page in pages if not any(fnmatch(page, entry) for entry in entries)} == set()
    assert {entry for entry in entries if not any(fnmatch(page, entry) for page in pages)} == set()


def test_every_public_name_is_in_the_reference() -> None:
    listed = {id(named(name)) for name in in_the_reference()}
    assert {name for name, value in public() if id(value) not in listed} == set()


def test_everything_in_the_reference_says_what_it_is() -> None:
    names = in_the_reference()
    assert len(names) > 60
    assert [name for name in names if not inspect.getdoc(named(name))] == []


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page: str) -> None:
    text = re.sub(r"^```.*?^```$", "", (DOCS / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    folder = (DOCS / page).parent
    assert [link for link in LINK.findall(text) if not (folder / link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_links_can_be_read_where_sphinx_is_not(page: str) -> None:
    assert "[](" not in (DOCS / page).read_text("utf-8")


def test_what_pages_include_is_there() -> None:
    included = {
        page: found
        for page in PAGES
        for found in re.findall(r"^```\{include\} (\S+)$", (DOCS / page).read_text("utf-8"), re.MULTILINE)
    }
    assert len(included) >= 4
    assert {page for page, path in included.items() if not (DOCS / path).is_file()} == set()


def test_included_files_have_links_that_are_right_on_the_page() -> None:
    put_together = runpy.run_path(str(DOCS / "conf.py"))["_put_together"]
    source = [(DOCS / "benchmarks.md").read_text("utf-8") + "[a](../README.md) [b](../ARCHITECTURE.md#layers)\n"]
    put_together(None, "benchmarks", source)
    assert "{include}" not in source[0]
    assert "](threshold_cost.md)" in source[0]
    assert source[0].endswith("[a](../README.md) [b](architecture.md#layers)\n")


def test_without_sphinx_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "sphinx.cmd.build", None)
    assert importlib.import_module("docs.__main__").main() == 1
    assert "pip install -e '.[docs]'" in capsys.readouterr().err


def test_the_loans_are_all_there() -> None:
    header, *rows = (ROOT / "examples" / "credit.csv").read_text("utf-8").splitlines()
    assert header.split(",")[-1] == "risk"
    risks = [row.rsplit(",", 1)[1] for row in rows]
    assert (risks.count("good"), risks.count("bad")) == (700, 300)
