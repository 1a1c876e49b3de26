"""How Sphinx builds the pages; ``python -m docs`` calls it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import c45gpu

project = "c45gpu"
author = "the c45gpu developers"
project_copyright = author
version = release = c45gpu.__version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
templates_path = ["_templates"]
exclude_patterns = ["pictures"]
root_doc = "index"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb"}

nb_execution_mode = "force"
nb_execution_show_tb = True
nb_execution_timeout = 600  # seconds for a cell, on a machine that is busy
nb_merge_streams = True

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings have them, with shapes
highlight_language = "none"  # a block without a language is no Python
numpydoc_show_class_members = False  # the template of a class lists them
numpydoc_attributes_as_param_list = True
# Not asked for: longer summaries, examples, "See also", and verbs at the beginning of summaries that have none.
numpydoc_validation_checks = {"all", "ES01", "EX01", "SA01", "SS05"}
# Two fields of a table are private, and the parameters of Dask's classifier are those of the other.
numpydoc_validation_exclude = {r"\.Table$", r"dask\.C45Classifier$"}

html_theme = "pydata_sphinx_theme"
html_title = f"c45gpu {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["c45gpu.css"]
html_sidebars = {page: [] for page in ("index", "tutorial", "how_c45_works")}  # they have no pages below them
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_end": ["search-button", "theme-switcher"],
    "navbar_persistent": [],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "navigation_with_keys": False,
}

# Files that are pages here, by the name they have in the repository.
_PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "bench/results/README.md": "benchmarks.md",
}
_HERE = Path(__file__).resolve().parent
_INCLUDED = re.compile(r'^```\{include\} (\S+)\n(?::start-after: "(.*)"\n:end-before: "(.*)"\n)?```$', re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")


def setup(app: Any) -> None:
    """Connect what the pages and docstrings need."""
    app.connect("source-read", _put_together)
    app.connect("autodoc-skip-member", _skip)


def _put_together(app: Any, name: str, source: list[str]) -> None:
    """Include files whose links are right where they are, and point links to files at their pages."""
    folder = (_HERE / name).parent

    def included(found: re.Match[str]) -> str:
        file = (folder / found[1]).resolve()
        text = file.read_text("utf-8")
        if found[2]:
            text = text[text.index(found[2]) + len(found[2]) : text.index(found[3])]
        return _LINK.sub(lambda link: _link(link, file.parent, folder), text)

    own = _LINK.sub(lambda link: _link(link, folder, folder), source[0])
    source[0] = _INCLUDED.sub(included, own)


def _link(found: re.Match[str], before: Path, now: Path) -> str:
    """A link out of a folder, as it must be out of another one."""
    file = (before / found[1]).resolve()
    shown = _PAGES.get(os.path.relpath(file, _HERE.parent).replace(os.sep, "/"))
    return f"]({os.path.relpath(_HERE / shown if shown else file, now)}{found[2] or ''})"


def _skip(app: Any, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """A named tuple's fields are in its docstring; what scikit-learn adds to an estimator is described there."""
    added = str(getattr(value, "__module__", "")).startswith("sklearn.") or re.fullmatch(r"set_\w+_request", name)
    return True if added or type(value).__name__ == "_tuplegetter" else None
