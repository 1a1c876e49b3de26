"""The command ``c45gpu``: a thin shell around the package, no algorithm.

Results go to standard output, everything else to standard error. Exit codes: 0 fine, 1 the data or the model is wrong,
2 the command is wrong, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from cyclopts import App, CycloptsError, UnknownOptionError

from c45gpu import __version__
from c45gpu.cli.bring import bring
from c45gpu.cli.compare import compare
from c45gpu.cli.convert import convert
from c45gpu.cli.evaluate import evaluate
from c45gpu.cli.export import export
from c45gpu.cli.info import info
from c45gpu.cli.path import path
from c45gpu.cli.plot import plot
from c45gpu.cli.predict import predict
from c45gpu.cli.report import report
from c45gpu.cli.rules import rules
from c45gpu.cli.screen import complain, show_warning, speak
from c45gpu.cli.show import show
from c45gpu.cli.train import train
from c45gpu.errors import C45Error, EngineError, MemoryPlanError, MissingPackageError, OptionError

FINE: Final = 0
WRONG_DATA: Final = 1
WRONG_COMMAND: Final = 2
INTERRUPTED: Final = 130

_NOT_SUPPORTED: Final = {
    "-v": "the original's verbosity",
}

app = App(
    name="c45gpu",
    help="C4.5, complete and exact: decision trees from .names/.data, CSV, ARFF or Parquet.",
    version=__version__,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
)
_COMMANDS: Final = (train, predict, show, report, evaluate, rules, path, plot, export, convert, compare, info)
for command in _COMMANDS:
    app.command(command)
app.command(bring, name="import")  # a word that no Python function can have


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process if absent.

    Returns
    -------
    int
        The exit code.
    """
    speak(None)
    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        try:
            return _run(arguments)
        except KeyboardInterrupt:
            complain("interrupted")
            return INTERRUPTED
        except BrokenPipeError:  # whoever read our results has seen enough of them
            _give_up_output()
            return FINE


def _run(arguments: Sequence[str] | None) -> int:
    try:
        app(arguments, exit_on_error=False, print_error=False, result_action="return_none")
        sys.stdout.flush()
    except CycloptsError as fault:
        complain(f"{_explained(fault)} Try: c45gpu --help")
        return WRONG_COMMAND
    except MemoryPlanError as fault:
        complain(str(fault))
        return WRONG_DATA
    except (OptionError, EngineError, MissingPackageError) as fault:
        complain(str(fault))
        return WRONG_COMMAND
    except C45Error as fault:
        complain(str(fault))
        return WRONG_DATA
    except BrokenPipeError:
        raise
    except OSError as fault:
        where = "standard output" if fault.filename is None else fault.filename
        complain(f"{where}: {fault.strerror or fault}")
        if fault.filename is None:
            _give_up_output()
        return WRONG_DATA
    return FINE


def _give_up_output() -> None:
    """Let what is not written yet go nowhere, or Python tries again when it ends and fails."""
    with suppress(OSError, ValueError):  # where standard output is no file, as in a test
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _explained(fault: CycloptsError) -> str:
    if isinstance(fault, UnknownOptionError):
        letter = (fault.token.keyword or fault.token.value)[:2]
        if letter in _NOT_SUPPORTED:
            return f"{letter}: {_NOT_SUPPORTED[letter]} is not supported yet: leave {letter} out."
    return " ".join(str(fault).split())
