"""``python -m docs``: the pages as HTML in ``build/docs``, their examples run, every warning an error."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

PAGES = Path(__file__).resolve().parent
ROOT = PAGES.parent
BUILD = ROOT / "build"
KERNEL = """\
c.InteractiveShellApp.exec_PYTHONSTARTUP = False
c.HistoryManager.enabled = False
c.Application.log_level = 40
c.InlineBackend.figure_formats = {"svg"}
c.InlineBackend.print_figure_kwargs = {"bbox_inches": "tight", "facecolor": "white"}
"""
STARTUP = """\
import os

os.chdir({scratch!r})


def sh(line, cell):
    import subprocess

    done = subprocess.run(["sh", "-e", "-c", cell], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    print(done.stdout, end="")


get_ipython().register_magic_function(sh, "cell")  # IPython's own tears lines apart as they arrive
del os, sh
"""


def main() -> int:
    """Build the pages.

    Returns
    -------
    int
        The exit code: 0 when all is well, 1 when a page, a link, a docstring or an example is not.
    """
    try:
        from sphinx.cmd.build import build_main
    except ImportError:
        print("the documentation needs Sphinx and more: pip install -e '.[docs]'", file=sys.stderr)
        return 1
    _prepare_kernel(BUILD / "docs-scratch")
    for made in (PAGES / "generated", BUILD / "docs"):
        shutil.rmtree(made, ignore_errors=True)  # what is no longer made must not stay
    strict = ["--fail-on-warning", "--keep-going", "--fresh-env"]
    failed = build_main(["-b", "html", *strict, "-d", str(BUILD / "docs-trees"), str(PAGES), str(BUILD / "docs")])
    if not failed:
        print(f"open {os.path.relpath(BUILD / 'docs' / 'index.html')}")
    return int(failed)


def _prepare_kernel(scratch: Path) -> None:
    """Examples run in an empty folder that has the example data, with this environment's commands."""
    shutil.rmtree(scratch, ignore_errors=True)
    profile = scratch / "ipython" / "profile_default"
    (profile / "startup").mkdir(parents=True)
    shutil.copytree(ROOT / "examples", scratch / "run" / "examples")
    (profile / "ipython_kernel_config.py").write_text(KERNEL, "utf-8")
    (profile / "startup" / "cells.py").write_text(STARTUP.format(scratch=str(scratch / "run")), "utf-8")
    os.environ["IPYTHONDIR"] = str(scratch / "ipython")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # a debugger's warning, which would end up on the pages


if __name__ == "__main__":
    sys.exit(main())
